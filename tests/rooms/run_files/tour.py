"""The files of runs in the tour of all keys."""

from __future__ import annotations

from foretop.panes.detail_sections import SECTIONS
from tests.tour.places import Place, filtered, reading, typed, window
from tests.tour.seen import Doing, Seen, Step, changes, goes_to_section, hides, opens

READ_WINDOW = "LogViewer"
"""A window of text, in which a page is scrolled and no cursor moves."""
_ENDED = filtered("7", "etcd")
_FAILED = filtered("7", "phase:Part")
_FETCH = ("l", "enter")
_OF_ERRORS = frozenset({"next(1)", "next(-1)", "errors_only"})
_WITHOUT_LOG = _OF_ERRORS | {"search", "save", "wrap", "help"}
_AGREEING = frozenset({"screen.press"})
"""On the knob that fetches; "agreeing to fetch a log" does it, at the end."""
_LOG = window("LogViewer", " lines", focus="LogLines")


def _leads_to_results(before: Seen, after: Seen) -> bool:
    """Up to the question for what can be fetched, unless it is there or there is nothing."""
    words = ("No list to fetch", "Fetched at", "it has no results")
    is_asked = after.where.window == "ResultsDownload"
    answered = is_asked or (any(map(after.text.__contains__, words)) and "x fetches" not in after.text)
    return goes_to_section("results", "")(before, after) and answered


def _out_of_window(after: Seen) -> tuple[str, ...]:
    return ("escape",) if after.where.window else ()


EFFECTS = {
    **dict.fromkeys(("logs", "nonadmin-logs"), Doing(opens("LogViewer", "og of "))),
    **dict.fromkeys(("fetch-results", "fetch-nonadmin-results"), Doing(opens("ResultsDownload", "esults of "))),
    "resources": Doing(opens("ResourceListViewer", "esource list of ")),
    "results": Doing(
        _leads_to_results,
        lambda after: (*_out_of_window(after), "escape"),
        lambda after: (*_out_of_window(after), "d", "d"),
    ),
}
PLACES = (
    Place(
        "asking for a log",
        "fetching",
        _ENDED,
        ("l",),
        window("LogViewer", "[ Fetch ]", focus="go"),
        without=_WITHOUT_LOG | _AGREEING,
    ),
    Place(
        "asking for a log, on the knob that cancels",
        "fetching",
        _ENDED,
        ("l", "right"),
        window("LogViewer", "[ Fetch ]", focus="cancel"),
        without=_WITHOUT_LOG,
    ),
    Place(
        "asking for results",
        "fetching",
        _FAILED,
        ("x",),
        window("ResultsDownload", "[ Fetch ]", focus="go"),
        without=_AGREEING,
    ),
    Place(
        "results of a tenant's backup",
        "detail",
        filtered("3", "Partially"),
        ("enter", *["right"] * SECTIONS.index("results")),
        lambda seen: "section='results'" in seen.where.place,
        frozenset({"fetch-results", "fetch-nonadmin-results", "escape", "back"}),
        without=frozenset({"fold"}),
        otherwise={action_id: Doing(hides("Overview"), None) for action_id in ("escape", "back")},
    ),
)
LAST_PLACES = (
    Place("agreeing to fetch a log", "consent", _ENDED, _FETCH, _LOG, only=frozenset(), own=False, time_goes_on=True),
    Place("reading a log", "log", _ENDED, ("l",), _LOG, without=_OF_ERRORS),
    Place(
        "searching a log",
        "search",
        _ENDED,
        ("l",),
        _LOG,
        own=False,
        extra=(Step("n", "next match", changes, ("N",)), Step("N", "match before", changes, ("n",))),
        onward=("slash", *typed("item"), "enter"),
        really=reading(" matches"),
    ),
    Place(
        "reading a log with errors",
        "errors",
        _FAILED,
        ("l",),
        _LOG,
        own=False,
        extra=(
            Step("n", "next error", changes, ("home",)),
            Step("N", "error before", changes, ("home",)),
            Step("ctrl+z", "errors only", changes, ("ctrl+z",)),
        ),
        time_goes_on=True,
    ),
)
"""At the end: from the first consent on nothing is asked any more."""
