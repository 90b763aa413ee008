"""What happened to each object in the box beside what happened to it on a real server."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from tests.demo.recording_replay import Key

Histories = dict[Key, list[Any]]
_LOCATIONS = "backupstoragelocations"


def differences(story: str, real: Histories, box: Histories) -> list[str]:
    """For each object what was otherwise in the box, except for the known differences of the box."""
    one, other = (_without_known(story, histories) for histories in (real, box))
    return [
        f"{story}: {' '.join(key)}:\n    real {_shown(one.get(key))}\n    box  {_shown(other.get(key))}"
        for key in sorted(one.keys() | other.keys())
        if one.get(key) != other.get(key)
    ]


def _without_known(story: str, histories: Histories) -> Histories:
    """How often a schedule that never fires runs in the first minutes is left to chance: its first two runs count.

    The first sync of a location may be ahead of its first validation, so that it is seen without a phase.
    """
    histories = {key: _validated(states) if key[0] == _LOCATIONS else states for key, states in histories.items()}
    if story != "never fires":
        return histories
    kept = {key: states for key, states in histories.items() if key[0] != "backups" or key[2].endswith((" 1", " 2"))}
    return {key: _first_two_runs(states) if key[0] == "schedules" else states for key, states in kept.items()}


def _validated(states: list[Any]) -> list[Any]:
    return states[1:] if states and states[0][0] is None else states


def _first_two_runs(states: Sequence[Any]) -> list[Any]:
    capped = [(*state[:4], min(state[4], 2), *state[5:]) for state in states]
    return [state for state, _ in groupby(capped)]


def _shown(states: list[Any] | None) -> str:
    return "was not created" if states is None else " → ".join(map(str, states))
