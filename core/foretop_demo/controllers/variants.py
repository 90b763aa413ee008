"""The differences between the seed document, the released controllers and older releases: the definitions of each."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

import msgspec

from foretop_core.rules.cron_dialects import NEWEST_KNOWN, Release, read_release
from foretop_core.rules.phases import QUEUE_PHASES
from foretop_demo.kinds import Catalog, Kind, load_catalog
from foretop_demo.reconcile import Behaviour


def has_queue(release: Release) -> bool:
    """True if waiting backups have a phase and a queue position; before 1.18 they have no status at all."""
    return (release.major, release.minor) >= (1, 18)


def keeps_validation_errors(release: Release) -> bool:
    """True if a schedule that is valid by now still has the errors of before in its status, as until 1.15."""
    return (release.major, release.minor) < (1, 16)


def deletion_error(release: Release, why: str) -> str:
    """The message of a failed delete request; since 1.18.3 that begins with what failed."""
    names_it = (release.major, release.minor) > (1, 18) or (has_queue(release) and release.patch not in (0, 1, 2))
    return f"backup deletion failed: {why}" if names_it else why


def catalog_for(behaviour: Behaviour, version: str = NEWEST_KNOWN) -> Catalog:
    """The definitions of a release. The seed's NAB also has a forced delete and copies every phase of a Backup."""
    catalog = load_catalog()
    if behaviour is Behaviour.SEED:
        catalog = _changed(catalog, "NonAdminBackup", _as_the_seed_has_it)
    if not has_queue(read_release(version)):
        catalog = _changed(catalog, "Backup", _without_a_queue)
    return catalog


def _changed(catalog: Catalog, name: str, change: Callable[[Kind], Kind]) -> Catalog:
    return Catalog(change(kind) if kind.kind == name else kind for kind in catalog)


def _without_a_queue(kind: Kind) -> Kind:
    schema = deepcopy(kind.schema)
    status = schema["properties"]["status"]["properties"]
    del status["queuePosition"]
    status["phase"]["enum"] = [phase for phase in status["phase"]["enum"] if phase not in QUEUE_PHASES]
    return msgspec.structs.replace(kind, schema=schema)


def _as_the_seed_has_it(kind: Kind) -> Kind:
    schema = deepcopy(kind.schema)
    parts = schema["properties"]
    parts["spec"]["properties"]["forceDeleteBackup"] = {"type": "boolean"}
    copied = parts["status"]["properties"]["veleroBackup"]["properties"]["status"]["properties"]
    copied["phase"] = {"type": "string"}
    copied["queuePosition"] = {"type": "integer"}
    return msgspec.structs.replace(kind, schema=schema)
