"""k9s from its published Go module, built once into the cache of tests/real, or the one that `K9S` names."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from tests.real.build import BuildError, build_recipe, go_build
from tests.real.cache import kept

HERE = Path(__file__).parent
_FLAGS = ("-ldflags", "-s -w")


def k9s_version() -> str:
    """The version that go.mod names."""
    found = re.search(r"^\s*(?:require )?github\.com/derailed/k9s (v\S+)", (HERE / "go.mod").read_text(), re.M)
    if found is None:
        raise BuildError("trials/bench/peers/go.mod requires no github.com/derailed/k9s")
    return found[1]


def prepare_k9s(say: Callable[[str], None]) -> Path:
    """Where k9s is; raises BuildError where it cannot be built."""
    if given := os.environ.get("K9S"):
        if not os.access(given, os.X_OK):
            raise BuildError(f"K9S={given} cannot be run")
        return Path(given)

    def make(folder: Path) -> None:
        go_build(
            f"k9s {k9s_version()}, once, for some minutes,", [*_FLAGS, "-o", str(folder / "k9s"), "tool"], say, HERE
        )

    recipe = build_recipe(HERE / "go.mod", HERE / "go.sum", extra=repr(_FLAGS))
    return kept("k9s", recipe, make, say) / "k9s"
