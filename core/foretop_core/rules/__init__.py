"""Pure rules: objects and a time in, answers out. No input or output."""
