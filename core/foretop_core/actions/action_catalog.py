"""All actions, found in `foretop_core.actions.planners` and in the rooms: nobody keeps a list of them.

A record that lacks a part, or has one that another has too, is an error when this is imported.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from itertools import pairwise

from foretop_core.actions import planners
from foretop_core.actions.action_record import ActionRecord, no_planner
from foretop_core.models.kinds import Kind, RequiredPermission
from foretop_core.room_finder import room_modules


def _found() -> Iterator[ActionRecord]:
    names = (f"{planners.__name__}.{module.name}" for module in pkgutil.iter_modules(planners.__path__))
    for module in (*map(importlib.import_module, names), *room_modules("foretop_core", "planners")):
        yield from (value for value in vars(module).values() if isinstance(value, ActionRecord))


def check_records(records: Iterable[ActionRecord]) -> tuple[ActionRecord, ...]:
    """The records in their order; raises LookupError with the one that is not whole, or not the only one."""
    ordered = sorted(records, key=lambda one: (one.place, one.id))
    for record, other in pairwise(ordered):
        if record.place == other.place:
            raise LookupError(f"actions {record.id} and {other.id} both have the place {record.place}")
    ids = [record.id for record in ordered]
    for record in ordered:
        if ids.count(record.id) > 1:
            raise LookupError(f"two actions are called {record.id}")
        if record.planner is no_planner:
            raise LookupError(f"action {record.id} has no planner")
        if not record.kinds or not record.rights:
            raise LookupError(f"action {record.id} has no {'rights' if record.kinds else 'kinds'}")
        if (record.dialog is None) is not record.fetches:
            raise LookupError(f"action {record.id} has {'a' if record.fetches else 'no'} dialog")
        if record.footer and not record.short:
            raise LookupError(f"action {record.id} has a rank in the footer and no word for it")
    return tuple(ordered)


RECORDS = check_records({id(record): record for record in _found()}.values())
"""In their places. A planner may import the record of another; it is counted once."""
BY_ID = {record.id: record for record in RECORDS}


def told_rights(
    records: Iterable[ActionRecord] = RECORDS,
) -> Iterator[tuple[RequiredPermission, Kind, str]]:
    """The rights that the doctor looks at, each once, with the kind that the first action that needs it is asked of
    and what one can do with it."""
    permissions: set[RequiredPermission] = set()
    for record in records:
        for needed in (*record.rights, *record.reads) if record.purpose else ():
            if needed not in permissions:
                permissions.add(needed)
                asked_of = needed.kind if needed.kind in record.kinds else record.kinds[0]
                yield needed, asked_of, record.purpose
