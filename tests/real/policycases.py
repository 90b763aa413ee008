"""Random resource policies, sound and broken, each with volumes to judge by them."""

from __future__ import annotations

import json
import random
from typing import Any

SECTIONS = ("volumePolicies", "includeExcludePolicy", "namespacedFilterPolicies", "clusterScopedFilterPolicy")
_DRIVERS = ("csi.example", "ebs.csi.aws.com", "csi.other")
_CLASSES = ("fast", "slow", "archive", "")
_LABELS: tuple[dict[str, str], ...] = ({}, {"app": "db"}, {"app": "web", "tier": "gold"}, {"tier": "true"}, {"n": "1"})
_QUANTITIES = ("", "5Gi", "10Gi", "50Gi", "1T", "1e9", "500M", ".5Gi", "10G", "-1", "0", "1.5Gi")
_SOURCES: tuple[dict[str, Any], ...] = (
    {"csi": {"driver": "csi.example", "volumeHandle": "a"}},
    {"csi": {"driver": "ebs.csi.aws.com", "volumeHandle": "b", "volumeAttributes": {"fs": "ext4", "n": "1"}}},
    {"nfs": {"server": "10.0.0.1", "path": "/a"}},
    {"nfs": {"server": "10.0.0.2", "path": "/b"}},
    {"hostPath": {"path": "/data"}},
    {"awsElasticBlockStore": {"volumeID": "vol-1"}},
    {"local": {"path": "/mnt"}},
    {"cephfs": {"monitors": ["a"]}},
    {"scaleIO": {"gateway": "g", "system": "s", "secretRef": {"name": "n"}}},
    {"storageos": {"volumeName": "v"}},
)
_BROKEN = (
    "",
    "null",
    "---",
    "# nothing",
    "foo",
    "[]",
    "version: v1\nversion: v1",
    "version: v1\nvolumePolicies: {}",
    "version: [v1]",
    "version: v1\n\tfoo: 1",
    "a: [",
    "version: 'v1",
    "version: v1\n---\nfoo: bar",
    "version: v1\nextra: 1",
    "version: v1\nincludeExcludePolicy: null",
    "version: v1\nclusterScopedFilterPolicy: {}",
    "version: v1\nvolumePolicies:\n- conditions: {pvcLabels: {1: a}}\n  action: {type: skip}",
    "version: v1\nvolumePolicies:\n- conditions: {pvcLabels: {a: true}}\n  action: {type: skip}",
    "version: v1\nvolumePolicies:\n- conditions: {storageClass: [1, true, yes]}\n  action: {type: skip}",
    "version: v1\nvolumePolicies:\n- action: {type: skip}",
    "version: v1\nvolumePolicies:\n- conditions:\n  action: {type: skip, parameters: {a: [1, {b: 2}]}}",
    "version: v1\nvolumePolicies:\n- &p {conditions: {csi: {}}, action: {type: skip}}\n- *p",
    "version: v1\nvolumePolicies: [null]",
    "version: v1\nnamespacedFilterPolicies: [null]",
    "version: v1\nnamespacedFilterPolicies:\n- namespaces: [a]\n  resourceFilters: [null]",
)


def random_questions(rng: random.Random, count: int) -> list[dict[str, Any]]:
    return [_question(rng) for _ in range(count)]


def _question(rng: random.Random) -> dict[str, Any]:
    is_broken = rng.random() < 0.06
    text = rng.choice(_BROKEN) if is_broken else _document(rng)
    data = {"policy.yaml": text}
    if rng.random() < 0.02:
        data = rng.choice(({}, data | {"more": ""}))
    return {
        "data": data,
        "restore": rng.random() < 0.15,
        "volumes": [_volume(rng, number) for number in range(2)],
    }


def _document(rng: random.Random) -> str:
    written: dict[str, Any] = {"version": rng.choice(("v1",) * 80 + ("v2", 1, None))}
    if rng.random() < 0.75:
        written["volumePolicies"] = [_volume_policy(rng) for _ in range(rng.randint(0, 3))]
    if rng.random() < 0.25:
        written["includeExcludePolicy"] = _lists(rng)
    if rng.random() < 0.3:
        written["namespacedFilterPolicies"] = [_namespaces(rng) for _ in range(rng.randint(1, 2))]
    if rng.random() < 0.2:
        written["clusterScopedFilterPolicy"] = {
            "resourceFilters": [_filter(rng, ("PersistentVolume", "clusterroles")) for _ in range(rng.randint(0, 2))]
        }
    if rng.random() < 0.03:
        written[rng.choice(("volumepolicies", "x"))] = []
    # JSON is YAML; half of them are written as people do.
    return json.dumps(written) if rng.random() < 0.5 else "\n".join(_yaml(written))


def _yaml(value: Any, depth: int = 0) -> list[str]:
    indent = "  " * depth
    lines = []
    for key, item in value.items():
        if isinstance(item, dict) and item:
            lines += [f"{indent}{key}:", *_yaml(item, depth + 1)]
        elif isinstance(item, list) and item and isinstance(item[0], dict):
            lines.append(f"{indent}{key}:")
            lines += [f"{indent}- {json.dumps(one)}" for one in item]
        elif isinstance(item, str) and item.replace("-", "").isalnum() and not item[0].isdigit():
            lines.append(f"{indent}{key}: {item}")
        else:
            lines.append(f"{indent}{key}: {json.dumps(item)}")
    return lines


def _volume_policy(rng: random.Random) -> dict[str, Any]:
    conditions = {}
    for name in rng.sample(sorted(_CONDITIONS), rng.choice((0, 1, 1, 1, 2, 2, 3))):
        is_odd = rng.random() < 0.1
        conditions[name] = _CONDITIONS[name](rng) if is_odd or name not in _SOUND else rng.choice(_SOUND[name])
    if rng.random() < 0.01:
        conditions[rng.choice(("pvclabels", "size"))] = "a"
    kinds = ("skip", "fs-backup", "snapshot", "custom") * 30 + ("Skip", "", "delete")
    action: dict[str, Any] = {"type": rng.choice(kinds)}
    if rng.random() < 0.1:
        action["parameters"] = {"a": rng.choice((1, "b", None, [1]))}
    return {"conditions": conditions, "action": action}


def _capacity(rng: random.Random) -> Any:
    if rng.random() < 0.1:
        return rng.choice(("10Gi", "a,b", "1,2,3", 5, None, ["1Gi"], "10Gi,5Gi", " 1Gi , 2Gi ", "0,0"))
    return f"{rng.choice(_QUANTITIES)},{rng.choice(_QUANTITIES)}"


_SOUND: dict[str, tuple[Any, ...]] = {
    "storageClass": (["fast"], ["slow", "fast"]),
    "nfs": ({}, {"server": "10.0.0.1"}, {"path": "/b"}),
    "csi": ({}, {"driver": "csi.example"}, {"driver": "ebs.csi.aws.com", "volumeAttributes": {"fs": "ext4", "n": 1}}),
    "pvcLabels": ({"app": "db"}, {"tier": True}, {"n": 1}),
    "pvcPhase": (["Bound"], ["Pending", "Lost"]),
    "pvcVolumeMode": ("Filesystem", "Block"),
    "pvcAccessModes": (["ReadWriteOnce"], ["ReadOnlyMany", "ReadWriteOnce"]),
}
_CONDITIONS: dict[str, Any] = {
    "capacity": _capacity,
    "storageClass": lambda rng: rng.choice((["fast"], ["slow", "fast"], [], "fast", None, [""], {"a": "b"})),
    "nfs": lambda rng: rng.choice(
        ({}, None, {"server": "10.0.0.1"}, {"path": "/b"}, {"x": 1}, "a", {"server": "10.0.0.2", "path": "/b"})
    ),
    "csi": lambda rng: rng.choice(
        (
            {},
            None,
            *({"driver": one} for one in _DRIVERS),
            {"volumeAttributes": {"fs": "ext4"}},
            {"volumeAttributes": {}},
            {"driver": "ebs.csi.aws.com", "volumeAttributes": {"fs": "ext4", "n": 1}},
            {"driver": "ebs.csi.aws.com", "volumeAttributes": {"fs": "xfs"}},
        )
    ),
    "volumeTypes": lambda rng: rng.sample(
        ("csi", "nfs", "hostPath", "awsElasticBlockStore", "local", "cephfs", "scaleIO", "storageOS", "odd"), 2
    ),
    "pvcLabels": lambda rng: rng.choice((*_LABELS, {"tier": True}, {"n": 1}, {"a": None}, [], "a", None, {"n": {}})),
    "pvcPhase": lambda rng: rng.choice((["Bound"], ["Pending"], ["Bound", "Lost"], [], "Bound", None)),
    "pvcVolumeMode": lambda rng: rng.choice(("Filesystem", "Block", "", "Odd", 1, None)),
    "pvcAccessModes": lambda rng: rng.choice(
        (["ReadWriteOnce"], ["ReadOnlyMany", "ReadWriteOnce"], [], ["ReadWriteOnce", "ReadWriteOnce"], [1], "a", None)
    ),
}


def _lists(rng: random.Random) -> dict[str, Any]:
    names = ("pods", "secrets", "persistentvolumes", "configmaps") * 12 + ("*", "Odd.Kind")
    keys = (
        "includedClusterScopedResources",
        "excludedClusterScopedResources",
        "includedNamespaceScopedResources",
        "excludedNamespaceScopedResources",
    )
    return {key: rng.sample(names, rng.randint(0, 2)) for key in rng.sample(keys, rng.randint(0, 3))}


def _namespaces(rng: random.Random) -> dict[str, Any]:
    names = ("shop", "shop*", "pay", "team-?", "prod-*", "a[bc]", "x[a-c]y", "*") * 3 + (
        "a**",
        "a{b}",
        "[",
        "a]",
        "[]",
        "!a",
        "",
    )
    kinds = ("Pod", "pods", "ConfigMap", "secrets", "PersistentVolumeClaim")
    return {
        "namespaces": rng.sample(names, rng.choice((1, 1, 2, 0)) if rng.random() < 0.3 else 1),
        "resourceFilters": [_filter(rng, kinds) for _ in range(rng.choice((1, 1, 1, 2, 2, 0)))],
    }


def _filter(rng: random.Random, kinds: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {"kinds": rng.sample(kinds, rng.randint(1, 2))}
    if rng.random() < 0.2:
        found["kinds"] = rng.choice(([], ["*"], ["*", "pods"]))
    if rng.random() < 0.3:
        found["labelSelector"] = _selector(rng)
    if rng.random() < 0.1:
        found["orLabelSelectors"] = [_selector(rng) for _ in range(rng.randint(0, 2))]
    patterns = ("data-*", "a", "cfg-?", "x[ab]", "y[0-9]", "z{a,b}") * 12 + (
        "[",
        "{a",
        "a[z-a]",
        "{a,{b,c}}",
        "a\\*",
        "[]",
        "[!x]",
        "**",
        "[ab-d]",
    )
    if rng.random() < 0.25:
        found["names"] = rng.sample(patterns, rng.randint(0, 2))
    if rng.random() < 0.15:
        found["excludedNames"] = rng.sample(patterns, rng.randint(0, 2))
    return found


def _selector(rng: random.Random) -> Any:
    sound: tuple[Any, ...] = (
        {},
        {"matchLabels": {"app": "db"}},
        {"matchLabels": {"x.io/app": "db", "n": 1}},
        {"matchExpressions": [{"key": "app", "operator": "In", "values": ["db"]}]},
        {"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]},
    )
    broken: tuple[Any, ...] = (
        {"matchLabels": {"app": "a b"}},
        {"matchLabels": {"-": "db"}},
        {"matchExpressions": [{"key": "app", "operator": "In"}]},
        {"matchExpressions": [{"key": "app", "operator": "Exists", "values": ["a"]}]},
        {"matchExpressions": [{"key": "app", "operator": "exists"}]},
        {"matchlabels": {}},
    )
    return rng.choice(sound if rng.random() < 0.9 else broken)


def _volume(rng: random.Random, number: int) -> dict[str, Any]:
    labels, phase = rng.choice(_LABELS), rng.choice(("Bound",) * 4 + ("Pending", "Lost", ""))
    claim: dict[str, Any] = {
        "metadata": {"name": f"data-{number}", "namespace": "shop", "labels": labels},
        "spec": {
            "volumeMode": rng.choice(("Filesystem", "Block")),
            "accessModes": rng.choice((["ReadWriteOnce"], ["ReadWriteOnce", "ReadOnlyMany"], [])),
        },
        "status": {"phase": phase},
    }
    volume: dict[str, Any] = {
        "metadata": {"name": f"pv-{number}"},
        "spec": {"storageClassName": rng.choice(_CLASSES), **rng.choice(_SOURCES)},
    }
    if size := rng.choice(_QUANTITIES):
        volume["spec"]["capacity"] = {"storage": size}
    place = rng.random()
    return {"volume": volume if place > 0.1 else None, "claim": claim if place < 0.9 else None}
