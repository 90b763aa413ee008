"""What is in a namespace before something is restored into it: counted with one small list for each kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from foretop_core.actions.unwatched_reads import LOOKED_AT, ExistingObjects, existing_objects
from foretop_demo.access import Rule, User
from tests.wire.action_fixtures import Wire, box_with, hand_in, wire

__all__ = ["wire"]
SERVICES_ONLY = User("some", (Rule(("list",), ("",), ("services", "configmaps")),))


def plain(kind: str, name: str) -> dict[str, Any]:
    spec = {"spec": {"ports": [{"port": 80}]}} if kind == "Service" else {}
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": "team-a"}, **spec}


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (ExistingObjects(), "it looks empty"),
        (ExistingObjects((("pods", 1), ("services", 2))), "1 pod, 2 services"),
        (ExistingObjects((("configmaps", 1234),)), "1,234 configmaps"),
        (ExistingObjects((), ("pods",)), "nothing visible (not visible: pods)"),
        (ExistingObjects((("pods", 3),), ("services", "cronjobs")), "3 pods (not visible: services and cronjobs)"),
    ],
)
def test_the_counts_are_one_line(found: ExistingObjects, said: str) -> None:
    assert str(found) == said


def test_all_kinds_that_cannot_be_seen_are_named() -> None:
    assert all(kind in str(ExistingObjects((), tuple(LOOKED_AT))) for kind in LOOKED_AT)


async def test_more_than_the_one_object_that_is_asked_for_is_counted(tmp_path: Path, wire: Wire) -> None:
    objects = [plain("Service", "web"), *(plain("ConfigMap", f"c-{number}") for number in range(3))]
    async with box_with(objects) as box, hand_in(box, tmp_path) as executor:
        found = await existing_objects(executor.client, "team-a")
        assert found == ExistingObjects((("services", 1), ("configmaps", 3)))
        assert len(wire.asked) == len(LOOKED_AT)


async def test_what_may_not_be_listed_is_unseen_and_not_empty(tmp_path: Path) -> None:
    async with box_with([plain("Service", "web")], [SERVICES_ONLY]) as box, hand_in(box, tmp_path, "some") as executor:
        found = await existing_objects(executor.client, "team-a")
        assert found.counts == (("services", 1),)
        assert set(found.unseen) == set(LOOKED_AT) - {"services", "configmaps"}


async def test_a_kind_that_is_not_served_has_no_objects_and_an_odd_answer_is_unseen(
    tmp_path: Path, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(LOOKED_AT, "widgets", "/apis/example.com/v1")
    wire.pages = {"/configmaps": "<html>", "/pods": '{"items": null}', "/cronjobs": '{"items": [{}], "metadata": {}}'}
    async with box_with([]) as box, hand_in(box, tmp_path) as executor:
        found = await existing_objects(executor.client, "team-a")
        assert found == ExistingObjects((("cronjobs", 1),), ("configmaps",))


async def test_no_server_shows_nothing(tmp_path: Path) -> None:
    async with box_with([]) as box, hand_in(box, tmp_path) as executor:
        await box.__aexit__(None, None, None)
        assert (await existing_objects(executor.client, "team-a")).unseen == tuple(LOOKED_AT)
