"""Where the seed document and the released controllers part: the definitions that each of them needs."""

from __future__ import annotations

from copy import deepcopy

import msgspec

from foretop_core.minicluster.kinds import Catalog, Kind, load_catalog
from foretop_core.rules.reconcile import Behaviour


def catalog_for(behaviour: Behaviour) -> Catalog:
    """The released definitions; the seed's NAB also knows a forced delete, and copies every phase of a Backup."""
    catalog = load_catalog()
    if behaviour is Behaviour.RELEASED:
        return catalog
    return Catalog(_as_the_seed_has_it(kind) if kind.kind == "NonAdminBackup" else kind for kind in catalog)


def _as_the_seed_has_it(kind: Kind) -> Kind:
    schema = deepcopy(kind.schema)
    parts = schema["properties"]
    parts["spec"]["properties"]["forceDeleteBackup"] = {"type": "boolean"}
    copied = parts["status"]["properties"]["veleroBackup"]["properties"]["status"]["properties"]
    copied["phase"] = {"type": "string"}
    copied["queuePosition"] = {"type": "integer"}
    return msgspec.structs.replace(kind, schema=schema)
