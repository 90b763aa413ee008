"""The entry points: `foretop`, `kubectl foretop`, `python -m foretop`."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from foretop.commands.complete_words import complete

# Deferred imports: the tab key is answered without loading the command line.


def start() -> NoReturn:
    """What a shell asks at the tab key is answered at once; the command line is imported for the rest."""
    _open_standard_streams()
    if sys.argv[1:2] == ["__complete"]:
        sys.exit(complete(sys.argv[2:]))
    from foretop import cli

    cli.main()


def _open_standard_streams() -> None:
    """What the caller has closed (`>&-`) goes to /dev/null, and no file that is opened later takes its place."""
    for descriptor, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None and os.open(os.devnull, os.O_RDWR) == descriptor:
            setattr(sys, name, open(descriptor, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - until the end


def complete_for_kubectl() -> NoReturn:
    """What kubectl starts as `kubectl_complete-foretop` to complete `kubectl foretop …`."""
    sys.exit(complete(sys.argv[1:]))


if __name__ == "__main__":
    start()
