"""A dashboard that sees a part only: one namespace, one cluster, the rights of a tenant."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from foretop_demo.access import Rule, User
from foretop_demo.local_api_server import LocalApiServer
from tests.tui.fake_source import FilledSource, troubled
from tests.tui.pilot import Screen, screen
from tests.tui.test_unseen import before
from tests.wire.test_cluster import make

_READ = ("get", "list", "watch")
_TENANT = User("tenant", rules=(Rule(_READ, ("oadp.openshift.io",), ("*",), ("team-pay",)),))
_MATTER = "The queue is empty", "Nothing to monitor"


@asynccontextmanager
async def box() -> AsyncIterator[LocalApiServer]:
    """A Velero at work in openshift-adp for a team that waits."""
    async with LocalApiServer(users=[_TENANT]) as running:
        for name in ("openshift-adp", "team-pay"):
            make(running, "Namespace", {"name": name})
        make(running, "Deployment", {"name": "velero", "namespace": "openshift-adp"}, spec={})
        make(running, "Backup", {"name": "at-work", "namespace": "openshift-adp"}, spec={})
        make(running, "NonAdminBackup", {"name": "ledger", "namespace": "team-pay"}, spec={"backupSpec": {}})
        yield running


def told(shown: Screen) -> str:
    return " ".join(shown.text.split())


@pytest.mark.sweep
async def test_an_operator_who_asks_for_one_team_sees_the_queue_that_it_waits_in(tmp_path: Path) -> None:
    async with box() as running, before(running, tmp_path, "admin", "team-pay") as shown:
        assert "ns team-pay" in shown.status
        await shown.press("4")
        assert shown.names() == ["WAITING", "at-work"]
        await shown.press("3")
        assert shown.names() == ["ledger"]


@pytest.mark.sweep
async def test_a_tenant_reads_that_the_queue_is_not_seen_rather_than_empty(tmp_path: Path) -> None:
    async with box() as running, before(running, tmp_path, "tenant", "team-pay") as shown:
        await shown.until(lambda: "No problems in what is visible." in shown.text)
        await shown.press("4")
        assert "Not allowed: you need permission to list and watch backups.velero.io" in told(shown)
        assert "--velero-namespace NAME" in shown.text
        assert not any(words in shown.text for words in _MATTER)


async def test_a_namespace_that_is_not_there_is_named(tmp_path: Path) -> None:
    async with box() as running, before(running, tmp_path, "admin", "nowhere") as shown:
        assert "no such namespace" in shown.status
        await shown.press("3")
        assert "Namespace nowhere does not exist in this cluster" in told(shown)
        assert not any(words in shown.text for words in _MATTER)


async def test_a_mistyped_name_is_refused_with_the_nearest_one(tmp_path: Path) -> None:
    async with box() as running, before(running, tmp_path, "admin") as shown:
        await shown.press(":", *"ns team-pya", "enter")
        assert shown.app.told[-1][1] == "Namespace 'team-pya' does not exist; did you mean team-pay?"
        assert "all ns" in shown.status
        await shown.press(":", *"scheduels", "enter")
        assert shown.app.told[-1][1] == "Unknown command 'scheduels'; did you mean schedules?"
        assert [one.message.strip() for one in shown.app._notifications] == [shown.app.told[-1][1]]
        await shown.press(":", *"queue", "enter")
        assert not list(shown.app._notifications), "the message goes with the next command"


async def test_a_tenant_who_started_without_a_namespace_gets_in_with_ns(tmp_path: Path) -> None:
    async with box() as running, before(running, tmp_path, "tenant") as shown:
        await shown.press("3")
        assert "in default" in told(shown)
        assert ":ns NAME opens a namespace that you can read; foretop -n NAME starts there" in told(shown)
        await shown.press(":", *"ns team-pay", "enter")
        await shown.until(lambda: "ledger" in shown.text)
        assert "ns team-pay" in shown.status
        await shown.press("0")
        assert "ns team-pay" in shown.status, "all that this person sees is still this one"


@pytest.mark.sweep
async def test_one_namespace_stays_on_every_tab_until_0_shows_all() -> None:
    async with screen() as shown:
        await shown.press("3", ":", *"ns team-pay", "enter")
        assert shown.names() == ["orders-db", "ledger"]
        await shown.press("1")
        assert not any("team-ml" in line for line in shown.lines)
        assert any("s3-us" in line for line in shown.lines), "Velero's own troubles stay in sight"
        assert "0 show all" in shown.footer
        assert "✗5 ▲2" in shown.status, "one of three warnings is another team's"
        await shown.press("3")
        assert shown.names() == ["orders-db", "ledger"]
        await shown.press("2", "0", "3")
        assert "features" in shown.names()
        assert "team-pay" not in shown.status


@pytest.mark.sweep
async def test_a_namespace_of_velero_narrows_veleros_own_too() -> None:
    async with screen() as shown:
        await shown.press("3", ":", *"ns velero", "enter")
        assert "Only namespace velero is shown: 0 shows all." in told(shown)
        await shown.press("2")
        assert "etcd-hourly" in shown.names()


async def test_one_context_stays_on_every_tab_and_its_name_can_be_chosen() -> None:
    source = FilledSource(troubled(), ("prod-eu", "prod-us"))
    async with screen(source) as shown:
        await shown.press("2", ":", *"ctx", "enter")
        await shown.until(lambda: "Which context" in shown.text)
        await shown.press("down", "down", "enter")
        await shown.until(lambda: "context prod-us (0 all)" in shown.text)
        for digit in "2347":
            await shown.press(digit)
            assert {row.key.context for row in shown.table.window} == {"prod-us"}
        assert "prod-us" in shown.status
        await shown.press("5")
        assert "context prod-us (0 all)" in shown.text
        await shown.press("0", "2")
        assert {row.key.context for row in shown.table.window} == {"prod-eu", "prod-us"}


async def test_the_namespaces_that_were_seen_can_be_chosen_from() -> None:
    async with screen() as shown:
        await shown.press("3", ":", *"ns", "enter")
        assert "all namespaces" in shown.text, "one can choose them all"
        assert "team-web" in shown.text
        await shown.press("down", "enter")
        await shown.until(lambda: "ns team-ml" in shown.status)
        assert shown.names() == ["features"]
        await shown.press(":", *"ns Nö", "enter")
        assert "is not a valid namespace name" in shown.app.told[-1][1]
