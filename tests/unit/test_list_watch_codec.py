"""What lists and watches wrap objects in: whose answer it is, what an object is, and when a list has no end."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from foretop_core.errors import Unreadable
from foretop_core.kube.connection.connection_errors import ApiError
from foretop_core.kube.connection.list_watch_codec import (
    EndlessList,
    ListGuard,
    ObjectIdentity,
    OtherType,
    TypeMeta,
    check_type,
    error_of,
    identify,
    read_event,
    read_object,
    read_page,
)
from foretop_core.models.kinds import SCHEDULE

WANTED = TypeMeta("velero.io/v1", "Schedule")
BETWEEN = "is there a proxy or a login page in between?"


def raw(value: object) -> msgspec.Raw:
    return msgspec.Raw(json.dumps(value, separators=(",", ":")).encode())


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({"kind": "ScheduleList", "metadata": {}, "items": []}, "the answer is not a list of schedules.velero.io"),
        ({"metadata": {"resourceVersion": "1"}, "items": []}, "the answer is not a list of schedules.velero.io"),
        (
            {"kind": "BackupList", "metadata": {"resourceVersion": "1"}},
            "the answer is not a list of schedules.velero.io",
        ),
        ([], "the answer is not a list: Expected `object`, got `array`"),
    ],
)
def test_an_answer_of_something_else_is_not_an_empty_list(body: object, problem: str) -> None:
    with pytest.raises(ApiError) as caught:
        read_page(json.dumps(body).encode(), SCHEDULE)
    assert str(caught.value) == f"The API server answered 200: {problem} ({BETWEEN})"


def test_a_list_of_the_kind_is_read() -> None:
    body = {"kind": "ScheduleList", "metadata": {"resourceVersion": "7"}, "items": None}
    assert read_page(json.dumps(body).encode(), SCHEDULE).metadata.resource_version == "7"


TYPED: list[tuple[Any, str]] = [
    ({"apiVersion": "velero.io/v1", "kind": "Schedule"}, ""),
    ({"apiVersion": "velero.io/v1", "kind": "Schedule", "metadata": {}}, ""),
    ({"kind": "Schedule", "metadata": {}, "apiVersion": "velero.io/v1"}, ""),
    ({"apiVersion": "velero.io/v1", "kind": "Restore", "metadata": {}}, "a velero.io/v1 Restore"),
    ({"apiVersion": "velero.io/v2", "kind": "Schedule"}, "a velero.io/v2 Schedule"),
    ({"kind": "Schedule"}, "a Schedule"),
    ({"apiVersion": "velero.io/v1"}, "a velero.io/v1"),
    ({"kind": "x" * 200}, f"a {'x' * 100}"),
    ({"apiVersion": "velero.io/v1", "kind": 7}, "without a kind"),
    ([], "without a kind"),
]


@pytest.mark.parametrize("may_be_absent", [True, False])
@pytest.mark.parametrize(("found", "told"), TYPED)
def test_an_object_of_another_type_is_told_apart(found: object, told: str, may_be_absent: bool) -> None:
    if not told:
        check_type(WANTED, raw(found), may_be_absent=may_be_absent)
        return
    with pytest.raises(OtherType) as caught:
        check_type(WANTED, raw(found), may_be_absent=may_be_absent)
    assert str(caught.value) == f"Schedule cannot be read: the object is {told}"


def test_an_object_may_go_without_a_type_only_in_a_list() -> None:
    untyped = raw({"metadata": {"name": "a"}})
    check_type(WANTED, untyped, may_be_absent=True)
    with pytest.raises(OtherType, match="without a kind"):
        check_type(WANTED, untyped, may_be_absent=False)


def test_what_is_not_json_is_left_to_who_reads_it() -> None:
    broken = msgspec.Raw(b'{"kind": "Schedule", ')
    check_type(WANTED, broken, may_be_absent=False)
    with pytest.raises(Unreadable, match="Schedule cannot be read"):
        read_object(SCHEDULE, broken)
    assert identify(broken) == ObjectIdentity()


def test_an_object_has_a_name() -> None:
    assert read_object(SCHEDULE, raw({"metadata": {"name": "daily"}})).name == "daily"
    with pytest.raises(Unreadable, match="it has no name"):
        read_object(SCHEDULE, raw({"metadata": {}}))


@pytest.mark.parametrize(
    ("found", "known"),
    [
        (
            {"metadata": {"namespace": "velero", "name": "a", "resourceVersion": "7"}, "spec": 5},
            ObjectIdentity("velero", "a", "7"),
        ),
        ({"metadata": {"namespace": 1, "name": "a", "resourceVersion": None}}, ObjectIdentity("", "a", "")),
        ({"metadata": "a"}, ObjectIdentity()),
        ({}, ObjectIdentity()),
        (["metadata"], ObjectIdentity()),
    ],
)
def test_an_object_of_any_shape_is_known_by_what_it_has(found: object, known: ObjectIdentity) -> None:
    assert identify(raw(found)) == known


def test_an_error_of_a_watch_without_a_code_is_one_of_the_server() -> None:
    for status, code in (({"code": 410, "reason": "Expired"}, 410), ({"message": "etcd"}, 500)):
        event = read_event(json.dumps({"type": "ERROR", "object": status}).encode())
        assert error_of(event).status == code


def test_a_list_has_an_end_within_its_measure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("foretop_core.kube.connection.list_watch_codec.MOST_OBJECTS", 1000)
    guard = ListGuard()
    guard.check_count(1000)
    with pytest.raises(EndlessList, match="The API server answered 200: the list has more than 1,000 objects"):
        guard.check_count(1)
    for count in (0, 1, 100):
        guard = ListGuard()
        for page in range(10):
            guard.check(count, f"page-{page}")
        with pytest.raises(EndlessList):
            guard.check(count, "page-10")


def test_a_list_that_comes_back_to_a_page_has_no_end() -> None:
    guard = ListGuard()
    for token in ("a", "b", ""):
        guard.check(1, token)
    guard.check(1, "")
    with pytest.raises(EndlessList, match="repeats its pages"):
        guard.check(1, "a")
