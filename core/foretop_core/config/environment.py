"""Settings from the environment: over those of the file and below the flags; none allows what the file refuses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from foretop_core.config.allowed_names import TAB_NAMES
from foretop_core.config.config_reader import ConfigReading, Mistake, nearest, quoted
from foretop_core.config.cross_setting_checks import theme_problem, zone_problem
from foretop_core.config.environment_names import VARIABLES
from foretop_core.config.settings import Version

_NO = frozenset({"0", "false", "no"})


def apply_environment(found: ConfigReading, environ: Mapping[str, str]) -> None:
    """Puts what is set over the settings; a value that cannot be used is a mistake, and the file's is kept."""
    for setting, variable in VARIABLES.items():
        text = environ.get(variable, "").strip()
        if not text:
            continue
        problem = _problem(found, setting, text)
        if problem:
            found.mistakes.append(Mistake(0, f"{variable}: {problem}"))
            continue
        if setting == "readOnly" and text.lower() in _NO:
            continue
        name = next(one.name for one in msgspec.structs.fields(found.settings) if one.encode_name == setting)
        found.settings = msgspec.structs.replace(found.settings, **{name: _value(setting, text)})
        found.from_environment.add(setting)


def _value(setting: str, text: str) -> Any:
    if setting == "readOnly":
        return True
    if setting in ("defaultContexts", "namespaces"):
        return tuple(part for part in (one.strip() for one in text.split(",")) if part)
    return text


def _problem(found: ConfigReading, setting: str, text: str) -> str:
    match setting:
        case "page":
            return "" if text in TAB_NAMES else f"page {quoted(text)} does not exist{nearest(text, TAB_NAMES)}"
        case "theme":
            return theme_problem(found.settings, text)
        case "timeZone":
            return zone_problem(text)
        case "veleroVersion":
            return "" if _is_version(text) else f"must be a version such as 1.17.1, not {quoted(text)}"
    return ""


def _is_version(text: str) -> bool:
    try:
        msgspec.convert(text, Version)
    except msgspec.ValidationError:
        return False
    return True
