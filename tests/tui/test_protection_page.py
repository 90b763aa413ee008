"""The page of protection: every state of the scene, and what is said where namespaces cannot be listed."""

from __future__ import annotations

from pathlib import Path

import pytest

from foretop_core.minicluster.access import Rule, User
from tests.tui.acting import stand
from tests.tui.test_pods import command

NO_NAMESPACES = User(
    "no-namespaces", (Rule(("get", "list", "watch"), ("velero.io", "apps", "oadp.openshift.io"), ("*",)),)
)


async def test_each_namespace_says_whether_it_can_be_brought_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stand("protection", tmp_path, monkeypatch) as at:
        await command(at, "protection")
        await at.see("Protection: can each namespace be brought back", "crm-archive", "late")
        await at.shown.press("slash", *"legacy", "enter")
        await at.see("it no longer exists, and can be brought back", "5 good; the next expires")
        await at.shown.press("enter")
        await at.see("ns legacy", "it no longer exists, and can be brought back")


async def test_who_may_not_list_namespaces_reads_that_some_may_be_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stand("protection", tmp_path, monkeypatch, user=NO_NAMESPACES) as at:
        await command(at, "protection")
        await at.see("shop-daily", "You may not list namespaces")
        assert "deleted" not in at.shown.text
