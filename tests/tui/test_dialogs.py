"""Every other dialog: it says what will happen, does nothing unless told to, and then exactly that."""

from __future__ import annotations

import pytest

from foretop.bindings import WRITE_ACTIONS
from foretop.dialogs.base_modal import BaseModal
from foretop.widgets.prompt import Prompt
from foretop_core.actions.plans import Plan
from foretop_core.models.kinds import BACKUP, NAB, SCHEDULE
from foretop_core.rules import humanize
from foretop_demo.reconcile import Behaviour
from foretop_demo.scenarios.scenario_builder import HOME
from foretop_demo.status import ApiError
from tests.rooms import samples
from tests.tui.dashboard_on_box import Stand, stand
from tests.tui.pilot import screen

MAIL = "mail"
_KEYS_OF_FILES = [key for keys in samples("KEYS_OF_FILES") for key in keys]


def newest(at: Stand, schedule: str) -> str:
    names = [item["metadata"]["name"] for item in at.box.storage.list(at.box.storage.kind("Backup"))]
    return max(str(name) for name in names if name.startswith(f"{schedule}-"))


def count(at: Stand, kind: str) -> int:
    return len(at.box.storage.list(at.box.storage.kind(kind)))


def plan_now(at: Stand) -> Plan:
    """The dialog plans anew when its cluster has moved."""
    assert at.dialog.planned is not None
    return at.dialog.planned.plan


async def test_a_window_that_is_left_before_it_is_drawn_is_gone_without_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys come faster than a window opens: over a slow line two arrive at once."""
    async with stand("quiet") as at:
        await at.go("7", at.key(BACKUP, newest(at, "wiki")))
        for key in (*_KEYS_OF_FILES, "r", "ctrl+d", "question_mark"):
            await at.shown.press(key)
            opened = type(at.shown.app.screen)
            assert issubclass(opened, BaseModal), f"{key} opened nothing:\n{at.shown.text}"
            await at.shown.press("escape")
            monkeypatch.setattr(opened, "on_compose", _left_at_once, raising=False)
            await at.shown.press(key)
            assert not isinstance(at.shown.app.screen, BaseModal)
            assert at.shown.faults == []


def _left_at_once(window: BaseModal[object]) -> None:
    if not window.is_left:
        window.action_leave()


@pytest.mark.sweep
async def test_a_backup_now_and_its_schedule_keeps_its_rhythm() -> None:
    async with stand("quiet") as at:
        await at.go("2", at.key(SCHEDULE, MAIL))
        await at.shown.press("t")
        await at.see("Back up mail now", "one backup starts at once; the next run of mail does not change")
        first = at.dialog.planned
        assert first is not None
        name = first.plan.steps[0].target.name
        at.patch("Schedule", MAIL, {"metadata": {"labels": {"team": "mail"}}})
        await at.shown.until(lambda: plan_now(at) is not first.plan)
        # A better guess of the clock of the API server may come in between: it can be a little earlier, too.
        assert plan_now(at).at != first.plan.at
        assert plan_now(at).steps[0].target.name == name
        await at.send()
        await at.see("✓ made 02:3", name)
        assert at.writes == ["POST /apis/velero.io/v1/namespaces/openshift-adp/backups"]


@pytest.mark.sweep
async def test_of_several_backups_now_each_waits_for_those_before_it() -> None:
    """Each was planned alone: of all of them it was said that they start at once, after a forecast for each."""
    async with stand("quiet") as at:
        await at.go("2", at.key(SCHEDULE, MAIL))
        await at.shown.press("asterisk", "t")
        planned = at.dialog.planned
        assert planned is not None
        said = sorted(step.forecast.partition(";")[0] for step in planned.plan.steps)
        behind = [f"after {humanize.count(place, 'unfinished backup')} ahead of it" for place in range(1, len(said))]
        assert said == sorted(["one backup starts at once", *(f"one backup, {after}" for after in behind)])
        templates = [step.target.name.rpartition("-")[0] for step in planned.plan.steps]
        assert templates == [origin.name for origin in planned.origins]


async def test_deleting_a_schedule_wants_its_name() -> None:
    async with stand("quiet") as at:
        await at.go("2", at.key(SCHEDULE, MAIL))
        await at.shown.press("ctrl+d")
        await at.see("Type mail to confirm", "no further backup of mail")
        await at.send()
        assert at.shown.app.told[-1][1] == "Type mail first"
        assert at.writes == []
        await at.shown.press("left", "up", *MAIL, "enter")
        await at.send()
        await at.see("✓ deleted 02:3")
        assert at.writes == ["DELETE /apis/velero.io/v1/namespaces/openshift-adp/schedules/mail"]


@pytest.mark.sweep
async def test_a_name_that_is_typed_is_not_asked_for_any_more() -> None:
    async with stand("quiet") as at:
        await at.go("2", at.key(SCHEDULE, MAIL))
        await at.shown.press("ctrl+d")
        await at.see("Type mail to confirm")
        await at.shown.press(*"mai", "enter")
        await at.see("Type mail first")
        await at.shown.press("l")
        assert at.dialog.is_confirmed
        assert "Type mail first" not in at.shown.text


async def test_an_object_that_is_created_again_while_the_dialog_is_open_has_to_be_confirmed_again() -> None:
    async with stand("quiet") as at:
        await at.go("2", at.key(SCHEDULE, MAIL))
        await at.shown.press("ctrl+d")
        await at.see("Type mail to confirm")
        await at.shown.press(*MAIL, "enter")
        storage, first = at.box.storage, at.object("Schedule", MAIL)
        storage.delete(storage.kind("Schedule"), HOME, MAIL)
        storage.create(storage.kind("Schedule"), {**first, "metadata": {"name": MAIL, "namespace": HOME}})
        await at.see("schedule openshift-adp/mail was deleted and created again in the meantime")
        await at.send()
        assert at.shown.app.told[-1][1] == "Type mail first"
        assert at.writes == []
        await at.shown.press("left", "up", *MAIL, "enter")
        await at.send()
        await at.see("✓ deleted 02:3")


async def test_a_name_that_nobody_can_type_is_meant_by_its_end() -> None:
    async with stand("quiet") as at:
        names = [item["metadata"]["name"] for item in at.box.storage.list(at.box.storage.kind("Backup"))]
        name = max(names, key=len)
        assert len(name) > 50
        await at.go("7", at.key(BACKUP, name))
        await at.shown.press("ctrl+d")
        await at.see(f"Type {name[-6:]} to confirm (the end of its name).")
        await at.send()
        assert at.shown.app.told[-1][1] == f"Type {name[-6:]} first"
        await at.shown.press("left", "up")
        await at.paste(name[-6:])
        await at.shown.press("enter")
        await at.send()
        await at.shown.until(lambda: len(at.writes) == 1)


async def test_deleting_a_backup_asks_velero_to_and_is_followed_until_its_data_is_gone() -> None:
    async with stand("quiet", speed=60) as at:
        name = newest(at, "wiki")
        await at.go("7", at.key(BACKUP, name))
        await at.shown.press("ctrl+d")
        await at.paste(name)
        await at.shown.press("enter")
        await at.send()
        await at.see(f"{name} is deleted, with its data")
        assert at.writes == ["POST /apis/velero.io/v1/namespaces/openshift-adp/deletebackuprequests"]


async def test_a_restore_goes_beside_what_is_there_unless_told_otherwise_and_is_followed_to_its_end() -> None:
    async with stand("quiet", speed=60) as at:
        await at.go("7", at.key(BACKUP, newest(at, "wiki")))
        await at.shown.press("r")
        assert at.dialog.planned is not None
        name = at.dialog.planned.plan.steps[0].target.name
        await at.see("Into [wiki:wiki-restored ]", "Into wiki-restored", "Existing resources stay unchanged")
        await at.see("volumes are restored (Velero's default)")
        assert "absent" not in at.shown.text
        await at.shown.press("tab", "tab", "ctrl+u")
        await at.see("Target wiki: it looks empty")
        assert "exists already" not in at.shown.text
        await at.shown.press(*"wiki:", "tab")
        await at.see("'wiki:' is not a valid mapping (write from:to)")
        await at.shown.press("shift+tab")
        await at.paste("wiki-older")
        await at.see("Into wiki-older")
        await at.shown.press("ctrl+u", *"wiki")
        await at.see("Target wiki: it looks empty")
        await at.paste("-old")
        await at.see("Into wiki-old")
        await at.shown.press("tab", "right")
        await at.see("Existing resources are overwritten")
        await at.shown.press("tab")
        await at.send()
        await at.see("✓ made", "Completed")
        (made,) = at.box.storage.list(at.box.storage.kind("Restore"))
        assert made["metadata"]["name"] == name
        assert made["spec"]["namespaceMapping"] == {"wiki": "wiki-old"}
        assert made["spec"]["existingResourcePolicy"] == "update"


async def test_a_schedule_is_described_and_its_expression_told_while_it_is_typed() -> None:
    async with stand("quiet") as at:
        await at.go("2", at.key(SCHEDULE, MAIL))
        await at.shown.press("a", "tab")
        await at.paste("0 4 * * 8")
        await at.see("is not a valid schedule in the field day of week, at character 9")
        await at.shown.press("backspace", "1")
        await at.see("at 04:00 on Monday", "A schedule needs a name")
        await at.shown.press("shift+tab")
        await at.paste("weekly")
        await at.shown.press("tab", "tab")
        await at.paste("orders, ledger")
        await at.shown.press("tab", *"30d")
        await at.see("The TTL '30d' is not a valid duration")
        await at.shown.press("ctrl+u", *"48h", "tab", "right", "tab", "right", "tab", "right", "tab")
        await at.see("no backup until it is unpaused")
        await at.send()
        await at.see("✓ made 02:3", "weekly is created and paused")
        spec = at.object("Schedule", "weekly")["spec"]
        assert (spec["schedule"], spec["paused"], spec["skipImmediately"]) == ("0 4 * * 1", True, True)
        assert spec["template"]["includedNamespaces"] == ["orders", "ledger"]
        assert (spec["template"]["ttl"], spec["template"]["storageLocation"]) == ("48h", "default")


async def test_a_nab_is_deleted_by_the_charts_own_path_or_by_force_where_the_cluster_has_the_field() -> None:
    async with stand("quiet", behaviour=Behaviour.SEED) as at:
        nab = at.box.storage.list(at.box.storage.kind("NonAdminBackup"))[0]["metadata"]
        await at.go("3", at.key(NAB, nab["name"], nab["namespace"]))
        await at.shown.press("ctrl+d")
        await at.see("How ‹ with its data (spec.deleteBackup) ›", "spec.deleteBackup absent → true")
        await at.shown.press("tab", "right")
        await at.see("spec.forceDeleteBackup absent → true", "data stays in storage, from which a sync")
        assert "permanently" not in at.shown.text, "neither the button nor the title: it would be said of the data too"
        await at.shown.press("shift+tab")
        await at.paste(nab["name"])
        await at.shown.press("enter")
        await at.send()
        await at.see(f"{nab['name']} is deleted")


@pytest.mark.sweep
async def test_read_only_opens_every_dialog_and_sends_nothing_at_all() -> None:
    async with stand("quiet", read_only=True) as at:
        for tab, key, letters in (
            ("2", at.key(SCHEDULE, MAIL), ("s", "t", "a")),
            ("7", at.key(BACKUP, newest(at, "wiki")), ("t", "r")),
        ):
            await at.go(tab, key)
            for letter in letters:
                await at.shown.press(letter)
                await at.see("Read-only, nothing is sent: ", "[ Close ]")
                await at.shown.press("enter")
                await at.shown.until(lambda: not at.has_dialog)
        await at.shown.press("l")
        await at.see("read-only is on")
        assert at.writes == []


@pytest.mark.sweep
async def test_a_store_without_a_cluster_offers_no_wishes() -> None:
    async with screen() as shown:
        await shown.press("2")
        offered = {action.id for action in shown.app.main_screen.available()}
        assert offered.isdisjoint({action.id for action in WRITE_ACTIONS})
        await shown.press("s", "u", "t", "ctrl+d")
        assert len(shown.app.screen_stack) == 1


@pytest.mark.parametrize(
    ("tab", "letter", "typed"),
    [
        ("2", "e", ("end", "ctrl+u", *"5 5 * * *")),
        pytest.param("2", "a", (*"new", "tab", *"5 5 * * *"), marks=pytest.mark.sweep),
        pytest.param("7", "r", (), marks=pytest.mark.sweep),
    ],
)
async def test_after_a_refusal_of_the_server_the_form_is_there_with_what_was_typed(
    tab: str, letter: str, typed: tuple[str, ...]
) -> None:
    async with stand("quiet") as at:

        def refuse(_method: str, _path: str) -> None:
            at.before_write = lambda method, path: None
            raise ApiError(422, "Invalid", 'Schedule.velero.io "x" is invalid: spec: a webhook would not have it')

        await at.go(tab, at.key(SCHEDULE, "wiki") if tab == "2" else at.key(BACKUP, newest(at, "wiki")))
        await at.shown.press(letter, *("space" if one == " " else one for one in typed))
        before = [prompt.value for prompt in at.dialog.query(Prompt)]
        at.before_write = refuse
        await at.send()
        await at.see(" failed: spec: a webhook would not have it. Nothing was changed.", "[ Cancel ]")
        assert at.shown.text.count("webhook") == 1
        assert [prompt.value for prompt in at.dialog.query(Prompt)] == before
        assert "Repeat" not in at.shown.text
        await at.send()
        await at.shown.until(lambda: "failed" not in at.shown.text)
