"""Everything that foretop knows about backups; imports no screen."""
