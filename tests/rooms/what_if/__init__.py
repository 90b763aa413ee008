"""Tests of what if."""
