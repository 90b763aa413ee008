"""What a person chose on the screen and finds again at the next start: the theme."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from foretop_core.own_files import read_own_file, replace_own_file

_LONGEST = 100


def remembered_theme(environ: Mapping[str, str]) -> str:
    """The theme that was last chosen on the screen; "" where none was."""
    try:
        return read_own_file(_file(environ), _LONGEST).decode("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def remember_theme(environ: Mapping[str, str], name: str) -> None:
    """Keeps it in the state folder; where that cannot be written, the choice holds until the end."""
    path = _file(environ)
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_own_file(path, f"{name}\n".encode())


def _file(environ: Mapping[str, str]) -> Path:
    given = environ.get("XDG_STATE_HOME", "")
    base = Path(given) if given.startswith("/") else Path(environ.get("HOME", "/")) / ".local" / "state"
    return base / "foretop" / "theme"
