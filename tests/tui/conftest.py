"""Style sheets parsed once for all the apps of a run: a third of what the start of one costs."""

from __future__ import annotations

from typing import Any

import pytest
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet

_PARSED: dict[tuple[object, ...], list[RuleSet]] = {}
_parse_rules = Stylesheet._parse_rules


def _parse_once(self: Stylesheet, *args: Any, **options: Any) -> list[RuleSet]:
    key = (args, tuple(sorted(options.items())), tuple(sorted(self._variables.items())))
    if key not in _PARSED:
        _PARSED[key] = _parse_rules(self, *args, **options)
    return _PARSED[key]


@pytest.fixture(autouse=True)
def _style_sheets_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Stylesheet, "_parse_rules", _parse_once)
