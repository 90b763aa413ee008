"""Changes that somebody undoes, and backups that a program that follows Git takes for its own."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from foretop_core.actions.action_catalog import RECORDS
from foretop_core.actions.step_builders import owner_warning
from foretop_core.models import Backup, from_builtins, to_builtins
from foretop_core.models.kinds import Kind
from foretop_core.models.sharing import SharedParts
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.sentences import render
from foretop_core.rules.triage import Finding, Severity, triage
from foretop_core.rules.undone import (
    UndoneChange,
    creator,
    has_written,
    last_writer,
    pause_note_of,
    put_back,
    undone_finding,
    written_fields,
)
from tests.objects import NOW, at, backup, schedule

PAUSE = {
    "metadata": {"uid": "1", "resourceVersion": "7", "annotations": {"foretop.io/paused-by": "maria"}},
    "spec": {"paused": True, "skipImmediately": True},
    "status": {"expiration": "x"},
}
FIELDS = written_fields(PAUSE, {"spec": {"paused": False}})


def test_only_fields_that_people_keep_can_be_put_back() -> None:
    found = written_fields(PAUSE, {"spec": {"paused": False}})
    assert [one.path for one in found] == [("metadata", "annotations", "foretop.io/paused-by"), ("spec", "paused")]
    assert written_fields({"spec": {"paused": True}}, {"spec": {"paused": True}}) == ()


@pytest.mark.parametrize(
    ("held", "back"),
    [
        ({"spec": {"paused": True}}, False),
        ({"spec": {"paused": False}}, True),
        ({"spec": {}}, True),
        ({}, True),
    ],
)
def test_a_field_is_put_back_when_it_is_what_it_was_and_an_absent_one_counts_as_false(
    held: dict[str, Any], back: bool
) -> None:
    paused = [one for one in FIELDS if one.path == ("spec", "paused")]
    assert bool(put_back(paused, held)) is back
    assert has_written(paused[0], held) is not back


def test_a_field_that_is_a_third_thing_is_changed_and_not_put_back() -> None:
    fields = written_fields({"spec": {"schedule": "0 3 * * *"}}, {"spec": {"schedule": "0 2 * * *"}})
    assert put_back(fields, {"spec": {"schedule": "0 4 * * *"}}) == ()


def owned(manager: str, time: str | None, *path: str) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for key in reversed(path):
        fields = {f"f:{key}": fields}
    return {"manager": manager, "time": time, "fieldsV1": fields}


def test_the_writer_of_a_field_is_whom_the_api_server_records_last() -> None:
    entries = [
        owned("kubectl", "2026-11-15T02:00:00Z", "spec", "paused"),
        owned("argocd-controller", "2026-11-15T02:44:00Z", "spec", "paused"),
        owned("velero-server", "2026-11-15T02:45:00Z", "status", "lastBackup"),
    ]
    held = {"metadata": {"managedFields": entries}}
    assert last_writer(held, ("spec", "paused")) == ("argocd-controller", at("02:44:00"))
    assert last_writer(held, ("spec", "template", "ttl")) == ("", None)


@pytest.mark.parametrize(
    "entries", [None, "x", [3], [{"manager": 4, "fieldsV1": []}], [owned("a", "soon", "spec", "paused")]]
)
def test_odd_records_of_writers_are_no_reason_to_fail(entries: Any) -> None:
    assert last_writer({"metadata": {"managedFields": entries}}, ("spec", "paused"))[1] is None


@pytest.mark.parametrize("later", ["02:43:07", "02:43:08"])
def test_who_made_it_again_is_not_who_added_to_it(later: str) -> None:
    """Velero sets skipImmediately of a new schedule, mostly within the same second."""
    made = owned("argocd-controller", at("02:43:07").isoformat(), "spec", "schedule")
    made["fieldsV1"]["f:spec"]["f:template"] = {}
    added = owned("velero-server", at(later).isoformat(), "spec", "skipImmediately")
    for entries in ([made, added], [added, made]):
        assert creator({"metadata": {"managedFields": entries}}) == ("argocd-controller", at("02:43:07"))
    assert creator({"metadata": {"managedFields": [{"fieldsV1": {"f:spec": 5}}]}}) == ("", None)
    assert creator({}) == ("", None)


def undone(by: str) -> UndoneChange:
    fields = tuple(one for one in FIELDS if one.path[0] == "spec")
    return UndoneChange(ObjectRef("prod", "Schedule", "velero", "nightly"), fields, at("02:40:00"), at("02:40:04"), by)


def test_who_undid_it_is_told_where_it_is_known_and_only_there() -> None:
    assert undone("argocd-controller").brief == "put back by argocd-controller"
    assert undone("").brief == "put back; by whom is not recorded"
    found = undone_finding(undone("argocd-controller"), "Change it in Git.")
    assert found.code == "change-undone"
    assert render(found.evidence, NOW) == (
        "Your pause did not hold: argocd-controller set spec.paused back at 02:40:04Z. foretop wrote it at 02:40:00Z."
    )
    assert found.remedy == "Change it in Git."
    assert found.what == "put back by argocd-controller"
    assert undone_finding(undone(""), "").what == "your pause was undone"
    resumed = written_fields({"spec": {"paused": False}}, {"spec": {"paused": True}})
    edited = written_fields({"spec": {"schedule": "0 3 * * *"}}, {"spec": {"schedule": "0 2 * * *"}})
    for fields, deed in ((resumed, "unpause"), (edited, "change"), ((), "deletion")):
        verb = "put back" if fields else "made again"
        assert undone_finding(replace(undone("helm"), fields=fields), "").what == f"{verb} by helm"
        assert undone_finding(replace(undone("崩"), fields=fields), "").what == f"your {deed} was undone"


# Who keeps an object


@pytest.mark.parametrize(
    ("meta", "told"),
    [
        ({"managedFields": [owned("argocd-controller", None, "spec")]}, "managed by Argo CD (argocd-controller has"),
        ({"managedFields": [owned("kustomize-controller", None, "spec")]}, "managed by Flux (kustomize-controller has"),
        ({"annotations": {"argocd.argoproj.io/tracking-id": "app:x"}}, "managed by Argo CD (app:x)"),
        ({"labels": {"app.kubernetes.io/instance": "shop"}}, ""),
        ({"managedFields": [owned("kubectl-edit", None, "spec")]}, ""),
    ],
)
def test_the_owner_of_an_object_is_named_where_its_marks_or_its_writers_tell(meta: dict[str, Any], told: str) -> None:
    warning = owner_warning(schedule(**meta))
    assert told in warning
    assert bool(told) is bool(warning)


_WRITTEN_KINDS = sorted(
    {right.kind.name: right.kind for one in RECORDS for right in one.rights if right.verb != "create"}.items()
)


@pytest.mark.parametrize("kind", [kind for _, kind in _WRITTEN_KINDS], ids=[name for name, _ in _WRITTEN_KINDS])
def test_a_program_that_follows_git_is_named_for_every_kind_that_is_written(kind: Kind) -> None:
    writers = [{"manager": "velero-server"}, {"manager": "helm-controller"}]
    written = from_builtins(kind.model, {"metadata": {"name": "one", "managedFields": writers}})
    assert "managed by Flux (helm-controller has written it)" in owner_warning(written)


def test_the_writers_of_many_objects_are_kept_once() -> None:
    shared = SharedParts()
    body = {"metadata": {"managedFields": [{"manager": "velero-server", "time": "2026-11-15T02:00:00Z"}]}}
    one, other = (shared.share(from_builtins(Backup, body)) for _ in range(2))
    assert one.metadata.managed_fields is other.metadata.managed_fields


# Backups that Argo CD takes for its own


def tracked(copied: dict[str, str], **meta: Any) -> list[Finding]:
    made = [backup(f"nightly-{n}", of="nightly", labels=copied) for n in (1, 2)]
    snapshot = assemble([schedule(last="02:00:03", **meta), *made])
    return [one for one in triage(snapshot, NOW).findings if one.code == "backups-tracked"]


INSTANCE = {"app.kubernetes.io/instance": "policies"}
ARGO = [owned("argocd-controller", "2026-11-01T00:00:00Z", "spec", "schedule")]


def test_a_label_that_velero_copied_makes_argo_cd_prune_backups() -> None:
    (found,) = tracked(INSTANCE, labels=INSTANCE, managedFields=ARGO)
    assert found.what == "Argo CD may prune its backups"
    assert not render(found.remedy, NOW).startswith("Check that your Argo CD ignores copied marks.")
    assert len(found.related) == 2
    own = {"argocd.argoproj.io/instance": "policies"}
    assert len(tracked(own, labels=own)) == 1


def test_a_copied_tracking_id_is_only_good_to_know_and_an_owned_backup_is_safe() -> None:
    mark = {"argocd.argoproj.io/tracking-id": "policies:velero.io/Schedule:velero/nightly"}
    planned = schedule(last="02:00:03", annotations=mark)

    def copy(**meta: Any) -> Backup:
        made = to_builtins(backup("nightly-1", of="nightly"))
        return from_builtins(Backup, {**made, "metadata": {**made["metadata"], "annotations": mark, **meta}})

    owner = [{"kind": "Schedule", "name": "nightly", "uid": "1", "controller": True}]
    for made, grades in ((copy(), [Severity.NOTE]), (copy(ownerReferences=owner), [])):
        found = [one for one in triage(assemble([planned, made]), NOW).findings if one.code == "backups-tracked"]
        assert [one.severity for one in found] == grades
        told = [render(one.remedy, NOW) for one in found]
        assert all(remedy.startswith("Check that your Argo CD ignores copied marks.") for remedy in told)


@pytest.mark.parametrize(
    ("copied", "meta"),
    [
        ({}, {"labels": INSTANCE, "managedFields": ARGO}),
        (INSTANCE, {"labels": INSTANCE}),
        (INSTANCE, {"labels": INSTANCE, "managedFields": [owned("helm", None, "spec")]}),
        (
            INSTANCE,
            {
                "labels": INSTANCE,
                "managedFields": ARGO,
                "annotations": {"argocd.argoproj.io/tracking-id": "policies:velero.io/Schedule:velero/nightly"},
            },
        ),
    ],
    ids=["nothing was copied", "a chart's label", "helm", "tracked by annotation"],
)
def test_backups_that_argo_cd_does_not_take_for_its_own_are_no_finding(
    copied: dict[str, str], meta: dict[str, Any]
) -> None:
    assert tracked(copied, **meta) == []


UNPAUSE = written_fields({"spec": {"paused": False}}, {"spec": {"paused": True}})


def test_a_pause_of_another_person_is_a_pause_with_their_name_and_reason() -> None:
    notes = {"foretop.io/paused-by": "admin", "foretop.io/paused-reason": "CHG-99"}
    held = {"metadata": {"annotations": notes}, "spec": {"paused": True}}
    who = pause_note_of(held, "foretop")
    again = UndoneChange(
        ObjectRef("prod", "Schedule", "velero", "daily"), UNPAUSE, at("02:40:00"), NOW, "foretop", *who
    )
    assert again.brief == "paused again by admin: CHG-99"
    found = undone_finding(again, "")
    assert (found.severity, found.what) == (Severity.NOTE, "paused again by admin")
    assert render(found.evidence, NOW) == (
        "It was paused again by admin at 02:41:07Z: CHG-99. Your unpause was at 02:40:00Z."
    )
    assert "did not hold" not in str(found.what)
    assert found.remedy == "Ask admin before you change it again."


@pytest.mark.parametrize(
    ("by", "brief"),
    [
        ("kubectl-patch", "paused again with kubectl-patch"),
        ("velero", "paused again with velero"),
        ("foretop", "paused again with foretop"),
        ("argocd-controller", "put back by argocd-controller"),
        ("velero-server", "put back by velero-server"),
        ("", "put back; by whom is not recorded"),
    ],
)
def test_only_what_a_controller_puts_back_did_not_hold(by: str, brief: str) -> None:
    again = UndoneChange(ObjectRef("prod", "Schedule", "velero", "daily"), UNPAUSE, at("02:40:00"), NOW, by)
    assert again.brief == brief
    assert ("did not hold" in render(undone_finding(again, "").evidence, NOW)) is brief.startswith("put back")


def test_a_note_that_another_program_paused_over_says_nothing_of_who_paused_it() -> None:
    held = {"metadata": {"annotations": {"foretop.io/paused-by": "admin"}}, "spec": {"paused": True}}
    assert pause_note_of(held, "kubectl-patch") == ("", "")
    assert pause_note_of({"metadata": {"annotations": [3]}, "spec": {"paused": True}}, "foretop") == ("", "")
