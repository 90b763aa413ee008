"""Tests of the fleet on the screen."""
