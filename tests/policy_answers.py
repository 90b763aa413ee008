"""What foretop reads out of resource policies, in the form in which Velero's own code answers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from foretop_core.models import PersistentVolume, PersistentVolumeClaim, from_builtins
from foretop_core.models.builtin_kinds import ConfigMap
from foretop_core.rules.cron_dialects.releases import Release
from foretop_core.rules.volumes.policies import PolicyNotRead, PolicyRefusal, read_policies

NEWEST = Release(1, 18, 3)
_PLACE = re.compile(r"line \d+: ")


def config_map(data: Mapping[str, str]) -> ConfigMap:
    return from_builtins(ConfigMap, {"metadata": {"name": "policy", "namespace": "velero"}, "data": data})


def difference(question: Mapping[str, Any], answer: Mapping[str, Any]) -> str:
    """What foretop says otherwise than Velero; "" where they agree, "not read" where foretop does not say."""
    read = read_policies(config_map(question["data"]), NEWEST, is_restore=question["restore"])
    if isinstance(read, PolicyNotRead):
        return "not read"
    if isinstance(read, PolicyRefusal):
        # Go's library tells all faults of a YAML; the first one is enough.
        theirs, why = _PLACE.sub("", answer.get("error", "")), _PLACE.sub("", read.why)
        agrees = bool(theirs) and theirs.startswith(why) and answer["step"] == read.step
        return "" if agrees else f"refused: {read.step}: {read.why}"
    actions = [
        read.action(
            None if one["volume"] is None else from_builtins(PersistentVolume, one["volume"]),
            None if one["claim"] is None else from_builtins(PersistentVolumeClaim, one["claim"]),
        )
        for one in question["volumes"]
    ]
    ours = ["" if action is None else action.value for action in actions]
    return "" if ours == answer["actions"] and not answer.get("error") else f"actions: {ours}"
