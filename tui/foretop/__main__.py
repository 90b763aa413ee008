"""The entry points: `foretop`, `kubectl foretop`, `python -m foretop`."""

from __future__ import annotations

import sys
from typing import NoReturn

from foretop.commands.complete_words import complete

# Deferred imports: the tab key is answered without loading the command line.


def start() -> NoReturn:
    """What a shell asks at the tab key is answered at once; the command line is imported for the rest."""
    if sys.argv[1:2] == ["__complete"]:
        sys.exit(complete(sys.argv[2:]))
    from foretop import cli

    cli.main()


def complete_for_kubectl() -> NoReturn:
    """What kubectl starts as `kubectl_complete-foretop` to complete `kubectl foretop …`."""
    sys.exit(complete(sys.argv[1:]))


if __name__ == "__main__":
    start()
