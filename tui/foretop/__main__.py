"""The entry points: `foretop`, `kubectl foretop`, `python -m foretop`."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from foretop.commands.complete_words import complete

# Deferred imports: the tab key is answered without loading the command line.


def start() -> NoReturn:
    """Answers a shell's tab key at once; the command line is imported for the rest."""
    _open_standard_streams()
    if sys.argv[1:2] == ["__complete"]:
        sys.exit(complete(sys.argv[2:]))
    from foretop import cli

    cli.main()


def _open_standard_streams() -> None:
    """Opens /dev/null for each stream that the caller has closed (`>&-`), before another file takes its place."""
    for descriptor, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None and os.open(os.devnull, os.O_RDWR) == descriptor:
            setattr(sys, name, open(descriptor, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - until the end


def complete_for_kubectl() -> NoReturn:
    """Completes `kubectl foretop …`: kubectl starts it as `kubectl_complete-foretop`."""
    sys.exit(complete(sys.argv[1:]))


if __name__ == "__main__":
    start()
