"""The drill on the page of protection: it names all that it creates, and deletes that where it is agreed to."""

from __future__ import annotations

import asyncio
import re
from datetime import timedelta

import pytest

from foretop.dialogs.dialog_parts import OptionCycler
from foretop.widgets.prompt import Prompt
from foretop_core.models.velero import DRILL_LABEL
from foretop_core.rooms.drills import leftovers as drills
from foretop_demo.access import Rule, User
from foretop_demo.scenarios.scenario_builder import HOME
from tests.tui.dashboard_on_box import Stand, stand
from tests.tui.pilot import LARGE
from tests.tui.test_background_tasks import raises
from tests.tui.test_pods import command
from tests.tui.test_protection_page import NO_NAMESPACES

_SPEED = 120.0
UNSEEING = User(
    "unseeing",
    (
        Rule(("*",), ("velero.io", "apps", "oadp.openshift.io"), ("*",)),
        Rule(("*",), ("",), ("namespaces",)),
        Rule(("create", "delete", "list"), ("",), ("configmaps",)),
    ),
)
"""May make and delete a ConfigMap, and not look at it."""


def left(at: Stand) -> set[str]:
    """The kinds of all that carries the label of a drill."""
    storage = at.box.storage
    return {
        kind
        for kind in ("Namespace", "ConfigMap", "Restore")
        for body in storage.list(storage.kind(kind))
        if DRILL_LABEL in body["metadata"].get("labels", {})
    }


async def asked(at: Stand, namespace: str) -> None:
    await command(at, "protection")
    await at.shown.press("slash", *namespace, "enter", "D")


async def test_a_namespace_is_drilled_and_what_was_made_is_deleted_in_four_decisions() -> None:
    async with stand("protection", size=(120, 40), speed=_SPEED) as at:
        await asked(at, "legacy")
        await at.see(
            "Drill legacy", "namespace legacy-drill-", "workloads come with zero replicas", "from legacy-daily-"
        )
        await at.shown.press(*"legacy", "enter", "enter", "enter", "enter", "enter")
        await at.see(
            "legacy came back from legacy-daily-", "Deployment: 1 of 1", "Left out Pod and Secret", "Still there:"
        )
        assert left(at) == {"Namespace", "ConfigMap", "Restore"}
        await at.shown.press("right", "enter")
        await at.see("Deleted: restore")
        assert left(at) == set()
        assert [one.kind for one in at.journal if one.method == "DELETE"] == ["Restore", "ConfigMap", "Namespace"]
        await at.shown.press("escape")
        await at.see("drilled")


def put_foreign(at: Stand) -> None:
    for kind, space in (("Namespace", ""), ("ConfigMap", HOME)):
        meta = {"name": "wiki-trial", "namespace": space, "labels": {DRILL_LABEL: "wiki-trial"}}
        at.box.storage.create(at.box.storage.kind(kind), {"metadata": meta})


async def test_what_only_has_the_label_is_named_and_never_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drills, "GOING_FOR", timedelta())
    async with stand("protection", size=(120, 40), speed=_SPEED) as at:
        put_foreign(at)
        await asked(at, "legacy")
        await at.see("Left over from drills: namespace wiki-trial; see Triage")
        assert not at.dialog.query("#left")
        at.dialog.query_one("#into", Prompt).value = "legacy-trial"
        at.dialog.query_one("#confirm", Prompt).value = "legacy"
        await at.send()
        await at.see("legacy came back", "Still there: restore openshift-adp/legacy-trial")
        await at.shown.press("right", "enter")
        await at.see("Deleted: restore")
        assert at.box.storage.find(at.box.storage.kind("Namespace"), "", "wiki-trial")
        assert at.box.storage.find(at.box.storage.kind("ConfigMap"), HOME, "wiki-trial")
        await at.shown.press("escape")
        await command(at, "triage")
        await at.shown.press("slash", *"wiki-trial", "enter")
        await at.see("labelled as a drill, unproven")
        await at.shown.press("down")
        await at.see("kubectl --context minicluster delete namespaces wiki-trial")
        await at.shown.press("ctrl+d")
        assert not at.has_dialog
        assert "not known to be left over from a drill of yours" in at.shown.app.told[-1][1]
        assert left(at) == {"Namespace", "ConfigMap"}


async def test_what_is_kept_is_a_finding_whose_key_offers_it_object_by_object(monkeypatch: pytest.MonkeyPatch) -> None:
    async with stand("protection", size=(120, 40), speed=_SPEED) as at:
        put_foreign(at)
        await asked(at, "legacy")
        at.dialog.query_one("#into", Prompt).value = "legacy-trial"
        at.dialog.query_one("#confirm", Prompt).value = "legacy"
        await at.see("workloads come with zero replicas")
        await at.send()
        await at.see("legacy came back", "Still there: restore openshift-adp/legacy-trial")
        await at.shown.press("escape")
        assert at.shown.app.told[-1][1].startswith("Kept: restore openshift-adp/legacy-trial")
        await command(at, "triage")
        await at.shown.press("slash", *"legacy-trial", "enter")
        await at.see(
            "left over from a drill", "foretop drill --clean-up legacy-trial", "The drill restored legacy from"
        )
        with monkeypatch.context() as patched:
            patched.setattr("foretop.rooms.drills.dialogs.leftovers", raises)
            await at.shown.press("ctrl+d")
            await at.see("Delete what the drill left", "Internal error in foretop: RuntimeError")
            await at.shown.press("escape")
        await at.shown.press("ctrl+d")
        await at.see("Delete what the drill left", "with foretop", "configmap openshift-adp/legacy-trial is deleted")
        assert "left alone" not in at.shown.text
        for kind in ("restore", "configmap", "namespace"):
            at.dialog.query_one(f"#{kind}", OptionCycler).action_turn(1)
        await at.see("left alone", "Nothing is deleted")
        at.dialog.query_one("#confirm", Prompt).value = "legacy-trial"
        await at.send()
        assert left(at) == {"Namespace", "ConfigMap", "Restore"}
        for kind in ("restore", "namespace"):
            at.dialog.query_one(f"#{kind}", OptionCycler).action_turn(1)
        await at.see("restore openshift-adp/legacy-trial is deleted", "namespace legacy-trial is deleted")
        await at.send()
        await at.see("Deleted: restore openshift-adp/legacy-trial and namespace legacy-trial.")
        kinds = {one.kind for one in at.journal if one.method == "DELETE"}
        assert kinds == {"Restore", "Namespace"}
        names = [body["metadata"]["name"] for body in at.box.storage.list(at.box.storage.kind("ConfigMap"), HOME)]
        assert {"legacy-trial", "wiki-trial"} <= set(names)
        assert at.box.storage.find(at.box.storage.kind("Namespace"), "", "wiki-trial")


async def test_what_cannot_be_seen_afterwards_is_not_called_gone() -> None:
    async with stand("protection", size=(120, 40), speed=_SPEED, user=UNSEEING) as at:
        await asked(at, "legacy")
        at.dialog.query_one("#confirm", Prompt).value = "legacy"
        await at.see("workloads come with zero replicas")
        await at.send()
        await at.see("legacy came back", "may still be there:", "configmaps")
        assert left(at) == {"Namespace", "ConfigMap", "Restore"}


async def test_what_cannot_be_is_said_and_nothing_is_sent() -> None:
    async with stand("protection") as at:
        await asked(at, "legacy")
        at.dialog.query_one("#confirm", Prompt).value = "legacy"
        for field, typed, said in (
            ("into", "wiki", "Namespace wiki exists already"),
            ("into", "Wiki!", "Wiki!"),
            ("limit", "soon", "'soon' is not a valid time limit"),
            ("limit", "100000", "'100000' is not a valid time limit"),
        ):
            prompt = at.dialog.query_one(f"#{field}", Prompt)
            prompt.value = typed
            await at.see(said)
            await at.send()
            prompt.value = ""
        await at.shown.press("escape", "slash", "ctrl+u", *"scratch", "enter", "D")
        assert at.shown.app.told[-1][1] == "Drill: it has no copy"
        assert at.writes == []


async def test_who_may_not_list_namespaces_gets_a_sentence() -> None:
    async with stand("protection", user=NO_NAMESPACES) as at:
        await asked(at, "shop")
        assert not at.has_dialog
        assert at.shown.app.told[-1][1] == (
            "Drill: you are not allowed to list namespaces; "
            "a drill is for administrators; a tenant restores in place with a NonAdminRestore"
        )


async def test_an_answer_that_comes_while_the_dialog_closes_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    async with stand("protection", size=(80, 24), speed=_SPEED) as at:
        gone = asyncio.Event()

        async def answers_late(*_: object) -> tuple[()]:
            await gone.wait()
            return ()

        monkeypatch.setattr("foretop.rooms.drills.dialogs.quotas_of", answers_late)
        await asked(at, "legacy")
        await at.see("Drill legacy")
        label = at.dialog.query_one("#wanted")
        detach = label._detach

        def detached() -> None:
            detach()
            gone.set()

        monkeypatch.setattr(label, "_detach", detached)
        await at.shown.press("escape")
        await at.shown.until(lambda: gone.is_set() and not at.has_dialog)
        assert not at.shown.faults


async def test_a_drill_is_not_offered_where_all_copies_are_out_of_reach() -> None:
    async with stand("protection", size=LARGE) as at:
        await at.shown.press("9", "slash", *"media", "enter")
        await at.see("All its copies are in a storage location")
        assert not re.search("D drill|a drill tries it", at.shown.text)
        await at.shown.press("D")
        assert at.shown.app.told[-1][1].startswith("Drill: all its copies are in ")
