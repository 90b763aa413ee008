"""The course of the coming hours: which backups a Velero server will make, when each starts and ends, and which not."""
