"""Folders that are made once and kept, safe against a half-made one and against two makers at once."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path


def cache_home() -> Path:
    """Where foretop's built test servers are kept: the user's cache folder, never the tree."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base, "foretop", "real")


def place(name: str, recipe: str) -> Path:
    """Where the folder of this recipe is, once it is made."""
    return cache_home() / f"{name}-{hashlib.sha256(recipe.encode()).hexdigest()[:16]}"


def kept(name: str, recipe: str, make: Callable[[Path], None], say: Callable[[str], None]) -> Path:
    """The folder that `make` fills, made now unless one of the very same recipe is there."""
    ready = place(name, recipe)
    if ready.is_dir():
        return ready
    home = ready.parent
    home.mkdir(parents=True, exist_ok=True)
    with (home / f"{ready.name}.lock").open("w") as lock:
        _take(lock.fileno(), f"Waiting for another process that makes {ready}", say)
        if not ready.is_dir():
            _make_whole(ready, make)
    return ready


def _take(lock: int, waiting: str, say: Callable[[str], None]) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        say(waiting)
        fcntl.flock(lock, fcntl.LOCK_EX)


def _make_whole(ready: Path, make: Callable[[Path], None]) -> None:
    """Fill a folder of a fresh name, then rename it: a compiler outliving its parent then spoils nothing."""
    for leftover in ready.parent.glob(f"{ready.name}.partial-*"):
        shutil.rmtree(leftover, ignore_errors=True)
    partial = Path(tempfile.mkdtemp(prefix=f"{ready.name}.partial-", dir=ready.parent))
    try:
        make(partial)
        partial.chmod(0o755)
        partial.rename(ready)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
