"""Errors and warnings of a backup or restore, as Velero writes them into the bucket, and its list of resources.

The file is one JSON object, `{"errors": …, "warnings": …}`; each part holds sentences under `velero`, `cluster` and, by
name, `namespaces`. The sentences are made for people and differ from release to release: what names its
resource in one of the known ways is put under it, and every other sentence is kept as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any, assert_never

import msgspec

from foretop_core.errors import Unreadable
from foretop_core.rules import humanize

_OF_BACKUP = ("resource: /", "name: /")
_ABOUT_AN_ITEM = re.compile(
    r"(error (?:restoring(?: additional item)?|preparing|executing \S{1,253}))(?: for)? (\S{1,800}): (.*)", re.DOTALL
)
_NOT_READY = re.compile(r"([Aa]dditional items for) (\S{1,800}) (are not ready to use\.?)")
_IS_THERE = re.compile(
    r'(could not restore,) ([\w.-]{1,253})(?: "([^"]{1,253})"|:(\S{1,253})) (already exists\b.*)', re.DOTALL
)


class ResultScope(Enum):
    """The subject of a problem."""

    VELERO = "velero"
    CLUSTER = "cluster"
    NAMESPACE = "namespace"


class Problem(msgspec.Struct, frozen=True):
    """One object and what was said of it, how often; `resource` is empty where the sentence names none."""

    resource: str
    name: str
    message: str
    times: int = 1

    @property
    def subject(self) -> str:
        return "/".join(filter(None, (self.resource, self.name)))


class ResultGroup(msgspec.Struct, frozen=True):
    """All that was said of Velero itself, of what belongs to no namespace, or of one namespace."""

    scope: ResultScope
    namespace: str
    problems: tuple[Problem, ...]

    @property
    def title(self) -> str:
        match self.scope:
            case ResultScope.VELERO:
                return "Velero itself"
            case ResultScope.CLUSTER:
                return "cluster-scoped resources"
            case ResultScope.NAMESPACE:
                return f"namespace {self.namespace}"
            case _:
                assert_never(self.scope)

    @property
    def count(self) -> int:
        return sum(problem.times for problem in self.problems)


class Results(msgspec.Struct, frozen=True):
    """Errors and warnings apart; in each, Velero itself first, then the cluster, then the namespaces by name."""

    errors: tuple[ResultGroup, ...] = ()
    warnings: tuple[ResultGroup, ...] = ()

    @property
    def error_count(self) -> int:
        return sum(group.count for group in self.errors)

    @property
    def warning_count(self) -> int:
        return sum(group.count for group in self.warnings)


def parse(text: bytes | bytearray) -> Results:
    """The contents of a results file; raises Unreadable for any other file."""
    try:
        content = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as problem:
        raise Unreadable("The results cannot be read", f"not valid JSON: {problem}") from None
    if not isinstance(content, dict):
        raise Unreadable("The results cannot be read", f"expected an object, got {type(content).__name__}")
    return Results(_groups(content.get("errors")), _groups(content.get("warnings")))


def _groups(part: Any) -> tuple[ResultGroup, ...]:
    if not isinstance(part, Mapping):
        return ()
    spaces = part.get("namespaces")
    named = sorted(spaces.items()) if isinstance(spaces, Mapping) else []
    made = [
        _group(ResultScope.VELERO, "", part.get("velero")),
        _group(ResultScope.CLUSTER, "", part.get("cluster")),
        *(_group(ResultScope.NAMESPACE, name, lines) for name, lines in named),
    ]
    return tuple(group for group in made if group.problems)


def _group(scope: ResultScope, namespace: str, lines: Any) -> ResultGroup:
    sentences = lines if isinstance(lines, list) else [] if lines is None else [lines]
    return ResultGroup(scope, namespace, _together(_problem(str(line)) for line in sentences))


def _together(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """By resource and name, each in the order in which it was said; what was said twice is counted."""
    times: dict[Problem, int] = {}
    for problem in problems:
        times[problem] = times.get(problem, 0) + 1
    counted = [Problem(problem.resource, problem.name, problem.message, number) for problem, number in times.items()]
    return tuple(sorted(counted, key=lambda one: (not one.resource, one.resource, one.name)))


def _problem(line: str) -> Problem:
    text = line.strip()
    return _of_backup(text) or _of_restore(text) or Problem("", "", text)


def _of_backup(text: str) -> Problem | None:
    """`resource: /pods name: /x message: /what was done error: /what went wrong`, each part only where it is known."""
    values: list[str] = []
    for label in _OF_BACKUP:
        value = ""
        if text.startswith(label):
            value, _, text = text.removeprefix(label).partition(" ")
            text = text.lstrip()
        values.append(value)
    resource, name = values
    before, error_follows, error = f" {text}".partition(" error: /")
    if not before.startswith(" message: /") and (before.strip() or not error_follows):
        return Problem(resource, name, text) if resource or name else None
    message = before.removeprefix(" message: /").strip()
    return Problem(resource, name, ": ".join(filter(None, (message, error.strip()))))


def _of_restore(text: str) -> Problem | None:
    """`error restoring pods/ns/x: why`, and `could not restore, ConfigMap "x" already exists. …`."""
    if (match := _ABOUT_AN_ITEM.fullmatch(text)) and "/" in match[2]:
        return _named(match[2], f"{match[1]}: {match[3]}")
    if (match := _NOT_READY.fullmatch(text)) and "/" in match[2]:
        return _named(match[2], f"{match[1]} it {match[3]}")
    if match := _IS_THERE.fullmatch(text):
        return Problem(match[2], match[3] or match[4], f"{match[1]} {match[5]}")
    return None


def _named(path: str, message: str) -> Problem:
    """From `pods/ns/x` or, without a namespace, `persistentvolumes/x`."""
    resource, _, rest = path.partition("/")
    return Problem(resource, rest.rpartition("/")[2], message)


class ResourceKind(msgspec.Struct, frozen=True):
    """A kind with its API group and version, and the names of its objects: `namespace/name`, or a name alone."""

    kind: str
    names: tuple[str, ...]


class ResourceList(msgspec.Struct, frozen=True):
    kinds: tuple[ResourceKind, ...] = ()

    @property
    def count(self) -> int:
        return sum(len(kind.names) for kind in self.kinds)

    def lines(self) -> tuple[str, ...]:
        """In words, and then as `velero backup describe --details` lists them."""
        head = f"{humanize.count(self.count, 'object')} of {humanize.count(len(self.kinds), 'kind')}"
        listed = [line for kind in self.kinds for line in (f"{kind.kind}:", *(f"  - {name}" for name in kind.names))]
        return head, *listed


def parse_resource_list(text: bytes | bytearray) -> ResourceList:
    """Kinds and names in order, whatever the order of the file; raises Unreadable for what is not such a list."""
    try:
        by_kind = msgspec.json.decode(text, type=dict[str, list[str] | None])
    except (ValueError, RecursionError) as problem:
        raise Unreadable("The resource list cannot be read", str(problem)) from None
    return ResourceList(tuple(ResourceKind(kind, tuple(sorted(by_kind[kind] or ()))) for kind in sorted(by_kind)))
