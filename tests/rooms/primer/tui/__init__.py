"""Tests of the primer on the screen."""
