"""`foretop get VIEW --watch`, running beside a story."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class ShownRow:
    """A row that foretop printed, and when."""

    at: datetime
    row: dict[str, Any]


class ForetopWatch:
    """foretop's command line, watching one view until it is closed."""

    def __init__(self, view: str, kubeconfig: Path) -> None:
        self.rows: list[ShownRow] = []
        self._process = subprocess.Popen(
            [sys.executable, "-m", "foretop", "get", view, "--watch", "-o", "json", "--kubeconfig", str(kubeconfig)],
            stdout=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            text=True,
        )
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def close(self) -> int | None:
        """End it; returns the code with which it had ended by itself, None where it had not."""
        ended = self._process.poll()
        self._process.terminate()
        self._process.wait()
        self._thread.join(10)
        assert self._process.stdout is not None
        self._process.stdout.close()
        return ended

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            event = json.loads(line)
            if event["type"] != "DELETED":
                self.rows.append(ShownRow(datetime.now(UTC), event["object"]))


@dataclass(frozen=True, slots=True)
class ShownForecasts:
    """The rows of the two views that have forecasts."""

    schedules: list[ShownRow]
    queue: list[ShownRow]


@contextmanager
def watching(kubeconfig: Path) -> Iterator[ShownForecasts]:
    """Watch schedules and queue; fails where a watch has ended by itself."""
    watches = {view: ForetopWatch(view, kubeconfig) for view in ("schedules", "queue")}
    ended: dict[str, int | None] = {}
    try:
        yield ShownForecasts(watches["schedules"].rows, watches["queue"].rows)
    finally:
        ended = {view: watch.close() for view, watch in watches.items()}
    assert not any(code is not None for code in ended.values()), f"foretop's watches ended by themselves: {ended}"
