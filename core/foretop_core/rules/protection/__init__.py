"""Can a namespace be brought back: which backups have it, how old they are, and what its schedules promise."""
