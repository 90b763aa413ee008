"""Label selectors as the API server reads them: whether one is valid, and which objects it takes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

_NAME = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_PREFIX = re.compile(r"[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?")
_WITH_VALUES = ("In", "NotIn")
_WITHOUT_VALUES = ("Exists", "DoesNotExist")


def is_present(selector: Mapping[str, Any] | None) -> bool:
    """False for one that asks for nothing."""
    return selector is not None and bool(selector.get("matchLabels") or selector.get("matchExpressions"))


def fault_of_selector(selector: Mapping[str, Any]) -> str:
    """Why the API server refuses it, in its own words; "" where it does not."""
    for key, value in _labels(selector).items():
        if fault := _fault_of_key(key) or _fault_of_values(key, (value,)):
            return fault
    for rule in _expressions(selector):
        key, operator, values = _parts(rule)
        if operator not in (*_WITH_VALUES, *_WITHOUT_VALUES):
            return f'"{operator}" is not a valid label selector operator'
        if operator in _WITH_VALUES and not values:
            return "values: Invalid value: []string(nil): for 'in', 'notin' operators, values set can't be empty"
        if operator in _WITHOUT_VALUES and values:
            listed = ", ".join(f'"{value}"' for value in values)
            return (
                f"values: Invalid value: []string{{{listed}}}: values set must be empty for exists and does not exist"
            )
        if fault := _fault_of_key(key) or _fault_of_values(key, values):
            return fault
    return ""


def selects(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """True if a valid selector takes an object with these labels; an empty one takes all."""
    if any(labels.get(key) != value for key, value in _labels(selector).items()):
        return False
    return all(_fits(rule, labels) for rule in _expressions(selector))


def _fits(rule: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    key, operator, values = _parts(rule)
    match operator:
        case "In":
            return labels.get(key) in values
        case "NotIn":
            return labels.get(key) not in values
        case "Exists":
            return key in labels
        case _:
            return key not in labels


def _labels(selector: Mapping[str, Any]) -> Mapping[str, str]:
    labels = selector.get("matchLabels")
    return labels if isinstance(labels, Mapping) else {}


def _expressions(selector: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    rules = selector.get("matchExpressions")
    return [rule for rule in rules if isinstance(rule, Mapping)] if isinstance(rules, list | tuple) else []


def _parts(rule: Mapping[str, Any]) -> tuple[str, str, tuple[str, ...]]:
    values = rule.get("values")
    texts = tuple(map(str, values)) if isinstance(values, list | tuple) else ()
    return str(rule.get("key", "")), str(rule.get("operator", "")), texts


def _fault_of_key(key: str) -> str:
    prefix, slash, name = key.rpartition("/")
    is_valid = bool(_NAME.fullmatch(name)) and (not slash or bool(_PREFIX.fullmatch(prefix)))
    return "" if is_valid else f'key: Invalid value: "{key}"'


def _fault_of_values(key: str, values: Sequence[str]) -> str:
    wrong = next((value for value in values if value and not _NAME.fullmatch(value)), None)
    return "" if wrong is None else f'values[{values.index(wrong)}][{key}]: Invalid value: "{wrong}"'
