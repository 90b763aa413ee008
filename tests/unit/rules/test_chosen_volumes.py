"""Volumes that somebody chose to leave out are no gap in a copy, where that choice was read; all others are."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from foretop_core.models import Backup, PodVolumeBackup, Resource, from_builtins
from foretop_core.models.builtin_kinds import ConfigMap
from foretop_core.models.velero import EXCLUDE_LABEL
from foretop_core.rules.facts.namespace_facts import NamespaceFacts, ProtectionJudge, ProtectionLimits
from foretop_core.rules.protection.coverage import VolumeMethod
from foretop_core.rules.severity import Severity
from foretop_core.rules.volumes.evidence import (
    KnownVolumes,
    ToldVolume,
    VolumeFate,
    VolumeFlags,
    VolumeInfo,
)
from foretop_core.rules.volumes.run_plan import Deciders
from tests.objects import NOW, at, backup, schedule
from tests.unit.rules.test_foretold import COPY_ALL, KNOWN, NO_FLAGS, POLICY, SKIP_FAST, claim, pod, volume, world

_EXCLUDED = {EXCLUDE_LABEL: "true"}
_COPIES = {"defaultVolumesToFsBackup": True}
_NOT_COPIED = {"backup.velero.io/backup-volumes-excludes": "v"}
_NFS = volume(nfs={"server": "a"})
_CSI = volume(csi={"driver": "csi.example"})
_ELSEWHERE = from_builtins(PodVolumeBackup, {"metadata": {"name": "x", "namespace": "velero"}})
_SKIPS = "its resource policy says skip"
_LABELLED = f"its PersistentVolume has the label {EXCLUDE_LABEL}"
_ANNOTATED = "its pod db-0 excludes it (backup.velero.io/backup-volumes-excludes)"


def _labelled(item: Resource) -> Resource:
    return replace(item, metadata=replace(item.metadata, labels=_EXCLUDED))


def _policy(text: str = SKIP_FAST, changed: str | None = "2026-11-15T01:00:00Z", name: str = "policy") -> Deciders:
    writers = [{"manager": "kubectl", "time": changed}] if changed else []
    meta = {"name": name, "namespace": "velero", "managedFields": writers}
    return replace(KNOWN, config_maps={name: from_builtins(ConfigMap, {"metadata": meta, "data": {"a": text}})})


def _with_pods(*pods: Any, of: Deciders = KNOWN) -> Deciders:
    return replace(of, pods={"shop": pods})


def _copy(annotations: dict[str, str] | None = None, **spec: Any) -> Backup:
    template = {"includedNamespaces": ["shop"], "includeClusterResources": None, **spec}
    return backup(started="02:00:00", spec=template, annotations=annotations)


def _facts(
    made: Backup,
    *objects: Resource,
    deciding: Deciders | None = KNOWN,
    flags: VolumeFlags = NO_FLAGS,
    info: VolumeInfo | None = None,
) -> NamespaceFacts:
    daily = schedule("daily", "0 2 * * *", template={"includedNamespaces": ["shop"]})
    seen = world(made, daily, _ELSEWHERE, *objects, deciding=deciding, flags=flags)
    if info is not None:
        made = replace(made, metadata=replace(made.metadata, uid="u"))
        known = KnownVolumes("u", made.phase, info)
        seen = replace(seen, backups=(made,), known_volumes={("velero", made.name): known})
    row = seen.protection.row("shop")
    assert row is not None
    return ProtectionJudge(seen, NOW, ProtectionLimits()).facts(row)


def _told(found: NamespaceFacts) -> list[tuple[str, str, bool]]:
    return [(one.name, one.why, one.is_chosen) for one in found.volumes.left_out]


@pytest.mark.parametrize(
    ("spec", "objects", "deciding", "why"),
    [
        ({}, (claim(labels=_EXCLUDED), volume()), None, f"its claim has the label {EXCLUDE_LABEL}"),
        ({}, (claim(), _labelled(volume())), KNOWN, _LABELLED),
        (_COPIES, (claim(), _NFS), _with_pods(pod(annotations=_NOT_COPIED)), _ANNOTATED),
        (
            {**_COPIES, "snapshotVolumes": False},
            (claim(), volume()),
            _with_pods(pod(annotations=_NOT_COPIED)),
            _ANNOTATED,
        ),
    ],
)
def test_what_somebody_chose_to_leave_out_is_no_fault(
    spec: dict[str, Any], objects: tuple[Resource, ...], deciding: Deciders | None, why: str
) -> None:
    found = _facts(_copy(**spec), *objects, deciding=deciding)
    assert _told(found) == [("data", why, True)]
    assert (found.word, found.why) == ("protected, 1 left out by policy",) * 2
    assert (found.state.value, found.severity, found.volumes.count_text) == ("protected", None, "0/1")


_MISSING = ("manifests only", False)


@pytest.mark.parametrize(
    ("spec", "objects", "deciding"),
    [
        # The policy is another now, or may be, or was not read.
        ({"resourcePolicy": POLICY}, (claim(), volume()), _policy(changed="2026-11-15T02:30:00Z")),
        ({"resourcePolicy": POLICY}, (claim(), volume()), _policy(changed=None)),
        ({"resourcePolicy": POLICY}, (claim(), volume()), replace(KNOWN, config_maps={"policy": None})),
        ({"resourcePolicy": POLICY}, (claim(), volume()), KNOWN),
        ({"resourcePolicy": POLICY}, (claim(), volume()), None),
        ({"resourcePolicy": POLICY}, (claim(), volume()), _policy("version: v2\n")),
        # It says something else of this volume.
        ({"resourcePolicy": POLICY}, (claim(), _NFS), _policy(COPY_ALL)),
        ({"resourcePolicy": POLICY}, (claim(), volume(nfs={}, storageClassName="slow")), _policy()),
        # The template that leaves it out is no choice of that volume.
        ({"snapshotVolumes": False}, (claim(), volume()), KNOWN),
        ({"includeClusterResources": False}, (claim(), volume()), KNOWN),
        ({}, (claim(), _NFS), KNOWN),
        # What is not copied as files was to be taken by a snapshot.
        (_COPIES, (claim(), volume()), _with_pods(pod(annotations=_NOT_COPIED))),
        # Another pod has it copied, or nobody is known to mount it, or files are copied only where it is asked for.
        (_COPIES, (claim(), _NFS), _with_pods(pod(annotations=_NOT_COPIED), pod("db-1", phase="Pending"))),
        (_COPIES, (claim(), _NFS), KNOWN),
        (_COPIES, (claim(), _NFS), replace(KNOWN, pods=None)),
        ({}, (claim(), _NFS), _with_pods(pod(annotations=_NOT_COPIED))),
        # A file copy was wanted, and its pod does not run.
        (_COPIES, (claim(), _labelled(_NFS)), _with_pods(pod(phase="Pending"))),
        ({}, (claim(labels={EXCLUDE_LABEL: "yes"}), _NFS), KNOWN),
    ],
)
def test_what_only_looks_chosen_stays_a_fault(
    spec: dict[str, Any], objects: tuple[Resource, ...], deciding: Deciders | None
) -> None:
    found = _facts(_copy(**spec), *objects, deciding=deciding)
    assert [one.is_chosen for one in found.volumes.left_out] == [False]
    assert found.word in ("manifests only", "not known")
    assert found.volumes.missing


_OF_SERVER = VolumeFlags(volume_policies="policy")
_MARK = {"velero.io/global-backup-volume-policy-configmap": "policy"}


@pytest.mark.parametrize("of_cluster", [volume(), _NFS])
def test_what_a_policy_skips_is_no_fault(of_cluster: Resource) -> None:
    found = _facts(_copy(_MARK), claim(), of_cluster, deciding=_policy(), flags=_OF_SERVER)
    assert (found.word, _told(found)) == ("protected, 1 left out by policy", [("data", _SKIPS, True)])
    of_template = _facts(_copy(resourcePolicy=POLICY), claim(), of_cluster, deciding=_policy())
    assert (of_template.volumes.missing, _told(of_template)) == ((), [("data", _SKIPS, True)])


@pytest.mark.parametrize("of_cluster", [volume(), _NFS])
def test_what_the_policy_of_the_template_skips_is_no_fault_where_that_leaves_out_no_object(
    of_cluster: Resource,
) -> None:
    made = _copy(resourcePolicy=POLICY)
    found = _facts(made, claim(), of_cluster, deciding=_policy())
    assert (found.word, _told(found)) == ("protected, 1 left out by policy", [("data", _SKIPS, True)])


_OF_OBJECTS = "includeExcludePolicy:\n  excludedNamespaceScopedResources: [secrets]\n"


@pytest.mark.parametrize(
    "deciding",
    [
        None,
        KNOWN,
        _policy(changed=None),
        _policy(changed="2026-11-15T02:00:01Z"),
        _policy("version: v1\nvolumePolicies: 1\n"),
        _policy(name="another"),
    ],
)
def test_a_copy_is_whole_only_by_a_policy_that_was_read_and_was_there_before_it(deciding: Deciders | None) -> None:
    plain = _facts(_copy(), claim(), _NFS, deciding=deciding)
    assert plain.protection.copies.good == 1
    found = _facts(_copy(resourcePolicy=POLICY), claim(), _NFS, deciding=deciding)
    assert (found.protection.copies.good, found.word) == (0, "not known")


@pytest.mark.parametrize(
    ("more", "good", "word"),
    [
        (_OF_OBJECTS, 0, "partial"),
        (
            "includeExcludePolicy:\n  excludedClusterScopedResources: [storageclasses]\n",
            1,
            "protected, 1 left out by policy",
        ),
        (
            "clusterScopedFilterPolicy:\n  resourceFilters:\n  - {kinds: [StorageClass], names: [a]}\n",
            1,
            "protected, 1 left out by policy",
        ),
        ("namespacedFilterPolicies:\n- {namespaces: [x], resourceFilters: [{kinds: [Pod]}]}\n", 0, "not known"),
    ],
)
def test_the_other_sections_of_a_policy_decide_what_a_copy_is(more: str, good: int, word: str) -> None:
    found = _facts(_copy(resourcePolicy=POLICY), claim(), _NFS, deciding=_policy(SKIP_FAST + more))
    assert (found.protection.copies.good, found.word) == (good, word)


def test_a_copy_that_was_read_back_from_the_storage_had_the_policy_of_another_cluster_or_of_this_one() -> None:
    made = _copy(resourcePolicy=POLICY)
    made = replace(made, status=replace(made.status, completion_timestamp=at("02:10:00")))
    synced = replace(made, metadata=replace(made.metadata, creation_timestamp=NOW))
    assert _facts(made, deciding=_policy()).protection.copies.good == 1
    assert _facts(synced, deciding=_policy()).protection.copies.good == 0


def test_a_copy_of_other_policies_of_the_server_or_of_another_cluster_proves_no_choice() -> None:
    objects, held = (claim(), volume()), _policy()
    assert _facts(_copy(), *objects, deciding=held, flags=_OF_SERVER).state.value == "manifests only"
    assert _facts(_copy(_MARK), *objects, deciding=held).state.value == "manifests only"
    later = _policy(changed="2026-11-15T02:30:00Z")
    assert _facts(_copy(_MARK), *objects, deciding=later, flags=_OF_SERVER).state.value == "manifests only"
    synced = backup(started="02:00:00", ended="02:00:02", spec={"includedNamespaces": ["shop"]}, annotations=_MARK)
    assert _facts(synced, *objects, deciding=held, flags=_OF_SERVER).state.value == "manifests only"


def test_a_label_of_the_volume_does_not_excuse_a_snapshot_by_csi_that_failed() -> None:
    """That is made of the claim, which nobody excluded."""
    csi = VolumeFlags(has_csi=True)
    found = _facts(_copy(), claim(), _labelled(_CSI), flags=csi)
    assert [one.is_chosen for one in found.volumes.left_out] == [False]
    assert _facts(_copy(), claim(), _labelled(_CSI)).state.value == "protected"


def _failed_copy() -> Resource:
    meta = {"name": "y", "namespace": "velero", "labels": {"velero.io/backup-name": "one"}}
    spec = {"pod": {"namespace": "shop", "name": "db-0"}}
    body = {"metadata": meta | {"annotations": {"velero.io/pvc-name": "data"}}, "spec": spec}
    return from_builtins(PodVolumeBackup, body | {"status": {"phase": "Failed"}})


def test_data_that_was_to_be_taken_and_failed_was_not_chosen() -> None:
    failed = _facts(_copy(resourcePolicy=POLICY), claim(labels=_EXCLUDED), volume(), _failed_copy(), deciding=_policy())
    assert _told(failed) == [("data", "its file copy is Failed", False)]
    info = VolumeInfo(
        (ToldVolume("shop", "data", VolumeFate.LEFT_OUT, VolumeMethod.SNAPSHOT, why="its snapshot failed"),)
    )
    told = _facts(_copy(), claim(labels=_EXCLUDED), volume(), info=info)
    assert _told(told) == [("data", "its snapshot failed", False)]


def test_a_volume_that_the_volume_info_says_was_skipped_was_chosen_where_the_policy_is_known() -> None:
    info = VolumeInfo(
        (ToldVolume("shop", "data", VolumeFate.LEFT_OUT, VolumeMethod.NONE, why="its resource policy skips it"),)
    )
    made = _copy(_MARK)
    known = _facts(made, claim(), volume(), deciding=_policy(), flags=_OF_SERVER, info=info)
    assert (known.word, _told(known)) == ("protected, 1 left out by policy", [("data", _SKIPS, True)])
    changed = _policy(changed="2026-11-15T02:30:00Z")
    later = _facts(made, claim(), volume(), deciding=changed, flags=_OF_SERVER, info=info)
    assert _told(later) == [("data", "its resource policy skips it", False)]


def test_beside_a_choice_a_volume_that_is_missing_stays_a_fault() -> None:
    slow = volume("logs", nfs={"server": "a"}, storageClassName="slow")
    objects = (claim(), volume(), claim("logs"), slow, claim("old"), volume("old"))
    told = (
        ToldVolume("shop", "data", VolumeFate.LEFT_OUT, VolumeMethod.NONE, why="skipped"),
        ToldVolume("shop", "old", VolumeFate.TAKEN, VolumeMethod.SNAPSHOT),
    )
    found = _facts(_copy(_MARK), *objects, deciding=_policy(), flags=_OF_SERVER, info=VolumeInfo(told))
    assert (found.word, found.severity) == ("volumes missing", Severity.WARNING)
    assert found.why == "its newest copy lacks 1 of 3 volumes; 1 left out by policy"
    assert [one.name for one in found.volumes.missing] == ["logs"]


def test_a_policy_that_was_changed_before_veleros_clock_says_that_the_copy_was_started() -> None:
    """That clock may be ahead: the copy was made by the API server's before the change, under another policy."""
    made = replace(_copy(resourcePolicy=POLICY), metadata=backup(created="00:30:00").metadata)
    objects = (claim(), volume())
    assert _facts(made, *objects, deciding=_policy(changed="2026-11-15T00:29:00Z")).volumes.chosen
    assert not _facts(made, *objects, deciding=_policy(changed="2026-11-15T00:31:00Z")).volumes.chosen
