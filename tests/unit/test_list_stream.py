"""A list that is split while it comes gives the objects that it has, however it is cut and whatever is in them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import strategies as st

from foretop_core.kube.connection.connection_errors import ApiError
from foretop_core.kube.connection.list_watch_codec import ListStream
from foretop_core.models.kinds import SCHEDULE
from tests.examples import few_or_many

pytestmark = pytest.mark.long

TEXTS = st.text(max_size=8) | st.sampled_from(['},{"metadata":', '"items":[', "}]}", "\\", '\\"', "]"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
NESTED = st.fixed_dictionaries({"metadata": st.lists(st.fixed_dictionaries({"metadata": VALUES}), max_size=3)})
OBJECTS = st.fixed_dictionaries({"metadata": VALUES, "spec": VALUES | NESTED})


def split(body: bytes, cuts: list[int]) -> tuple[list[Any], str | None]:
    stream, found = ListStream(SCHEDULE, least=1), []
    for begin, end in zip([0, *cuts], [*cuts, len(body)], strict=True):
        found += stream.feed(body[begin:end])
    last = stream.end()
    return [json.loads(bytes(raw)) for raw in [*found, *(last.items or [])]], last.metadata.resource_version


@few_or_many(5, 300, st.lists(OBJECTS, max_size=6), st.booleans(), st.data())
def test_the_objects_of_a_list_do_not_depend_on_how_it_is_cut(
    objects: list[Any], is_meta_first: bool, data: st.DataObject
) -> None:
    meta = {"metadata": {"resourceVersion": "7"}}
    shape = (
        {"kind": "ScheduleList", **meta, "items": objects}
        if is_meta_first
        else {"items": objects, "kind": "ScheduleList", **meta}
    )
    body = json.dumps(shape, separators=(",", ":"), ensure_ascii=data.draw(st.booleans())).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=5)))
    assert split(body, cuts) == (objects, "7")


def test_objects_come_out_before_the_list_is_through() -> None:
    stream = ListStream(SCHEDULE, least=1)
    assert stream.feed(b'{"kind":"List","items":[{"metadata":{"name":"a"},"x":[{"metadata":1},{"metadata":2}]},') == []
    assert [bytes(raw) for raw in stream.feed(b'{"metadata":{"name":"b"}},{"metadata":{')] == [
        b'{"metadata":{"name":"a"},"x":[{"metadata":1},{"metadata":2}]}',
        b'{"metadata":{"name":"b"}}',
    ]


@pytest.mark.parametrize(
    "body",
    [
        b'{"kind":"ScheduleList","items":null,"metadata":{"resourceVersion":"7"}}',
        b'{"kind":"ScheduleList","metadata":{"resourceVersion":"7"}}',
    ],
)
def test_a_list_without_objects_is_empty(body: bytes) -> None:
    assert split(body, [5]) == ([], "7")


@pytest.mark.parametrize("body", [b"<html>", b'{"items":[{"a":1},{"a":', b'{"items":[{"a":1},{"a":2}]', b""])
def test_an_answer_that_is_no_list_is_refused(body: bytes) -> None:
    with pytest.raises(ApiError, match="not a list"):
        split(body, [])


def test_the_end_of_an_object_is_looked_for_once_there_is_enough_to_search() -> None:
    start = b'{"items":[{"a":1},{"a":2},{"a":3'
    for least, found in ((len(start), 2), (len(start) + 1, 0)):
        assert len(ListStream(SCHEDULE, least).feed(start)) == found


def test_objects_come_out_though_their_first_key_came_late() -> None:
    stream = ListStream(SCHEDULE, least=1)
    assert stream.feed(b'{"items":[') == stream.feed(b'{"a"') == []
    assert [bytes(raw) for raw in stream.feed(b':{"x":1}},{"a":[{"a":2}]},{"a"')] == [b'{"a":{"x":1}}']
    assert [bytes(raw) for raw in stream.feed(b":0},")] == [b'{"a":[{"a":2}]}']
    assert [bytes(raw) for raw in stream.feed(b'{"a":9}]')] == [b'{"a":0}']


def test_an_object_may_be_as_long_as_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("foretop_core.kube.connection.list_watch_codec.LONGEST_OBJECT", 100)
    stream = ListStream(SCHEDULE, least=1)
    assert stream.feed(b'{"items":[' + b'{"a":"'.ljust(100, b"x")) == []
    with pytest.raises(ApiError):
        stream.feed(b"x")


def test_an_object_without_an_end_is_refused() -> None:
    stream = ListStream(SCHEDULE)
    stream.feed(b'{"items":[{"a":"' + b"x" * (16 * 2**20 - 100))
    with pytest.raises(ApiError, match="longer than 16 MiB"):
        stream.feed(b"x" * 200)
