"""Every setting as it is in effect, and where it comes from."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import timedelta
from typing import Any

import msgspec

from foretop_core.config.config_file import ConfigFile
from foretop_core.config.settings import VARIABLES, Settings
from foretop_core.config.thresholds_from_settings import duration_text, thresholds_of


class EffectiveSetting(msgspec.Struct, frozen=True):
    """`origin` is a flag, a variable of the environment, a line of the file, or the default."""

    name: str
    value: Any
    origin: str


def effective_settings(config: ConfigFile, settings: Settings, flags: Collection[str]) -> Iterator[EffectiveSetting]:
    """`settings` are those of the config with the flags over them; `flags` names the settings that flags give."""
    for field in msgspec.structs.fields(Settings):
        value = getattr(settings, field.name)
        if field.name == "thresholds":
            limits = thresholds_of(value)
            names = {one.name: one.encode_name for one in msgspec.structs.fields(value)}
            for name, told in names.items():
                limit = getattr(limits, name)
                yield _setting(config, flags, (field.encode_name, told), _shown(limit))
        elif isinstance(value, msgspec.Struct):
            for one in msgspec.structs.fields(value):
                yield _setting(config, flags, (field.encode_name, one.encode_name), _shown(getattr(value, one.name)))
        elif isinstance(value, dict):
            for name, inner in value.items():
                yield _setting(config, flags, (field.encode_name, name), _shown(inner))
        else:
            yield _setting(config, flags, (field.encode_name,), _shown(value))


def _setting(config: ConfigFile, flags: Collection[str], path: tuple[str, ...], value: Any) -> EffectiveSetting:
    return EffectiveSetting(".".join(path), value, _origin(config, flags, path))


def _origin(config: ConfigFile, flags: Collection[str], path: tuple[str, ...]) -> str:
    if path[0] in flags or ".".join(path) in flags:
        return "flag"
    if path[0] in config.from_environment:
        return VARIABLES[path[0]]
    return f"line {config.lines[path]}" if path in config.lines else "default"


def _shown(value: Any) -> Any:
    return duration_text(value) if isinstance(value, timedelta) else msgspec.to_builtins(value)
