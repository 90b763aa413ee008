"""The configuration of a running screen: the file is looked at now and then, and taken up when it has changed."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from foretop_core.config.allowed_names import BUILT_IN_THEMES
from foretop_core.config.config_file import ConfigFile, file_stamp, read_config
from foretop_core.config.settings import VARIABLES, Settings
from foretop_core.own_files import read_own_file, replace_own_file

# Deferred imports: a command line that opens no screen waits for no event loop.

AT_START = (
    *("page", "default_contexts", "groups", "namespaces", "velero_namespace", "velero_version", "mouse"),
    "keep_last_hour",
)
"""Settings that take effect at the next start only."""
_NOTIFY = "notify."


def with_flags(settings: Settings, flags: Mapping[str, Any]) -> Settings:
    """The settings with those of flags over them, by their Python names; `notify.bell` is one within a section."""
    notify = {name.removeprefix(_NOTIFY): value for name, value in flags.items() if name.startswith(_NOTIFY)}
    others = {name: value for name, value in flags.items() if not name.startswith(_NOTIFY)}
    return msgspec.structs.replace(settings, notify=msgspec.structs.replace(settings.notify, **notify), **others)


class LiveConfig:
    """`flags` are settings that go over the file, now and after every change of it."""

    def __init__(self, config: ConfigFile, environ: Mapping[str, str], flags: Mapping[str, Any] | None = None) -> None:
        self.config = config
        self._environ = environ
        self.flags = dict(flags or {})
        self._chosen_theme = remembered_theme(environ)

    @property
    def settings(self) -> Settings:
        """A theme that was chosen on the screen is used where nothing else names one."""
        settings = with_flags(self.config.settings, self.flags)
        themes = (*BUILT_IN_THEMES, *settings.skins)
        if self.theme_origin or self._chosen_theme not in themes:
            return settings
        return msgspec.structs.replace(settings, theme=self._chosen_theme)

    @property
    def theme_origin(self) -> str:
        """The flag, variable or file that names the theme and goes over a choice on the screen; "" for none."""
        if "theme" in self.flags:
            return "--theme"
        if "theme" in self.config.from_environment:
            return VARIABLES["theme"]
        return self.config.path.name if ("theme",) in self.config.lines else ""

    async def choose_theme(self, name: str) -> None:
        """A choice on the screen, for this run and, where nothing else names a theme, for the next ones."""
        from foretop_core.background import in_thread

        self._chosen_theme = name
        await in_thread(partial(remember_theme, self._environ, name))

    async def poll(self) -> Settings | None:
        """The settings before, where the file has changed since; None for nothing new."""
        from foretop_core.background import in_thread

        config = await in_thread(self._changed)
        if config is None:
            return None
        before, self.config = self.settings, config
        return before

    def _changed(self) -> ConfigFile | None:
        return None if file_stamp(self.config.path) == self.config.stamp else read_config(self._environ)

    def at_next_start(self, before: Settings) -> list[str]:
        """The changed settings, by their names in the file, that this run does not take up."""
        after = self.settings
        names = {field.name: field.encode_name for field in msgspec.structs.fields(Settings)}
        return [names[name] for name in AT_START if getattr(before, name) != getattr(after, name)]


_LONGEST = 100
_THEME = "theme"


def remembered_theme(environ: Mapping[str, str]) -> str:
    """The theme that was last chosen on the screen; "" where none was."""
    try:
        return read_own_file(_file(environ, _THEME), _LONGEST).decode("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def remember_theme(environ: Mapping[str, str], name: str) -> None:
    """Keeps it in the state folder; where that cannot be written, the choice holds until the end."""
    with suppress(OSError):
        replace_own_file(_file(environ, _THEME), f"{name}\n".encode())


def _file(environ: Mapping[str, str], name: str) -> Path:
    home = environ.get("XDG_STATE_HOME", "")
    base = Path(home) if home.startswith("/") else Path(environ.get("HOME", "/")) / ".local" / "state"
    return base / "foretop" / name
