"""Decoding of objects with missing, null, unknown and wrong values."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from foretop_core.errors import Unreadable
from foretop_core.models import Backup, BackupSpec, NonAdminBackup, Schedule, decode, from_builtins, to_builtins
from foretop_core.models.kinds import BACKUP, KINDS, by_name, find
from foretop_core.models.wire import is_earlier
from tests.recordings import NAMES, events


def schedule(**spec: Any) -> bytes:
    return json.dumps(
        {"metadata": {"name": "s", "namespace": "velero"}, "spec": {"schedule": "@daily", **spec}}
    ).encode()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, None),
        ({"skipImmediately": True}, True),
        ({"skipImmediately": False}, False),
        ({"skipImmediately": None}, None),
    ],
)
def test_skip_immediately_has_three_states_and_null_is_absent(given: dict[str, Any], expected: bool | None) -> None:
    assert decode(Schedule, schedule(**given)).spec.skip_immediately is expected


def test_null_means_absent_everywhere() -> None:
    raw = {
        "metadata": {"name": "s", "labels": None, "creationTimestamp": None},
        "spec": {"schedule": "@daily", "template": {"includedNamespaces": None, "ttl": None}, "paused": None},
        "status": None,
    }
    item = decode(Schedule, json.dumps(raw).encode())
    assert item.metadata.labels == {}
    assert item.created is None
    assert item.spec.template.included_namespaces == ()
    assert item.spec.paused is False
    assert item.phase == ""


def test_an_empty_object_decodes_for_every_kind() -> None:
    for kind in KINDS:
        item = decode(kind.model, b"{}")
        assert item.name == ""
        assert type(item).__name__ == kind.name


def test_unknown_phases_are_kept_and_unknown_fields_ignored() -> None:
    item = decode(Backup, b'{"status": {"phase": "Hibernating", "invented": [1]}, "spec": {"new": {"a": 1}}, "x": 1}')
    assert item.phase == "Hibernating"


@pytest.mark.parametrize(
    ("body", "field", "problem"),
    [
        ({"spec": {"schedule": 5}}, "spec.schedule", "Expected `str`, got `int`"),
        ({"spec": {"paused": "yes"}}, "spec.paused", "Expected `bool`, got `str`"),
        ({"status": {"lastBackup": "yesterday"}}, "status.lastBackup", "Invalid RFC3339"),
        ({"status": {"lastBackup": "2026-11-15T02:00:00"}}, "status.lastBackup", "timezone"),
        ({"spec": {"template": {"includedNamespaces": "all"}}}, "spec.template.includedNamespaces", "got `str`"),
        ({"spec": {"schedule": 5, "skipImmediately": None}}, "spec.schedule", "got `int`"),
    ],
)
def test_a_wrong_type_names_the_field_and_the_object(body: dict[str, Any], field: str, problem: str) -> None:
    with pytest.raises(Unreadable) as caught:
        decode(Schedule, json.dumps({"metadata": {"name": "etcd", "namespace": "velero"}, **body}).encode())
    line = str(caught.value)
    assert "Schedule velero/etcd cannot be read" in line
    assert field in line
    assert problem in line


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"nul", b'"null"', b"\xff", b'{"metadata": {"name": "\xff"}}'])
def test_a_value_that_is_not_an_object_is_unreadable(body: bytes) -> None:
    with pytest.raises(Unreadable):
        decode(Backup, body)


@pytest.mark.parametrize("name", NAMES)
def test_every_object_of_the_recordings_decodes_the_same_from_bytes_and_from_plain_values(name: str) -> None:
    for event in events(name):
        assert decode(event.kind.model, msgspec.json.encode(event.raw)) == event.object


def test_values_are_frozen() -> None:
    item = decode(Schedule, schedule())
    with pytest.raises(AttributeError):
        item.spec.paused = True  # type: ignore[misc]


def test_a_template_is_written_back_unchanged() -> None:
    """Every field of the recorded backups is kept, except the empty ones that Go writes."""
    for name in NAMES:
        for event in events(name, "backups"):
            assert isinstance(event.object, Backup)
            empty: tuple[Any, ...] = ({}, "0s", [], None)
            written = {key: value for key, value in event.raw["spec"].items() if value not in empty}
            again = {key: value for key, value in to_builtins(event.object.spec).items() if value not in empty}
            assert json.loads(json.dumps(again)) == written


def test_a_nab_keeps_both_ways_to_delete() -> None:
    item = from_builtins(NonAdminBackup, {"spec": {"deleteBackup": True, "forceDeleteBackup": True}})
    assert item.spec.delete_backup
    assert item.spec.force_delete_backup
    assert item.spec.backup_spec == BackupSpec()


def test_the_last_manager_of_the_field_paused_a_schedule() -> None:
    fields: dict[str, Any] = {"f:spec": {"f:paused": {}, "f:schedule": {}}}
    item = from_builtins(
        Schedule,
        {
            "metadata": {
                "managedFields": [
                    {"manager": "old", "time": "2026-11-10T00:00:00Z", "fieldsV1": fields},
                    {"manager": "new", "time": "2026-11-12T00:00:00Z", "fieldsV1": fields},
                    {"manager": "velero-server", "time": "2026-11-14T00:00:00Z", "fieldsV1": {"f:status": {}}},
                ]
            }
        },
    )
    assert item.paused_field_set is not None
    assert item.paused_field_set.manager == "new"
    assert from_builtins(Schedule, {}).paused_field_set is None


def test_kinds_are_found_by_their_api_names() -> None:
    assert find("velero.io/v1", "Backup") is BACKUP
    assert find("velero.io/v9", "Backup") is BACKUP
    assert find("example.org/v1", "Backup") is None
    assert by_name("Backup") is BACKUP
    assert by_name("backups") is None
    assert by_name("Gateway") is None


@pytest.mark.parametrize("rest", ['"\\udc00"', "[" * 9_999, '"\\x"'])
def test_an_object_that_is_wrong_in_two_places_is_unreadable(rest: str) -> None:
    with pytest.raises(Unreadable, match=r"metadata\.labels"):
        decode(Schedule, f'{{"metadata": {{"name": "s", "labels": {{"a": 1}}}}, "odd": {rest}}}'.encode())


def test_versions_of_thousands_of_digits_are_not_compared() -> None:
    assert is_earlier("9", "10")
    assert not is_earlier("10", "9")
    assert not is_earlier("1", "9" * 5_000)
    assert not is_earlier("1" * 5_000, "9" * 5_000)


def test_an_object_is_told_in_a_few_words() -> None:
    made = from_builtins(
        Backup,
        {
            "metadata": {
                "name": "nightly-1",
                "namespace": "velero",
                "resourceVersion": "7",
                "labels": {"a": "b" * 900},
            },
            "status": {"phase": "Completed"},
        },
    )
    assert repr(made) == "<Backup velero/nightly-1 Completed version 7>"
    assert repr(Backup()) == "<Backup />"
