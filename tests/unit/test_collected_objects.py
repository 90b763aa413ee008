"""What the garbage collector looks at: all threads stand still meanwhile, so it is little for each object."""

from __future__ import annotations

import enum
import gc
import pkgutil
import types
import typing
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, tzinfo
from importlib import import_module

import msgspec

import foretop_core
from foretop_core.dashboard.state import DashboardState
from foretop_core.dashboard.table_models import StoreTableModel
from foretop_core.models.wire import Wire
from foretop_core.tables.resources.nonadmin import NonAdminView
from foretop_core.tables.resources.queue import QueueView
from tests.crowds import nabs_of_one_team
from tests.tui.fake_source import CONTEXT, FilledSource

_LEAVES = (str, int, float, bool, datetime, timedelta, tzinfo, enum.Enum, types.NoneType, Wire)
_MOST_LOOKED_AT = 22
"""Of a waiting NAB with its backup: its keys, places and rows on two pages. Each costs 0.2 µs a look."""


def test_what_the_collector_passes_over_can_be_in_no_circle() -> None:
    passed_over = [one for one in _structs() if not one.__struct_config__.gc and not issubclass(one, Wire)]
    assert len(passed_over) > 20
    wrong = [
        f"{struct.__name__}.{name}"
        for struct in passed_over
        for name, hint in typing.get_type_hints(struct).items()
        if name in struct.__struct_fields__ and not _is_without_circles(hint, frozenset())
    ]
    assert not wrong
    assert all(struct.__struct_config__.frozen for struct in passed_over)


def _structs() -> Iterator[type[msgspec.Struct]]:
    for module in pkgutil.walk_packages(foretop_core.__path__, "foretop_core."):
        import_module(module.name)
    left = list(msgspec.Struct.__subclasses__())
    while left:
        struct = left.pop()
        left += struct.__subclasses__()
        if struct.__module__.startswith("foretop_core."):
            yield struct


def _is_without_circles(hint: object, above: frozenset[object]) -> bool:
    """True of what cannot be changed once it is made, and holds nothing that can."""
    if hint in above or hint is Ellipsis:
        return True
    inner, origin = typing.get_args(hint), typing.get_origin(hint)
    if origin is typing.Literal:
        return True
    if origin in (tuple, frozenset, typing.Union, types.UnionType):
        return all(_is_without_circles(one, above) for one in inner)
    if not isinstance(hint, type) or issubclass(hint, _LEAVES):
        return isinstance(hint, type)
    if not (issubclass(hint, tuple) or (issubclass(hint, msgspec.Struct) and hint.__struct_config__.frozen)):
        return False
    fields = [*typing.get_type_hints(hint).values(), *hint.__subclasses__()]
    return "__dict__" not in dir(hint) and all(_is_without_circles(one, above | {hint}) for one in fields)


def test_of_each_object_the_collector_looks_at_a_few_keys_and_places_only() -> None:
    assert _looked_at(600) - _looked_at(300) <= 300 * _MOST_LOOKED_AT


def _looked_at(count: int) -> int:
    """How many objects it looks at while so many NABs are judged and on two pages."""
    source, left = FilledSource(nabs_of_one_team(count)), list[Callable[[], None]]()
    state = DashboardState(source, lambda: 0.0, beside=left.append)
    pages = list[StoreTableModel]()
    for _ in range(2):
        state.begin_frame()
        state.judge(at_once=True)
        state.render_context(CONTEXT).line("velero")
        while left:
            left.pop()()
    for view in (QueueView(), NonAdminView()):
        pages.append(StoreTableModel(state, view, worst_first=True))
        pages[-1].table.bring_all()
    # A tuple of what it need not look at is known as such from the second look on.
    gc.collect()
    gc.collect()
    assert all(page.table.total for page in pages)
    return len(gc.get_objects())
