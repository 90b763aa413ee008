"""Textual made cheaper for the tests, where it does the same work again for every app and every key.

Style sheets are parsed once for all the apps of a run: a third of what the start of one costs. The handlers of a class
are looked up once, and rules are told apart without a call: a tenth of what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.message import Message
from textual.message_pump import MessagePump

_PARSED: dict[tuple[object, ...], list[RuleSet]] = {}
_VARIABLES: dict[tuple[tuple[str, str], ...], int] = {}
_parse_rules = Stylesheet._parse_rules
_set_variables = Stylesheet.set_variables
_get_dispatch_methods = MessagePump._get_dispatch_methods

_Handlers = list[tuple[type, Callable[..., Any]]]
_HANDLERS: dict[tuple[type, str], _Handlers | None] = {}
"""By class and name; none where the sender of a message decides too."""


def _number_variables(self: Stylesheet, variables: dict[str, str]) -> None:
    """Equal variables get an equal number: to compare hundreds of them with each rule costs more than to parse it."""
    _set_variables(self, variables)
    vars(self)["_variables_number"] = _VARIABLES.setdefault(tuple(sorted(variables.items())), len(_VARIABLES))


def _parse_once(self: Stylesheet, *args: Any, **options: Any) -> list[RuleSet]:
    if "_variables_number" not in vars(self):
        _number_variables(self, self._variables)
    key = (vars(self)["_variables_number"], args, tuple(options.items()))
    if key not in _PARSED:
        _PARSED[key] = _parse_rules(self, *args, **options)
    return _PARSED[key]


def _known_handlers(self: MessagePump, name: str, message: Message) -> Iterator[tuple[type, Callable[..., Any]]]:
    """The handlers of a message, as Textual finds them; classes with decorated ones are left to Textual."""
    key = (type(self), name)
    if key not in _HANDLERS:
        _HANDLERS[key] = _find_handlers(type(self), name)
    found = _HANDLERS[key]
    if found is None:
        yield from _get_dispatch_methods(self, name, message)
        return
    for cls, handler in found:
        if message._no_default_action:
            return
        yield cls, handler.__get__(self, cls)


def _find_handlers(of: type, name: str) -> _Handlers | None:
    parts = [vars(cls) for cls in of.__mro__]
    if any(part.get("_decorated_handlers") for part in parts):
        return None
    handlers = [(cls, part.get(f"_{name}") or part.get(name)) for cls, part in zip(of.__mro__, parts, strict=True)]
    return [(cls, handler) for cls, handler in handlers if handler is not None]


@pytest.fixture(autouse=True)
def _cheaper_textual(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Stylesheet, "set_variables", _number_variables)
    monkeypatch.setattr(Stylesheet, "_parse_rules", _parse_once)
    # By identity, as Textual's own, but without a call.
    monkeypatch.setattr(RuleSet, "__hash__", object.__hash__)
    monkeypatch.setattr(MessagePump, "_get_dispatch_methods", _known_handlers)
    # A test may have put another handler in place.
    _HANDLERS.clear()
