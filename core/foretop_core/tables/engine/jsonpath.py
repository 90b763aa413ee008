"""kubectl's JSONPath: the part that reads fields, lists, filters and ranges. The rest is refused by name."""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from foretop_core.errors import BadInput

_FIELD = re.compile(r"(?:\\.|[^\\ .\[\]$@{}])+")
_INDEX = re.compile(r"-?\d+")
_SLICE = re.compile(r"(-?\d*):(-?\d*)(?::(-?\d+))?")
_QUOTED = re.compile(r"'([^']*)'")
_LITERAL = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_UNSUPPORTED = ("&&", "||", "=~")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}
Step = Callable[[Sequence[Any]], list[Any]]
"""From the values reached so far to those after one step of a path."""


class _Path(msgspec.Struct, frozen=True):
    steps: tuple[Step, ...]

    def of(self, value: Any) -> list[Any]:
        found = [value]
        for step in self.steps:
            found = step(found)
        return found


class _Text(msgspec.Struct, frozen=True):
    text: str


class _Range(msgspec.Struct, frozen=True):
    path: _Path
    body: tuple[_Text | _Path | _Range, ...]


_Node = _Text | _Path | _Range


class JsonPath(msgspec.Struct, frozen=True):
    """A template that was understood; a field that is not there is empty, as in kubectl."""

    source: str
    nodes: tuple[_Node, ...]

    def render(self, document: Any) -> str:
        """The text that kubectl prints for it."""
        return "".join(_rendered(self.nodes, document))

    def values(self, document: Any) -> list[Any]:
        """The values that the paths of the template find, in their order."""
        return [value for node in self.nodes if isinstance(node, _Path) for value in node.of(document)]


def parse_jsonpath(text: str) -> JsonPath:
    """Understands a template such as `{.items[*].name}`, or says in one line what is wrong with it."""
    return _Parser(text).template()


def parse_relaxed(text: str) -> JsonPath:
    """One path, written as `{.a.b}`, `.a.b` or `a.b`: what columns and sorting take."""
    inner = text.strip()
    if inner.startswith("{") and inner.endswith("}"):
        inner = inner[1:-1]
    if not inner or "{" in inner or "}" in inner:
        raise _unusable(text, "it must be one path, such as .name")
    return parse_jsonpath(f"{{{inner if inner[0] in '.[$@' else f'.{inner}'}}}")


def _rendered(nodes: Iterable[_Node], value: Any) -> Iterator[str]:
    for node in nodes:
        match node:
            case _Text():
                yield node.text
            case _Path():
                yield " ".join(_shown(found) for found in node.of(value))
            case _Range():
                for found in node.path.of(value):
                    yield from _rendered(node.body, found)


def _shown(value: Any) -> str:
    """As Go prints it: objects and lists as JSON with sorted keys, the rest bare."""
    if isinstance(value, str):
        return value
    plain = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    if not isinstance(value, dict | list):
        return plain
    for sign in "<>&":
        plain = plain.replace(sign, f"\\u{ord(sign):04x}")
    return plain


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def template(self) -> JsonPath:
        nodes = self._nodes(inside=False)
        return JsonPath(self.text, nodes)

    def _nodes(self, *, inside: bool) -> tuple[_Node, ...]:
        nodes: list[_Node] = []
        while self.at < len(self.text):
            opening = self.text.find("{", self.at)
            if opening != self.at:
                end = len(self.text) if opening < 0 else opening
                nodes.append(_Text(self.text[self.at : end]))
                self.at = end
                continue
            action = self._action()
            word = next(iter(action.split()), "")
            if word == "end":
                if not inside:
                    raise self._bad("{end} without a {range}")
                return tuple(nodes)
            if word == "range":
                path = _path(self.text, action[len(word) :].strip())
                nodes.append(_Range(path, self._nodes(inside=True)))
            else:
                nodes += _parts(self.text, action)
        if inside:
            raise self._bad("{range} without an {end}")
        return tuple(nodes)

    def _action(self) -> str:
        """Reads an action between braces; quotes may hold braces."""
        start = self.at + 1
        at = start
        while at < len(self.text):
            quoted = _LITERAL.match(self.text, at)
            if quoted:
                at = quoted.end()
            elif self.text[at] == "}":
                self.at = at + 1
                return self.text[start:at].strip()
            else:
                at += 1
        raise self._bad("a { is not closed")

    def _bad(self, why: str) -> BadInput:
        return _unusable(self.text, why)


def _parts(source: str, action: str) -> list[_Node]:
    """A text in quotes, a number, or paths side by side."""
    if _LITERAL.fullmatch(action):
        return [_Text(_unescaped(action[1:-1]))]
    if _NUMBER.fullmatch(action):
        return [_Text(action)]
    if action in ("true", "false"):
        return [_Text(action)]
    if word := re.match(r"[A-Za-z]\w*", action):
        raise _unusable(source, f"{word[0]} is not range or end; a field begins with a dot")
    return [_path(source, action)]


def _path(source: str, text: str) -> _Path:
    steps: list[Step] = []
    at = 0
    while at < len(text):
        sign = text[at]
        if text.startswith("..", at):
            raise _unusable(source, "the recursive .. is not supported")
        if sign in "$@":
            at += 1
        elif sign == ".":
            found = _FIELD.match(text, at + 1)
            if found is None:
                at += 1
                continue
            name = _ESCAPE.sub(r"\1", found[0])
            steps.append(_every if name == "*" else _field(name))
            at = found.end()
        elif sign == "[":
            end = _closing(source, text, at)
            steps.append(_bracket(source, text[at + 1 : end]))
            at = end + 1
        else:
            raise _unusable(source, f"{sign!r} is not expected in {text!r}")
    return _Path(tuple(steps))


def _closing(source: str, text: str, start: int) -> int:
    """The place where the bracket that opens at `start` closes."""
    depth, at = 0, start
    while at < len(text):
        quoted = _LITERAL.match(text, at)
        if quoted:
            at = quoted.end()
            continue
        depth += {"[": 1, "]": -1}.get(text[at], 0)
        if not depth:
            return at
        at += 1
    raise _unusable(source, "a [ is not closed")


def _bracket(source: str, text: str) -> Step:
    inner = text.strip()
    if inner.startswith("?("):
        if not inner.endswith(")"):
            raise _unusable(source, "a filter is not closed with )]")
        return _filter(source, inner[2:-1])
    if inner == "*":
        return _every
    if inner.startswith("("):
        raise _unusable(source, f"the expression [{inner}] is not supported")
    parts = [part.strip() for part in _split(inner)]
    steps = [_element(source, part) for part in parts]
    if len(steps) == 1:
        return steps[0]
    return lambda values: [found for step in steps for found in step(values)]


def _split(text: str) -> list[str]:
    """At the commas that stand in no quotes."""
    return [found[0] for found in re.finditer(r"(?:'[^']*'|[^,'])+", text)] or [""]


def _element(source: str, text: str) -> Step:
    if quoted := _QUOTED.fullmatch(text):
        return _field(quoted[1])
    if _INDEX.fullmatch(text):
        return _index(source, int(text))
    if sliced := _SLICE.fullmatch(text):
        start, stop, step = (int(part) if part else None for part in sliced.groups())
        return _slice(source, start, stop, step)
    raise _unusable(source, f"[{text}] is not an index, a slice or a 'name'")


def _field(name: str) -> Step:
    return lambda values: [value[name] for value in values if isinstance(value, Mapping) and name in value]


def _every(values: Sequence[Any]) -> list[Any]:
    found: list[Any] = []
    for value in values:
        if isinstance(value, Mapping):
            found += value.values()
        elif isinstance(value, list):
            found += value
    return found


def _lists(source: str, values: Sequence[Any]) -> Iterator[list[Any]]:
    for value in values:
        if value is None:
            continue
        if not isinstance(value, list):
            raise _unusable(source, f"{_shown(value)[:60]} is not a list")
        yield value


def _index(source: str, place: int) -> Step:
    def step(values: Sequence[Any]) -> list[Any]:
        found = []
        for value in _lists(source, values):
            if not -len(value) <= place < len(value):
                raise _unusable(source, f"the index {place} is out of range, the list has {len(value)}")
            found.append(value[place])
        return found

    return step


def _slice(source: str, start: int | None, stop: int | None, step: int | None) -> Step:
    if step is not None and step <= 0:
        raise _unusable(source, f"the step {step} is not positive")

    def take(values: Sequence[Any]) -> list[Any]:
        found: list[Any] = []
        for value in _lists(source, values):
            first = _from_end(start or 0, len(value))
            last = len(value) if stop is None else _from_end(stop, len(value))
            if first == last:
                continue
            if not 0 <= first < last <= len(value):
                raise _unusable(source, f"the slice {first}:{last} is out of range, the list has {len(value)}")
            found += value[first : last : step or 1]
        return found

    return take


def _from_end(place: int, length: int) -> int:
    return place + length if place < 0 else place


def _filter(source: str, text: str) -> Step:
    left, sign, right = _compared(source, text)
    subject = _path(source, left)
    if not sign:
        return lambda values: [item for value in _lists(source, values) for item in value if subject.of(item)]
    wanted = _operand(source, right)
    compare = _COMPARISONS[sign]

    def keeps(item: Any) -> bool:
        found = subject.of(item)
        if not found:
            return False
        other = wanted(item)
        if len(found) > 1 or len(other) > 1:
            raise _unusable(source, "a filter compares one value with one")
        return bool(other) and _holds(source, compare, found[0], other[0])

    return lambda values: [item for value in _lists(source, values) for item in value if keeps(item)]


def _compared(source: str, text: str) -> tuple[str, str, str]:
    """Both sides and the sign between them; no sign asks whether the field is there."""
    bare = _LITERAL.sub(lambda found: " " * len(found[0]), text)
    for sign in _UNSUPPORTED:
        if sign in bare:
            raise _unusable(source, f"{sign} in a filter is not supported")
    found = re.search("|".join(_COMPARISONS), bare)
    if found is None:
        return text.strip(), "", ""
    return text[: found.start()].strip(), found[0], text[found.end() :].strip()


def _operand(source: str, text: str) -> Callable[[Any], list[Any]]:
    if _LITERAL.fullmatch(text):
        return lambda _: [_unescaped(text[1:-1])]
    if number := _NUMBER.fullmatch(text):
        plain: float | int = float(text) if number[1] else int(text)
        return lambda _: [plain]
    if text in ("true", "false"):
        return lambda _: [text == "true"]
    if text[:1] in ("@", "$", "."):
        return _path(source, text).of
    raise _unusable(source, f"{text!r} is not a value; put text in quotes")


def _holds(source: str, compare: Callable[[Any, Any], bool], left: Any, right: Any) -> bool:
    """Values of one type only, as in Go. A null is a field that is not set yet, and nothing holds of it."""
    if left is None or right is None:
        return False
    if type(left) is not type(right):
        raise _unusable(source, f"{_shown(left)[:40]} and {_shown(right)[:40]} are of different types")
    if isinstance(left, dict | list) or (isinstance(left, bool) and compare not in (operator.eq, operator.ne)):
        raise _unusable(source, f"{_shown(left)[:40]} cannot be compared")
    return compare(left, right)


def _unescaped(text: str) -> str:
    def plain(found: re.Match[str]) -> str:
        sign, code = found[1][0], found[1][1:]
        return chr(int(code, 16)) if code else _ESCAPES.get(sign, sign)

    return _ESCAPE.sub(plain, text)


def _unusable(source: str, why: str) -> BadInput:
    return BadInput(f"jsonpath {source!r} cannot be used", why)
