"""Warm-ups written to a cluster, and judged."""
