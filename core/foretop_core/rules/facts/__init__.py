"""Facts of an object, derived once from a snapshot and a moment: every surface reads them here."""
