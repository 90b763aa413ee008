"""Drills on the screen."""
