"""The tour: every view and window, and in each of them every key that works there, pressed and undone.

Which keys work is asked of the screen itself, so that a new one without a promise fails. Whoever walks the tour, a
pilot or one at a terminal, answers what it asks for with what is seen then.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from functools import partial

from foretop import bindings
from foretop.bindings import WRITE_ACTIONS
from foretop.panes.detail_sections import SECTIONS, sections_of
from foretop_core.actions.action_catalog import RECORDS
from foretop_core.pages import PAGES, TABS
from tests.rooms import samples
from tests.tour.expected_effects import own_step, registered_step
from tests.tour.places import EVERYTHING, Place, filtered, in_page, is_chosen, on, reading, typed, window
from tests.tour.seen import Doing, Seen, Step, changes, hides, leaves_the_field, tells
from tests.tour.stepped_dashboard import Where

_OF_A_BACKUP = sections_of("Backup")
_OF_RUNS = tuple(room.action.id for room in bindings.ROOM_ACTIONS if room.of_run)
_WISHED = frozenset(action.id for action in WRITE_ACTIONS)


# Pages

_WAYS = {page: way for ways in samples("WAYS", "tour") for page, way in ways.items()}
"""From the tab on, to something that all of its keys work on."""
_TABS = tuple(
    Place(
        tab.id,
        "table" if tab.view else tab.id,
        ("9" if tab.digit != 9 else "8", str(tab.digit), "home"),
        _WAYS.get(tab.id, ()),
        in_page(tab.id),
    )
    for tab in TABS
)
_UNFILTERED = Doing(lambda before, after: _is_narrowed(before) and not _is_narrowed(after), None)
_SCHEDULES = ("2", "home")
_ENDED = filtered("7", "etcd")
_FAILED = filtered("7", "phase:Part")
_PAUSED = filtered("2", "cass")
_HELD = filtered("2", "quart")
_NAB = filtered("3", "140931")
_REQUEST = ("colon", *typed("storage"), "enter", *filtered("home", "request"))


def _row(
    name: str, base: tuple[str, ...], arrived: Callable[[Seen], bool], *more: str, way: tuple[str, ...] = ()
) -> Place:
    """Where more can be asked of an object than in the table at large."""
    return Place(name, "row", base, way, arrived, _WISHED | frozenset(more), own=False)


def _situation(
    name: str, base: tuple[str, ...], way: tuple[str, ...], arrived: Callable[[Seen], bool], *only: str
) -> Place:
    return Place(name, "row", base, way, arrived, frozenset(only), own=False)


def _in_pane(seen: Seen) -> bool:
    return seen.where.focus.startswith("ReadablePane") and not seen.where.window


_ROWS = (
    _row("a backup whose volumes are on their way", filtered("7", "videos phase:InP"), on("videos")),
    _row("a tenant's restore", filtered("3", "lost-one"), on("lost-one")),
    replace(
        _situation("a table that is filtered", filtered("2", "zz"), (), reading("No row has"), "escape", "back"),
        otherwise={"escape": _UNFILTERED, "back": _UNFILTERED},
    ),
    replace(
        _row("a row that is marked", ("2", "home", "space"), lambda seen: seen.where.marked == 1, "clear_marks"),
        leave=("ctrl+backslash",),
    ),
    replace(
        _situation(
            "one namespace",
            ("3",),
            ("colon", *typed("ns team-bi"), "enter"),
            lambda seen: "namespace team-bi" in seen.text and not seen.where.window,
            "all_namespaces",
        ),
        leave=("0",),
    ),
    replace(
        _situation(
            "the head of a group",
            ("3", "home", "b", "home"),
            (),
            lambda seen: "fold" in seen.where.offered.values(),
            "fold",
            "group",
        ),
        leave=("b", "home"),
    ),
    Place(
        "reading the pane",
        "pane",
        _SCHEDULES,
        ("tab",),
        _in_pane,
        frozenset({"escape", "back"}),
        otherwise={
            action_id: Doing(lambda before, after: _in_pane(before) and bool(after.where.cursor), ("tab",))
            for action_id in ("escape", "back")
        },
    ),
    _situation("where one has gone back", ("2", "7", "left_square_bracket"), (), in_page("schedules"), "next"),
)

# One object

_ANEW = frozenset({*(record.id for record in RECORDS if record.only_in_results), "escape", "back"})


def _detail(name: str, base: tuple[str, ...]) -> Place:
    return Place(f"detail of {name}", "detail", base, ("enter",), reading("Overview"), without=frozenset({"fold"}))


def _section(section: str, name: str, base: tuple[str, ...], sections: tuple[str, ...] = SECTIONS) -> Place:
    """What works in every section is tried in the first."""
    return Place(
        f"{section} of {name}",
        "detail",
        base,
        ("enter", *["right"] * sections.index(section)),
        lambda seen: f"section='{section}'" in seen.where.place,
        _ANEW,
        without=frozenset() if section == "yaml" else frozenset({"fold"}),
        otherwise={action_id: Doing(hides("Overview"), None) for action_id in ("escape", "back")},
    )


# Windows


_DOWN = Step("down", "down in a list", is_chosen, ("up",))
_END = Step("end", "end in a list", is_chosen, ("home",))


def _dialog(name: str, base: tuple[str, ...], *way: str, without: frozenset[str] = frozenset()) -> Place:
    return Place(
        f"dialog: {name}",
        "dialog",
        base,
        way,
        lambda seen: (
            bool(seen.where.window and seen.where.focus) and ("[ Cancel ]" in seen.text or "[ Back ]" in seen.text)
        ),
        without=without,
    )


_TYPED = frozenset({"leave_by_letter"})
"""Where there is a field, q is a letter."""
_OF_SCHEDULES = (
    Place("help", "help", _SCHEDULES, ("question_mark",), window("HelpScreen")),
    Place("messages", "messages", _SCHEDULES, ("ctrl+r", "m"), window("MessagesScreen", "Retrying now")),
    Place(
        "palette",
        "palette",
        _SCHEDULES,
        ("colon",),
        window("CommandPalette", focus="Prompt"),
        extra=(
            replace(_DOWN, what="down in the palette"),
            Step("q", "a letter in the palette", changes, ("backspace",)),
        ),
    ),
    Place(
        "saving the table",
        "list",
        _SCHEDULES,
        ("ctrl+s",),
        window("ChoicePicker", "rows as", focus="PlainOptionList"),
        extra=(_DOWN, _END, Step("enter", "saving", tells("rows saved to"), None)),
    ),
    _dialog("pause", _SCHEDULES, "s"),
    _dialog("pause, on the knob that cancels", _SCHEDULES, "s", "tab", "tab", without=_TYPED),
    _dialog("create", _SCHEDULES, "a", without=frozenset({"copy"})),
    _dialog("create for a namespace", filtered("9", "blog"), "a", without=frozenset({"copy"})),
    # The editor wants a terminal of its own: test_the_rest_of_the_spec_is_edited_in_the_person_s_editor.
    _dialog("edit", _SCHEDULES, "e", without=frozenset({"copy", "open_editor"})),
    _dialog("the server's default", _SCHEDULES, "colon", *typed("server-d"), "enter", without=_TYPED),
    Place(
        "typing a filter",
        "filter",
        _SCHEDULES,
        ("slash", *typed("hourly")),
        lambda seen: seen.where.field == "filter" and "/hourly" in seen.text,
        frozenset({"relist", "palette", "save"}),
        extra=(
            Step("backspace", "backspace in a field", changes, None),
            Step("left", "left in a field", is_chosen, ("right",)),
            Step("ctrl+w", "ctrl+w in a field", hides("/hourly"), None),
            Step("down", "down from a field", leaves_the_field, None),
            Step("enter", "enter in a filter", leaves_the_field, None),
        ),
    ),
)
_PLACES_OF_A_BACKUP = (
    _row("a backup that has ended", _ENDED, on("etcd"), *_OF_RUNS),
    _dialog("restore", _ENDED, "r"),
    _dialog("delete", _ENDED, "ctrl+d"),
    _dialog("extend", _ENDED, "v", without=frozenset({"copy"})),
    _detail("a backup", _FAILED),
    *(_section(section, "a backup", _FAILED, _OF_A_BACKUP) for section in _OF_A_BACKUP[1:]),
)
_OF_OTHERS = (
    _row("a paused schedule", _PAUSED, on("cassandra")),
    _dialog("unpause", _PAUSED, "u"),
    _row("a schedule that foretop has paused", _HELD, on("quarterly")),
    _dialog("change the pause", _HELD, "s", without=frozenset({"copy"})),
    _detail("a schedule", _PAUSED),
    _row("a tenant's backup", _NAB, on("carts"), "jump", *_OF_RUNS),
    _detail("a tenant's backup", _NAB),
    Place(
        "choosing a namespace",
        "list",
        ("3",),
        ("colon", *typed("ns"), "enter"),
        window("ChoicePicker", "Which namespace", focus="PlainOptionList"),
        extra=(_DOWN, _END),
    ),
    _row("a storage request", _REQUEST, on("storagelocationrequest")),
    _dialog("acknowledge", ("1", "home"), "h", without=frozenset({"copy"})),
    _dialog("decide about a storage request", _REQUEST, "a"),
    _dialog("decide, on the knob that cancels", _REQUEST, "a", "tab"),
)
PLACES: tuple[Place, ...] = (
    *_TABS,
    *_ROWS,
    *_OF_SCHEDULES,
    *(place for places in samples("PLACES", "tour") for place in places),
    *_PLACES_OF_A_BACKUP,
    *_OF_OTHERS,
    *(
        _dialog(name, base, key, without=without)
        for dialogs in samples("DIALOGS")
        for name, base, key, without in dialogs
    ),
    *(place for places in samples("LAST_PLACES", "tour") for place in places),
)


# Walking through it


def _steps(place: Place, here: Where) -> Iterator[Step]:
    yield from place.extra
    own = here.own if place.own else {}
    for key, action in own.items():
        if action not in place.without:
            yield own_step(key, action, here)
    for key, action_id in here.offered.items():
        if key in own or (place.only is not EVERYTHING and action_id not in place.only):
            continue
        if (doing := place.otherwise.get(action_id)) is not None:
            yield Step(key, action_id, doing.promise, doing.undo, doing.first, is_own=False)
        else:
            yield registered_step(key, action_id, here)


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


def walk(place: Place, before: Place | None, seen: Seen, wanted: Wanted) -> Walk:
    """Into the place, every wanted key there, and out of it again."""
    is_near = before is not None and before.base == place.base and not before.leave
    here = yield from _arrive(place, seen, is_near=is_near)
    for step in _steps(place, here.where):
        if wanted(place, step):
            here = yield from _take(place, step, here)
    if place.leave:
        here = yield Ask(place.leave, lambda seen: True, f"{place.name}: the way out")
    return here


def _differs(before: Seen, seen: Seen) -> bool:
    return seen.at != before.at or seen.text != before.text


def _arrive(place: Place, seen: Seen, *, is_near: bool) -> Walk:
    """From near by only windows are to be left; the row that they are about is still there."""
    why = f"{place.name}: the way there"
    while (before := seen).where.window or before.where.field or _in_pane(before) or before.where.page == "detail":
        # One escape ends a search, the next one leaves the window.
        is_other = partial(_differs, before)
        seen = yield Ask(("escape",), is_other, f"{why}, out of {before.at}")
    is_there = is_near and seen.where.page == _page_of(place) and _is_narrowed(seen) == ("slash" in place.base)
    if not is_there and _is_narrowed(seen):
        seen = yield Ask(("escape",), lambda seen: not _is_narrowed(seen), f"{why}, out of the filter")
    way = place.way if is_there else (*place.base, *place.way)
    seen = yield Ask(way, place.arrived, why, place.time_goes_on)
    return (yield Ask(place.onward, place.really, f"{place.name}: onward")) if place.onward else seen


def _page_of(place: Place) -> str:
    """The page that the last digit leads to, or the command where there is none; a filter may have digits too."""
    way = place.base[: place.base.index("slash")] if "slash" in place.base else place.base
    tabs = {str(tab.digit): tab.id for tab in TABS}
    if by_digit := [tabs[key] for key in way if key in tabs]:
        return by_digit[-1]
    command = "".join(way[way.index("colon") + 1 : way.index("enter")])
    return next(page.id for page in PAGES.values() if command in page.commands)


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
    return (yield from _arrive(place, after, is_near=bool(place.way)))


def _is_back(here: Seen, seen: Seen) -> bool:
    return seen.at == here.at and (seen.is_framed or bool(seen.where.window)) and not seen.where.faults
