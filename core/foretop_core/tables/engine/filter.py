"""Filters that a person types: text, `!text`, `-l selector`, `-f fuzzy` and `phase:Failed`; all must fit."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from fnmatch import translate
from functools import lru_cache
from typing import Protocol

import msgspec

from foretop_core.errors import BadInput
from foretop_core.tables.engine.selectors import take
from foretop_core.tables.engine.status_glyphs import phase_briefs

_SPACE = re.compile(r"\s*")
_BARE = re.compile(r"[^\s\"']+")
_FIELD = re.compile(r"([A-Za-z]+):(.*)", re.DOTALL)
_QUOTES = "\"'"
_PHASES = frozenset({"phase", "velero", "veleroPhase"})
_GLOB = re.compile(r"[*?\[]")
_REMEMBERED_VALUES = 256
"""Of a field, with whether they fit: most rows share theirs with many others."""


class FilterableRow(Protocol):
    """The sides of a row that a filter looks at; what no test asks for is not worked out."""

    def text(self) -> str:
        """The text that a search goes through, in lower case."""

    def contains(self, word: str) -> bool:
        """True if the text has this word, in lower case; asked for every row at every letter that is typed."""

    def field(self, name: str) -> str:
        """Its value; one that has several has each on a line."""

    def labels(self) -> Mapping[str, str]: ...


Test = Callable[[FilterableRow], bool]


class Filter(msgspec.Struct, frozen=True):
    """A filter as it was typed, ready to be put to rows; without tests it lets everything through."""

    source: str = ""
    words: tuple[str, ...] = ()
    """Texts to be found, in lower case."""
    tests: tuple[Test, ...] = ()
    """Of all other sorts."""
    fields: frozenset[str] = frozenset()
    """Which fields it asks for."""

    def __call__(self, row: FilterableRow) -> bool:
        for word in self.words:
            if not row.contains(word):
                return False
        for test in self.tests:  # noqa: SIM110 - `all` costs a generator for every row
            if not test(row):
                return False
        return True

    def __bool__(self) -> bool:
        return bool(self.words or self.tests)

    def narrows(self, other: Filter) -> bool:
        """True if whatever it lets through passes the other one too: a letter was added, for example."""
        return not other.tests and all(any(old in word for word in self.words) for old in other.words)


def parse_filter(text: str, fields: Collection[str] | Mapping[str, str] = (), *, typing: bool = False) -> Filter:
    """Understands a filter for a view with these fields, or says in one line what is wrong with it.

    A mapping has several names for a field, each with the one that a row knows it by.
    While a person is `typing`, the value of a field is the beginning of a word, unless it stands in quotes or has
    a `*` in it; a script means the whole.
    """
    names = _Fields(fields, typing)
    terms: list[Test | str] = []
    index = _skip(text, 0)
    while index < len(text):
        term, index = _term(text, index, names)
        terms.append(term)
        index = _skip(text, index)
    words = tuple(term for term in terms if isinstance(term, str))
    tests = tuple(term for term in terms if not isinstance(term, str))
    return Filter(text, words, tests, frozenset(names.asked))


def _term(text: str, at: int, fields: _Fields) -> tuple[Test | str, int]:
    """A text to be found, or a test of another sort; where it ends."""
    negated = text[at] == "!"
    word, quoted, end = _word(text, at + negated)
    if not quoted and word in ("-l", "-f"):
        if negated:
            raise _unusable(text, f"! cannot be combined with {word}")
        return _option(text, word, end)
    if not word:
        raise BadInput(
            f"Filter {text.strip()!r} cannot be used", "text is missing after !" if negated else "text is missing"
        )
    match = None if quoted else _FIELD.fullmatch(word)
    if match is not None:
        name, value, whole = match[1], match[2], False
        if not value and end < len(text) and text[end] in _QUOTES:
            value, whole, end = _word(text, end)
        test = fields.test(name, value, whole)
        return ((lambda row: not test(row)) if negated else test), end
    lower = word.lower()
    return ((lambda row: not row.contains(lower)) if negated else lower), end


def _option(text: str, option: str, at: int) -> tuple[Test, int]:
    start = _skip(text, at)
    if start >= len(text):
        operand = "a label selector" if option == "-l" else "a text"
        raise _unusable(text, f"{option} needs {operand} after it")
    if option == "-f":
        word, _, end = _word(text, start)
        return _fuzzy(word), end
    if text[start] in _QUOTES:
        quoted, _, end = _word(text, start)
        chosen, stop = take(quoted, 0)
        rest = quoted[stop:]
    else:
        chosen, end = take(text, start)
        rest = (_BARE.match(text, end) or [""])[0]
    if rest.strip():
        raise BadInput(
            f"Filter {text.strip()!r} cannot be used", f"{rest.strip()!r} in the label selector is not valid"
        )
    return lambda row: chosen.matches(row.labels()), end


def _word(text: str, at: int) -> tuple[str, bool, int]:
    """A word, or what stands in quotes; whether it was quoted; where it ends."""
    if at < len(text) and text[at] in _QUOTES:
        end = text.find(text[at], at + 1)
        if end < 0:
            raise _unusable(text, f"the quote {text[at]} is not closed")
        return text[at + 1 : end], True, end + 1
    match = _BARE.match(text, at)
    return (match[0], False, match.end()) if match else ("", False, at)


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _fuzzy(word: str) -> Test:
    """The letters in their order, with anything between them."""
    letters = word.lower()

    def has_all(row: FilterableRow) -> bool:
        # Letter by letter: an expression would try each place of the first one again for the last.
        text, index = row.text(), 0
        for letter in letters:  # noqa: SIM110 - `all` costs a generator for every row
            if not (index := text.find(letter, index) + 1):
                return False
        return True

    return has_all


class _Fields:
    """The fields of a view, and those that were asked for."""

    def __init__(self, names: Collection[str] | Mapping[str, str], typing: bool) -> None:
        self._names = names if isinstance(names, Mapping) else {name: name for name in names}
        self._typing = typing
        self.asked: set[str] = set()

    def test(self, name: str, value: str, whole: bool) -> Test:
        field = next((field for own, field in self._names.items() if own.lower() == name.lower()), None)
        if field is None:
            names = ", ".join(sorted(self._names)) or "none"
            hint = f"the fields are {names}; put text in quotes to search for it"
            raise BadInput(f"Filter {f'{name}:'!r} cannot be used", f"{name!r} is not a field here", hint)
        self.asked.add(field)
        # In quotes a comma may be one of the text itself: `in 29d, 6 left`.
        parts = [*value.lower().split(","), *([value.lower()] if whole else [])]
        if self._typing and not whole:
            parts = [part for part in parts if part] or [""]
            pattern = re.compile("|".join(map(_beginning, parts)), re.DOTALL)
        else:
            pattern = re.compile("|".join(map(translate, parts)))

        @lru_cache(_REMEMBERED_VALUES)
        def fits(value: str) -> bool:
            return any(pattern.fullmatch(text.lower()) for text in _shown_as(field, value))

        return lambda row: fits(row.field(field))


def _shown_as(field: str, value: str) -> tuple[str, ...]:
    """Each line of it, a phase also in the fewer letters that a narrow column shows."""
    values = value.split("\n")
    briefs = (brief for text in values for brief in phase_briefs(text)) if field in _PHASES else ()
    return *values, *briefs


def _beginning(part: str) -> str:
    """The pattern for the beginning of the text, or of a word in it: `100` finds the number beside a bar."""
    return translate(part) if _GLOB.search(part) else rf"(?:.*\s)?{re.escape(part)}.*"


def _unusable(text: str, why: str) -> BadInput:
    return BadInput(f"Filter {text.strip()!r} cannot be used", why)
