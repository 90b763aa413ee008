"""Editing a schedule with the keys that a person presses, in the form and in their own editor."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from foretop_core.actions.journal import Journal
from foretop_core.models.kinds import SCHEDULE
from foretop_demo.scenarios.scenario_builder import HOME
from tests.terminal import Terminal
from tests.tui.dashboard_on_box import stand
from tests.tui.pilot import MIDDLE

_F4, _ESCAPE = "\x1bOS", "\x1b"
_EDITOR = """#!{python}
import pathlib, sys
path = pathlib.Path(sys.argv[1])
count = pathlib.Path(__file__ + ".count")
count.write_text(str(number := int(count.read_text() if count.exists() else 0) + 1))
print(f"EDITOR {{number}}", flush=True)
path.write_text(path.read_text().replace(*input().split("|")))
"""


async def test_a_schedule_is_edited_after_e_and_exactly_what_is_shown_is_sent() -> None:
    async with stand("quiet", size=MIDDLE) as at:
        before = at.object("Schedule", "ledger")["spec"]
        await at.go("2", at.key(SCHEDULE, "ledger"))
        await at.shown.press("e")
        await at.see("Edit ledger", before["schedule"], before["template"]["ttl"], "Nothing to send", "f4 editor")
        await at.shown.press("ctrl+u")
        await at.paste("5 4 * * *")
        await at.see(f"spec.schedule {before['schedule']} → 5 4 * * *", "means at 04:05 every day", "→", "next run")
        await at.shown.press("tab", "ctrl+u")
        await at.paste("48h")
        await at.see(f"spec.template.ttl {before['template']['ttl']} → 48h", "existing backups stay unchanged")
        assert at.writes == []
        # Another field, changed by someone else between the last look and the write.
        meddled: list[str] = []

        def meddle(method: str, path: str) -> None:
            if not meddled:
                at.patch("Schedule", "ledger", {"spec": {"template": {"datamover": "x"}}})
            meddled.append(method)

        at.before_write = meddle
        await at.send()
        await at.shown.until(lambda: at.object("Schedule", "ledger")["spec"]["schedule"] == "5 4 * * *")
        template = at.object("Schedule", "ledger")["spec"]["template"]
        assert template == {**before["template"], "ttl": "48h", "datamover": "x"}
        await at.see("patched", "Velero")
        assert at.writes == [f"PATCH /apis/velero.io/v1/namespaces/{HOME}/schedules/ledger"] * 2
        patch = at.journal[-1].patch
        assert patch["spec"] == {"schedule": "5 4 * * *", "template": {"ttl": "48h"}}
        assert at.shown.faults == []


@pytest.mark.sweep
async def test_in_triage_e_edits_the_schedule_and_x_asks_for_the_results_of_its_run() -> None:
    async with stand("default", size=MIDDLE) as at:
        await at.shown.press("1")
        await at.see("partly failed")
        for _ in range(20):
            applicable = {one.action.id for one in at.shown.app.main_screen.applicable_actions()}
            if {"results", "edit-schedule"} <= applicable:
                break
            await at.shown.press("down")
        await at.shown.press("e")
        await at.see("Edit ", "f4 editor")
        await at.shown.press("escape", "x")
        await at.see("Fetch the results of", "[ Fetch ]")
        await at.shown.press("escape", "escape")
        assert at.shown.page == "triage"


def test_the_rest_of_the_spec_is_edited_in_the_person_s_editor(tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text(_EDITOR.format(python=sys.executable))
    editor.chmod(0o700)
    foretop = (sys.executable, "-m", "foretop", "demo", "--scene", "quiet", "--seed", "1", "--speed", "1")
    folder = tmp_path / "state" / "foretop" / "demo" / "foretop"
    environ = {"EDITOR": str(editor), "KUBE_EDITOR": "", "VISUAL": "", "XDG_STATE_HOME": str(tmp_path / "state")}
    with Terminal(foretop, 80, 24, environ) as terminal:
        terminal.shows(lambda lines: "API ●" in lines[0])
        terminal.press("2")
        terminal.shows("ledger")
        terminal.press("e")
        terminal.shows("Edit etcd")
        terminal.press(_F4)
        terminal.shows("EDITOR 1")
        assert terminal.settings() == terminal.settings_before
        terminal.press("skipImmediately|snapshotMoveData: [\n")
        terminal.shows("is not valid YAML")
        (draft,) = (folder / "edits").iterdir()
        assert draft.stat().st_mode & 0o777 == 0o600
        terminal.press(_F4)
        terminal.shows("EDITOR 2")
        terminal.press("snapshotMoveData: [|skipImmediately\n")
        terminal.shows("Nothing to send")
        terminal.press(_F4)
        terminal.shows("EDITOR 3")
        terminal.press("    ttl:|    snapshotMoveData: true # \n")
        terminal.shows("spec.template.snapshotMoveData absent → true")
        terminal.press("\t\t\t\t\t\t\t\r")
        terminal.shows("patched")
        terminal.press(_ESCAPE)
        terminal.shows(lambda _: not list((folder / "edits").iterdir()))
    written = [json.loads(line) for line in Journal(folder / "journal").path.read_text().splitlines()]
    assert written[-1]["result"] == "done"
    assert written[-1]["patch"]["spec"]["template"]["snapshotMoveData"] is True
