"""The cron dialect of a Velero server, and the evidence for it."""

from __future__ import annotations

import msgspec
import pytest

from foretop_core.cron import Dialect
from foretop_core.errors import BadInput
from foretop_core.models import (
    BackupStorageLocation,
    CustomResourceDefinition,
    Deployment,
    Resource,
    Schedule,
    ServerStatusRequest,
    from_builtins,
)
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.cron_dialects import (
    DialectVerdict,
    GivenVersions,
    differences,
    find_release,
    read_release,
    readings,
    velero_of_oadp,
)
from tests.objects import backup, schedule

V1, V3, NET = Dialect.ROBFIG1, Dialect.ROBFIG, Dialect.NETRESEARCH


def verdict(*objects: Resource, given: dict[str, str] | None = None) -> DialectVerdict:
    return assemble(objects, given_versions=given).verdict("velero")


def deployment(image: str) -> Deployment:
    container = {"name": "velero", "image": image, "args": ["server"]}
    return from_builtins(
        Deployment,
        {
            "metadata": {"name": "velero", "namespace": "velero"},
            "spec": {"template": {"spec": {"containers": [container]}}},
        },
    )


def refused(cron: str, words: str) -> Schedule:
    item = schedule("refused", cron, phase="FailedValidation")
    status = msgspec.structs.replace(item.status, validation_errors=(f"invalid schedule: {words}",))
    return msgspec.structs.replace(item, status=status)


@pytest.mark.parametrize(
    ("text", "dialects"),
    [
        ("1.9.7", (V1,)),
        ("1.14", (V1,)),
        ("v1.14.1", (V1,)),
        ("1.15.0", (V3,)),
        ("1.17", (V3,)),
        ("1.18.0", (V3,)),
        ("1.18.2", (V3,)),
        ("1.18", (V3, NET)),
        ("1.18.3", (NET,)),
        ("v1.18.3-rc.1", (NET,)),
        ("v1.18.2-OADP.4", (V3,)),
        ("1.18.10", (NET,)),
        ("1.19", (NET,)),
        ("2.0.0", (NET,)),
    ],
)
def test_a_release_has_the_dialect_of_the_library_that_it_was_built_with(text: str, dialects: tuple[Dialect]) -> None:
    assert read_release(text).dialects == dialects


@pytest.mark.parametrize("text", ["", "latest", "main", "1", "1.x", "1.18.3.4", "velero-1.18", "sha256:12", "99999.1"])
def test_an_invalid_release_is_a_one_line_error(text: str) -> None:
    assert find_release(text) is None
    with pytest.raises(BadInput) as caught:
        read_release(text)
    assert str(caught.value) == f"{text!r} is not a valid Velero version (give one such as 1.18.2 or 1.18)"


@pytest.mark.parametrize(
    ("oadp", "velero"), [("1.3.1", "1.12"), ("1.4.0", "1.14"), ("1.5.2", "1.16"), ("1.6.0", "1.18")]
)
def test_an_oadp_release_maps_to_its_velero(oadp: str, velero: str) -> None:
    assert str(velero_of_oadp(oadp)) == velero


@pytest.mark.parametrize(
    ("image", "candidates"),
    [
        ("velero/velero:v1.14.1", (V1,)),
        ("velero/velero:v1.18.2", (V3,)),
        ("velero/velero:v1.18.3-rc.2", (NET,)),
        ("registry:5000/velero/velero:v1.18", (V3, NET)),
        ("velero/velero:latest", (V1, V3, NET)),
        ("velero/velero", (V1, V3, NET)),
        ("quay.io/konveyor/velero:oadp-1.4", (V1,)),
        ("example/oadp-velero@sha256:0a1b", (V1, V3, NET)),
        ("velero/velero:v1.18.3@sha256:0a1b", (NET,)),
    ],
)
def test_an_image_tag_narrows_the_dialects(image: str, candidates: tuple[Dialect, ...]) -> None:
    assert verdict(deployment(image)).candidates == candidates


def test_a_given_version_wins_over_the_tag_which_is_kept_as_a_contradiction() -> None:
    found = verdict(deployment("velero/velero:v1.18.3"), given={"": "1.18.2"})
    assert found.candidates == (V3,)
    assert found.reasons == ("--velero-version 1.18.2",)
    assert found.contradictions == ("the tag 1.18.3 of its image",)


def test_a_version_for_a_namespace_wins_over_one_for_the_cluster() -> None:
    assert verdict(given={"": "1.14", "velero": "1.18.3"}).candidates == (NET,)
    assert verdict(given={"": "1.14", "elsewhere": "1.18.3"}).candidates == (V1,)


def test_versions_are_given_for_all_for_a_context_with_slashes_and_for_a_namespace_in_it() -> None:
    openshift = "openshift-adp/api-prod:6443/kube:admin"
    given = GivenVersions.read(["1.14", f"{openshift}=1.18.2", f"{openshift}/adp-two=v1.18.3", "eu=1.17"])
    assert given.of(openshift) == {"": "1.18.2", "adp-two": "1.18.3"}
    assert given.of("eu") == {"": "1.17"}
    assert given.of("us") == {"": "1.14"}
    given.check([openshift, "eu"])
    with pytest.raises(BadInput) as caught:
        given.check([openshift])
    assert str(caught.value) == f"--velero-version eu=… does not name a context in use: there are {openshift}"


def test_the_reported_server_version_decides_if_the_image_is_a_digest() -> None:
    request = from_builtins(
        ServerStatusRequest,
        {"metadata": {"name": "cli-x", "namespace": "velero"}, "status": {"serverVersion": "v1.18.2"}},
    )
    found = verdict(deployment("velero/velero@sha256:0a1b"), request)
    assert found.candidates == (V3,)
    assert str(found.release) == "1.18.2"


def test_the_oadp_operator_shows_its_release() -> None:
    labels = {"olm.owner": "oadp-operator.v1.4.2"}
    meta = {"name": "openshift-adp-controller-manager", "namespace": "velero", "labels": labels}
    assert verdict(from_builtins(Deployment, {"metadata": meta})).candidates == (V1,)


@pytest.mark.parametrize(
    ("fields", "candidates"),
    [({"phase": {}, "queuePosition": {}}, (V3, NET)), ({"phase": {}}, (V1, V3)), ({}, (V1, V3, NET))],
)
def test_the_backup_crd_shows_whether_there_is_a_queue(
    fields: dict[str, object], candidates: tuple[Dialect, ...]
) -> None:
    schema = {"openAPIV3Schema": {"properties": {"status": {"properties": fields}}}}
    raw = {"metadata": {"name": "backups.velero.io"}, "spec": {"versions": [{"name": "v1", "schema": schema}]}}
    assert verdict(from_builtins(CustomResourceDefinition, raw)).candidates == candidates


def test_a_queued_backup_shows_that_there_is_a_queue() -> None:
    assert verdict(backup("b", phase="Queued")).candidates == (V3, NET)


@pytest.mark.parametrize(
    ("item", "candidates"),
    [
        (schedule(cron="0 */24 * * *"), (V1, V3)),
        (schedule(cron="0 22-2 * * *"), (NET,)),
        (schedule(cron="TZ=UTC 0 2 * * *"), (V3, NET)),
        (schedule(cron="0 */24 * * *", paused=True), (V1, V3, NET)),
        (schedule(cron="0 */24 * * *", phase=""), (V1, V3, NET)),
        (schedule(cron="0 2 * * *"), (V1, V3, NET)),
        (refused("* 22-21 * * *", "beginning of range (22) beyond end of range (21): 22-21"), (V3,)),
        (refused("* 22-21 * * *", "Beginning of range (22) beyond end of range (21): 22-21"), (V1,)),
        (refused("* 22-21 * * *", "the range is odd"), (V1, V3)),
        (refused("0 */24 * * *", 'step (24) must be less than range size (24): "*/24"'), (NET,)),
        (refused("61 * * * *", 'end of range (61) above maximum (59): "61"'), (V1, V3, NET)),
    ],
)
def test_accepted_expressions_and_error_messages_are_evidence(item: Schedule, candidates: tuple[Dialect, ...]) -> None:
    assert verdict(item).candidates == candidates


def test_the_latest_of_two_contradicting_validations_wins() -> None:
    old = schedule("old", "0 */24 * * *", resourceVersion="90")
    new = schedule("new", "0 22-2 * * *", resourceVersion="100")
    assert verdict(old, new).candidates == (NET,)
    assert verdict(old, new).contradictions == ("it accepts '0 */24 * * *' (old)",)
    assert verdict(schedule("old", "0 */24 * * *", resourceVersion="101"), new).candidates == (V1, V3)


def alive_at(pulse: str) -> BackupStorageLocation:
    return from_builtins(
        BackupStorageLocation,
        {"metadata": {"name": "default", "namespace": "velero"}, "status": {"lastSyncedTime": pulse}},
    )


def test_a_run_on_a_day_of_only_one_reading_is_evidence() -> None:
    # 2 November 2026 is a Monday and not a 1st: only "either day" runs then.
    ran = schedule("both", "0 2 1 * 1", created="2026-10-28T00:00:00Z", last="2026-11-02T02:00:03Z")
    assert verdict(ran).candidates == (V1, V3)


def test_an_expression_changed_after_the_run_is_not_evidence() -> None:
    owner = {"manager": "kubectl", "time": "2026-11-03T00:00:00Z", "fieldsV1": {"f:spec": {"f:schedule": {}}}}
    ran = schedule("both", "0 2 1 * 1", last="2026-11-02T02:00:03Z", managedFields=[owner])
    assert verdict(ran).candidates == (V1, V3, NET)


def test_a_missing_run_is_evidence_while_the_server_is_active() -> None:
    quiet = schedule("both", "0 2 1 * 1", created="2026-11-01T12:00:00Z")
    assert verdict(quiet, alive_at("2026-11-02T02:10:03Z")).candidates == (NET,)
    assert verdict(quiet, alive_at("2026-11-02T02:01:03Z")).candidates == (V1, V3, NET)
    held = backup("both-1", phase="InProgress", of="both")
    assert verdict(quiet, held, alive_at("2026-11-02T02:10:03Z")).candidates == (V1, V3, NET)


def test_a_server_without_any_runs_is_stuck_and_no_evidence() -> None:
    quiet = schedule("both", "0 2 1 * 1", created="2026-11-01T12:00:00Z")
    plain = schedule("plain", "0 3 * * *", created="2026-10-28T00:00:00Z")
    assert verdict(quiet, plain, alive_at("2026-11-02T02:10:03Z")).candidates == (V1, V3, NET)


def test_a_run_of_the_previous_server_does_not_outweigh_a_missing_run() -> None:
    stopped = schedule("both", "0 2 1 * 1", created="2026-10-20T00:00:00Z", last="2026-10-26T02:00:03Z")
    found = verdict(stopped, alive_at("2026-11-02T02:10:03Z"))
    assert found.candidates == (NET,)
    assert found.contradictions == ("it ran '0 2 1 * 1' (both) at 2026-10-26 02:00Z",)


def test_any_remaining_dialect_is_used_if_all_agree() -> None:
    open_verdict = verdict(deployment("velero/velero:v1.18"))
    assert open_verdict.dialect_for("0 2 * * *") is not None
    assert open_verdict.dialect_for("61 * * * *") is not None
    assert open_verdict.dialect_for("0 2 1 * 1") is None
    assert open_verdict.dialect_for("TZ=UTC 0 2 * * *") is not None


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("0 2 * * *", [(V1, V3, NET)]),
        ("0 2 1 * 1", [(V1, V3), (NET,)]),
        ("0 0 */2 * 1", [(V1, NET), (V3,)]),
        ("@manual", [(V1, V3), (NET,)]),
        ("@every 90s", [(V1, V3, NET)]),
        ("@every 500ms", [(V1, V3), (NET,)]),
        ("0 0 31 2 *", [(V1, V3, NET)]),
        ("CRON_TZ=America/New_York 30 2 * * *", [(V1,), (V3,), (NET,)]),
        ("CRON_TZ=America/New_York 30 12 * * *", [(V1,), (V3, NET)]),
        ("CRON_TZ=Europe/Berlin 30 0,2 * 3 *", [(V1,), (V3,), (NET,)]),
        ("CRON_TZ=Europe/Berlin 30 1,2 * 3 *", [(V1,), (V3, NET)]),
        ("CRON_TZ=Asia/Tokyo 30 2 * * *", [(V1,), (V3, NET)]),
    ],
)
def test_dialects_that_run_an_expression_at_the_same_times_are_one_reading(
    text: str, groups: list[tuple[Dialect, ...]]
) -> None:
    assert [reading.dialects for reading in readings(text)] == groups


def test_readings_that_differ_only_in_a_skipped_hour_say_so() -> None:
    _, older, newer = readings("CRON_TZ=America/New_York 30 2 * * *")
    assert older.meaning == "at 02:30 every day, America/New_York time; a time that the clocks skip does not run"
    assert newer.meaning == "at 02:30 every day, America/New_York time; a time that the clocks skip runs after the gap"


def test_the_difference_is_one_sentence_or_empty() -> None:
    assert differences("0 2 * * *", (NET,)) == ""
    assert differences("0 2 1 * 1", (NET,)) == (
        "Other releases read it differently: Velero up to 1.18.2: at 02:00 on the 1st of the month and on every Monday."
    )
