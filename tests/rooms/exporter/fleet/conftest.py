"""Skips all of it in one line where Prometheus' programs are missing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

NEEDED = ("prometheus", "promtool", "prometheus-alertmanager", "amtool")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    missing = [name for name in NEEDED if shutil.which(name) is None]
    if missing:
        why = pytest.mark.skip(reason=f"there is no {' and no '.join(missing)}: see tests/README.md")
        for item in items:
            if Path(__file__).parent in item.path.parents:
                item.add_marker(why)
