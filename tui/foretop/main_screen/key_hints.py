"""The key hints in the footer: only keys that work now."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from foretop.bindings import Action, KeyHints, footer_order

IN_A_WINDOW: KeyHints = (("esc", "leave"),)
"""A window tells its own keys."""
_WHERE_TENANTS_ARE = 8
"""Elsewhere few tables have more than one namespace, and the key for that may stand at the end of the footer."""


def footer_hints(offered: Iterable[Action], page_id: str, can_go_back: bool) -> KeyHints:
    """The actions that are offered, in the words of the page that is shown."""
    actions = footer_order(_in_words_of_here(action, page_id, can_go_back) for action in offered)
    return tuple((action.shown, action.short or action.title) for action in actions)


def _in_words_of_here(action: Action, page_id: str, can_go_back: bool) -> Action:
    if action.id == "group" and page_id == "nonadmin":
        return replace(action, footer=_WHERE_TENANTS_ARE)
    return replace(action, short="quit") if action.id == "back" and not can_go_back else action
