"""An example for every command, at the end of its help and in the manual page; one that writes has it in its record."""

from __future__ import annotations

import click

START_EXAMPLES = {
    "The dashboard on the current context": "foretop",
    "Two clusters side by side": "foretop --context prod-eu --context prod-us",
    "One team, and its Velero": "foretop -n team-pay",
    "What is wrong, for a script": "foretop get findings -o json",
    "The next runs of an expression": "foretop next '30 2 * * 1-5'",
    "Try it without a cluster": "foretop demo",
}
_EPILOG = "\b\nExample:\n  "


def example(text: str) -> str:
    """The epilog of a command's help: its example."""
    return f"{_EPILOG}{text}"


def example_of(command: click.Command) -> str:
    return (command.epilog or "").removeprefix(_EPILOG)
