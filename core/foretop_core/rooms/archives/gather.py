"""An archive of what foretop reads of a cluster, in the layout of a must-gather, without what nobody should send.

Secrets are never read, addresses lose what signs them, and what tenants wrote into their own objects stays at home
unless it is asked for. What was listed and empty is noted, so that whoever opens it does not take it for unknown.
"""

from __future__ import annotations

import io
import re
import tarfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any

import msgspec

from foretop_core.actions.journal import JournalEntry, entry_line
from foretop_core.actions.run_logs import SELECTORS, container_log
from foretop_core.errors import ForetopError
from foretop_core.foreign_text import redacted, redacted_values
from foretop_core.kube.connection import api_paths
from foretop_core.kube.connection.client import ApiClient
from foretop_core.kube.connection.list_watch_codec import read_page
from foretop_core.models.kinds import POD, Kind
from foretop_core.models.wire import LAST_APPLIED
from foretop_core.rooms.archives.beside import SEEN, RawObjects, add_list, key_of, read_beside, without_repeats
from foretop_core.rooms.archives.contents import LISTED_FILE, ListedKinds
from foretop_core.rooms.archives.recording import ListedScope
from foretop_core.rules.humanize import rfc3339
from foretop_core.session import Session

_ROOT = "must-gather"
_UNUSUAL = re.compile(r"[^\w.-]+")
_OWN_ANNOTATIONS = ("velero.io/", "openshift.io/", "oadp.openshift.io/", "foretop")
"""Beginnings, or ends of the domain, of annotations that rules read; the others are somebody's own words."""
_PROGRAM = ("env", "envFrom", "args", "command")

Progress = Callable[[str], None]


class Gathered(msgspec.Struct):
    """The files of an archive that is not written yet, and what could not be had."""

    files: dict[str, bytes] = {}
    counts: Counter[str] = msgspec.field(default_factory=Counter)
    """Objects by the title of their kind."""
    problems: list[ForetopError] = []

    @property
    def size(self) -> int:
        return sum(map(len, self.files.values()))

    def packed(self, at: datetime) -> bytes:
        """A tar.gz, for its reader alone."""
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz") as tar:
            for name, content in sorted(self.files.items()):
                info = tarfile.TarInfo(name)
                info.size, info.mode, info.mtime = len(content), 0o600, int(at.timestamp())
                tar.addfile(info, io.BytesIO(content))
        return packed.getvalue()


async def gather(session: Session, context: str, progress: Progress, *, with_texts: bool) -> Gathered:
    """Lists again, whole, what the session has seen; it must have settled, with the kinds on demand."""
    client, snapshot = session.clusters[context].client, session.snapshot(context)
    cluster = f"{_ROOT}/clusters/{_UNUSUAL.sub('_', context)}"
    servers = snapshot.velero_namespaces
    gathered = Gathered()
    found = await read_beside(client, snapshot)
    watches = session.store.health.watches(context)
    for scope in without_repeats(scope for scope, health in watches if health.state in SEEN):
        progress(f"Listing {api_paths.title(scope.kind)}{f' in {scope.namespace}' if scope.namespace else ''}")
        await add_list(client, scope, found)
    gathered.problems += found.problems
    for path, kind, items in _by_file(found.objects):
        home = kind.namespaced and items[0]["metadata"].get("namespace", "") not in servers
        kept = [without_private(item, is_tenants=home and not with_texts) for item in items]
        gathered.files[f"{cluster}/{path}"] = _json({"apiVersion": "v1", "kind": "List", "items": kept})
        gathered.counts[api_paths.title(kind)] += len(items)
    scopes = [ListedScope(kind.group, kind.name, namespace) for kind, namespace in sorted(found.listed, key=_name_of)]
    gathered.files[f"{_ROOT}/{LISTED_FILE}"] = _json(ListedKinds(rfc3339(session.clock(context).now()) or "", scopes))
    for namespace in servers:
        await _add_logs(client, namespace, f"{cluster}/namespaces/{namespace}/pods", gathered, progress)
    return gathered


def add_own(gathered: Gathered, findings: Iterable[str], journal: Iterable[JournalEntry], log: bytes) -> None:
    """Adds what foretop itself knows: its findings as text, what it wrote, and its log where there is one."""
    own = f"{_ROOT}/foretop"
    gathered.files[f"{own}/findings.txt"] = "".join(f"{redacted(line)}\n" for line in findings).encode()
    gathered.files[f"{own}/journal.txt"] = b"".join(map(entry_line, journal))
    if log:
        gathered.files[f"{own}/foretop.log"] = redacted(log.decode("utf-8", "replace")).encode()


def _by_file(objects: RawObjects) -> Iterator[tuple[str, Kind, list[dict[str, Any]]]]:
    """The path of each file, and the objects of one kind and namespace in it."""
    files: dict[tuple[Kind, str], list[dict[str, Any]]] = {}
    for (kind, namespace, _), item in objects.items():
        files.setdefault((kind, namespace), []).append(item)
    for (kind, namespace), items in files.items():
        group = kind.group or "core"
        if namespace:
            folder = f"{group}/{kind.plural}" if "." in group else group
            yield f"namespaces/{namespace}/{folder}/{kind.plural}.yaml", kind, items
        else:
            yield f"cluster-scoped-resources/{group}/{kind.plural}.yaml", kind, items


def without_private(item: dict[str, Any], *, is_tenants: bool) -> dict[str, Any]:
    """An object without kubectl's copy of it and secrets in its texts; of a tenant's without words of their own."""
    meta = dict(item.get("metadata") or {})
    annotations = {key: text for key, text in (meta.get("annotations") or {}).items() if key != LAST_APPLIED}
    if is_tenants:
        annotations = {key: text for key, text in annotations.items() if any(part in key for part in _OWN_ANNOTATIONS)}
    if "annotations" in meta:
        meta["annotations"] = annotations
    kept: dict[str, Any] = redacted_values({**item, "metadata": meta})
    return _without_programs(kept) if is_tenants else kept


def _without_programs(value: Any) -> Any:
    """Containers without what they run and with which variables."""
    if isinstance(value, list):
        return [_without_programs(part) for part in value]
    if not isinstance(value, dict):
        return value
    is_container = "image" in value and "name" in value
    return {key: _without_programs(part) for key, part in value.items() if not (is_container and key in _PROGRAM)}


async def _add_logs(client: ApiClient, namespace: str, folder: str, gathered: Gathered, progress: Progress) -> None:
    """The logs of the server's pods; without the right to read them, a line says so."""
    for selector in SELECTORS:
        try:
            answer = await client.request("GET", api_paths.collection(POD, namespace), {"labelSelector": selector})
            for raw in read_page(answer.body, POD).items or ():
                name = key_of(POD, msgspec.json.decode(raw))[2]
                progress(f"Reading the log of {name}")
                lines = await container_log(client, namespace, name)
                text = redacted("\n".join(lines)).encode()
                gathered.files[f"{folder}/{name}/velero/velero/logs/current.log"] = text
        except ForetopError as problem:
            gathered.problems.append(problem)
            return


def _json(value: object) -> bytes:
    """YAML too, for every YAML reader reads JSON."""
    return msgspec.json.format(msgspec.json.encode(value), indent=1)


def _name_of(scope: tuple[Kind, str]) -> tuple[str, str]:
    return api_paths.title(scope[0]), scope[1]
