"""Tests of looking inside on the screen."""
