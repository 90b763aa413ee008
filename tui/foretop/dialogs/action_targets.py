"""The targets of an action: the objects, and what became of the others that were marked."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from foretop_core.models.wire import ObjectRef
from foretop_core.rules.triage import Finding


class ActionTargets(msgspec.Struct, frozen=True):
    """The objects that a dialog is about."""

    keys: tuple[ObjectRef, ...] = ()
    hidden: int = 0
    """How many of them the filter hides."""
    marked: bool = False
    """They are the marked rows."""
    skipped: tuple[tuple[str, int], ...] = ()
    """Why marked objects are left out, and how many for each reason."""
    window: str = ""
    """The pause window that is resumed, where one is."""
    findings: tuple[Finding, ...] = ()
    """What an action on findings is about, one by one; the keys are those of their rows."""
    typed: Mapping[str, str] = msgspec.field(default_factory=dict)
    """The texts that its fields begin with, by their names."""
    namespace: str = ""
    """The namespace that is brought back from a backup, where it was asked of a namespace."""
