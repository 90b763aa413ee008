"""A pytest plugin that writes down which functions of the core each test calls, and how long it takes.

Only calls in the test's own process are seen.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType

import pytest

OUT = "FORETOP_CALLED_FUNCTIONS"
"""The folder to write to."""
_CORE = "/core/foretop_core/"


class _Recorder:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._seen: dict[int, CodeType] = {}

    def trace(self, frame: FrameType, _event: str, _arg: object) -> None:
        self._seen[id(frame.f_code)] = frame.f_code

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._seen.clear()
        began = time.monotonic()
        threading.settrace(self.trace)
        sys.settrace(self.trace)
        try:
            yield
        finally:
            sys.settrace(None)
            threading.settrace(None)
        # A copy: threads that were started with the trace may still run.
        called = sorted({_named(code) for code in list(self._seen.values()) if _CORE in code.co_filename})
        seen = {"seconds": round(time.monotonic() - began, 2), "called": called}
        with (self._folder / f"{os.getpid()}.jsonl").open("a") as file:
            file.write(f"{json.dumps([item.nodeid, seen])}\n")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(_Recorder(Path(os.environ[OUT])), "called-functions")


def _named(code: CodeType) -> str:
    return f"core/foretop_core/{code.co_filename.rpartition(_CORE)[2]}::{code.co_qualname}"
