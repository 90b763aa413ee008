"""The configuration file on the disk. A machine without one pays for one look, and for no parser."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from foretop_core.config.settings import DEFAULT_SETTINGS, VARIABLES, Settings
from foretop_core.own_files import read_file

if TYPE_CHECKING:
    from foretop_core.config.config_reader import SettingPath

# Deferred imports: a start without a configuration file pays for no parser.

FileStamp = tuple[int, int, int]
"""What tells one version of a file from another: time, size and inode."""
_ABSENT: FileStamp = (0, 0, 0)
_MOST_BYTES = 256 * 1024
_PROTECTED = "every context is read-only until this is fixed"


class ConfigFile(msgspec.Struct, frozen=True):
    """The user's file as it was read; every setting has its default without a file."""

    path: Path
    settings: Settings = DEFAULT_SETTINGS
    mistakes: tuple[str, ...] = ()
    """One line each, with the file and the line."""
    stamp: FileStamp = _ABSENT
    lines: Mapping[SettingPath, int] = msgspec.field(default_factory=dict)
    protects_all: bool = False
    """With a mistake it cannot be told what the file protects: every context is read-only until it is fixed."""
    from_environment: frozenset[str] = frozenset()
    """The settings that come from the environment."""

    @property
    def exists(self) -> bool:
        return self.stamp != _ABSENT


def config_path(environ: Mapping[str, str]) -> Path:
    home = environ.get("XDG_CONFIG_HOME", "")
    base = Path(home) if home.startswith("/") else Path(environ.get("HOME", "/")) / ".config"
    return base / "foretop" / "config.yaml"


def file_stamp(path: Path) -> FileStamp:
    """A link that leads nowhere, for the file or a folder on the way to it, is not the absence of a file."""
    try:
        status = os.stat(path)
    except FileNotFoundError as problem:
        dangling = any(os.path.islink(part) and not os.path.exists(part) for part in (path, *path.parents))
        return (problem.errno or 1, -1, -1) if dangling else _ABSENT
    except OSError as problem:
        return (problem.errno or 1, -1, -1)
    return status.st_mtime_ns, status.st_size, status.st_ino


def read_config(environ: Mapping[str, str]) -> ConfigFile:
    """The settings of the file and, over them, of the environment.

    Never raises: what is wrong with them is among the mistakes.
    """
    path = config_path(environ)
    stamp = file_stamp(path)
    text, unreadable = ("", "") if stamp == _ABSENT else _text(path)
    if not text and not any(environ.get(variable, "").strip() for variable in VARIABLES.values()):
        mistakes = (f"{path}: {unreadable}; {_PROTECTED}",) if unreadable else ()
        return ConfigFile(path, mistakes=mistakes, stamp=stamp, protects_all=bool(unreadable))
    # Only where something is set: the parser costs more than all else at the start.
    from foretop_core.config.config_reader import apply_environment, check_settings, read_settings

    reading = read_settings(text)
    check_settings(reading)
    protects_all = bool(reading.mistakes or unreadable)
    apply_environment(reading, environ)
    lines = [f"{path}:{mistake.line}: {mistake.text}" if mistake.line else mistake.text for mistake in reading.mistakes]
    if reading.untold:
        lines.append(f"{path}: {reading.untold:,} more mistakes")
    if unreadable:
        lines.append(f"{path}: {unreadable}; {_PROTECTED}")
    elif protects_all:
        lines.append(f"{path}: {_PROTECTED}")
    return ConfigFile(
        path, reading.settings, tuple(lines), stamp, reading.lines, protects_all, frozenset(reading.from_environment)
    )


def _text(path: Path) -> tuple[str, str]:
    """The content of the file, or why it cannot be read."""
    try:
        data = read_file(path, _MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            return "", f"it is larger than {_MOST_BYTES:,} bytes"
        return (data.decode("utf-8"), "") if data.strip() else ("", "it is empty")
    except FileNotFoundError:
        return "", "it is a link that leads nowhere"
    except OSError as problem:
        return "", (problem.strerror or "it cannot be read").lower()
    except UnicodeDecodeError:
        return "", "it is not UTF-8 text"
