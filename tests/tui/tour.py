"""The tour: every view and window, and in each of them every key that works there, pressed and undone.

Which keys work is asked of the screen itself, so that a new one without a promise fails. Whoever walks the tour, a
pilot or one at a terminal, answers what it asks for with what is seen then.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field

from tests.tui.promises import Doing, Step, letter_step, own_step, registered_step
from tests.tui.seen import Seen, changes, closes, hides, leaves_the_field, shows, types_into
from tests.tui.touring import Where
from tui.panes.detail import SECTIONS
from tui.registry import WISHES
from tui.screens.tabs import TABS

EVERYTHING = None
_WISHED = frozenset(action.id for action in WISHES)


@dataclass(frozen=True, slots=True)
class Place:
    """A situation: the keys that lead to it from a tab, and how one sees that one is there."""

    name: str
    kind: str
    """Places of one kind have the same keys of their own."""
    way: tuple[str, ...]
    arrived: Callable[[Seen], bool]
    only: frozenset[str] | None = EVERYTHING
    """The actions that are tried there; what another place tries just so is left out."""
    own: bool = True
    without: frozenset[str] = frozenset()
    """What is bound there and does nothing yet."""
    otherwise: Mapping[str, Doing] = field(default_factory=dict)
    """Actions that promise something else there."""
    extra: tuple[Step, ...] = ()
    again: tuple[str, ...] = ()
    """Leads back in for one who has just left."""
    leave: tuple[str, ...] = ()
    time_goes_on: bool = False
    """Something has to happen in the cluster on the way."""
    onward: tuple[str, ...] = ()
    """From there to the place itself."""
    really: Callable[[Seen], bool] = lambda seen: True

    def steps(self, here: Where) -> Iterator[Step]:
        yield from self.extra
        own = here.own if self.own else {}
        for key, action in own.items():
            if action not in self.without:
                yield own_step(key, action, here)
        for letter in here.letters if self.only is EVERYTHING else "":
            yield letter_step(letter, here)
        for key, action_id in here.offered.items():
            if key in own or (self.only is not EVERYTHING and action_id not in self.only):
                continue
            if (doing := self.otherwise.get(action_id)) is not None:
                yield Step(key, action_id, doing.promise, doing.undo, doing.first, is_own=False)
            else:
                yield registered_step(key, action_id, here)


def typed(text: str) -> tuple[str, ...]:
    return tuple({" ": "space", "/": "slash", "-": "minus", ":": "colon"}.get(sign, sign) for sign in text)


def _filtered(digit: str, text: str) -> tuple[str, ...]:
    return (digit, "slash", *typed(text), "enter")


def _in(page: str) -> Callable[[Seen], bool]:
    return lambda seen: (
        seen.where.page == page
        and not seen.where.window
        and (bool(seen.where.cursor) or page == "primer")
        and "● live" in seen.lines[0]
        and "Still looking" not in seen.text
    )


def _reading(*words: str) -> Callable[[Seen], bool]:
    return lambda seen: all(word in seen.text for word in words)


def _on(*words: str) -> Callable[[Seen], bool]:
    """The cursor is on an object of which the key has all these in it."""
    return lambda seen: not seen.where.field and all(word in seen.where.cursor for word in words)


def _window(window: str, *words: str, focus: str = "") -> Callable[[Seen], bool]:
    return lambda seen: (
        seen.where.window == window and focus in seen.where.focus and all(word in seen.text for word in words)
    )


# Pages

_KINDS = {"calendar": "calendar", "primer": "primer"}
_TABS = tuple(
    Place(tab.id, _KINDS.get(tab.id, "table"), ("9" if tab.digit != 9 else "8", str(tab.digit), "home"), _in(tab.id)) for tab in TABS
)
_UNFILTERED = Doing(lambda before, after: "filter=''" in after.where.place and "filter=''" not in before.where.place, None)
_ENDED = _filtered("7", "etcd-hourly")
_FAILED = _filtered("7", "phase:PartiallyFailed")
_FAILED_NAB = _filtered("3", "PartiallyFailed")
_PAUSED = _filtered("2", "cassandra")
_NAB = _filtered("3", "carts-140931")
_REQUEST = _filtered("9", "request")
_ROWS = (
    Place("a storage request", "row", _REQUEST, _on("storagelocationrequests"), _WISHED, own=False),
    Place("a paused schedule", "row", _PAUSED, _on("cassandra"), _WISHED, own=False),
    Place("a backup that has ended", "row", _ENDED, _on("etcd-hourly"), _WISHED | {"results"}, own=False),
    Place(
        "a backup whose volumes are on their way",
        "row",
        _filtered("7", "videos phase:InProgress"),
        _on("videos"),
        frozenset({"cancel-movements", "logs"}),
        own=False,
    ),
    Place("a tenant's backup", "row", _NAB, _on("carts-140931"), _WISHED | {"jump", "results"}, own=False),
    Place("a tenant's restore", "row", _filtered("3", "lost-one"), _on("lost-one"), _WISHED, own=False),
    Place(
        "a row that is marked",
        "row",
        ("2", "home", "space"),
        lambda seen: seen.where.marked == 1,
        _WISHED | {"clear_marks"},
        own=False,
        leave=("ctrl+backslash",),
    ),
    Place(
        "a table that is filtered",
        "row",
        _filtered("2", "zzz"),
        _reading("Nothing fits"),
        frozenset({"escape", "back"}),
        own=False,
        otherwise={"escape": _UNFILTERED, "back": _UNFILTERED},
    ),
    Place(
        "one namespace",
        "row",
        ("3", "colon", *typed("ns team-bi"), "enter"),
        lambda seen: "namespace team-bi" in seen.text and not seen.where.window,
        frozenset({"all_namespaces"}),
        own=False,
        leave=("0",),
    ),
    Place(
        "the head of a group",
        "row",
        ("3", "home", "b", "home"),
        lambda seen: "fold" in seen.where.offered.values(),
        frozenset({"fold", "group"}),
        own=False,
        leave=("b", "home"),
    ),
    Place("where one has gone back", "row", ("2", "7", "left_square_bracket"), _in("schedules"), frozenset({"next"}), own=False),
    Place("an expression that is primed", "primer", ("6", "o", "enter"), _reading("taken from"), frozenset({"copy_primed"})),
)

# One object

_ANEW = frozenset({"fetch-results", "fetch-nonadmin-results", "escape", "back"})


def _detail(name: str, way: tuple[str, ...]) -> Place:
    return Place(f"detail of {name}", "detail", (*way, "enter"), _reading("Overview"), without=frozenset({"fold"}))


def _section(section: str, name: str, way: tuple[str, ...]) -> Place:
    """What works in every section is tried in the first."""
    return Place(
        f"{section} of {name}",
        "detail",
        (*way, "enter", *["right"] * SECTIONS.index(section)),
        lambda seen: f"section='{section}'" in seen.where.place,
        _ANEW,
        without=frozenset() if section == "yaml" else frozenset({"fold"}),
        otherwise={action_id: Doing(hides("Overview"), None) for action_id in ("escape", "back")},
    )


_DETAILS = (
    _detail("a backup", _FAILED),
    *(_section(section, "a backup", _FAILED) for section in SECTIONS[1:]),
    _section("results", "a tenant's backup", _FAILED_NAB),
    _detail("a schedule", _filtered("2", "etcd-hourly")),
    _detail("a tenant's backup", _NAB),
)

# Windows


def _is_chosen(before: Seen, after: Seen) -> bool:
    """Another line of the list is lit."""
    return before.lit != after.lit and before.where.window == after.where.window


_IN_A_LIST = tuple(
    Step(key, f"{key} in a list", _is_chosen, (back,)) for key, back in (("down", "up"), ("end", "home"))
)
_TEXT = Step("backspace", "backspace in a field", changes, None)
_WINDOWS = (
    Place("help", "help", ("2", "question_mark"), _window("Help"), again=("question_mark",)),
    Place("messages", "messages", ("2", "ctrl+r", "m"), _window("Messages", "tries now"), again=("m",)),
    Place(
        "palette",
        "palette",
        ("2", "colon"),
        _window("Palette", focus="Prompt"),
        extra=(
            Step("down", "down in the palette", _is_chosen, ("up",)),
            Step("q", "a letter in the palette", changes, ("backspace",)),
            Step("enter", "enter in the palette", closes, None),
        ),
        again=("colon",),
    ),
    Place(
        "saving the table",
        "list",
        ("2", "ctrl+s"),
        _window("Choose", "rows as", focus="Options"),
        extra=(*_IN_A_LIST, Step("enter", "saving", shows("rows saved to"), None)),
        again=("ctrl+s",),
    ),
    Place(
        "choosing a namespace",
        "list",
        ("3", "colon", *typed("ns"), "enter"),
        _window("Choose", "Which namespace", focus="Options"),
        extra=_IN_A_LIST,
    ),
    Place(
        "taking an expression",
        "pick",
        ("6", "o"),
        _window("Pick", focus="Prompt"),
        extra=(Step("down", "down in a pick", _is_chosen, ("up",)), Step("enter", "taking", closes, None)),
        again=("o",),
    ),
    Place(
        "typing a filter",
        "filter",
        ("2", "slash", *typed("hourly")),
        lambda seen: seen.where.field == "filter" and "/hourly" in seen.text,
        frozenset({"relist", "palette", "save"}),
        extra=(
            _TEXT,
            Step("left", "left in a field", _is_chosen, ("right",)),
            Step("ctrl+w", "ctrl+w in a field", hides("/hourly"), None),
            Step("down", "down from a field", leaves_the_field, None),
            Step("enter", "enter in a filter", leaves_the_field, None),
        ),
    ),
    Place(
        "typing an expression",
        "expression",
        ("6", "o", "enter", "enter"),
        lambda seen: seen.where.field == "expression",
        frozenset({"relist", "palette"}),
        without=frozenset({"screen.do('edit_minutes')"}),
        extra=(
            Step("tab", "tab in a field", types_into("minutes"), ("shift+tab",)),
            Step("enter", "enter in an expression", leaves_the_field, None),
        ),
        again=("enter",),
    ),
)


def _dialog(name: str, way: tuple[str, ...], *into: str, without: frozenset[str] = frozenset()) -> Place:
    return Place(
        f"dialog: {name}",
        "dialog",
        (*way, *into),
        lambda seen: bool(seen.where.window and seen.where.focus) and "[ Cancel ]" in seen.text,
        without=without,
        again=into,
    )


def _called(command: str) -> tuple[str, ...]:
    return ("colon", *typed(command), "enter")


_DIALOGS = (
    _dialog("pause", ("2", "home"), "s"),
    _dialog("pause, in a field of it", ("2", "home"), "s", "up"),
    _dialog("unpause", _PAUSED, "u"),
    _dialog("restore", _ENDED, "r"),
    _dialog("delete", _ENDED, "ctrl+d"),
    _dialog("create", ("2", "home"), "a", without=frozenset({"copy"})),
    _dialog("the server's default", ("2", "home"), *_called("server-default")),
    _dialog("decide about a storage request", _REQUEST, "a"),
    _dialog("decide, at what turns", _REQUEST, "a", "up"),
)
_FETCHED = (*_ENDED, "l", "right", "enter")
_OF_A_SEARCH = frozenset({"next(1)", "next(-1)"})
_LOGS = (
    Place(
        "asking for a log",
        "fetching",
        (*_ENDED, "l"),
        _window("LogWindow", "[ Fetch ]", focus="cancel"),
        without=_OF_A_SEARCH | {"search", "save"},
        again=("l",),
    ),
    Place("asking for results", "fetching", (*_FAILED, "e", "e"), _window("ResultsWindow", "[ Fetch ]", focus="cancel"), again=("e",)),
    Place(
        "reading a log",
        "log",
        _FETCHED,
        _window("LogWindow", " lines ", focus="LogLines"),
        without=_OF_A_SEARCH,
        again=("l", "right", "enter"),
        time_goes_on=True,
    ),
    Place(
        "searching a log",
        "search",
        _FETCHED,
        _window("LogWindow", " lines ", focus="LogLines"),
        own=False,
        extra=(Step("n", "next match", changes, ("N",)), Step("N", "match before", changes, ("n",))),
        time_goes_on=True,
        onward=("slash", *typed("item"), "enter"),
        really=_reading(" with it"),
    ),
)
PLACES: tuple[Place, ...] = (*_TABS, *_ROWS, *_DETAILS, *_WINDOWS, *_DIALOGS, *_LOGS)


# Walking through it


@dataclass(frozen=True, slots=True)
class Ask:
    """Press these keys, then wait until the screen is so; what is seen then is the answer."""

    keys: tuple[str, ...]
    is_so: Callable[[Seen], bool]
    why: str
    time_goes_on: bool = False

    def told(self, seen: Seen) -> str:
        return f"{self.why}: it never came to that; the program says {seen.where}; the screen:\n{seen.text}"


Wanted = Callable[[Place, Step], bool]
Walk = Generator[Ask, Seen, Seen]


def walk(place: Place, seen: Seen, wanted: Wanted) -> Walk:
    """Into the place, every wanted key there, and out of it again."""
    here = yield from _arrive(place, seen)
    for step in place.steps(here.where):
        if wanted(place, step):
            here = yield from _take(place, step, here)
    if place.leave:
        here = yield Ask(place.leave, lambda seen: True, f"{place.name}: the way out")
    return here


def _arrive(place: Place, seen: Seen) -> Walk:
    while (before := seen).where.window or before.where.field or before.where.page == "detail" or _is_narrowed(before):
        seen = yield Ask(
            ("escape",), lambda seen, before=before: seen.at != before.at, f"{place.name}: escape from {before.at}"
        )
    return (yield from _there(place, place.way))


def _there(place: Place, way: tuple[str, ...]) -> Walk:
    seen = yield Ask(way, place.arrived, f"{place.name}: the way there", place.time_goes_on)
    return (yield Ask(place.onward, place.really, f"{place.name}: onward")) if place.onward else seen


def _is_narrowed(seen: Seen) -> bool:
    return "filter='" in seen.where.place and "filter=''" not in seen.where.place


def _take(place: Place, step: Step, here: Seen) -> Walk:
    name = f"{place.name}: {step.key} ({step.what})"
    before = here
    if step.first:
        before = yield Ask(step.first, lambda seen: True, f"{name}: first {step.first}")
    after = yield Ask((step.key,), lambda seen: step.promise(before, seen), name)
    undo = step.undo(after) if callable(step.undo) else step.undo
    if undo is not None:
        return (yield Ask(undo, lambda seen: _is_back(here, seen), f"{name}, then {' '.join(undo)}"))
    if place.again and not after.where.window:
        return (yield from _there(place, place.again))
    return (yield from _arrive(place, after))


def _is_back(here: Seen, seen: Seen) -> bool:
    return seen.at == here.at and (seen.is_framed or bool(seen.where.window)) and not seen.where.faults
