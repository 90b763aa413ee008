"""`:ctx` to a context that was not watched, with two boxes and one address where nobody answers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from foretop.app import Dashboard
from foretop_core.dashboard.session_protocol import DisplayOptions
from foretop_core.errors import ForetopError
from foretop_core.kube.connection.config import ConnectionOptions, SessionOptions
from foretop_core.models import Backup, DataUpload, Schedule
from foretop_core.session import Session, open_session
from foretop_demo.local_api_server import LocalApiServer
from tests.tui.pilot import MIDDLE, Screen, running
from tests.wire.test_cluster import make
from tests.wire.test_session import _upload, box_create, box_patch, until

DAILY = {"schedule": "@daily", "template": {}}


@dataclass
class TwoBoxes:
    """`east` is the current context of the kubeconfig; `west` is there, and `gone` is not."""

    east: LocalApiServer
    west: LocalApiServer
    kubeconfig: Path

    def session(self) -> Session:
        return open_session(SessionOptions(ConnectionOptions(kubeconfig=str(self.kubeconfig))), {})


@asynccontextmanager
async def two_boxes(folder: Path) -> AsyncIterator[TwoBoxes]:
    async with LocalApiServer() as east, LocalApiServer() as west:
        for box, name in ((east, "orders-east"), (west, "orders-west")):
            make(box, "Namespace", {"name": "velero"})
            make(box, "Deployment", {"name": "velero", "namespace": "velero"}, spec={})
            make(box, "Schedule", {"name": name, "namespace": "velero"}, spec=DAILY)
        merged: dict[str, list[object]] = {"clusters": [], "users": [], "contexts": []}
        for box, name in ((east, "east"), (west, "west")):
            read = yaml.safe_load(box.kubeconfig(folder / name).read_text())
            merged["clusters"].append({**read["clusters"][0], "name": name})
            merged["users"].append({**read["users"][0], "name": name})
            merged["contexts"].append({"name": name, "context": {"cluster": name, "user": name}})
        merged["clusters"].append({"name": "gone", "cluster": {"server": "http://127.0.0.1:1"}})
        merged["contexts"].append({"name": "gone", "context": {"cluster": "gone", "user": "east"}})
        path = folder / "kubeconfig"
        path.write_text(yaml.safe_dump({**merged, "current-context": "east"}))
        yield TwoBoxes(east, west, path)


@asynccontextmanager
async def dashboard(boxes: TwoBoxes) -> AsyncIterator[tuple[Screen, Session]]:
    session = boxes.session()
    app = Dashboard(lambda: session, DisplayOptions(flash=False))
    async with running(app, MIDDLE) as pilot:
        shown = Screen(app, pilot, None)  # type: ignore[arg-type]  # there is no source to be changed by hand
        await shown.until(lambda: app.main_screen.page is not None and app.main_screen.page.state is not None)
        await session.settled("east")
        await shown.tick()
        yield shown, session


@pytest.mark.sweep
async def test_another_context_is_watched_with_its_data_movements(tmp_path: Path) -> None:
    async with two_boxes(tmp_path) as boxes:
        session = boxes.session()
        session.start()
        try:
            await session.settled("east")
            assert await session.other_contexts() == ("west", "gone")
            await session.add_context("west")
            assert (session.contexts, await session.other_contexts()) == (("east", "west"), ("gone",))
            await session.settled("west")
            assert [item.name for item in session.store.all("west", Schedule)] == ["orders-west"]
            await box_create(boxes.west, "datauploads", _upload("up", "running"))
            run = {"apiVersion": "velero.io/v1", "kind": "Backup", "metadata": {"name": "running"}, "spec": {}}
            await box_create(boxes.west, "backups", {**run, "metadata": {"name": "running", "namespace": "default"}})
            await box_patch(boxes.west, "backups", "running", {"status": {"phase": "InProgress"}})
            await until(lambda: session.store.all("west", DataUpload))
            assert [item.name for item in session.store.all("west", Backup)] == ["running"]
        finally:
            await session.stop()


@pytest.mark.parametrize(("name", "words"), [("gone", "127.0.0.1:1"), ("nowhere", "'nowhere' does not exist")])
async def test_a_context_that_cannot_be_reached_is_one_line_and_changes_nothing(
    tmp_path: Path, name: str, words: str
) -> None:
    async with two_boxes(tmp_path) as boxes:
        session = boxes.session()
        session.start()
        try:
            await session.settled("east")
            with pytest.raises(ForetopError) as problem:
                await session.add_context(name)
            assert words in str(problem.value)
            assert session.contexts == ("east",)
            assert set(session.connections.clients) == {"east"}
            make(boxes.east, "Schedule", {"name": "later", "namespace": "velero"}, spec=DAILY)
            await until(lambda: len(session.store.all("east", Schedule)) == 2)
        finally:
            await session.stop()


async def test_ctx_lists_the_watched_ones_first_and_watches_the_chosen_one(tmp_path: Path) -> None:
    async with two_boxes(tmp_path) as boxes, dashboard(boxes) as (shown, session):
        await shown.press("2")
        await shown.until(lambda: "orders-east" in shown.text)
        await shown.press("5", "2", "greater_than_sign", ":", *"ctx", "enter")
        await shown.until(lambda: "Which context" in shown.text)
        _, _, offered = shown.text.partition("all contexts")
        places = [offered.index(text) for text in ("east ", "west  (not watched yet)", "gone  (not watched yet)")]
        assert places == sorted(places)
        await shown.press("down", "down", "enter")
        await shown.until(lambda: "orders-west" in shown.text and "orders-east" not in shown.text)
        assert "west" in shown.status
        await shown.press("0")
        await shown.until(lambda: "orders-west" in shown.text and "orders-east" in shown.text)
        assert {row.key.context for row in shown.table.window} == {"east", "west"}
        await shown.press("5")
        await shown.until(lambda: "orders-west" in shown.text and "orders-east" in shown.text)
        assert session.contexts == ("east", "west")
        # What changes there is seen, and can be written to.
        await shown.press("2")
        make(boxes.west, "Schedule", {"name": "second-west", "namespace": "velero"}, spec=DAILY)
        await shown.until(lambda: "second-west" in shown.text)
        assert shown.faults == []


async def test_ctx_to_one_that_does_not_answer_leaves_the_rest_as_it_was(tmp_path: Path) -> None:
    async with two_boxes(tmp_path) as boxes, dashboard(boxes) as (shown, session):
        await shown.press("2", ":", *"ctx gone", "enter")
        await shown.until(lambda: any(text.startswith("Cannot watch gone: ") for _, text in shown.app.told))
        assert session.contexts == ("east",)
        assert "orders-east" in shown.text
        await shown.press(":", *"ctx nosuch", "enter")
        unknown = "Unknown context 'nosuch'; the kubeconfig has east, west and gone"
        await shown.until(lambda: shown.app.told[-1][1] == unknown)
        boxes.kubeconfig.write_text("contexts: [")
        await shown.press(":", *"ctx", "enter")
        await shown.until(lambda: any("Cannot read the kubeconfig" in text for _, text in shown.app.told))
        assert shown.faults == []
