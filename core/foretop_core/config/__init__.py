"""The user's configuration file: where it is, what it may say, and what is wrong with it."""
