"""What the next run of a template takes of volumes, case by case: what decides, what is not known, what is found."""

from __future__ import annotations

from datetime import UTC
from typing import Any

import pytest
from msgspec.structs import replace

from foretop_core.models import (
    Namespace,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodVolumeBackup,
    Resource,
    Schedule,
    from_builtins,
)
from foretop_core.models.builtin_kinds import ConfigMap, StorageClass, VolumeSnapshotClass
from foretop_core.models.velero import VolumeSnapshotLocation
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.cron_dialects.releases import Release
from foretop_core.rules.facts.schedule_facts import ScheduleState, schedule_facts
from foretop_core.rules.night.night import Fate, likely_night, night
from foretop_core.rules.protection.coverage import VolumeMethod
from foretop_core.rules.protection.protection_index import protection_index
from foretop_core.rules.snapshot import ClusterSnapshot, VeleroInfo
from foretop_core.rules.storage_readiness import waiting_refusals
from foretop_core.rules.triage import Finding, triage
from foretop_core.rules.volumes.evidence import VolumeFlags
from foretop_core.rules.volumes.foretold import ForetoldVolumes, snapshot_class
from foretop_core.rules.volumes.run_plan import Deciders
from foretop_core.tables.timeline.night_lanes import ServerNight
from foretop_core.tables.timeline.night_words import printed_words
from tests.objects import NOW, backup, schedule

SKIP_FAST = "version: v1\nvolumePolicies:\n- conditions: {storageClass: [fast]}\n  action: {type: skip}\n"
COPY_ALL = "version: v1\nvolumePolicies:\n- conditions: {}\n  action: {type: fs-backup}\n"
POLICY = {"kind": "ConfigMap", "name": "policy"}


NO_FLAGS = VolumeFlags()


def location(name: str = "default", provider: str = "velero.io/aws") -> VolumeSnapshotLocation:
    meta = {"name": name, "namespace": "velero"}
    return from_builtins(VolumeSnapshotLocation, {"metadata": meta, "spec": {"provider": provider}})


def config_map(text: str, name: str = "policy") -> ConfigMap:
    return from_builtins(ConfigMap, {"metadata": {"name": name, "namespace": "velero"}, "data": {"a": text}})


def claim(name: str = "data", *, labels: dict[str, str] | None = None, storage_class: str | None = "fast") -> Resource:
    return from_builtins(
        PersistentVolumeClaim,
        {
            "metadata": {"name": name, "namespace": "shop", "labels": labels or {}},
            "spec": {"volumeName": f"pv-{name}", "storageClassName": storage_class},
            "status": {"phase": "Bound"},
        },
    )


def volume(name: str = "data", **source: Any) -> Resource:
    spec = {"storageClassName": "fast", "claimRef": {"namespace": "shop", "name": name}, **source}
    spec = spec if source else {**spec, "awsElasticBlockStore": {"volumeID": "vol-1"}}
    return from_builtins(PersistentVolume, {"metadata": {"name": f"pv-{name}"}, "spec": spec})


def pod(name: str = "db-0", *, annotations: dict[str, str] | None = None, phase: str = "Running") -> Pod:
    return from_builtins(
        Pod,
        {
            "metadata": {"name": name, "namespace": "shop", "annotations": annotations or {}},
            "spec": {
                "nodeName": "node-1",
                "containers": [{"name": "c", "volumeMounts": [{"name": "v"}]}],
                "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}],
            },
            "status": {"phase": phase},
        },
    )


KNOWN = Deciders(
    locations=(location(),),
    storage_classes={"fast": from_builtins(StorageClass, {"metadata": {"name": "fast"}, "provisioner": "csi.example"})},
    snapshot_classes=(),
    agent_nodes=frozenset(),
    pods={},
)


def world(
    *objects: Resource,
    deciding: Deciders | None = KNOWN,
    flags: VolumeFlags | None = NO_FLAGS,
    version: str = "1.18.3",
) -> ClusterSnapshot:
    space = from_builtins(Namespace, {"metadata": {"name": "shop"}})
    made = assemble((space, *objects))
    info = VeleroInfo(False, 1, version, volume_flags=flags)
    return replace(made, servers={"velero": info}, deciding={} if deciding is None else {"velero": deciding})


def foretold(
    template: dict[str, Any], *objects: Resource, deciding: Deciders | None = KNOWN, **options: Any
) -> ForetoldVolumes:
    one = schedule(template=template)
    return world(one, *(objects or (claim(), volume())), deciding=deciding, **options).next_volumes(one, "shop")


def why(found: ForetoldVolumes) -> str:
    return found.left_out[0].why if found.left_out else found.open[0].why


def test_a_volume_that_a_location_knows_is_taken_by_a_snapshot() -> None:
    assert foretold({}).method is VolumeMethod.SNAPSHOT


@pytest.mark.parametrize(
    ("template", "objects", "words"),
    [
        ({"snapshotVolumes": False}, (claim(), volume()), "the template takes no snapshots"),
        ({}, (claim(), volume(nfs={"server": "a"})), "no snapshot location knows NFS volumes"),
        ({}, (claim(), volume(csi={"driver": "x"})), "no snapshot location knows volumes of x"),
        ({"includeClusterResources": False}, (claim(), volume()), "its PersistentVolume is not in the backup"),
        (
            {"includedResources": ["pods", "persistentvolumeclaims"]},
            (claim(), volume()),
            "its PersistentVolume is not in the backup",
        ),
        (
            {},
            (claim(labels={"velero.io/exclude-from-backup": "true"}), volume()),
            "its claim has the label velero.io/exclude-from-backup",
        ),
        (
            {"labelSelector": {"matchLabels": {"a": "b"}}},
            (claim(), volume()),
            "its claim is not among what the template takes",
        ),
    ],
)
def test_what_leaves_a_volume_out_is_told(template: dict[str, Any], objects: tuple[Resource, ...], words: str) -> None:
    found = foretold(template, *objects)
    assert (found.taken, found.open, why(found)) == ((), (), words)
    assert found.method is VolumeMethod.NONE


def test_what_was_not_read_leaves_a_volume_open() -> None:
    assert why(foretold({}, deciding=None)) == "pods were not read"
    assert why(foretold({}, version="")) == "the release of Velero is not known"
    refused = replace(
        KNOWN, locations=None, unread={"VolumeSnapshotLocations": "you may not list volumesnapshotlocations"}
    )
    found = foretold({}, deciding=refused)
    assert (found.method, why(found)) == (VolumeMethod.NOT_KNOWN, "you may not list volumesnapshotlocations")
    assert "was not read" in why(foretold({"resourcePolicy": POLICY}))
    assert why(foretold({}, version="1.19.0")) == "how Velero 1.19.0 takes volumes is not known"


def test_a_policy_skips_and_one_that_is_gone_has_the_run_refused() -> None:
    skipping = replace(KNOWN, config_maps={"policy": config_map(SKIP_FAST)})
    found = foretold({"resourcePolicy": POLICY}, deciding=skipping)
    assert [(one.why, one.is_chosen) for one in found.left_out] == [("its resource policy says skip", True)]
    gone = replace(KNOWN, config_maps={"policy": None})
    assert 'ConfigMap "policy" not found' in why(foretold({"resourcePolicy": POLICY}, deciding=gone))


def test_the_policies_of_the_server_come_after_those_of_the_template() -> None:
    flags = VolumeFlags(volume_policies="all")
    held = replace(KNOWN, config_maps={"all": config_map(SKIP_FAST, "all")})
    assert why(foretold({}, deciding=held, flags=flags)) == "its resource policy says skip"
    assert "all were not read" in why(foretold({}, flags=flags))


def test_a_file_copy_needs_a_pod_that_runs_and_a_node_agent_beside_it() -> None:
    template = {"defaultVolumesToFsBackup": True}

    def told(one: Pod, nodes: frozenset[str] | None) -> ForetoldVolumes:
        return foretold(template, deciding=replace(KNOWN, pods={"shop": (one,)}, agent_nodes=nodes))

    assert why(told(pod(phase="Pending"), frozenset())).startswith("its pod db-0 does not run")
    assert why(told(pod(), frozenset({"node-2"}))).startswith("no node agent runs on node-1")
    assert told(pod(), frozenset({"node-1"})).open[0].method is VolumeMethod.FILE_SYSTEM
    assert "node agents" in why(told(pod(), None))
    excluded = pod(annotations={"backup.velero.io/backup-volumes-excludes": "v"})
    assert told(excluded, frozenset()).method is VolumeMethod.SNAPSHOT


def test_a_policy_that_wants_a_file_copy_leaves_a_volume_without_a_pod_out() -> None:
    held = replace(KNOWN, config_maps={"policy": config_map(COPY_ALL)})
    assert "no pod that is taken has it" in why(foretold({"resourcePolicy": POLICY}, deciding=held))


def test_a_file_copy_that_the_last_run_made_is_expected_of_the_next() -> None:
    nodes = replace(KNOWN, pods={"shop": (pod(),)}, agent_nodes=frozenset({"node-1"}))
    one = schedule(template={"defaultVolumesToFsBackup": True})
    run = backup("nightly-1", created="2026-11-15T02:00:03Z", started="2026-11-15T02:00:04Z", of="nightly")
    copied = from_builtins(
        PodVolumeBackup,
        {
            "metadata": {
                "name": "x",
                "namespace": "velero",
                "labels": {"velero.io/backup-name": "nightly-1"},
                "annotations": {"velero.io/pvc-name": "data"},
            },
            "spec": {"pod": {"namespace": "shop", "name": "db-0"}},
            "status": {"phase": "Completed"},
        },
    )
    snapshot = world(one, run, copied, claim(), volume(), deciding=nodes)
    assert snapshot.next_volumes(one, "shop").method is VolumeMethod.FILE_SYSTEM


def test_a_csi_volume_needs_a_class() -> None:
    csi, flags = volume(csi={"driver": "csi.example"}), VolumeFlags(has_csi=True)
    mine = from_builtins(VolumeSnapshotClass, {"metadata": {"name": "a"}, "driver": "csi.example"})
    with_class = replace(KNOWN, snapshot_classes=(mine,))
    assert foretold({}, claim(), csi, flags=flags, deciding=with_class).method is VolumeMethod.SNAPSHOT
    assert "no VolumeSnapshotClass is chosen" in why(foretold({}, claim(), csi, flags=flags))
    assert "empty storage class" in why(foretold({}, claim(storage_class=""), csi, flags=flags, deciding=with_class))
    assert "slow is missing" in why(foretold({}, claim(storage_class="slow"), csi, flags=flags, deciding=with_class))
    assert "no storage class" in why(foretold({}, claim(storage_class=None), csi, flags=flags, deciding=with_class))
    moved = foretold({"snapshotMoveData": True}, claim(), csi, flags=flags, deciding=with_class)
    assert moved.open[0].method is VolumeMethod.DATA_MOVER
    unmoved = foretold({"snapshotMoveData": True}, claim(), csi, flags=flags)
    assert "no VolumeSnapshotClass is chosen" in why(unmoved), "a movement begins with a snapshot"
    assert unmoved.failing == ("data",)


@pytest.mark.parametrize(
    ("version", "template", "words"),
    [
        ("1.18.3", {"snapshotMoveData": True}, "no node agent is ready to move its data, and its CSI snapshot fails"),
        ("1.18.3", {"snapshotMoveData": True, "datamover": "another"}, "tells its DataUpload"),
        ("1.18.2", {"snapshotMoveData": True}, "tells its DataUpload"),
    ],
)
def test_without_a_node_agent_that_is_ready_no_data_is_moved(
    version: str, template: dict[str, Any], words: str
) -> None:
    """Velero 1.18.3 lets each such claim fail, and leaves it out; earlier ones wait for an agent."""
    csi, flags = volume(csi={"driver": "csi.example"}), VolumeFlags(has_csi=True)
    mine = from_builtins(VolumeSnapshotClass, {"metadata": {"name": "a"}, "driver": "csi.example"})
    waits = replace(KNOWN, snapshot_classes=(mine,), has_ready_agent=False)
    found = foretold(template, claim(), csi, flags=flags, deciding=waits, version=version)
    assert why(found).endswith(words)
    assert bool(found.failing) is bool(found.left_out)


def test_what_fails_with_its_volume_is_not_foretold_to_be_taken() -> None:
    """Velero leaves a claim out whose CSI snapshot fails, and a pod whose node has no agent."""
    csi, flags = volume(csi={"driver": "csi.example"}), VolumeFlags(has_csi=True)
    one = schedule(template={})
    told = world(one, claim(), csi, flags=flags).next_coverage(one, "shop")
    assert str(told) == "part: without claims and pods whose volumes fail (data)"
    copying = schedule(template={"defaultVolumesToFsBackup": True, "excludedResources": ["secrets"]})
    alone = replace(KNOWN, pods={"shop": (pod(),)}, agent_nodes=frozenset())
    told = world(copying, claim(), volume(), deciding=alone).next_coverage(copying, "shop")
    assert str(told) == "part: without secrets, without claims and pods whose volumes fail (data)"
    taken = schedule(template={})
    assert str(world(taken, claim(), volume()).next_coverage(taken, "shop")) == "all"


@pytest.mark.parametrize(
    ("version", "flags", "policy", "told"),
    [
        ("1.18.3", NO_FLAGS, "", "all"),
        ("1.18.3", NO_FLAGS, "version: v1", "part: without claims and pods whose volumes fail (data)"),
        ("1.18.3", NO_FLAGS, COPY_ALL, "all"),
        ("1.17.2", NO_FLAGS, COPY_ALL, "part: without claims and pods whose volumes fail (data)"),
        ("1.18.3", VolumeFlags(has_csi=True), "", "part: without claims and pods whose volumes fail (data)"),
    ],
)
def test_a_claim_without_a_volume_fails_by_policies_and_csi(
    version: str, flags: VolumeFlags, policy: str, told: str
) -> None:
    """Velero asks for the volume behind it, and has an error where there is none."""
    waiting = from_builtins(
        PersistentVolumeClaim, {"metadata": {"name": "data", "namespace": "shop"}, "status": {"phase": "Pending"}}
    )
    one = schedule(template={"resourcePolicy": POLICY} if policy else {})
    known = replace(KNOWN, pods={"shop": (pod(),)}, config_maps={"policy": config_map(policy)})
    snapshot = world(one, waiting, deciding=known, flags=flags, version=version)
    assert str(snapshot.next_coverage(one, "shop")) == told


def test_with_csi_a_claim_without_a_class_fails_whatever_takes_its_volume() -> None:
    one = schedule(template={})
    snapshot = world(one, claim(storage_class=None), volume(), flags=VolumeFlags(has_csi=True))
    assert snapshot.next_volumes(one, "shop").method is VolumeMethod.SNAPSHOT
    assert str(snapshot.next_coverage(one, "shop")) == "part: without claims and pods whose volumes fail (data)"


@pytest.mark.parametrize(("version", "is_taken"), [("1.17.2", False), ("1.18.3", True)])
def test_releases_before_1_18_look_at_pods_of_namespaces_that_a_run_leaves_out(version: str, is_taken: bool) -> None:
    """A pod that asks for a file copy there keeps a volume from a snapshot that is listed by itself."""
    template = {"includedNamespaces": ["wiki"], "includedClusterScopedResources": ["persistentvolumes"]}
    asking = replace(KNOWN, pods={"shop": (pod(annotations={"backup.velero.io/backup-volumes": "v"}),)})
    assert bool(foretold(template, deciding=asking, version=version).taken) is is_taken


@pytest.mark.parametrize(("version", "is_taken"), [("1.17.2", False), ("1.18.3", True)])
def test_releases_before_1_18_take_no_namespace_by_a_pattern(version: str, is_taken: bool) -> None:
    one = schedule(template={"includedNamespaces": ["sh*"]})
    snapshot = world(one, claim(), volume(), version=version)
    assert bool(snapshot.next_volumes(one, "shop").taken) is is_taken
    words = "none: Velero 1.17.2 takes no patterns in includedNamespaces: it looks for a namespace sh*"
    assert str(snapshot.next_coverage(one, "shop")) == ("all" if is_taken else words)
    both = schedule(template={"includedNamespaces": ["sh*", "shop"]})
    assert world(both, claim(), volume(), version=version).next_volumes(both, "shop").taken
    odd = schedule(template={"includedNamespaces": ["s?op"]})
    refused = world(odd, version=version).next_run(odd).refused
    assert refused == ("" if is_taken else "s?op is not a valid namespace")


def test_a_class_is_chosen_by_name_then_label_then_annotation_then_because_it_is_alone() -> None:
    def of(name: str, **meta: Any) -> VolumeSnapshotClass:
        return from_builtins(VolumeSnapshotClass, {"metadata": {"name": name, **meta}, "driver": "d"})

    plain, labelled = of("plain"), of("labelled", labels={"velero.io/csi-volumesnapshot-class": ""})
    default = of("default", annotations={"snapshot.storage.kubernetes.io/is-default-class": "false"})
    every = (plain, default, labelled)
    by_run = {"velero.io/csi-volumesnapshot-class_d": "PLAIN"}
    bare = from_builtins(PersistentVolumeClaim, {"metadata": {"name": "a"}})
    named = from_builtins(
        PersistentVolumeClaim,
        {"metadata": {"name": "a", "annotations": {"velero.io/csi-volumesnapshot-class": "default"}}},
    )
    assert snapshot_class(every, "d", named, by_run) is default
    assert snapshot_class(every, "d", bare, by_run) is plain
    assert snapshot_class(every, "d", bare, {}) is labelled
    assert snapshot_class((plain, default), "d", bare, {}) is default
    assert snapshot_class((plain,), "d", bare, {}) is plain
    assert snapshot_class((plain, of("other")), "d", bare, {}) is None
    assert snapshot_class(every, "e", bare, {}) is None


def test_two_locations_of_one_provider_need_a_default() -> None:
    two = replace(KNOWN, locations=(location("a"), location("b")))
    assert "more than one possible volume snapshot location" in why(foretold({}, deciding=two))
    chosen = VolumeFlags(snapshot_locations={"velero.io/aws": "b"})
    assert foretold({}, deciding=two, flags=chosen).method is VolumeMethod.SNAPSHOT
    assert foretold({"volumeSnapshotLocations": ["a"]}, deciding=two).method is VolumeMethod.SNAPSHOT
    assert "needs to be created" in why(foretold({"volumeSnapshotLocations": ["c"]}, deciding=two))


def _findings(one: Schedule, *objects: Resource, **options: Any) -> dict[str, Finding]:
    found = triage(world(one, *objects, **options), NOW).findings
    return {finding.code: finding for finding in found}


def test_a_run_that_will_be_refused_is_found_with_the_words_of_velero() -> None:
    one = schedule(template={"resourcePolicy": POLICY})
    wrong = replace(KNOWN, config_maps={"policy": config_map("version: v2")})
    finding = _findings(one, deciding=wrong)["next-run-refused"]
    assert finding.raw.endswith("incompatible version number v2 with supported version v1")
    right = replace(KNOWN, config_maps={"policy": config_map(SKIP_FAST)})
    assert "next-run-refused" not in _findings(one, deciding=right)
    assert "next-run-refused" not in _findings(one, deciding=None)


def test_a_template_that_1_18_0_reads_as_nothing_is_found_there_only() -> None:
    one = schedule(template={"excludedNamespaces": ["kube-*"]})
    assert "template-takes-nothing" in _findings(one, version="1.18.0")
    assert "template-takes-nothing" not in _findings(one, version="1.18.1")
    all_of_them = schedule(template={"includedNamespaces": ["*"], "excludedNamespaces": ["kube-*"]})
    assert "template-takes-nothing" not in _findings(all_of_them, version="1.18.0")


def test_a_volume_that_no_schedule_takes_is_found_unless_somebody_wanted_it_so() -> None:
    one = schedule(template={})
    nfs = volume(nfs={"server": "a"})
    finding = _findings(one, claim(), nfs)["volumes-left-out"]
    assert (finding.subject.name, finding.what) == ("shop", "next run leaves out 1 volume")
    assert "no snapshot location knows NFS volumes" in str(finding.evidence)
    assert "volumes-left-out" not in _findings(one, claim(), volume())
    chosen = claim(labels={"velero.io/exclude-from-backup": "true"})
    assert "volumes-left-out" not in _findings(one, chosen, nfs)


def test_the_release_decides_from_the_first_on_that_was_watched() -> None:
    assert replace(KNOWN, release=Release(1, 14, 1)).is_foretold is False
    assert replace(KNOWN, release=Release(1, 18, None)).is_foretold is None
    assert replace(KNOWN, release=Release(1, 15, 0)).is_foretold is True


def test_a_run_that_will_be_refused_for_its_policy_has_that_one_fate_everywhere() -> None:
    gone = schedule("gone", "0 * * * *", last="02:00:03", template={"resourcePolicy": POLICY})
    good = schedule("good", "0 * * * *", last="02:00:03")
    known = replace(KNOWN, config_maps={"policy": None})
    waits = backup("gone-1", "Queued", created="02:21:00", spec={"resourcePolicy": POLICY})
    snapshot = world(gone, good, waits, deciding=known)
    assert [one.subject.name for one in triage(snapshot, NOW).findings if one.code == "next-run-refused"] == ["gone"]
    facts = schedule_facts(snapshot, gone, NOW)
    assert facts.refusal.startswith("it is not valid (invalid resource policies: ")
    assert facts.refusal.endswith('ConfigMap "policy" not found)')
    assert (facts.doubt, facts.coming_state, facts.expected_start) == ("refused", ScheduleState.REFUSED, None)
    assert not schedule_facts(snapshot, good, NOW).refusal
    assert list(waiting_refusals(snapshot, snapshot.backups)) == ["gone-1"]
    for ahead in (likely_night(snapshot, "velero", NOW), night(snapshot, "velero", NOW)):
        fates = {(run.name or run.owner.name, run.fate) for run in ahead.runs}
        # How long the good one takes nobody knows, so that only its first run has its turn.
        assert fates - {("good", Fate.UNKNOWN)} == {
            ("gone", Fate.REFUSED),
            ("gone-1", Fate.REFUSED),
            ("good", Fate.MADE),
        }
        assert {f"{run.reason}" for run in ahead.runs if run.owner.name == "gone"} == {"it is not valid"}
        words = list(printed_words(ServerNight("", ahead), NOW, UTC))
        assert any(line.startswith("Refused") and line.endswith(": it is not valid") for line in words), words
    row = protection_index(snapshot).row("shop")
    assert row is not None
    assert row.next_cover is not None
    assert (row.next_cover.schedule.name, row.is_next_refused) == ("good", False)
    alone = protection_index(world(gone, deciding=known)).row("shop")
    assert alone is not None
    assert (alone.is_next_refused, alone.next_run) == (True, None)
    assert "was not read" not in alone.coverage.limits
