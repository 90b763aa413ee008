"""Metrics for Prometheus, from the facts that the screen shows, and a fleet of clusters by them."""

from __future__ import annotations

from foretop_core.pages import PageRecord

PAGE = PageRecord(
    id="fleet",
    title="Fleet: a row for each cluster, worst first",
    name="Fleet",
    short="Fleet",
    commands=("fleet", "clusters"),
)
