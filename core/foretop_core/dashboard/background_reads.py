"""Background reads of the rooms for Triage, such as that of a journal: what was read gives more rules."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Protocol

import msgspec

from foretop_core.room_finder import room_modules
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.triage.guarded import Rule


class BackgroundRead(Protocol):
    """The class `READ` in the module `background` of a room, made from the environment and `waits`."""

    def rules(self, snapshot: ClusterSnapshot) -> tuple[Rule, ...]:
        """The rules by what was read last; none before that, and where the cluster needs none."""


class BackgroundReads(msgspec.Struct, dict=True):
    """The reads of all rooms, found when they are first asked for."""

    environ: Mapping[str, str]
    waits: bool
    """For a command, which has nothing else to do meanwhile; a screen is told at a later look."""

    @cached_property
    def _reads(self) -> tuple[BackgroundRead, ...]:
        modules = room_modules("foretop_core", "background")
        return tuple(module.READ(self.environ, waits=self.waits) for module in modules)

    def rules(self, snapshot: ClusterSnapshot) -> tuple[Rule, ...]:
        return tuple(rule for read in self._reads for rule in read.rules(snapshot))
