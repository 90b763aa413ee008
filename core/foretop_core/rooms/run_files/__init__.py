"""The files of backups and restores, read when a person asks: what is inside, and what the next run takes."""
