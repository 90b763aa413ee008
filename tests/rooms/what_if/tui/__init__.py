"""Tests of what if on the screen."""
