"""Wishes on their way up: an intent is guarded, planned in exact writes and sentences, done, and written down."""
