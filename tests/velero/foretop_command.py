"""foretop's command line, called as a person calls it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

WORKED = (0,)


class ForetopCommand:
    """`foretop ...` with one kubeconfig, in a process of its own."""

    def __init__(self, kubeconfig: Path, home: Path) -> None:
        self._kubeconfig = kubeconfig
        self._environ = {**os.environ, "XDG_STATE_HOME": str(home), "XDG_CONFIG_HOME": str(home), "NO_COLOR": "1"}

    def text(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "foretop", *arguments, "--kubeconfig", str(self._kubeconfig)],
            env=self._environ,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode in WORKED, (
            f"foretop {' '.join(arguments)} ended with {done.returncode}: {done.stderr}{done.stdout}"
        )
        return done.stdout

    def items(self, *arguments: str) -> list[dict[str, Any]]:
        return list(json.loads(self.text(*arguments, "-o", "json"))["items"])

    def item(self, view: str, name: str) -> dict[str, Any]:
        (found,) = [item for item in self.items("get", view) if item["name"] == name]
        return found
