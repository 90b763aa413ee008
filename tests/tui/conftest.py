"""Style sheets parsed once for all the apps of a run, a third of what the start of one costs, and rules told apart
without a call."""

from __future__ import annotations

from typing import Any

import pytest
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet

_PARSED: dict[tuple[object, ...], list[RuleSet]] = {}
_VARIABLES: dict[tuple[tuple[str, str], ...], int] = {}
_parse_rules = Stylesheet._parse_rules
_set_variables = Stylesheet.set_variables


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


@pytest.fixture(autouse=True)
def _cheaper_textual(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Stylesheet, "set_variables", _number_variables)
    monkeypatch.setattr(Stylesheet, "_parse_rules", _parse_once)
    # By identity, as Textual's own, but without a call.
    monkeypatch.setattr(RuleSet, "__hash__", object.__hash__)
