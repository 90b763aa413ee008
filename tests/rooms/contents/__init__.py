"""Tests of the room of contents."""
