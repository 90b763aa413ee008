"""The lives of objects in the box beside those in a real cluster, but for what is known to differ."""

from __future__ import annotations

from typing import Any

from tests.unit.minicluster.recording_replay import Key

Lives = dict[Key, list[Any]]


def differences(story: str, real: Lives, box: Lives) -> list[str]:
    """Object by object what went otherwise in the box; none where all is well."""
    found = []
    for key in sorted(real.keys() | box.keys()):
        one, other = real.get(key), box.get(key)
        if one != other:
            found.append(f"{story}: {' '.join(key)}:\n    real {_shown(one)}\n    box  {_shown(other)}")
    return found


def _shown(life: list[Any] | None) -> str:
    return "was not made" if life is None else " → ".join(map(str, life))
