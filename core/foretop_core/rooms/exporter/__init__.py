"""Metrics for Prometheus, from the facts that the screen shows: no number is worked out a second time."""
