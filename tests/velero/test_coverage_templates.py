"""What a real backup of each template contains of a namespace is what foretop says that it takes."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest
import urllib3

from foretop_core.models import BackupSpec
from foretop_core.rules.volumes.evidence import VolumeFlags
from foretop_core.rules.volumes.run_plan import Deciders, planned_coverage, run_plan
from tests.unit.rules.test_protection_coverage import TEMPLATES
from tests.velero.real_cluster import RealVeleroCluster
from tests.velero.stories import wait_until_available
from tests.velero.velero_cluster import ServerFlags, StorySteps

SHOP = "shop"
ENDED = ("Completed", "PartiallyFailed", "Failed", "FailedValidation")
Labels = Mapping[str, str]
DECIDERS = Deciders(flags=VolumeFlags(), config_maps={"p": None}, locations=())
"""All that decides there beside a template: no ConfigMap has the policies that one of them names."""


@dataclass(frozen=True, slots=True)
class _Content:
    """One object of the namespace."""

    plural: str
    kind: str
    name: str
    labels: Labels = field(default_factory=dict)


_CONTENTS = tuple(
    _Content(plural, kind, f"{name}-{plural}", labels)
    for plural, kind in (("configmaps", "ConfigMap"), ("secrets", "Secret"), ("pods", "Pod"))
    for name, labels in (
        ("plain", {}),
        ("app", {"app": "shop"}),
        ("other", {"app": "other", "tier": "db"}),
        ("web", {"tier": "web"}),
        ("tmp", {"tmp": "yes"}),
    )
)
_SELECTORS: dict[str, Callable[[Labels], bool]] = {
    "": lambda labels: True,
    "app=shop": lambda labels: labels.get("app") == "shop",
    "tier in (web, api)": lambda labels: labels.get("tier") in ("web", "api"),
    "!tmp": lambda labels: "tmp" not in labels,
}


def _said(sentence: str) -> set[str]:
    """The objects of the namespace that foretop's sentence speaks of."""
    extent, _, limits = sentence.partition(": ")
    if extent == "none":
        return set()
    found = re.fullmatch(r"(?:only (.+?)(?: with (.+?))?)?(?:(?:, )?without (.+))?", limits)
    assert found is not None, sentence
    only, labels, without = (part or "" for part in found.groups())
    kinds = set() if only in ("", "objects") else set(only.split(" and "))
    fits = [_SELECTORS[text] for text in labels.split(" or ")]
    return {
        item.name
        for item in _CONTENTS
        if (not kinds or item.plural in kinds)
        and item.plural not in without.split(" and ")
        and any(one(item.labels) for one in fits)
    }


def _phase(sentence: str) -> str:
    if "Velero refuses it" in sentence:
        return "FailedValidation"
    return "PartiallyFailed" if "Velero cannot" in sentence else "Completed"


@pytest.mark.seconds(90)
def test_a_backup_contains_what_foretop_says_that_its_template_takes(cluster: RealVeleroCluster) -> None:
    """One after the other; with room for all, because one that is refused can keep its slot for ever."""
    for namespace in (SHOP, "shop-2", "wiki"):
        cluster.api_server.create_namespace(namespace)
    admin, path = cluster.api_server.admin, f"/api/v1/namespaces/{SHOP}"
    admin.post(f"{path}/serviceaccounts", {"metadata": {"name": "default"}}).expect(201)
    for item in _CONTENTS:
        admin.post(f"{path}/{item.plural}", _body(item)).expect(201)
    steps = StorySteps(cluster)
    cluster.start(ServerFlags(concurrent_backups=len(TEMPLATES)))
    wait_until_available(steps)
    different = []
    for number, (name, template, _) in enumerate(TEMPLATES):
        backup = f"template-{number}"
        cluster.create("Backup", backup, template)
        steps.wait_for_phase("Backup", backup, *ENDED)
        sentence = str(planned_coverage(run_plan(msgspec.convert(template, BackupSpec), DECIDERS, backup), SHOP))
        phase, contained = steps.phase("Backup", backup), set(_contained(cluster, steps, backup))
        if (phase, contained) != (_phase(sentence), _said(sentence)):
            different.append(f"{name}: {sentence!r}, and it was {phase} with {sorted(contained)}")
    assert not different, "\n".join(different)


def _body(item: _Content) -> dict[str, Any]:
    body: dict[str, Any] = {"metadata": {"name": item.name, "labels": dict(item.labels)}}
    if item.kind == "Pod":
        container = {"name": "main", "image": "example.test/shop"}
        body["spec"] = {"containers": [container], "automountServiceAccountToken": False}
    return body


def _contained(cluster: RealVeleroCluster, steps: StorySteps, backup: str) -> Iterator[str]:
    """The objects of the namespace in Velero's own list of what it has backed up."""
    if steps.phase("Backup", backup) == "FailedValidation":
        return
    cluster.create("DownloadRequest", backup, {"target": {"kind": "BackupResourceList", "name": backup}})
    steps.wait_for_phase("DownloadRequest", backup, "Processed")
    url = (cluster.find("DownloadRequest", backup) or {})["status"]["downloadURL"]
    data = urllib3.request("GET", url, decode_content=False).data
    resources = json.loads(gzip.decompress(data))
    for item in _CONTENTS:
        if f"{SHOP}/{item.name}" in resources.get(f"v1/{item.kind}", ()):
            yield item.name
