"""The two programs, and how their screens are read."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Program:
    """A program that shows NABs in a terminal."""

    name: str
    command: Sequence[str]
    environ: Mapping[str, str]
    has_frame: Callable[[list[str]], bool]
    has_all: Callable[[list[str], int], bool]
    keys: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What is pressed to measure each way of moving about."""


FORETOP_KEYS = {
    "move": ("j",) * 10 + ("k",) * 10,
    "page": ("\x06",) * 10,
    "sort": (">",) * 6,
    "filter": tuple("/0012"),
    # What was typed last is narrowed to before anything else changes.
    "keep the filter": ("\r",),
}


def foretop(kubeconfig: Path, home: Path) -> Program:
    return Program(
        "foretop",
        [sys.executable, "-m", "foretop", "--kubeconfig", str(kubeconfig), "--page", "nonadmin"],
        _homes(home),
        lambda lines: "Triage" in lines[1],
        lambda lines, count: "API ●" in lines[0],
        FORETOP_KEYS,
    )


def k9s(binary: Path, kubeconfig: Path, home: Path) -> Program:
    arguments = ["--kubeconfig", str(kubeconfig), "-A", "-c", "nonadminbackups", "--splashless", "--logoless"]
    return Program(
        "k9s",
        [str(binary), *arguments],
        {**_homes(home), "K9S_CONFIG_DIR": str(home / "k9s")},
        lambda lines: any("Context" in line for line in lines),
        lambda lines, count: any(_title_has(line, count) for line in lines),
    )


def _title_has(line: str, count: int) -> bool:
    found = re.search(r"nonadminbackups\([^)]*\)\s*\[([\d,]+)\]", line)
    return found is not None and int(found[1].replace(",", "")) == count


def _homes(home: Path) -> dict[str, str]:
    names = ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")
    return {"HOME": str(home), **{name: str(home / name.lower()) for name in names}}
