"""What is said of an object, derived once from a snapshot and a moment: every surface reads it here."""
