"""Tests of the room of the files of backups and restores."""
