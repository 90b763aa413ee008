"""Which objects a command is about: names, a label selector, or all; a name that is not there is one line."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import click
import msgspec

from foretop_core.actions.validation import comma_separated
from foretop_core.errors import ActionRefused, BadInput
from foretop_core.models import Resource
from foretop_core.models.kinds import Kind
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.tables.engine.selectors import LabelRequirement, selector

R = TypeVar("R", bound=Resource)
MISSING = "give names, or -l, or --all"


class ObjectSelection(msgspec.Struct, frozen=True):
    """The objects that a command line asks for: names, labels or all of them, and only one of these."""

    names: tuple[str, ...]
    labels: str | None
    everything: bool

    @property
    def is_given(self) -> bool:
        return bool(self.names) or self.labels is not None or self.everything

    def of(self, snapshot: ClusterSnapshot, kind: Kind, items: Sequence[R], *, more: bool = False) -> tuple[R, ...]:
        """The objects asked for; `more` says that the command has another way of choosing, which was used."""
        ways = sum((bool(self.names), self.labels is not None, self.everything, more))
        if ways != 1:
            raise click.UsageError(MISSING if ways == 0 else "give only one of names, -l and --all")
        if self.names:
            return tuple(select_one(snapshot, kind, items, name) for name in dict.fromkeys(self.names))
        labels = selector(self.labels or "")
        chosen = tuple(item for item in items if labels.matches(item.metadata.labels))
        if not chosen:
            _check_seen(snapshot, kind)
            noun = kind.name.lower()
            what = f"No {noun} has the labels {self.labels}" if self.labels else f"No {noun} found"
            raise BadInput(what, "", f"run foretop get {_view(kind)}")
        return chosen


def choosing_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds names, -l and --all to a command, which gets them as `selection`."""

    @functools.wraps(command)
    def with_selection(
        *arguments: Any, names: tuple[str, ...], labels: str | None, everything: bool, **options: Any
    ) -> Any:
        selection = ObjectSelection(names, labels, everything)
        # Before anybody is asked, or told that there is no terminal to ask on: that is the first thing to mend.
        if not selection.is_given and not options.get("batch"):
            raise click.UsageError(MISSING)
        return command(*arguments, selection=selection, **options)

    for option in (
        click.option("--all", "everything", is_flag=True, help="Select all."),
        click.option("-l", "--selector", "labels", metavar="LABELS", help="Select by labels."),
        click.argument("names", nargs=-1, metavar="[NAME]..."),
    ):
        with_selection = option(with_selection)
    return with_selection


def select_one(snapshot: ClusterSnapshot, kind: Kind, items: Iterable[R], name: str) -> R:
    """The object of that name, or of `namespace/name`."""
    place, slash, short = name.rpartition("/")
    named = [item for item in items if item.name == short and (not slash or item.namespace == place)]
    if not named:
        _check_seen(snapshot, kind)
        raise BadInput(f"{kind.name} {name} not found", "", f"run foretop get {_view(kind)}")
    if len(named) > 1:
        places = ", ".join(sorted(item.namespace for item in named))
        raise BadInput(f"There are several {kind.plural} named {short}", f"in {places}", f"use NAMESPACE/{short} or -n")
    return named[0]


def velero_namespace(snapshot: ClusterSnapshot, given: Sequence[str]) -> str:
    """The namespace of a new object: the one given, or that of the only Velero there is."""
    if given:
        if len(given) > 1:
            raise click.UsageError("a new object needs exactly one namespace")
        return given[0]
    places = snapshot.velero_namespaces
    if len(places) > 1:
        raise BadInput("There are several Velero servers", f"in {', '.join(places)}", "choose one with -n")
    return places[0] if places else "velero"


def listed(values: Iterable[str]) -> tuple[str, ...]:
    """`a,b` and repeated options alike."""
    return tuple(part for value in values for part in comma_separated(value))


def pairs(values: Iterable[str], what: str, between: str = "=") -> dict[str, str]:
    """`key=value,key=value`; anything else is a one-line error."""
    texts: dict[str, str] = {}
    for text in listed(values):
        key, sign, value = text.partition(between)
        if not sign or not key:
            raise BadInput(f"{text!r} is not valid in {what}", "", f"write it as a{between}b,c{between}d")
        texts[key.strip()] = value.strip()
    return texts


def label_selector(text: str | None) -> dict[str, Any]:
    """A selector as the API writes it."""
    if not text:
        return {}
    equal: dict[str, str] = {}
    expressions: list[dict[str, Any]] = []
    for requirement in selector(text).requirements:
        if len(requirement.values) == 1 and not requirement.negated:
            equal[requirement.key] = next(iter(requirement.values))
        else:
            expressions.append(_expression(requirement))
    shown: dict[str, Any] = {"matchLabels": equal} if equal else {}
    return {**shown, "matchExpressions": expressions} if expressions else shown


def _expression(requirement: LabelRequirement) -> dict[str, Any]:
    if requirement.greater_than is not None or requirement.less_than is not None:
        raise BadInput("A backup's label selector cannot compare numbers", "the API does not support it")
    if requirement.values:
        operator = "NotIn" if requirement.negated else "In"
        return {"key": requirement.key, "operator": operator, "values": sorted(requirement.values)}
    return {"key": requirement.key, "operator": "DoesNotExist" if requirement.negated else "Exists"}


def _check_seen(snapshot: ClusterSnapshot, kind: Kind) -> None:
    """Refuses to call an object missing that may only be out of sight."""
    gap = snapshot.gap(kind)
    if gap is not None:
        raise ActionRefused(
            f"The {kind.plural} cannot be seen", gap.why(), "foretop doctor names the missing permission"
        )


def _view(kind: Kind) -> str:
    return kind.short[0] if kind.short else kind.plural
