"""Reads what a person types or gives: times, zones, files; each refusal says what and why."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, tzinfo
from pathlib import Path

import msgspec

from foretop.commands.output import say_to, warn
from foretop_core.actions.validation import cron
from foretop_core.clock import SystemClock
from foretop_core.cron.go_stdlib import GoError
from foretop_core.cron.zones import load
from foretop_core.errors import BadInput, ForetopError
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.models import manifest_reader
from foretop_core.models.manifest_reader import Manifest
from foretop_core.own_files import is_packed, read_file, read_given_file
from foretop_core.room_finder import room_modules
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.cron_dialects import NONE_GIVEN
from foretop_core.rules.humanize import rfc3339
from foretop_core.rules.snapshot import ClusterSnapshot

_MOST_BYTES = 128 * 2**20
_PATIENCE = 60.0
"""Seconds in which a command whose output is the file writes something."""

__all__ = ["as_of", "cron", "looked_at", "moment", "objects", "snapshot_in", "zone"]


def zone(name: str | None) -> tzinfo:
    if not name or name == "UTC":
        return UTC
    try:
        return load(name) or UTC
    except GoError:
        raise BadInput(f"{name!r} is not a valid time zone", "", "use a name such as Europe/Berlin") from None


def moment(text: str | None, local: tzinfo = UTC) -> datetime:
    """The time given, or now; a time that names no zone is one of the zone in use."""
    if text is None:
        return SystemClock().now()
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        hint = "use RFC 3339, such as 2026-11-15T02:30:00Z"
        raise BadInput(f"{text!r} is not a valid time", "", hint) from None
    try:
        return (parsed if parsed.tzinfo else parsed.replace(tzinfo=local)).astimezone(UTC)
    except OverflowError:
        raise BadInput(f"{text!r} is out of range", "", "use a year from 2 to 9998") from None


def as_of(at: str | None, source: str, read: Manifest) -> datetime:
    """The time given, else the one that the objects of a file tell, as of an archive; now where they tell none."""
    if at is not None:
        return moment(at)
    for room in room_modules("foretop_core", "moment"):
        made, notes = room.time_of(read.documents, Path(source).name)
        if made is not None:
            warn([ForetopError(note) for note in notes])
            say_to(f"As of {rfc3339(made)}, the newest time in {source}.", err=True)
            return made  # type: ignore[no-any-return]
    return moment(None)


def objects(source: str) -> Manifest:
    """The objects in a file, or on standard input for `-`."""
    name = "standard input" if source == "-" else source
    try:
        text = (
            _standard_input()
            if source == "-"
            else manifest_reader.as_utf8(read_given_file(Path(source), _MOST_BYTES, _PATIENCE)).decode("utf-8")
        )
    except UnicodeDecodeError as problem:
        raise BadInput(f"{name} cannot be read", f"it is not UTF-8 text (byte {problem.start})") from None
    except (OSError, ValueError) as problem:
        why = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
        raise BadInput(f"{name} cannot be read", why) from None
    read = manifest_reader.read(text, name)
    if not read.objects:
        why = str(read.unreadable[0]) if read.unreadable else _why_nothing(read)
        raise BadInput(f"{name} contains no supported objects", why)
    return read


def looked_at(source: str | None, session_options: SessionOptions) -> SessionOptions | None:
    """The session to open: on clusters where no file is named, on the archive where it is one; None for manifests."""
    if source is None:
        return session_options
    return msgspec.structs.replace(session_options, files=(source,)) if _is_archive(source) else None


def _is_archive(source: str) -> bool:
    """True for a directory, a recording and a packed file; `-` and what cannot be read are left to the manifests."""
    path = Path(source)
    try:
        is_recording = path.suffix == ".jsonl"
        return source != "-" and (is_recording or path.is_dir() or (path.is_file() and is_packed(read_file(path, 512))))
    except OSError:
        return False


def snapshot_in(source: str, session_options: SessionOptions) -> tuple[ClusterSnapshot, Manifest]:
    """The cluster that a file describes, read as the release given does, and the objects as they stand there."""
    read = objects(source)
    versions = session_options.velero_versions or NONE_GIVEN
    versions.check(())
    return assemble((item for _, item in read.objects), given_versions=versions.of("")), read


def _standard_input() -> str:
    if sys.stdin is None:
        raise ValueError("it is closed")
    text = sys.stdin.read(_MOST_BYTES + 1)
    if len(text) > _MOST_BYTES:
        raise ValueError(f"it is larger than {_MOST_BYTES // 2**20} MiB")
    return text


def _why_nothing(read: Manifest) -> str:
    if read.others:
        return f"{read.others} objects of kinds that foretop does not read"
    return "it is empty"
