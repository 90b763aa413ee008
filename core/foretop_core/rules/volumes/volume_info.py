"""The volumes of a backup as its own file in the storage tells them: how each was taken, or why it was not.

The file is written by Velero, and whoever may write to the bucket can put another in its place: a reason is cut, a size
that cannot be one is none, and what names no volume makes all of the file unreadable.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from foretop_core.errors import Unreadable
from foretop_core.rules import humanize
from foretop_core.rules.protection.coverage import VolumeMethod
from foretop_core.rules.volumes.evidence import ToldVolume, VolumeFate, VolumeInfo

MOST_VOLUMES = 50_000
_LONGEST_NAME = 253
_LONGEST_REASON = 300
_LARGEST = 2**60
"""Bytes; no volume has as many."""
_METHODS = {
    "NativeSnapshot": (VolumeMethod.SNAPSHOT, "nativeSnapshotInfo"),
    "CSISnapshot": (VolumeMethod.SNAPSHOT, "csiSnapshotInfo"),
    "PodVolumeBackup": (VolumeMethod.FILE_SYSTEM, "pvbInfo"),
}
_MOVED = (VolumeMethod.DATA_MOVER, "snapshotDataMovementInfo")
_SECONDARY = ("not satisfy the criteria for volumepolicy", "it's not a csi volume")
"""Why one way did not take it, which says nothing beside the reason of another."""
_PHRASES = (
    ("no applicable volumesnapshotter found", "no snapshot location knows this volume"),
    ("resource polic", "its resource policy skips it"),
    ("not satisfy the criteria for volumepolicy", "its backup takes no snapshot of it"),
)


def parse_volume_info(text: bytes | bytearray) -> VolumeInfo:
    """The contents of a volume info; raises Unreadable for any other file."""
    try:
        entries = msgspec.json.decode(text)
    except (ValueError, RecursionError) as problem:
        raise _unreadable(str(problem)[:_LONGEST_REASON]) from None
    if isinstance(entries, Mapping):
        # Velero 1.13 has the list in an object.
        entries = entries.get("volumeInfos")
    if entries is None:
        return VolumeInfo()
    if not isinstance(entries, list):
        raise _unreadable(f"expected a list, got {type(entries).__name__}")
    if len(entries) > MOST_VOLUMES:
        raise _unreadable(f"it names more than {MOST_VOLUMES:,} volumes")
    told: dict[tuple[str, str], ToldVolume] = {}
    others = 0
    for entry in entries:
        volume = _volume(entry)
        if volume is None:
            others += 1
            continue
        key = volume.namespace, volume.claim
        told[key] = _agreed(told[key], volume) if key in told else volume
    return VolumeInfo(tuple(told[key] for key in sorted(told)), others)


def _unreadable(why: str) -> Unreadable:
    return Unreadable("The volume info cannot be read", why)


def _volume(entry: Any) -> ToldVolume | None:
    """None for a volume without a claim: it belongs to a pod, and nothing that is expected."""
    if not isinstance(entry, Mapping):
        raise _unreadable(f"expected an object for each volume, got {type(entry).__name__}")
    namespace, claim = _name(entry, "pvcNamespace"), _name(entry, "pvcName")
    if not claim or not namespace:
        return None
    method, part = _MOVED if entry.get("snapshotDataMoved") is True else _METHODS.get(_text(entry, "backupMethod"), _NO)
    detail = entry.get(part)
    detail = detail if isinstance(detail, Mapping) else {}
    if entry.get("skipped") is True:
        return ToldVolume(namespace, claim, VolumeFate.LEFT_OUT, VolumeMethod.NONE, why=_reason(entry))
    result = _text(entry, "result")
    phase = _text(detail, "phase") or _text(detail, "Phase")
    if method is VolumeMethod.NOT_KNOWN:
        way = _text(entry, "backupMethod")[:_LONGEST_NAME]
        why = f"it was taken in a way that foretop does not know: {way}" if way else "its volume info names no way"
        return ToldVolume(namespace, claim, VolumeFate.NOT_KNOWN, method, why=why)
    if result == "succeeded" or (not result and phase == "Completed"):
        return ToldVolume(
            namespace, claim, VolumeFate.TAKEN, method, _size(detail, method), volume=_name(entry, "pvName")
        )
    if result == "failed" or phase in ("Failed", "Canceled"):
        return ToldVolume(namespace, claim, VolumeFate.LEFT_OUT, method, why=f"its {_NOUNS[method]} failed")
    why = f"its {_NOUNS[method]} had not ended when its volume info was written"
    return ToldVolume(namespace, claim, VolumeFate.NOT_KNOWN, method, why=why)


_NO = (VolumeMethod.NOT_KNOWN, "")
_NOUNS = {
    VolumeMethod.SNAPSHOT: "snapshot",
    VolumeMethod.DATA_MOVER: "data movement",
    VolumeMethod.FILE_SYSTEM: "file copy",
}


def _agreed(one: ToldVolume, other: ToldVolume) -> ToldVolume:
    """Two entries for one claim: what they do not agree on is not known."""
    if (one.fate, one.volume) == (other.fate, other.volume):
        return one
    why = "its volume info names it twice, and not alike"
    return ToldVolume(one.namespace, one.claim, VolumeFate.NOT_KNOWN, VolumeMethod.NOT_KNOWN, why=why)


def _text(entry: Mapping[str, Any], field: str) -> str:
    value = entry.get(field)
    return value if isinstance(value, str) else ""


def _name(entry: Mapping[str, Any], field: str) -> str:
    """Which volume it is must be certain."""
    value = entry.get(field)
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > _LONGEST_NAME:
        raise _unreadable(f"{field} is not the name of an object")
    return value


def _size(detail: Mapping[str, Any], method: VolumeMethod) -> int | None:
    """Velero leaves a size of nothing out: what was copied is empty then, and a driver told none of a snapshot."""
    value = detail.get("size", 0 if detail else None)
    least = 1 if method is VolumeMethod.SNAPSHOT else 0
    return value if type(value) is int and least <= value < _LARGEST else None


def _reason(entry: Mapping[str, Any]) -> str:
    """The first reason that says something, in words where it is one that is known."""
    parts = [part.strip() for part in _text(entry, "skippedReason")[: 16 * _LONGEST_REASON].split(";")]
    told = [part for part in parts if part]
    if not told:
        return "its volume info gives no reason"
    main = next((part for part in told if not any(one in part.lower() for one in _SECONDARY)), told[0])
    known = next((words for phrase, words in _PHRASES if phrase in main.lower()), "")
    text = known or main.partition(": ")[2] or main
    return text if len(text) <= _LONGEST_REASON else f"{text[:_LONGEST_REASON]}…"


def told_line(told: ToldVolume) -> str:
    """`data-0 by snapshot, 1.0 GiB`, or the reason why not."""
    if told.fate is not VolumeFate.TAKEN:
        return f"{told.claim}: {'not known, ' if told.fate is VolumeFate.NOT_KNOWN else ''}{told.why}"
    size = f", {humanize.size(told.size)}" if told.size is not None else ", size not known"
    return f"{told.claim} by {told.method.value}{size}"
