"""Checks that need more than one setting: a theme that exists, a column that the page has, a zone that is known."""

from __future__ import annotations

from collections.abc import Iterable
from zoneinfo import ZoneInfo, available_timezones

import msgspec

from foretop_core.config.allowed_names import BUILT_IN_THEMES
from foretop_core.config.config_reader import ConfigReading, SettingPath, nearest, quoted
from foretop_core.config.settings import DEFAULT_SETTINGS, PageSettings, Settings
from foretop_core.pages import PAGES

ZONE_WORDS = ("UTC", "local", "expression")


def check_settings(found: ConfigReading) -> None:
    """Notes what is wrong, and puts the default in its place."""
    settings = found.settings
    if problem := theme_problem(settings, settings.theme):
        found.note_setting(("theme",), problem)
        settings = msgspec.structs.replace(settings, theme=DEFAULT_SETTINGS.theme)
    if problem := zone_problem(settings.time_zone):
        found.note_setting(("timeZone",), problem)
        settings = msgspec.structs.replace(settings, time_zone=DEFAULT_SETTINGS.time_zone)
    if not settings.shift_ends:
        found.note_setting(("shiftEnds",), "must name at least one time of day such as '06:00'")
        settings = msgspec.structs.replace(settings, shift_ends=DEFAULT_SETTINGS.shift_ends)
    pages = {page: _page(found, page, one) for page, one in settings.pages.items()}
    found.settings = msgspec.structs.replace(settings, pages=pages)
    found.mistakes.sort(key=lambda mistake: mistake.line)


def theme_problem(settings: Settings, name: str) -> str:
    """Why a theme cannot be used; "" where it can."""
    themes = (*BUILT_IN_THEMES, *settings.skins)
    return "" if name in themes else f"theme {quoted(name)} does not exist{nearest(name, themes)}"


def zone_problem(name: str) -> str:
    """Why a time zone cannot be used; "" where it can."""
    if name in ZONE_WORDS:
        return ""
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return f"zone {quoted(name)} does not exist{nearest(name, [*ZONE_WORDS, *available_timezones()])}"
    return ""


def _page(found: ConfigReading, page: str, asked: PageSettings) -> PageSettings:
    path: SettingPath = ("pages", page)
    if not PAGES[page].view:
        if asked != PageSettings():
            found.note_setting(path, "this page has no columns")
        return PageSettings()
    columns = tuple(
        name for place, name in enumerate(asked.columns) if _has(found, path, ("columns", str(place)), name)
    )
    sort = asked.sort if not asked.sort or _has(found, path, ("sort",), asked.sort) else ""
    return PageSettings(columns=tuple(dict.fromkeys(columns)), sort=sort, reverse=asked.reverse)


def _has(found: ConfigReading, path: SettingPath, at: Iterable[str], name: str) -> bool:
    known = PAGES[path[-1]].columns
    if name in known:
        return True
    line = found.lines.get((*path, *at), 1)
    found.note(line, (*path, *at), f"column {quoted(name)} does not exist", name, known)
    return False
