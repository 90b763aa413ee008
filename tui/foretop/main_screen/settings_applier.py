"""Brings the configuration onto a running screen, at the start and whenever the file changes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from textual.keys import _character_to_key

from foretop.bindings import ACTIONS, KeyConflict, key_name, use_keys, with_keys
from foretop.main_screen.finding_notices import FindingNotices
from foretop_core.config.allowed_names import GONE_ACTION
from foretop_core.config.live_config import LiveConfig
from foretop_core.config.thresholds_from_settings import configured_window, thresholds_of
from foretop_core.tables.text.times import TimeZoneMode, TimeZoneSetting

if TYPE_CHECKING:
    from datetime import tzinfo

    from foretop.main_screen.main_screen import MainScreen
    from foretop_core.config.settings import Settings
    from foretop_core.dashboard.state import DashboardState


class SettingsApplier:
    """Takes up only the settings that have changed, so that a person's own changes stay."""

    def __init__(self, config: LiveConfig, screen: MainScreen, state: DashboardState) -> None:
        self._config = config
        self._app = screen.app
        self._host = screen.app_host
        self._screen = screen
        self._state = state
        self._notices = FindingNotices(state, screen.app_host.write_terminal)

    def start(self) -> None:
        self._apply(None)
        self._complain(self._take_keys())

    async def poll(self) -> bool:
        """Looks at the file; whether it has changed and was taken up."""
        before = await self._config.poll()
        if before is None:
            return False
        self._apply(before)
        problems = self._take_keys()
        later = self._config.at_next_start(before)
        waits = f"; {', '.join(later)} at the next start" if later else ""
        self._app.notify(f"Configuration reloaded{waits}")
        self._complain(problems)
        return True

    def look(self) -> None:
        """Tells the terminal of new findings, where that was asked for."""
        self._notices.look(self._config.settings.notify)

    def close(self) -> None:
        self._notices.close()

    def _apply(self, before: Settings | None) -> None:
        settings = self._config.settings
        for cluster in self._state.source.clusters.values():
            if (config := cluster.client.rules.changed()) is not None:
                cluster.client.rules.use(config)
        if before is None or before.time_zone != settings.time_zone:
            self._state.zoning = zoning(settings.time_zone, self._host.my_zone)
        self._state.shift_ends = settings.shift_ends
        window = self._state.thresholds.window
        if before is None or (before.window, before.time_zone) != (settings.window, settings.time_zone):
            window = configured_window(settings.window, settings.time_zone, os.environ)
        limits = thresholds_of(settings.thresholds, window)
        if limits != self._state.thresholds:
            self._state.thresholds = limits
            self._state.judge(at_once=before is not None)
        if before is not None and (before.theme, before.skins) != (settings.theme, settings.skins):
            self._host.show_theme(settings.theme, afresh=True)
        self._screen.configure(settings)

    def _take_keys(self) -> list[str]:
        """Puts actions onto the keys asked for; the problems are those that cannot be."""
        asked = {name: shown for name, shown in self._config.settings.keys.items() if name != GONE_ACTION}
        ids = {action.id.replace("_", "-"): action.id for action in ACTIONS}
        keys = {ids[name]: (textual_key(shown), shown) for name, shown in asked.items()}
        actions, keymap, problems = ACTIONS, dict[str, str](), list[str]()
        # All at once, so that two may change places; one by one where that tells which of them cannot be.
        for part in (keys,) if _fits(keys) else [{name: keys[name]} for name in keys]:
            try:
                actions = with_keys(actions, part)
                keymap |= {action_id: key for action_id, (key, _) in part.items()}
            except KeyConflict as problem:
                name = next(iter(part)).replace("_", "-")
                line = self._config.config.lines.get(("keys", name), 1)
                problems.append(f"{self._config.config.path}:{line}: keys.{name}: {problem}")
        if actions != self._screen.actions:
            self._screen.actions = actions
            use_keys(actions)
            self._app.set_keymap(keymap)
        return problems

    def _complain(self, problems: list[str]) -> None:
        mistakes = [*self._config.config.mistakes, *problems]
        for mistake in mistakes:
            self._app.notify(mistake, severity="warning")
        if len(mistakes) > 1:
            path = self._config.config.path
            self._app.notify(
                f"{len(mistakes)} mistakes in {path}: {key_name('messages')} shows them", severity="warning"
            )


def _fits(wanted: Mapping[str, tuple[str, str]]) -> bool:
    try:
        with_keys(ACTIONS, wanted)
    except KeyConflict:
        return False
    return True


def zoning(name: str, mine: tzinfo) -> TimeZoneSetting:
    """The setting as the Z key has it; a named zone stands in the place of the local one."""
    match name:
        case "UTC":
            return TimeZoneSetting()
        case "expression":
            return TimeZoneSetting(TimeZoneMode.EXPRESSION)
        case _:
            return TimeZoneSetting(TimeZoneMode.MINE, mine)


def textual_key(shown: str) -> str:
    """A key as Textual calls it: signs by their names."""
    *modifiers, last = shown.rsplit("+", 1) if len(shown) > 1 else [shown]
    return "+".join([*modifiers, _character_to_key(last) if len(last) == 1 else last])
