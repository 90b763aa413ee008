"""The report that a crash leaves: the way to the fault, and no value on it that could be a secret."""

from __future__ import annotations

import os
import platform
import sys
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from foretop_core.own_files import create_file
from foretop_core.rules.own_failures import problem_text
from foretop_core.tables.text.terminal_text import unsigned

_PACKAGES = ("foretop", "textual", "rich", "msgspec", "aiohttp")


def write_crash_report(problem: BaseException, environ: Mapping[str, str]) -> Path | None:
    """Writes a new file that only its owner can read; None where that is not possible."""
    path = state_folder(environ) / f"crash-{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{os.getpid()}.txt"
    try:
        with create_file(path, own=True) as out:
            out.write("\n".join(_report(problem)) + "\n")
    except OSError:
        return None
    return path


def state_folder(environ: Mapping[str, str]) -> Path:
    state = environ.get("XDG_STATE_HOME", "")
    base = Path(state) if state.startswith("/") else Path(environ.get("HOME", "/")) / ".local" / "state"
    return base / "foretop"


def crash_lines(problem: BaseException, environ: Mapping[str, str]) -> str:
    """The lines that a person reads at the end, with the path of the report."""
    path = write_crash_report(problem, environ)
    where = f"Report: {path}" if path else "The report could not be written."
    return f"foretop: stopped by a fault of its own: {unsigned(problem_text(problem))}\n{where}"


def _report(problem: BaseException) -> list[str]:
    lines = [unsigned(problem_text(problem)), "", f"Python {platform.python_version()} on {sys.platform}"]
    lines += [f"{name} {_version(name)}" for name in _PACKAGES]
    return [*lines, "", *traceback_lines(problem)]


def traceback_lines(problem: BaseException) -> list[str]:
    """The way to a fault and to those before it, without any values."""
    lines: list[str] = []
    cause: BaseException | None = problem
    while cause is not None:
        lines += [*([""] if lines else []), unsigned(problem_text(cause))]
        frames = traceback.extract_tb(cause.__traceback__)
        lines += [f"  {frame.filename}:{frame.lineno} in {frame.name}" for frame in frames]
        cause = cause.__cause__ or cause.__context__
    return lines


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
