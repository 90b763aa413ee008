"""The cron dialect of Velero and Kubernetes: robfig/cron, to the second."""
