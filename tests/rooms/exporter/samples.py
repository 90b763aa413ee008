"""What the exporter adds to the comparisons of all commands."""

from __future__ import annotations

READING = [["exporter", "--once"]]
"""A command that reads, in search of secrets that it prints."""

_CLUSTERS = (
    *((f"prod-eu-{number}", "quiet") for number in range(1, 5)),
    ("prod-us-1", "outage"),
    *((f"prod-us-{number}", "quiet") for number in range(2, 5)),
    ("prod-ap-1", "dead"),
    ("prod-ap-2", "maintenance"),
    ("prod-ap-3", "quiet"),
    ("prod-ap-4", "quiet"),
)
_TO_THE_FLEET = ("colon", *"fleet", "enter")
PICTURES_OF_CLUSTERS = [
    (name, _TO_THE_FLEET, size, "no problems", _CLUSTERS, snapshot)
    for name, size, snapshot in (
        ("fleet", (80, 24), "txt"),
        ("fleet-wide", (120, 36), "txt"),
        ("fleet-huge", (200, 50), "txt"),
    )
]
"""Twelve clusters, three of them with troubles."""
