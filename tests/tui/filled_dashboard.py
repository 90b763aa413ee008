"""`python -m tests.tui.filled_dashboard [crash] [--flash …]`: the dashboard here, on a store filled by hand.

Listing again changes a row; with `crash` it runs into a fault of foretop's own.
"""

from __future__ import annotations

import sys

from foretop.commands.start_dashboard import DisplayFlags, show_dashboard
from foretop_core.models.kinds import BACKUP
from tests.tui.fake_source import FilledSource, backup_dict, troubled

TOKEN = "what-nobody-may-see"
CHANGED = "mongo-nightly-20261115023003"


class Changing(FilledSource):
    def retry_now(self) -> None:
        times = {"start": "2026-11-15T02:30:03Z", "end": "2026-11-15T02:41:00Z"}
        self.change(BACKUP, backup_dict(CHANGED, "Completed", of="mongo-nightly", **times))


class Failing(FilledSource):
    """It cannot be watched, and without that there is nothing to show; later faults cost themselves only."""

    def start(self, first: frozenset[str] = frozenset()) -> None:
        token = TOKEN
        raise ZeroDivisionError(f"a fault with {len(token)} letters in it, not {token}")


if __name__ == "__main__":
    source = (Failing if "crash" in sys.argv else Changing)(troubled())
    tastes = DisplayFlags(ascii_only="--ascii" in sys.argv, flash="--flash" in sys.argv, mouse="--mouse" in sys.argv)
    sys.exit(show_dashboard(lambda: source, tastes))
