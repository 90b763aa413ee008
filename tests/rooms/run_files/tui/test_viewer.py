"""The window into a backup: its objects, a filter, and what differs from another copy or from a namespace as it is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import pytest
from aiohttp import web

from foretop.dialogs.search_modal import SearchPicker
from foretop.rooms.run_files.contents_viewer import ContentsViewer
from foretop.rooms.run_files.log_lines import LogLines
from foretop_core.models.kinds import BACKUP
from foretop_core.rooms.run_files.live_objects import NO_SECRETS
from foretop_demo.scenarios.scenario_builder import HOME
from foretop_demo.server import ApiServer
from tests.tui.dashboard_on_box import Stand, stand

REQUEST = f"POST /apis/velero.io/v1/namespaces/{HOME}/downloadrequests"
DEPLOYMENTS = "/namespaces/metrics/deployments"


def newest(at: Stand, schedule: str, nth: int = 1) -> str:
    held = at.box.storage.list(at.box.storage.kind("Backup"), HOME)
    names = sorted(str(one["metadata"]["name"]) for one in held)
    return [name for name in names if name.startswith(schedule)][-nth]


def lines(at: Stand) -> Sequence[str]:
    return at.shown.app.screen.query_one(LogLines).lines


async def inside(at: Stand, name: str, *way: str) -> None:
    """From the row of a backup, or what `way` leads to from there, to its objects."""
    await at.go("7", at.key(BACKUP, name))
    await at.shown.press(*way, "I")
    await at.see("Fetch the resource list of", "a DownloadRequest for the resource list", "[ Fetch ]")
    assert at.writes == []
    await at.send()
    await at.see("Objects:", "apps/StatefulSet (1): db")


async def choose(at: Stand, text: str) -> None:
    await at.shown.press("V")
    await at.shown.until(lambda: isinstance(at.shown.app.screen, SearchPicker))
    await at.paste(text)
    await at.shown.press("enter")
    await at.shown.until(lambda: isinstance(at.shown.app.screen, ContentsViewer))


@pytest.mark.parametrize("way", [(), ("enter",)])
async def test_a_backup_is_looked_into_and_filtered(way: tuple[str, ...]) -> None:
    async with stand("contents") as at:
        name = newest(at, "metrics-nightly")
        await inside(at, name, *way)
        assert at.writes == [REQUEST]
        everything = lines(at)
        assert everything[:4] == ("Objects:", "  cluster-scoped", "    Namespace (1): metrics", "  metrics")
        await at.shown.press("slash", *"SET")
        await at.shown.until(lambda: "    apps/StatefulSet (1): db" in lines(at) and len(lines(at)) < 5)
        assert lines(at) == (
            "Objects:",
            "  metrics",
            "    ConfigMap (1): settings",
            "    apps/StatefulSet (1): db",
        )
        await at.shown.press("enter", "ctrl+s")
        await at.see("lines saved to")
        assert (at.folder / f"{name}-contents.log").read_text().splitlines() == list(lines(at))
        await at.shown.press("escape")
        await at.shown.until(lambda: lines(at) == everything)
        await at.shown.press("escape")
        await at.shown.until(lambda: not isinstance(at.shown.app.screen, ContentsViewer))


async def test_two_copies_are_compared_and_the_copy_before_is_offered_first() -> None:
    async with stand("contents") as at:
        await inside(at, newest(at, "metrics-nightly"))
        everything = lines(at)
        await at.shown.press("V")
        await at.see(f"the copy before: {newest(at, 'metrics-nightly', 2)} namespace metrics as it is now")
        await at.shown.press("enter")
        await at.see("Compared with the copy before: ", "Both have the same objects.")
        assert at.writes == [REQUEST, REQUEST]
        await choose(at, newest(at, "wiki-nightly"))
        await at.see("Only in metrics-nightly-", "metrics apps/Deployment (1): web", "Only in wiki-nightly-")
        await at.shown.press("slash", *"cron", "enter")
        await at.see("metrics batch/CronJob (1): nightly")
        assert not any("Deployment" in line for line in lines(at))
        await at.shown.press("V", "escape")
        await at.see("Compared with wiki-nightly-")
        await at.shown.press("escape", "escape")
        await at.shown.until(lambda: lines(at) == everything)
        assert "Compared with" not in at.shown.text


async def test_a_comparison_with_now_shows_how_far_it_is_and_is_stopped_by_escape(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    goes_on = asyncio.Event()
    answer: Callable[[ApiServer, web.BaseRequest], object] = ApiServer._route
    listed: list[str] = []

    async def slow(self: ApiServer, request: web.BaseRequest) -> web.StreamResponse:
        if "/namespaces/metrics/" in request.path:
            listed.append(request.path)
        if request.path.endswith(DEPLOYMENTS):
            await goes_on.wait()
            return web.json_response({"message": "deployments are not for you"}, status=403)
        return await answer(self, request)  # type: ignore[misc, no-any-return]

    monkeypatch.setattr(ApiServer, "_route", slow)
    async with stand("contents") as at:
        await inside(at, newest(at, "metrics-nightly"))
        everything = lines(at)
        await choose(at, "metrics as it is now")
        await at.see("Listing deployments of metrics (", " kinds); esc stops it")
        await at.shown.press("escape")
        await at.shown.until(lambda: "Listing" not in at.shown.text)
        assert lines(at) == everything
        goes_on.set()
        await choose(at, "metrics as it is now")
        await at.see(
            "Compared with namespace metrics as it is now", "Only in the cluster now:", "metrics Pod (1): metrics-0"
        )
        assert NO_SECRETS in lines(at)
        assert any(line.startswith("Not compared: apps/Deployment of metrics: ") for line in lines(at))
        assert not any("apps/Deployment (" in line for line in lines(at))
        assert not any(path.endswith("/secrets") for path in listed)
        assert at.writes == [REQUEST], "what is there now is only read"


async def test_a_copy_that_cannot_be_had_is_told_and_the_objects_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    refuses = False
    answer: Callable[[ApiServer, web.BaseRequest], object] = ApiServer._route

    async def refusing(self: ApiServer, request: web.BaseRequest) -> web.StreamResponse:
        if refuses and request.method == "POST" and request.path.endswith("/downloadrequests"):
            return web.json_response({"message": "no more of them"}, status=403)
        return await answer(self, request)  # type: ignore[misc, no-any-return]

    monkeypatch.setattr(ApiServer, "_route", refusing)
    async with stand("contents") as at:
        await inside(at, newest(at, "metrics-nightly"))
        everything, refuses = lines(at), True
        await choose(at, newest(at, "wiki-nightly"))
        await at.see("no more of them")
        assert lines(at) == everything
        refuses = False
        await choose(at, newest(at, "wiki-nightly"))
        await at.see("Compared with wiki-nightly-")


async def test_read_only_says_why_not() -> None:
    async with stand("contents", read_only=True) as at:
        await at.go("7", at.key(BACKUP, newest(at, "metrics-nightly")))
        await at.shown.press("I")
        await at.see("read-only is on")
        assert at.writes == []
