"""Each action's planner with its record; every module here is looked through for records."""
