"""Reads a configuration file setting by setting: all that can be used is, and a mistake makes foretop read-only.

The work is linear in the size of the file, whatever is in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints
from zoneinfo import ZoneInfo, available_timezones

import msgspec
import yaml

from foretop_core.config.allowed_names import BUILT_IN_THEMES, PAGE_NAMES
from foretop_core.config.settings import (
    DEFAULT_SETTINGS,
    VARIABLES,
    ClusterUid,
    ConfigSection,
    PageSettings,
    Settings,
    Version,
)
from foretop_core.errors import nearest
from foretop_core.pages import MOST_TABS, PAGES
from foretop_core.yaml_guard import check_yaml, scalar_value

SettingPath = tuple[str, ...]
"""The names that lead to a setting."""
_NULL = "tag:yaml.org,2002:null"
_LONGEST_SHOWN = 40
_MOST_MISTAKES = 20
"""So many are told, each with the nearest right word, and of the rest how many there are."""
_MOST_VALUES = 50_000
"""Of a file whose aliases are written out."""


class Mistake(msgspec.Struct, frozen=True):
    """One thing that is wrong, and where; lines count from 1, and 0 is for what is not in the file."""

    line: int
    text: str


class ConfigReading(msgspec.Struct):
    """The settings of a file, the mistakes in it, and the line of each setting."""

    settings: Settings = msgspec.field(default_factory=Settings)
    mistakes: list[Mistake] = msgspec.field(default_factory=list)
    untold: int = 0
    """How many mistakes there are besides."""
    lines: dict[SettingPath, int] = msgspec.field(default_factory=dict)
    from_environment: set[str] = msgspec.field(default_factory=set)
    """The settings that the environment has put over those of the file."""

    def note(self, line: int, path: SettingPath, text: str, word: str = "", known: Iterable[str] = ()) -> None:
        """A mistake, with the nearest of the `known` words to the one that is wrong; of very many only their number."""
        if len(self.mistakes) >= _MOST_MISTAKES:
            self.untold += 1
            return
        where = f"{'.'.join(map(_shortened, path))}: " if path else ""
        self.mistakes.append(Mistake(line, f"{where}{text}{nearest(word, known) if word else ''}"))

    def note_setting(self, path: SettingPath, text: str) -> None:
        """A mistake in a setting that was read."""
        self.note(self.lines.get(path, 1), path, text)


def read_settings(text: str) -> ConfigReading:
    """Never raises for what a file may say: all that cannot be used is among the mistakes."""
    reading = ConfigReading()
    try:
        check_yaml(text, yaml.SafeLoader)
        node = yaml.compose(text, yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError) as problem:
        why = " ".join(str(getattr(problem, "problem", None) or problem).split()).removeprefix("but ")
        reading.note(_line_of(text, problem), (), f"not valid YAML: {why}")
        return reading
    if node is not None and not _is_null(node):
        _SettingsWalk(reading).start(node)
    return reading


def quoted(value: str) -> str:
    """A value in a message: one line of it, not all of a long one."""
    return repr(_shortened(value))


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def _line_of(text: str, problem: Exception) -> int:
    mark, position = getattr(problem, "problem_mark", None), getattr(problem, "position", None)
    if mark is not None:
        return int(mark.line) + 1
    return text.count("\n", 0, position) + 1 if isinstance(position, int) else 1


@cache
def _settings_of(section: type[ConfigSection]) -> tuple[Mapping[str, Any], Mapping[str, str]]:
    """The types of the fields of a section, and those fields by the names of its settings; contexts have one each."""
    names = {field.encode_name: field.name for field in msgspec.structs.fields(section)}
    return get_type_hints(section, include_extras=True), names


def _is_null(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.tag == _NULL


class _Unusable(Exception):
    """A value that cannot be used; its mistake is noted already."""


class _SettingsWalk:
    """Follows the nodes of a file and the types of the settings together."""

    def __init__(self, found: ConfigReading) -> None:
        self._found = found
        self._values = 0

    def start(self, node: yaml.Node) -> None:
        with suppress(_Unusable):
            self._found.settings = self._section(node, Settings, ())

    def _note(self, node: yaml.Node, path: SettingPath, text: str, word: str = "", known: Iterable[str] = ()) -> None:
        self._found.note(node.start_mark.line + 1, path, text, word, known)

    def _unusable(self, node: yaml.Node, path: SettingPath, text: str) -> _Unusable:
        self._note(node, path, text)
        return _Unusable()

    def _value(self, node: yaml.Node, wanted: Any, path: SettingPath) -> Any:
        self._found.lines[path] = node.start_mark.line + 1
        self._values += 1
        if self._values > _MOST_VALUES:
            raise self._unusable(node, (), f"the file has more than {_MOST_VALUES:,} values")
        if isinstance(wanted, type) and issubclass(wanted, ConfigSection):
            return self._section(node, wanted, path)
        origin, arguments = get_origin(wanted), get_args(wanted)
        if origin is dict:
            return self._mapping(node, arguments[0], arguments[1], path)
        if origin is tuple:
            return self._list(node, arguments[0], path)
        return self._scalar(node, wanted, path)

    def _section(self, node: yaml.Node, wanted: type[ConfigSection], path: SettingPath) -> Any:
        """A setting without a value is left at its default, unless it is a switch or a uid: those protect something."""
        types, fields = _settings_of(wanted)
        values: dict[str, Any] = {}
        for name, key, value in self._pairs(node, path):
            if name not in fields:
                self._note(key, path, f"unknown setting {quoted(name)}", name, fields)
                continue
            if _is_null(value):
                # `prod: {production}` was meant to say something: nobody can tell that it is false.
                if (kind := types[fields[name]]) in (bool, ClusterUid):
                    self._note(key, (*path, name), f"must be {_described(kind)}, and has no value")
                continue
            with suppress(_Unusable):
                values[fields[name]] = self._value(value, types[fields[name]], (*path, name))
        return wanted(**values)

    def _mapping(self, node: yaml.Node, key_type: Any, value_type: Any, path: SettingPath) -> dict[str, Any]:
        values: dict[str, Any] = {}
        names = get_args(key_type) if get_origin(key_type) is Literal else ()
        for name, key, value in self._pairs(node, path):
            if names and name not in names:
                self._note(key, path, f"unknown name {quoted(name)}", name, names)
                continue
            if _is_null(value):
                continue
            with suppress(_Unusable):
                values[name] = self._value(value, value_type, (*path, name))
        return values

    def _pairs(self, node: yaml.Node, path: SettingPath) -> Iterator[tuple[str, yaml.Node, yaml.Node]]:
        """The settings of a mapping."""
        if not isinstance(node, yaml.MappingNode):
            raise self._unusable(node, path, "must be a mapping of names to values")
        line_of: dict[str, int] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self._note(key, path, "a name must be text")
                continue
            if key.value in line_of:
                text = f"{_shortened(key.value)} is set twice, first on line {line_of[key.value]}; this one is used"
                self._note(key, path, text)
            line_of[key.value] = key.start_mark.line + 1
            yield key.value, key, value

    def _list(self, node: yaml.Node, item_type: Any, path: SettingPath) -> tuple[Any, ...]:
        if not isinstance(node, yaml.SequenceNode):
            raise self._unusable(node, path, "must be a list such as [a, b]")
        values = []
        for index, item in enumerate(node.value):
            with suppress(_Unusable):
                values.append(self._value(item, item_type, (*path, str(index))))
        return tuple(values)

    def _scalar(self, node: yaml.Node, wanted: Any, path: SettingPath) -> Any:
        if not isinstance(node, yaml.ScalarNode):
            kind = "list" if isinstance(node, yaml.SequenceNode) else "mapping"
            raise self._unusable(node, path, f"must be {_described(wanted)}, not a {kind}")
        words = [str(arg) for arg in get_args(wanted) if arg] if get_origin(wanted) is Literal else []
        text = quoted(node.value)
        try:
            # A version such as 1.10 is text here, and not the number 1.1.
            value = node.value if words or _is_text(wanted) else scalar_value(node.value)
            return msgspec.convert(value, wanted)
        except (msgspec.ValidationError, yaml.YAMLError):
            if words:
                self._note(node, path, f"{text} is not valid", node.value, words)
            else:
                self._note(node, path, f"must be {_described(wanted)}, not {text}")
            raise _Unusable from None


def _is_text(wanted: Any) -> bool:
    return wanted is str or (get_origin(wanted) is Annotated and get_args(wanted)[0] is str)


def _described(wanted: Any) -> str:
    """The allowed values of a setting in words."""
    if wanted is bool:
        return "true or false"
    described = next((arg.description for arg in get_args(wanted) if isinstance(arg, msgspec.Meta)), None)
    return described or "text"


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
    if problem := window_problem(settings.window):
        found.note_setting(("window",), problem)
        settings = msgspec.structs.replace(settings, window=DEFAULT_SETTINGS.window)
    settings = msgspec.structs.replace(settings, tabs=_tabs(found, settings.tabs))
    pages = {page: _page(found, page, page_settings) for page, page_settings in settings.pages.items()}
    found.settings = msgspec.structs.replace(settings, pages=pages)
    found.mistakes.sort(key=lambda mistake: mistake.line)


def window_problem(text: str) -> str:
    """Why a window cannot be kept free; "" where it can."""
    begins, _, ends = text.partition("-")
    return "must begin and end at different times of day" if text and begins == ends else ""


def _tabs(found: ConfigReading, names: tuple[str, ...]) -> tuple[str, ...]:
    """Each page once, and no more than there are digits."""
    once = tuple(dict.fromkeys(names))
    for name in once:
        if names.count(name) > 1:
            found.note_setting(("tabs",), f"{name} is there twice; a page has one tab")
    if len(once) > MOST_TABS:
        left_out = ", ".join(once[MOST_TABS:])
        found.note_setting(("tabs",), f"{len(once)} pages, and there are {MOST_TABS} digits; left out: {left_out}")
    return once[:MOST_TABS]


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
        name for index, name in enumerate(asked.columns) if _has(found, path, ("columns", str(index)), name)
    )
    sort = asked.sort if not asked.sort or _has(found, path, ("sort",), asked.sort) else ""
    return PageSettings(columns=tuple(dict.fromkeys(columns)), sort=sort, reverse=asked.reverse)


def _has(found: ConfigReading, path: SettingPath, at: Iterable[str], name: str) -> bool:
    columns = PAGES[path[-1]].columns
    if name in columns:
        return True
    line = found.lines.get((*path, *at), 1)
    found.note(line, (*path, *at), f"column {quoted(name)} does not exist", name, columns)
    return False


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
        name = next(field.name for field in msgspec.structs.fields(found.settings) if field.encode_name == setting)
        found.settings = msgspec.structs.replace(found.settings, **{name: _value(setting, text)})
        found.from_environment.add(setting)


def _value(setting: str, text: str) -> Any:
    if setting == "readOnly":
        return True
    if setting in ("defaultContexts", "namespaces"):
        return tuple(part for part in (part.strip() for part in text.split(",")) if part)
    return text


def _problem(found: ConfigReading, setting: str, text: str) -> str:
    match setting:
        case "page":
            return "" if text in PAGE_NAMES else f"page {quoted(text)} does not exist{nearest(text, PAGE_NAMES)}"
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
