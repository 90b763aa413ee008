"""The flags of a Velero server that decide what becomes of volumes."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

_TRUE = frozenset({"1", "t", "T", "true", "TRUE", "True"})
_CSI = "EnableCSI"


class ServerFlags(msgspec.Struct, frozen=True):
    has_csi: bool = False
    copies_files: bool = False
    """The default for templates that do not say it."""
    moves_data: bool = False
    """The same."""
    snapshot_locations: Mapping[str, str] = msgspec.field(default_factory=dict)
    """The default location of each provider."""
    volume_policies: str = ""
    """The ConfigMap whose volume policies come after those of every run; "" for none."""


def read_flags(flags: Mapping[str, str]) -> ServerFlags:
    """The flags as the container has them, by name."""
    pairs = (
        entry.split(":", 1) for entry in flags.get("default-volume-snapshot-locations", "").split(",") if ":" in entry
    )
    return ServerFlags(
        _CSI in flags.get("features", "").split(","),
        flags.get("default-volumes-to-fs-backup", "false") in _TRUE,
        flags.get("default-snapshot-move-data", "false") in _TRUE,
        {provider: name for provider, colon, name in pairs if colon},
        flags.get("global-backup-volume-policies-configmap", ""),
    )
