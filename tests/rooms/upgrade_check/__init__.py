"""Tests of the check of an upgrade."""
