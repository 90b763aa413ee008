"""When to warm up before a schedule runs: computed, written to a cluster, and judged."""

from __future__ import annotations

from foretop_core.pages import PageRecord

PAGE = PageRecord(
    id="primer",
    title="Primer: when to warm up before a schedule runs",
    digit=6,
    name="Primer",
    short="Primer",
    commands=("primer",),
)
