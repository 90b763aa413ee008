"""Contents: which volumes and objects a backup holds, when a person asks, and what the next run of a schedule takes."""
