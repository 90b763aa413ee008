"""A person's editor on a file that only they can read."""

from __future__ import annotations

import re
import secrets
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path

from foretop_core.errors import ForetopError
from foretop_core.own_files import create_file, read_whole_file
from foretop_core.process_group import find_program

_VARIABLES = ("KUBE_EDITOR", "VISUAL", "EDITOR")
_DEFAULT = "vi"
_LONGEST_NAME = 60
_MOST_BYTES = 4 * 2**20


def create_draft(folder: Path, name: str, text: str) -> Path:
    """A new file with the text, mode 0600."""
    try:
        safe = re.sub(r"[^a-z0-9.-]", "_", name)[:_LONGEST_NAME]
        path = folder / f"{safe}-{secrets.token_hex(4)}.yaml"
        with create_file(path, own=True) as file:
            file.write(text)
    except OSError as problem:
        raise ForetopError(f"Cannot write a file in {folder}", problem.strerror or str(problem)) from None
    return path


def run_editor(path: Path, environ: Mapping[str, str]) -> str:
    """The text after the editor has ended; the terminal is the editor's until then."""
    command = _command(environ)
    try:
        ended = subprocess.run([find_program(command[0], environ), *command[1:], str(path)], check=False)
        text = read_whole_file(path, _MOST_BYTES).decode("utf-8")
    except OSError as problem:
        raise ForetopError(
            f"Cannot edit {path} with {command[0]}", problem.strerror or str(problem), "set EDITOR"
        ) from None
    except UnicodeDecodeError:
        raise ForetopError(f"{path} is not valid", "it is not UTF-8") from None
    if ended.returncode:
        raise ForetopError(f"{command[0]} failed with exit code {ended.returncode}", "", f"the text is in {path}")
    return text


def _command(environ: Mapping[str, str]) -> list[str]:
    named = next((text for name in _VARIABLES if (text := environ.get(name, "").strip())), _DEFAULT)
    try:
        return shlex.split(named) or [_DEFAULT]
    except ValueError as problem:
        raise ForetopError(f"{named!r} is not a valid editor command", str(problem)) from None
