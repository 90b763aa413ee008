"""Tabs that cannot show their rows say why, before a box in which rights or kinds are missing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from foretop.app import Dashboard
from foretop_core.clock import SystemClock
from foretop_core.dashboard.session_protocol import DisplayOptions
from foretop_core.kube.connection.config import ConnectionOptions, SessionOptions
from foretop_core.session import Session, open_session
from foretop_demo.access import Rule, User
from foretop_demo.in_process_api import InProcessApi
from foretop_demo.kinds import Catalog, load_catalog
from foretop_demo.local_api_server import LocalApiServer
from tests.tui.pilot import SMALL, Screen, running

_NOBODY = User("nobody")
_TENANT = User("tenant", rules=(Rule(("get", "list", "watch"), ("oadp.openshift.io",), ("*",)),))
_DIGITS = {"2": "schedules", "3": "nonadminbackups", "4": "backups", "5": "schedules", "7": "backups", "8": "restores"}


@asynccontextmanager
async def before(box: LocalApiServer, folder: Path, user: str, *namespaces: str) -> AsyncIterator[Screen]:
    """The dashboard as this user, once every watch has found out how it is."""
    config = ConnectionOptions(kubeconfig=str(box.kubeconfig(folder / "kubeconfig", user)))
    session: list[Session] = []

    def opened() -> Session:
        session.append(open_session(SessionOptions(config, namespaces, with_velero=True), {}))
        return session[0]

    app = Dashboard(opened, DisplayOptions(flash=False))
    async with running(app, SMALL) as pilot:
        shown = Screen(app, pilot, None)  # type: ignore[arg-type]  # there is no source to be changed by hand
        await shown.until(lambda: app.main_screen.page is not None and app.main_screen.page.state is not None)
        await session[0].settled("minicluster")
        await shown.tick()
        yield shown


async def test_a_person_without_rights_reads_on_every_tab_which_one_is_missing(tmp_path: Path) -> None:
    async with LocalApiServer(users=[_NOBODY]) as box, before(box, tmp_path, "nobody") as shown:
        assert "kinds not allowed" in shown.status
        await shown.until(
            lambda: "Not allowed: you need permission to list and watch schedules.velero.io" in shown.text
        )
        storage = (":", *"storage", "enter")
        for keys, plural in (*_DIGITS.items(), (storage, "backupstoragelocations")):
            await shown.press(*keys)
            await shown.tick()
            told = " ".join(shown.text.split())
            assert "Not allowed: you need permission to list and watch" in told, shown.text
            assert f"{plural}." in told.partition("list and watch")[2], shown.text


@pytest.mark.sweep
async def test_a_tenant_is_told_what_was_not_seen(tmp_path: Path) -> None:
    async with LocalApiServer(users=[_TENANT]) as box, before(box, tmp_path, "tenant") as shown:
        await shown.until(lambda: "No problems in what is visible." in shown.text)
        assert "not allowed" in shown.text
        await shown.press("3")
        assert "No non-admin backups or restores." in shown.text


@pytest.mark.sweep
async def test_a_cluster_without_oadp_says_so_on_its_tab_alone(tmp_path: Path) -> None:
    kinds = Catalog(kind for kind in load_catalog() if kind.group != "oadp.openshift.io")
    storage = InProcessApi(SystemClock(), kinds)
    async with LocalApiServer(storage=storage) as box, before(box, tmp_path, "admin") as shown:
        await shown.until(lambda: "Nothing to monitor yet." in shown.text)
        assert "API ●  " in shown.status
        await shown.press("3")
        assert "Not installed in this cluster: nonadminbackups.oadp.openshift.io" in shown.text
        await shown.press("2")
        assert "No schedules." in shown.text
        await shown.press(":", *"storage", "enter")
        assert "No storage locations." in shown.text


@pytest.mark.sweep
async def test_a_cluster_without_velero_says_so_first(tmp_path: Path) -> None:
    kinds = Catalog(kind for kind in load_catalog() if not kind.group.endswith(("velero.io", "openshift.io")))
    storage = InProcessApi(SystemClock(), kinds)
    async with LocalApiServer(storage=storage) as box, before(box, tmp_path, "admin") as shown:
        await shown.until(lambda: "Velero is not installed in this cluster" in shown.text)
