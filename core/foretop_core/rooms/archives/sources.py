"""Archives in the place of clusters: the clients of a session whose objects come from files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from foretop_core.clock import Clock, ManualClock
from foretop_core.kube.connection.client import ApiClient
from foretop_core.kube.connection.client_factory import Connections
from foretop_core.kube.connection.exec_plugin import ExecPlugins
from foretop_core.rooms.archives.client import ArchiveClient
from foretop_core.rooms.archives.contents import read_archive
from foretop_core.rooms.archives.playback import Playback, RecordedClient

_ENDINGS = (".gz", ".tgz", ".xz", ".bz2", ".zip", ".tar", ".json", ".jsonl", ".yaml", ".yml")


def open_files(paths: Sequence[str], at: datetime | None, progress: Callable[[str], None]) -> tuple[Connections, Clock]:
    """The connections of a session on these archives, and its clock, which stands still by itself. May take seconds."""
    archives = [read_archive(Path(path), progress, at) for path in paths]
    recorded = [archive.now for archive in archives if archive.recording is not None]
    clock = ManualClock(max(recorded, default=archives[0].now))
    clients: dict[str, ApiClient] = {}
    for archive in archives:
        name = _free(_name(archive.path), clients)
        if archive.recording is None:
            clients[name] = ArchiveClient(archive, name, clock)
        else:
            clients[name] = RecordedClient(archive, archive.recording, name, clock)
    if recorded:
        Playback(clock, [client for client in clients.values() if isinstance(client, RecordedClient)])
    return Connections(clients, ExecPlugins(clock, {})), clock


def _name(path: Path) -> str:
    name = path.resolve().name or "archive"
    while name.endswith(_ENDINGS):
        name = name.rpartition(".")[0]
    return name or "archive"


def _free(name: str, taken: dict[str, ApiClient]) -> str:
    number = 1
    while (free := name if number == 1 else f"{name}-{number}") in taken:
        number += 1
    return free
