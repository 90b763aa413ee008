"""Volume policies of any kind against a reference that was written from Velero's description, and shares no code."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from hypothesis import strategies as st

from foretop_core.models import PersistentVolume, PersistentVolumeClaim, from_builtins
from foretop_core.rules.volumes.policies import ResourcePolicies, read_policies
from tests.examples import few_or_many
from tests.policy_answers import NEWEST, config_map

_GIB = 1 << 30
_CLASSES, _DRIVERS, _SERVERS = ("fast", "slow", ""), ("ebs.csi.aws.com", "csi.example"), ("10.0.0.1", "10.0.0.2")
_PHASES, _MODES = ("Bound", "Pending", "Lost"), ("Filesystem", "Block")
_TYPES = ("csi", "nfs", "hostPath", "awsElasticBlockStore")
_ACTIONS = ("skip", "fs-backup", "snapshot", "custom")
_Policy = tuple[dict[str, Any], str]


def _labels(dice: Random) -> dict[str, str]:
    return {key: dice.choice(("db", "web")) for key in dice.sample(("app", "tier"), dice.randint(0, 2))}


def _some(dice: Random, values: tuple[str, ...]) -> list[str]:
    return dice.sample(values, dice.randint(1, 2))


def _range(dice: Random) -> tuple[int | None, int | None]:
    """In Gi; None where a side of it is open."""
    least, most = sorted((dice.randint(0, 120), dice.randint(1, 120)))
    return dice.choice(((least, most), (None, most), (least, None)))


def _conditions(dice: Random) -> dict[str, Any]:
    every: dict[str, Any] = {
        "storageClass": _some(dice, _CLASSES),
        "capacity": _range(dice),
        "nfs": dice.choice(({}, {"server": dice.choice(_SERVERS)})),
        "csi": dice.choice(({}, {"driver": dice.choice(_DRIVERS)})),
        "volumeTypes": _some(dice, _TYPES),
        "pvcLabels": {"app": "db"} | _labels(dice),
        "pvcPhase": _some(dice, _PHASES),
        "pvcVolumeMode": dice.choice(_MODES),
    }
    return {name: every[name] for name in dice.sample(tuple(every), dice.choice((0, 1, 1, 2, 2, 3)))}


def _policies(dice: Random) -> list[_Policy]:
    return [(_conditions(dice), dice.choice(_ACTIONS)) for _ in range(dice.randint(0, 4))]


def _volume(dice: Random) -> dict[str, Any]:
    sources: dict[str, dict[str, str]] = {
        "csi": {"driver": dice.choice(_DRIVERS), "volumeHandle": "h"},
        "nfs": {"server": dice.choice(_SERVERS), "path": "/"},
        "hostPath": {"path": "/"},
        "awsElasticBlockStore": {"volumeID": "v"},
    }
    source = dice.choice(_TYPES)
    return {"class": dice.choice(_CLASSES), "size": dice.randint(0, 120), "source": {source: sources[source]}}


def _claim(dice: Random) -> dict[str, Any]:
    return {"labels": _labels(dice), "phase": dice.choice(_PHASES), "mode": dice.choice(_MODES)}


def _fits(condition: str, value: Any, volume: dict[str, Any], claim: dict[str, Any]) -> bool:
    source = volume["source"]
    match condition:
        case "storageClass":
            return bool(volume["class"]) and volume["class"] in value
        case "capacity":
            least, most = value
            return (least is None or least <= volume["size"]) and (most is None or volume["size"] <= most)
        case "nfs":
            return "nfs" in source and value.get("server", source["nfs"]["server"]) == source["nfs"]["server"]
        case "csi":
            return "csi" in source and value.get("driver", source["csi"]["driver"]) == source["csi"]["driver"]
        case "volumeTypes":
            return next(iter(source)) in value
        case "pvcLabels":
            return all(claim["labels"].get(key) == text for key, text in value.items())
        case "pvcPhase":
            return claim["phase"] in value
        case _:
            return bool(claim["mode"] == value)


def _expected(policies: list[_Policy], volume: dict[str, Any], claim: dict[str, Any]) -> str:
    """The first policy whose conditions all hold."""
    for conditions, action in policies:
        if all(_fits(name, value, volume, claim) for name, value in conditions.items()):
            return action
    return ""


def _text(policies: list[_Policy]) -> str:
    def sides(pair: tuple[int | None, int | None]) -> str:
        return ",".join("" if side is None else f"{side}Gi" for side in pair)

    written = [
        {
            "conditions": {name: sides(value) if name == "capacity" else value for name, value in conditions.items()},
            "action": {"type": action},
        }
        for conditions, action in policies
    ]
    return json.dumps({"version": "v1", "volumePolicies": written})


@few_or_many(300, 20_000, st.integers(0, 2**32))
def test_the_first_policy_that_fits_decides(seed: int) -> None:
    dice = Random(seed)
    policies, volume, claim = _policies(dice), _volume(dice), _claim(dice)
    read = read_policies(config_map({"policy.yaml": _text(policies)}), NEWEST)
    assert isinstance(read, ResourcePolicies), read
    spec = {"storageClassName": volume["class"], "capacity": {"storage": str(volume["size"] * _GIB)}}
    made = from_builtins(PersistentVolume, {"metadata": {"name": "pv"}, "spec": {**spec, **volume["source"]}})
    claimed = from_builtins(
        PersistentVolumeClaim,
        {
            "metadata": {"name": "data", "namespace": "shop", "labels": claim["labels"]},
            "spec": {"volumeMode": claim["mode"]},
            "status": {"phase": claim["phase"]},
        },
    )
    action = read.action(made, claimed)
    assert ("" if action is None else action.value) == _expected(policies, volume, claim)
