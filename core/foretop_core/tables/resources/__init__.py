"""The tables and the JSON of each kind: schedules, backups, restores, non-admin objects, queue, storage, findings."""
