"""Tests of the check of an upgrade on the screen."""
