"""Tests of archives on the screen."""
