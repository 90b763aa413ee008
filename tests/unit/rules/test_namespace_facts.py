"""The record of a namespace says what page, pane and JSON show of it."""

from __future__ import annotations

import gc
import weakref
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from foretop_core.dashboard.table_models import StoreTableModel
from foretop_core.models import (
    Backup,
    BackupSpec,
    BackupStorageLocation,
    DataMovement,
    DataUpload,
    Namespace,
    PersistentVolume,
    PodVolumeBackup,
    Resource,
    from_builtins,
)
from foretop_core.models.velero import ItemProgress, ScheduleStatus, VolumeSnapshotLocation
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.facts.namespace_facts import NamespaceFacts, ProtectionJudge, ProtectionLimits
from foretop_core.rules.humanize import rfc3339
from foretop_core.rules.sentences import render
from foretop_core.rules.severity import Severity
from foretop_core.rules.snapshot import VeleroInfo
from foretop_core.rules.triage import Finding, Thresholds, triage
from foretop_core.rules.volumes.evidence import VolumeFlags
from foretop_core.rules.volumes.run_plan import Deciders
from foretop_core.tables.engine.status_glyphs import Tone
from tests.objects import NOW
from tests.unit.rules.test_protection import CLAIMS_READ, claim, copy, location, nab, namespace, restore, schedule, wire
from tests.unit.tables.test_views import Shown

_COVERED = (location(), namespace("team"), schedule("daily", "team", cron="0 3 * * *"), CLAIMS_READ)


_DECIDES = Deciders(
    locations=(from_builtins(VolumeSnapshotLocation, {"spec": {"provider": "aws"}}),),
    storage_classes={},
    snapshot_classes=(),
    agent_nodes=frozenset(),
    pods={},
)


def facts(
    *objects: Resource,
    deciding: Deciders | None = None,
    limits: ProtectionLimits | None = None,
    release: str = "1.18.3",
) -> NamespaceFacts:
    info = VeleroInfo(False, 1, release, volume_flags=VolumeFlags())
    snapshot = replace(assemble(objects), servers={"velero": info})
    if deciding is not None:
        snapshot = replace(snapshot, deciding={"velero": deciding})
    row = snapshot.protection.row("team")
    assert row is not None
    return ProtectionJudge(snapshot, NOW, limits or ProtectionLimits()).facts(row)


def _found(
    *objects: Resource, deciding: Deciders | None = None, limits: Thresholds | None = None
) -> dict[str, Finding]:
    """By code, what Triage says of the namespace."""
    info = VeleroInfo(False, 1, "1.18.3", volume_flags=VolumeFlags())
    snapshot = replace(assemble(objects), servers={"velero": info}, deciding={"velero": deciding} if deciding else {})
    told = triage(snapshot, NOW, limits).findings
    return {one.code: one for one in told if one.subject.name == "team"}


@pytest.mark.parametrize(
    ("objects", "word", "severity", "why"),
    [
        ((copy("one", "team"),), "protected", None, "protected"),
        (
            (copy("one", "team", age=timedelta(hours=30)),),
            "copy due",
            None,
            "a copy is due, and late if the next run makes none",
        ),
        ((), "no copy", Severity.ERROR, "it has no copy, though its schedules promise one"),
        (
            (copy("one", "team", age=timedelta(days=4)),),
            "late",
            Severity.ERROR,
            "its newest copy is older than its schedules promise",
        ),
        ((copy("one", "team", phase="PartiallyFailed"),), "partial", Severity.WARNING, "no copy has all of it"),
    ],
)
def test_one_state_one_word_and_one_severity(
    objects: tuple[Resource, ...], word: str, severity: Severity | None, why: str
) -> None:
    found = facts(*_COVERED, *objects)
    assert (found.word, found.severity, found.why) == (word, severity, why)
    shown = Shown("protection", [*_COVERED, *objects])
    assert [row[1] for row in shown.text("state", "name") if row[2] == "team"] == [word]


def test_the_newest_copy_and_what_it_lacks() -> None:
    complete, partial = (
        facts(*_COVERED, copy("one", "team")),
        facts(*_COVERED, copy("one", "team", phase="PartiallyFailed")),
    )
    assert [one.newest_copy.name if one.newest_copy else "" for one in (complete, partial)] == ["one", "one"]
    assert (complete.lack, partial.lack) == ("", "failed partially")
    assert _next(complete) == ("daily", "2026-11-15T03:00:00Z", False)
    assert facts(location(), namespace("team")).protection.next_cover is None


def _next(found: NamespaceFacts) -> tuple[str, str | None, bool]:
    cover = found.protection.next_cover
    return cover.schedule.name if cover else "", rfc3339(found.protection.next_run), found.protection.is_next_refused


_READ_ONLY = from_builtins(
    BackupStorageLocation, {"metadata": {"name": "kept", "namespace": "velero"}, "spec": {"accessMode": "ReadOnly"}}
)


@pytest.mark.parametrize("place", [location("offsite", "Unavailable"), _READ_ONLY, location("another")])
def test_a_run_that_velero_refuses_is_not_the_next_one(place: BackupStorageLocation) -> None:
    to = "gone" if place.name == "another" else place.name
    refused = schedule("refused", "team", cron="50 2 * * *", storageLocation=to)
    objects = (place, *_COVERED, copy("one", "team"))
    found = facts(*objects, refused)
    assert _next(found) == ("daily", "2026-11-15T03:00:00Z", False)
    assert found.word == "protected"
    assert Shown("protection", [*objects, refused]).cells("next")["team"].briefs == ("18m",)


def test_where_all_runs_are_refused_the_next_one_has_a_sign() -> None:
    refused = schedule("refused", "team", cron="0 23 * * *", storageLocation="offsite")
    objects = [location(), location("offsite", "Unavailable"), namespace("team"), refused, copy("one", "team")]
    found = facts(*objects)
    assert _next(found) == ("refused", None, True)
    cell = Shown("protection", objects).cells("next")["team"]
    assert (cell.text, cell.briefs, cell.tone) == ("in 20h18m, refused", ("20h18m×", "×"), Tone.WARN)


def test_copies_out_of_reach_are_counted_apart() -> None:
    lost = [copy(f"lost-{at}", "team", storage="offsite") for at in range(2)]
    partial = copy("partial", "team", phase="PartiallyFailed")
    objects = (*_COVERED, location("offsite", "Unavailable"), *lost)
    some, none = facts(*objects, copy("one", "team"), partial), facts(*objects)
    assert (some.good_in_reach, some.protection.out_of_reach, some.copies_text) == (
        1,
        2,
        "1 good, 2 out of reach, 1 partial",
    )
    assert (none.good_in_reach, none.protection.out_of_reach, none.copies_text) == (0, 2, "2, all out of reach")
    odd = copy("odd", "team", phase="PartiallyFailed", storage="offsite")
    assert [one.all_copies for one in (some, none, facts(*objects, odd))] == [(3, 1), (2, 0), (2, 1)]
    assert facts(*_COVERED, copy("one", "team"), partial).copies_text == "1 good, 1 partial"


def test_the_newest_copy_is_one_that_can_be_reached() -> None:
    """A newer one in a location that Velero cannot use does not make the namespace protected."""
    old, lost = copy("old", "team", age=timedelta(days=4)), copy("lost", "team", storage="offsite")
    partial = copy("partial", "team", phase="PartiallyFailed")
    found = facts(*_COVERED, location("offsite", "Unavailable"), old, lost)
    assert found.newest_copy == old
    assert (found.word, found.copies_text) == ("late", "1 good, 1 out of reach")
    part = facts(*_COVERED, location("offsite", "Unavailable"), partial, lost)
    assert (part.newest_copy, part.word, part.why) == (partial, "partial", "no copy in reach has all of it")
    assert part.copies_text == "0 good, 1 partial, 1 out of reach"
    assert facts(*_COVERED, location("offsite"), old, lost).newest_copy == lost


def _moved(kind: type[DataMovement], name: str, phase: str = "Completed", uid: str = "", of: str = "one") -> Resource:
    """The movement of a claim of team, by a copy."""
    meta = {
        "name": f"{of}-{name}",
        "namespace": "velero",
        "labels": {"velero.io/backup-name": of, "velero.io/pvc-uid": uid},
        "annotations": {"velero.io/pvc-name": name},
    }
    spec = {"pod": {"namespace": "team"}, "sourceNamespace": "team", "sourcePVC": name}
    status = {"phase": phase, "message": "no space" if phase == "Failed" else "", "progress": {"totalBytes": 2_000}}
    return from_builtins(kind, {"metadata": meta, "spec": spec, "status": status})


_MOVED_ELSEWHERE = _moved(DataUpload, "other", of="another")


def _with_snapshots(made: Backup, tried: int, taken: int, operations: int = 0) -> Backup:
    counts = {"volume_snapshots_attempted": tried, "volume_snapshots_completed": taken}
    return replace(made, status=replace(made.status, **counts, backup_item_operations_attempted=operations))


def _volume(name: str, space: str = "team", **source: Any) -> Resource:
    spec = {"claimRef": {"namespace": space, "name": name}, **source}
    return from_builtins(PersistentVolume, {"metadata": {"name": f"pv-{name}"}, "spec": spec})


_VOLUMES = tuple(
    _volume(name, space, awsElasticBlockStore={})
    for name, space in (("data", "team"), ("logs", "team"), ("records", "side"))
)
_DATA, _LOGS = claim("team", "data", uid="u1"), claim("team", "logs")


@pytest.mark.parametrize(
    ("objects", "word", "count", "why"),
    [
        ((_moved(PodVolumeBackup, "data"), _moved(DataUpload, "logs")), "protected", "2/2", "protected"),
        (
            (_moved(PodVolumeBackup, "data"), _moved(DataUpload, "logs", "Failed")),
            "volumes missing",
            "1/2",
            "its newest copy lacks 1 of 2 volumes",
        ),
        (
            (),
            "manifests only",
            "0/2",
            "its newest copy has its objects, and the data of none of its volumes",
        ),
        (
            (_moved(PodVolumeBackup, "data"), _moved(DataUpload, "logs", "InProgress")),
            "not known",
            "?/2",
            "it is not known whether its newest copy has all of it: its data movements have not ended",
        ),
        (
            (_moved(PodVolumeBackup, "data", uid="another"), _moved(DataUpload, "logs")),
            "volumes missing",
            "1/2",
            "its newest copy lacks 1 of 2 volumes",
        ),
    ],
)
def test_a_namespace_is_protected_only_where_the_data_of_its_volumes_is_in_its_newest_copy(
    objects: tuple[Resource, ...], word: str, count: str, why: str
) -> None:
    found = facts(*_COVERED, _DATA, _LOGS, _MOVED_ELSEWHERE, copy("one", "team"), *objects)
    assert (found.word, found.volumes.count_text, found.why) == (word, count, why)


@pytest.mark.parametrize(
    ("made", "others", "word", "count"),
    [
        (_with_snapshots(copy("one", "team"), 2, 2), (), "protected", "~2/2"),
        (_with_snapshots(copy("one", "team", "side"), 3, 3), (claim("side", "records"),), "protected", "~2/2"),
        (_with_snapshots(copy("one", "team", "side"), 2, 2), (claim("side", "records"),), "not known", "?/2"),
        (_with_snapshots(copy("one", "team"), 2, 1), (), "not known", "?/2"),
        (_with_snapshots(copy("one", "team"), 0, 0, operations=2), (), "not known", "?/2"),
        (_with_snapshots(copy("one"), 2, 2), (claim("side", "records"),), "not known", "?/2"),
    ],
)
def test_snapshots_prove_volumes_by_their_number_beside_all_that_decides(
    made: Backup, others: tuple[Resource, ...], word: str, count: str
) -> None:
    """Of fewer or more nobody can tell whose they are without the volume info."""
    objects = [one for one in _COVERED if one is not CLAIMS_READ]
    known = (*objects, _DATA, _LOGS, *_VOLUMES, _MOVED_ELSEWHERE, made, *others)
    found = facts(*known, deciding=_DECIDES)
    assert (found.word, found.volumes.count_text) == (word, count)
    assert all(one.is_by_count for one in found.volumes.taken)
    assert facts(*known).word == "not known", "without all that decides"


def test_snapshots_of_volumes_that_no_claim_of_it_leads_to_prove_nothing() -> None:
    """With all cluster-scoped resources come the PersistentVolumes that nobody claims."""
    made = copy("one")
    native = replace(made.status, volume_snapshots_attempted=2, volume_snapshots_completed=2)
    objects = [one for one in _COVERED if one is not CLAIMS_READ]
    nobodys = from_builtins(PersistentVolume, {"metadata": {"name": "pv"}, "spec": {"awsElasticBlockStore": {}}})
    known = (*objects, _DATA, _LOGS, *_VOLUMES[:2], nobodys, _MOVED_ELSEWHERE)
    found = facts(*known, replace(made, status=native), deciding=_DECIDES)
    assert (found.word, found.volumes.count_text) == ("not known", "?/2")
    assert found.why.endswith("pv belongs to no claim: its volume info tells which")


@pytest.mark.parametrize(
    ("volume", "spec", "why"),
    [
        ({"nfs": {"server": "s"}}, {}, "no snapshot location knows NFS volumes, and no file copy of it was made"),
        (
            {"hostPath": {"path": "/"}},
            {},
            "no snapshot location knows hostPath volumes, and no file copy of it was made",
        ),
        (
            {"awsElasticBlockStore": {}},
            {"includeClusterResources": False},
            "its PersistentVolume is not in the backup, and no file copy of it was made",
        ),
        (
            {"awsElasticBlockStore": {}},
            {"snapshotVolumes": False},
            "its backup takes no snapshots, and no file copy of it was made",
        ),
    ],
)
def test_a_volume_that_no_snapshot_can_be_of_is_not_counted_among_them(
    volume: dict[str, Any], spec: dict[str, Any], why: str
) -> None:
    """The one snapshot that was made is that of the other volume."""
    made = _with_snapshots(copy("one", "team", **spec), 1, 1)
    objects = [one for one in _COVERED if one is not CLAIMS_READ]
    known = (*objects, _DATA, _LOGS, _VOLUMES[0], _volume("logs", **volume), _MOVED_ELSEWHERE, made)
    found = facts(*known, deciding=_DECIDES)
    told = {one.name: one.why for one in found.volumes.left_out}
    assert told["logs"] == why
    if not spec:
        assert (found.word, [one.name for one in found.volumes.taken]) == ("volumes missing", ["data"])


def test_without_a_look_at_claims_or_movements_nothing_is_called_protected() -> None:
    objects = [one for one in _COVERED if one is not CLAIMS_READ]
    unread = facts(*objects, copy("one", "team"))
    assert (unread.word, unread.volumes.count_text) == ("not known", "?")
    assert unread.why.endswith("its PersistentVolumeClaims were not read")
    unmoved = facts(*_COVERED, _DATA, copy("one", "team"))
    assert (unmoved.word, unmoved.volumes.count_text) == ("not known", "?/1")
    assert unmoved.why.endswith("its PodVolumeBackups and DataUploads were not read")


def test_a_claim_without_a_volume_or_newer_than_the_copy_is_no_gap() -> None:
    pending = replace(_LOGS, status=replace(_LOGS.status, phase="Pending"))
    newer = claim("team", "fresh", creationTimestamp=wire(NOW))
    found = facts(*_COVERED, _DATA, pending, newer, copy("one", "team"), _moved(PodVolumeBackup, "data"))
    assert (found.word, found.volumes.count_text, found.volumes.newer) == ("protected", "1/1", ("fresh",))
    assert found.volumes.size == 2_000


def test_data_of_a_claim_of_that_name_in_perhaps_another_cluster_proves_nothing() -> None:
    """A bucket is shared, and its copy says by name alone whose data it has."""
    made = copy("one", "team")
    synced = replace(made, metadata=replace(made.metadata, creation_timestamp=NOW))
    named, sure = _moved(PodVolumeBackup, "data"), _moved(PodVolumeBackup, "data", uid="u1")
    found = facts(*_COVERED, _DATA, synced, named)
    assert (found.word, found.volumes.open) == ("not known", ("data",))
    assert found.why.endswith("nothing in it says of which cluster its data is")
    assert facts(*_COVERED, _DATA, synced, sure).word == "protected"
    assert facts(*_COVERED, _DATA, made, named).word == "protected"


def test_a_choice_is_a_fault_where_the_configuration_wants_every_volume() -> None:
    skipped = claim("team", "data", labels={"velero.io/exclude-from-backup": "true"})
    objects = (*_COVERED, skipped, _LOGS, copy("one", "team"), _moved(PodVolumeBackup, "logs"))
    assert facts(*objects).word == "protected, 1 left out by policy"
    strict = facts(*objects, limits=ProtectionLimits(every_volume=True))
    assert (strict.word, strict.why) == ("volumes missing", "its newest copy lacks 1 of 2 volumes")


_LACKS, _NEXT = "namespace-volumes-missing", "volumes-left-out"


@pytest.mark.parametrize(
    ("made", "told"),
    [
        ((1, 1), " It is not known whether one has data: it has 1 snapshot for 1 volume: "),
        ((0, 0), " one does not have it either."),
        (None, "no snapshot location."),
    ],
)
def test_what_the_next_run_leaves_out_may_be_in_the_copies_that_are_there(
    made: tuple[int, int] | None, told: str
) -> None:
    """The snapshot location is gone since: what the next run does tells nothing of the snapshots that were made."""
    copies = [] if made is None else [_with_snapshots(copy("one", "team"), *made)]
    without = replace(_DECIDES, locations=())
    found = _found(*_COVERED, _DATA, _VOLUMES[0], _MOVED_ELSEWHERE, *copies, deciding=without)
    assert (found[_NEXT].what, _LACKS in found) == ("next run leaves out 1 volume", False), "it is told once"
    evidence = render(found[_NEXT].evidence, NOW)
    assert told in evidence
    assert "never" not in evidence


@pytest.mark.parametrize(
    ("objects", "what", "evidence"),
    [
        (
            (_moved(PodVolumeBackup, "data"), _moved(DataUpload, "logs", "Failed")),
            "newest copy lacks 1 volume",
            "Its newest copy lacks 1 of 2 volumes: logs (its data movement is Failed: no space).",
        ),
        (
            (_MOVED_ELSEWHERE,),
            "newest copy lacks 2 volumes",
            "Its newest copy has its objects, and the data of none of its volumes: "
            "data (no snapshot and no file copy of it was made) and "
            "logs (no snapshot and no file copy of it was made).",
        ),
    ],
)
def test_a_namespace_whose_newest_copy_lacks_volumes_is_found(
    objects: tuple[Resource, ...], what: str, evidence: str
) -> None:
    """As grave as its page shows it, whether the next run takes them or that is not known."""
    everything = (*_COVERED, _DATA, _LOGS, copy("one", "team"), *objects)
    for deciding in (None, _DECIDES):
        found = _found(*everything, *_VOLUMES, deciding=deciding)[_LACKS]
        assert (found.what, render(found.evidence, NOW)) == (what, evidence)
        assert found.severity is facts(*everything, *_VOLUMES).severity is Severity.WARNING
    assert found.remedy != ""


def test_what_somebody_chose_to_leave_out_is_no_finding_unless_the_configuration_wants_it() -> None:
    skipped = claim("team", "data", labels={"velero.io/exclude-from-backup": "true"})
    objects = (*_COVERED, skipped, _LOGS, copy("one", "team"), _moved(PodVolumeBackup, "logs"))
    assert _LACKS not in _found(*objects)
    assert _found(*objects, limits=Thresholds(every_volume=True))[_LACKS].what == "newest copy lacks 1 volume"


def test_where_all_volumes_are_newer_than_the_copy_the_finding_says_so() -> None:
    newer = claim("team", "fresh", creationTimestamp=wire(NOW))
    found = _found(*_COVERED, newer, copy("one", "team"))[_LACKS]
    assert found.what == "newest copy lacks 1 volume"
    assert render(found.evidence, NOW).endswith("none of its volumes: fresh (newer than it).")


def _bound_later(name: str) -> Resource:
    meta = {"name": f"pv-{name}", "creationTimestamp": wire(NOW)}
    spec = {"claimRef": {"namespace": "team", "name": name}, "awsElasticBlockStore": {}}
    return from_builtins(PersistentVolume, {"metadata": meta, "spec": spec})


_MADE_AGAIN = claim("team", "data", uid="u2", creationTimestamp=wire(NOW))


@pytest.mark.parametrize(
    ("objects", "taken", "newer"),
    [
        ((_MADE_AGAIN, _moved(PodVolumeBackup, "data", uid="u1")), (), ("data",)),
        ((_MADE_AGAIN, _moved(PodVolumeBackup, "data", uid="u2")), ("data",), ()),
        ((_DATA, _bound_later("data")), (), ("data",)),
        ((_DATA, _bound_later("data"), _moved(PodVolumeBackup, "data", uid="u1")), ("data",), ()),
    ],
)
def test_a_claim_has_its_data_in_a_copy_where_that_copied_this_very_claim(
    objects: tuple[Resource, ...], taken: tuple[str, ...], newer: tuple[str, ...]
) -> None:
    """A run takes what is made while it works; a claim that waited for its first pod had no data before."""
    found = facts(*_COVERED, copy("one", "team"), _LOGS, _moved(DataUpload, "logs"), *objects).volumes
    assert (tuple(one.name for one in found.taken), found.newer, found.left_out) == ((*taken, "logs"), newer, ())


def test_the_snapshot_of_a_claim_that_is_gone_is_not_that_of_one_that_was_bound_later() -> None:
    objects = (*_COVERED, _with_snapshots(copy("one", "team"), 1, 1), _DATA, _MOVED_ELSEWHERE)
    found = facts(*objects, _bound_later("data"), deciding=_DECIDES)
    assert (found.word, found.volumes.taken, found.volumes.newer) == ("manifests only", (), ("data",))
    both = facts(*objects, _bound_later("data"), _LOGS, _VOLUMES[1], deciding=_DECIDES)
    assert (both.word, both.volumes.open, both.volumes.newer) == ("not known", ("logs",), ("data",))
    assert both.why.endswith("team/data was made later: its volume info tells which")


def test_the_policies_of_the_server_may_ask_for_a_snapshot_that_the_template_forbids() -> None:
    annotations = {"velero.io/global-backup-volume-policy-configmap": "gold"}
    made = _with_snapshots(copy("one", "team", snapshotVolumes=False, annotations=annotations), 1, 1)
    found = facts(*_COVERED, _DATA, _VOLUMES[0], _MOVED_ELSEWHERE, made)
    assert (found.word, found.volumes.count_text) == ("not known", "?/1")


def test_where_all_volumes_are_newer_than_the_copy_none_of_their_data_is_in_it() -> None:
    newer = claim("team", "fresh", creationTimestamp=wire(NOW))
    found = facts(*_COVERED, newer, copy("one", "team"))
    assert (found.word, found.volumes.newer) == ("manifests only", ("fresh",))
    pending = replace(newer, status=replace(newer.status, phase="Pending"))
    waits = facts(*_COVERED, pending, copy("one", "team"))
    assert (waits.word, waits.volumes.newer) == ("protected", ()), "it has no volume yet"


@pytest.mark.parametrize("names", [("team",), ("*",), ()])
def test_a_copy_that_is_older_than_the_namespace_has_nothing_of_it(names: tuple[str, ...]) -> None:
    meta = {"name": "team", "creationTimestamp": wire(NOW - timedelta(minutes=30))}
    fresh = from_builtins(Namespace, {"metadata": meta})
    objects = (location(), fresh, schedule("daily", *names, cron="0 3 * * *"), CLAIMS_READ)
    found = facts(*objects, copy("one", *names))
    assert (found.word, found.severity) == ("no copy yet", None)
    assert found.why == "it was made after its newest copy, which has nothing of it, and is not backed up yet"
    assert facts(*objects, copy("one", *names, age=timedelta(minutes=20))).word == "protected"
    back = restore("back", "one", "team", age=timedelta(minutes=29))
    assert facts(*objects, copy("one", *names), back).word == "protected", "it was made from that copy"


@pytest.mark.parametrize(
    ("template", "word"),
    [
        ({"snapshotVolumes": False}, "volumes missing"),
        ({"snapshotVolumes": False, "defaultVolumesToFsBackup": True}, "protected"),
        ({}, "protected"),
    ],
)
def test_a_namespace_is_protected_only_while_a_template_takes_its_volumes(template: dict[str, Any], word: str) -> None:
    """The copy was made before the template was changed."""
    covered = (location(), namespace("team"), schedule("daily", "team", cron="0 3 * * *", **template))
    objects = (*covered, _DATA, _VOLUMES[0], copy("one", "team"), _moved(PodVolumeBackup, "data"))
    found = facts(*objects, deciding=_DECIDES)
    assert found.word == word
    if word == "volumes missing":
        assert found.why == "its newest copy has its volumes, and no schedule takes the data of data any more"
        other = schedule("weekly", "team", cron="0 4 * * 0")
        assert facts(*objects, other, deciding=_DECIDES).word == "protected", "another one takes it"
        assert facts(*objects).word == "protected", "what decides was not read"
        asked = (*covered, _DATA, _VOLUMES[0], copy("one", "team", **template), _moved(PodVolumeBackup, "data"))
        assert facts(*asked, deciding=_DECIDES).word == "protected", "the pod that asked may be back"


def test_a_completed_backup_that_took_not_a_single_object_is_no_copy() -> None:
    """Velero 1.18.0 makes such backups of a template that only excludes namespaces by patterns."""
    made = copy("one", excludedNamespaces=["kube-*"])
    empty = replace(made, status=replace(made.status, progress=ItemProgress()))
    objects = (location(), namespace("team"), schedule("daily", cron="0 3 * * *"), CLAIMS_READ)
    found = facts(*objects, empty)
    assert (found.word, found.copies_text) == ("no copy", "0 good, 0 partial")
    full = replace(empty, status=replace(made.status, progress=ItemProgress(7, 7)))
    assert (facts(*objects, full).word, facts(*objects, full, empty).copies_text) == ("protected", "1 good")


def test_what_a_resource_policy_decides_is_not_known() -> None:
    """Neither its next run nor its copies are called complete, or partial, by the template alone."""
    policy = {"kind": "configmap", "name": "gold"}
    told = "not known: its resource policy gold was not read"
    found = facts(
        *_COVERED[:2], schedule("daily", "team", resourcePolicy=policy), copy("one", "team", resourcePolicy=policy)
    )
    assert (found.word, found.severity, str(found.protection.coverage)) == ("not known", None, told)
    assert (found.good_in_reach, found.lack) == (0, "its resource policy gold was not read")
    failed = facts(*_COVERED, copy("one", "team", phase="PartiallyFailed", resourcePolicy=policy))
    assert failed.word == "partial"
    whole = facts(*_COVERED[:2], schedule("daily", "team", resourcePolicy=policy), copy("one", "team"))
    assert whole.word == "not known"


def test_an_old_copy_of_schedules_that_owe_none_yet_is_not_plainly_protected() -> None:
    """A pause that has just ended leaves a copy of several times the promised age behind, and no promise."""
    skipped = replace(schedule("daily", "team", cron="0 3 * * *"), status=ScheduleStatus(last_skipped=NOW))
    found = facts(location(), namespace("team"), skipped, CLAIMS_READ, copy("one", "team", age=timedelta(days=4)))
    assert (found.word, found.severity) == ("copy due", None)
    assert found.why == "a copy is due: its schedules were created, unpaused or skipped lately and have made none since"


def test_a_namespace_without_a_copy_is_told_as_such_while_its_schedules_are_paused() -> None:
    paused = schedule("daily", "team", cron="0 3 * * *", paused=True)
    found = facts(location(), namespace("team"), paused)
    assert (found.word, found.why) == ("no copy yet", "it has no copy, and its schedules are paused")
    other = schedule("other", "held", cron="0 3 * * *", paused=True)
    shown = Shown("protection", [location(), namespace("team"), namespace("held"), paused, other, copy("one", "held")])
    shown.model = StoreTableModel(shown.state, shown.model.view, worst_first=True)
    assert [row[2] for row in shown.text("state", "name")] == ["team", "held"], "first what has nothing"


@pytest.mark.parametrize(
    ("phases", "why"),
    [
        (("Queued",), "no schedule takes it, and its only NAB has not ended yet"),
        (("Failed", "InProgress"), "no schedule takes it, and its newest NAB has not ended yet"),
        (("Failed",), "no schedule takes it, and no NAB has made a copy"),
    ],
)
def test_a_namespace_that_waits_for_a_nab_is_not_told_in_the_words_of_a_new_schedule(
    phases: tuple[str, ...], why: str
) -> None:
    asked = [nab("team", f"n{place}", phase) for place, phase in enumerate(phases)]
    found = facts(location(), namespace("team"), *asked)
    assert (found.word, found.why) == ("no copy yet", why)


def test_a_nab_of_a_part_is_no_copy_of_all_while_one_of_all_runs() -> None:
    part, whole = nab("team", "part"), nab("team", "whole", "InProgress")
    only = replace(part.spec, backup_spec=BackupSpec(included_resources=("configmaps",)))
    later = replace(whole.metadata, creation_timestamp=NOW)
    objects = (location(), namespace("team"), CLAIMS_READ, replace(whole, metadata=later))
    assert facts(*objects, part).word == "by hand only"
    found = facts(*objects, replace(part, spec=only))
    assert (found.word, found.lack, found.copies_text) == ("partial", "only configmaps", "0 good, 1 partial")


def test_what_was_worked_out_for_a_moment_goes_with_it() -> None:
    """The dashboard collects circles seldom: one would keep the snapshot of each second."""
    objects = [*_COVERED, copy("one", "team")]
    shown = Shown("protection", objects)
    gc.disable()
    try:
        render = replace(shown.render_context(), now=NOW)
        row = assemble(objects).protection.row("team")
        assert row is not None
        assert render.namespace(row).coming_word == ""
        assert render.namespace(row).held_up == ()
        judge = weakref.ref(render.protection)
        del render
        assert judge() is None
    finally:
        gc.enable()


def _made(one: Backup, created: timedelta, started: timedelta | None = None, generation: int = 1) -> Backup:
    """A copy that was made so long ago by the API server's clock, and started so long ago by Velero's."""
    start = one.started if started is None else NOW - started
    meta = replace(one.metadata, creation_timestamp=NOW - created, generation=generation)
    return replace(one, metadata=meta, status=replace(one.status, start_timestamp=start))


def test_a_copy_that_was_read_from_storage_may_be_of_another_clusters_namespace() -> None:
    """Two clusters share a bucket, and both have a namespace of that name without a volume."""
    read, worked_on = (_made(copy("one", "team"), timedelta(), generation=number) for number in (1, 6))
    found = facts(*_COVERED, read)
    assert found.word == "not known"
    assert found.why.endswith("read from storage, and may be of a namespace of this name in another cluster")
    assert facts(*_COVERED, worked_on).word == "protected", "Velero's clock is behind"


def test_a_copy_with_the_time_of_a_clock_that_is_ahead_is_as_old_as_its_object() -> None:
    ahead, young = timedelta(days=-365), timedelta(hours=1)
    assert facts(*_COVERED, _made(copy("one", "team"), timedelta(days=4), ahead)).word == "late"
    fresh = facts(*_COVERED, _made(copy("one", "team"), young, ahead))
    assert (fresh.word, fresh.age) == ("protected", young)


def test_a_claim_is_not_newer_than_a_copy_because_veleros_clock_is_behind() -> None:
    """It was there when the backup was made, and is not in it."""
    one = _made(copy("one", "team"), timedelta(hours=2), timedelta(hours=5))
    left_out = claim("team", "logs", creationTimestamp=wire(NOW - timedelta(hours=3)))
    found = facts(*_COVERED, _DATA, left_out, one, _moved(PodVolumeBackup, "data"))
    assert (found.word, [lost.name for lost in found.volumes.missing]) == ("volumes missing", ["logs"])


def test_a_file_copy_that_is_older_than_the_object_of_its_backup_is_of_an_earlier_one() -> None:
    moved, one = _moved(PodVolumeBackup, "data"), _made(copy("one", "team"), timedelta(hours=1))
    stale = replace(moved, metadata=replace(moved.metadata, creation_timestamp=NOW - timedelta(days=2)))
    assert facts(*_COVERED, _DATA, one, moved).word == "protected"
    assert facts(*_COVERED, _DATA, one, stale).word == "manifests only"


@pytest.mark.parametrize(
    ("release", "template", "word", "why"),
    [
        (
            "1.18.0",
            {"excludedNamespaces": ["kube-*"]},
            "not covered",
            "no schedule takes anything of it: Velero 1.18.0 takes nothing where excludedNamespaces has a pattern and "
            "includedNamespaces is empty",
        ),
        ("1.18.1", {"excludedNamespaces": ["kube-*"]}, "protected", "protected"),
        (
            "1.17.2",
            {"includedNamespaces": ["te*"]},
            "not covered",
            "no schedule takes anything of it: Velero 1.17.2 takes no patterns in includedNamespaces: "
            "it looks for a namespace te*",
        ),
        ("1.17.2", {"includedNamespaces": ["te*", "team"]}, "protected", "protected"),
        ("1.18.3", {"includedNamespaces": ["te*"]}, "protected", "protected"),
    ],
)
def test_patterns_take_what_the_release_of_the_server_takes(
    release: str, template: dict[str, Any], word: str, why: str
) -> None:
    """Such backups are Completed, and may have objects of the cluster in them."""
    nightly = schedule("daily", *template.pop("includedNamespaces", ()), cron="0 3 * * *", **template)
    made = copy("one", *nightly.spec.template.included_namespaces, **template)
    found = facts(location(), namespace("team"), nightly, CLAIMS_READ, made, release=release)
    assert (found.word, found.why) == (word, why)
    corrected = schedule("daily", "team", cron="0 3 * * *")
    now = facts(location(), namespace("team"), corrected, CLAIMS_READ, made, release=release)
    assert now.word == ("not known" if word == "not covered" else "protected")


def test_a_template_that_was_changed_since_the_copy_may_take_its_volumes_in_no_other_way() -> None:
    """The copy has the files of an NFS volume; without them nothing takes it."""
    meta, claims = {"name": "pv-data"}, {"namespace": "team", "name": "data"}
    nfs = from_builtins(PersistentVolume, {"metadata": meta, "spec": {"claimRef": claims, "nfs": {"server": "a"}}})
    objects = (location(), namespace("team"), _DATA, nfs, _moved(PodVolumeBackup, "data"))
    by_files = copy("one", "team", defaultVolumesToFsBackup=True)
    changed = facts(*objects, by_files, schedule("daily", "team", cron="0 3 * * *"), deciding=_DECIDES)
    assert changed.word == "volumes missing"
    same = schedule("daily", "team", cron="0 3 * * *", defaultVolumesToFsBackup=True)
    assert facts(*objects, by_files, same, deciding=_DECIDES).word == "protected"
