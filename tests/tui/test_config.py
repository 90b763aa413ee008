"""The configuration file on the screen: at the start, and when it changes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from foretop.app import Dashboard
from foretop.panes.triage_pane import finding_pane
from foretop.widgets.prompt import Prompt
from foretop_core.config.config_file import read_config
from foretop_core.config.live_config import LiveConfig
from foretop_core.dashboard.session_protocol import DisplayOptions
from foretop_core.models.kinds import BACKUP, SCHEDULE
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.triage import Finding, Severity
from foretop_demo.access import Rule, User
from tests.tui.dashboard_on_box import stand
from tests.tui.fake_source import CONTEXT, FilledSource, troubled
from tests.tui.pilot import LARGE, MIDDLE, Screen, running


def live(folder: Path, text: str) -> LiveConfig:
    environ = {"XDG_CONFIG_HOME": str(folder), "XDG_STATE_HOME": str(folder)}
    path = folder / "foretop" / "config.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return LiveConfig(read_config(environ), environ)


@asynccontextmanager
async def configured(folder: Path, text: str) -> AsyncIterator[Screen]:
    source = FilledSource(troubled())
    config = live(folder, text)
    app = Dashboard(lambda: source, DisplayOptions(flash=False, page=config.settings.page), config)
    async with running(app, MIDDLE) as pilot:
        shown = Screen(app, pilot, source)
        await shown.until(lambda: app.main_screen.state is not None and bool(app.main_screen.current))
        await shown.tick()
        yield shown


def titles(shown: Screen) -> list[str]:
    """The titles of the columns, without the arrow of the sorted one."""
    return [word for word in shown.table_lines[0].replace("↑", " ").replace("↓", " ").split() if word.isupper()]


async def change(shown: Screen, text: str) -> None:
    """Another file, looked at when the time for that has come."""
    config = shown.app.config
    assert config is not None
    before = config.config
    config.config.path.write_text(text)
    await shown.until(lambda: config.config is not before)
    await shown.tick()


async def test_page_columns_and_order_are_those_of_the_file(tmp_path: Path) -> None:
    text = "page: backups\npages: {backups: {columns: [phase, name, started], sort: name, reverse: true}}\n"
    async with configured(tmp_path, text) as shown:
        assert shown.page == "backups"
        assert titles(shown) == ["PHASE", "BACKUP", "STARTED"]
        names = [row.key.name for row in shown.table.window]
        assert names == sorted(names, reverse=True)
        await shown.press("ctrl+w")
        assert titles(shown)[:3] == ["PHASE", "BACKUP", "STARTED"]
        assert len(titles(shown)) > 3


async def test_a_changed_file_is_taken_up_and_what_waits_for_the_next_start_is_named(tmp_path: Path) -> None:
    async with configured(tmp_path, "page: backups\n") as shown:
        assert "TOOK" in titles(shown)
        await change(shown, "page: queue\npages: {backups: {columns: [name, phase]}}\n")
        assert titles(shown) == ["BACKUP", "PHASE"]
        assert shown.app.told[-1][1] == "Configuration reloaded; page at the next start"
        await change(shown, "page: backups\n")
        assert "TOOK" in titles(shown)


async def test_a_file_that_appears_later_is_taken_up_and_its_mistakes_are_shown(tmp_path: Path) -> None:
    async with configured(tmp_path, "") as shown:
        config = shown.app.config
        assert config is not None
        config.config.path.unlink()
        await shown.until(lambda: not config.config.exists)
        await change(shown, "warmUpMinutes: 25\npgae: queue\n")
        told = [text for _, text in shown.app.told]
        assert any("config.yaml:2: unknown setting 'pgae'; did you mean page?" in one for one in told)
        assert any("config.yaml: every context is read-only until this is fixed" in one for one in told)
        settings = shown.app.main_screen.settings
        assert settings is not None
        assert settings.warm_up_minutes == 25


async def test_thresholds_decide_what_triage_finds(tmp_path: Path) -> None:
    async with configured(tmp_path, "") as shown:
        state = shown.app.main_screen.state
        assert state is not None
        codes = {one.code for one in state.findings}
        assert "schedule-overdue" in codes
        await change(shown, "thresholds: {overdue: 60d, goesAfter: 1s}\n")
        shown.source.manual.advance(timedelta(seconds=30))
        await shown.tick()
        state.judge(at_once=True)
        assert codes - {one.code for one in state.findings} == {"schedule-overdue"}


async def test_a_key_for_an_action_that_is_gone_is_no_mistake(tmp_path: Path) -> None:
    async with configured(tmp_path, "keys: {edit-beside-runs: E, describe: e, edit-schedule: d}\n") as shown:
        assert [text for _, text in shown.app.told if "keys" in text] == []
        assert shown.app.config is not None
        assert shown.app.config.config.mistakes == ()
        await shown.press("7", "e")
        assert shown.page == "detail"


async def test_a_key_of_the_file_does_the_action_and_is_shown_and_a_taken_one_is_a_mistake(tmp_path: Path) -> None:
    async with configured(tmp_path, "keys: {messages: f5, zone: j, mark: J, group: S}\n") as shown:
        said = [text for _, text in shown.app.told]
        assert any("config.yaml:1: keys.zone: zone is on j, which is a key of every table" in one for one in said)
        assert any("keys.mark: jump and mark are both on J" in one for one in said)
        assert len(said) == 3, "a letter that no action has is free"
        await shown.press("m")
        assert len(shown.app.screen_stack) == 1
        await shown.press("f5")
        assert len(shown.app.screen_stack) == 2
        await shown.press("escape", "colon", *"messages")
        assert "f5" in next(line for line in shown.lines if "message history" in line)
        await shown.press("escape")
        await change(shown, "")
        await shown.press("escape", "f5")
        assert len(shown.app.screen_stack) == 1
        await shown.press("m")
        assert len(shown.app.screen_stack) == 2


@pytest.mark.parametrize(("zone", "words"), [("Europe/Berlin", "Europe/Berlin"), ("UTC", "")])
async def test_times_are_in_the_zone_of_the_file(zone: str, words: str, tmp_path: Path) -> None:
    async with configured(tmp_path, f"timeZone: {zone}\n") as shown:
        state = shown.app.main_screen.state
        assert state is not None
        assert str(state.zone) == zone
        assert state.zoning.is_named is bool(words)


async def test_a_write_in_production_wants_the_name_of_the_context(tmp_path: Path) -> None:
    (tmp_path / "foretop").mkdir()
    (tmp_path / "foretop" / "config.yaml").write_text("contexts: {minicluster: {production: true}}\n")
    async with stand("quiet", tmp_path) as at:
        await at.go("2", at.key(SCHEDULE, "mail"))
        await at.shown.press("t")
        await at.see("Type minicluster to confirm (production)")
        await at.send()
        assert at.shown.app.told[-1][1] == "Type minicluster first"
        assert at.writes == []
        await at.shown.press("left", "up", *"minicluster", "enter")
        await at.send()
        await at.see("✓ made 02:3")
        await at.shown.press("escape", "ctrl+d")
        await at.see("Type minicluster mail to confirm (production)")


async def test_a_context_that_becomes_production_while_a_dialog_is_open_wants_its_name(tmp_path: Path) -> None:
    async with stand("quiet", tmp_path) as at:
        await at.go("2", at.key(SCHEDULE, "mail"))
        await at.shown.press("t")
        await at.see("[ Back up mail now ]")
        assert "to confirm" not in at.shown.text
        (tmp_path / "foretop").mkdir()
        (tmp_path / "foretop" / "config.yaml").write_text("contexts: {minicluster: {production: true}}\n")
        await at.send()
        await at.see("Type minicluster to confirm (production)")
        assert at.writes == []
        await at.shown.until(lambda: isinstance(at.shown.app.focused, Prompt))
        await at.shown.press(*"minicluster", "enter")
        await at.send()
        await at.see("✓ made 02:3")
        assert len(at.writes) == 1


async def test_a_cluster_that_cannot_be_told_from_a_protected_one_wants_its_name_and_says_why(tmp_path: Path) -> None:
    (tmp_path / "foretop").mkdir()
    file = tmp_path / "foretop" / "config.yaml"
    file.write_text("contexts: {prod: {production: true}}\n")
    async with stand("quiet", tmp_path) as at:
        assert "PRODUCTION?" in at.shown.lines[0]
        await at.go("2", at.key(SCHEDULE, "mail"))
        await at.shown.press("t")
        await at.see("Type minicluster to confirm (as in production)")
        await at.see("minicluster may be the same cluster as prod: contexts.prod.clusterUid is not set.")
        uid = at.object("Namespace", "kube-system", "")["metadata"]["uid"]
        file.write_text(f"contexts: {{prod: {{production: true, clusterUid: {uid}}}}}\n")
        await at.shown.press("escape", "t")
        await at.see("Type prod to confirm (production)")
        await at.see("minicluster is the cluster of prod, which is marked production.")
        await at.shown.press(*"prod", "enter")
        await at.send()
        await at.see("✓ made 02:3")
        assert len(at.writes) == 1
        await at.shown.press("escape")
        await at.shown.until(lambda: "PRODUCTION " in at.shown.lines[0])


async def test_no_dialog_writes_where_the_uid_is_not_read_without_the_name(tmp_path: Path) -> None:
    """The file has the uid of the protected cluster, and whoever looks may not read that of this one."""
    kinds = "velero.io", "oadp.openshift.io", "apps"
    blind = User("blind", (Rule(("*",), kinds, ("*",)), Rule(("create",), ("authorization.k8s.io",), ("*",))))
    (tmp_path / "foretop").mkdir()
    marked = "contexts: {prod: {production: true, clusterUid: 7d1b0e52-3f5a-4e0e-8c93-0d2f5b7c9e11}}\n"
    (tmp_path / "foretop" / "config.yaml").write_text(marked)
    async with stand("quiet", tmp_path, size=LARGE, user=blind) as at:
        backup = next(item["metadata"]["name"] for item in at.box.storage.list(at.box.storage.kind("Backup")))
        for tab, kind, name, keys in (
            ("2", SCHEDULE, "mail", ("t", "s", "ctrl+d")),
            ("7", BACKUP, backup, ("r", "ctrl+d")),
        ):
            await at.go(tab, at.key(kind, name))
            for key in keys:
                await at.shown.press(key)
                await at.see("to confirm (as in production)", "prod: its own uid cannot be read")
                await at.send()
                words = "minicluster", *((name,) if key == "ctrl+d" else ())
                assert at.shown.app.told.pop()[1] == f"Type {' '.join(words)} first"
                await at.shown.press("escape")
                await at.shown.until(lambda: not at.has_dialog)
        assert at.writes == []


@pytest.mark.sweep
async def test_sentences_name_the_keys_of_the_file(tmp_path: Path) -> None:
    keys = "keys: {relist: f5, wide: f6, clear-marks: f7, all-namespaces: f8, acknowledged: f9}\n"
    async with configured(tmp_path, f"page: backups\n{keys}") as shown:
        await shown.press("space")
        assert "esc clears the marks" in shown.text
        assert "ctrl+\\" not in shown.text
        state = shown.app.main_screen.state
        assert state is not None
        lost = Finding(
            "velero-out-of-reach", Severity.ERROR, ObjectRef(CONTEXT, "", "", ""), None, "lost", "No route.", "Look."
        )
        told = finding_pane(lost, state.render_context(CONTEXT))[-1]
        assert "".join(span.text for span in told.spans) == "f5 retries now"
    async with configured(tmp_path, "page: backups\n") as shown:
        await shown.press("space")
        assert "esc clears the marks" in shown.text
