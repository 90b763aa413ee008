"""`foretop explain`: a topic in a screenful, and the manual page."""

from __future__ import annotations

import textwrap

import click

from foretop.commands.manual_page import manual_page
from foretop.commands.output import say
from foretop_core.tables.text.explanations import EXPLANATIONS, Explanation

_WIDTH = 79


@click.command("explain")
@click.argument("topic", required=False, type=click.Choice(list(EXPLANATIONS)))
@click.option("--man", is_flag=True, help="Print the manual page of foretop instead.")
def command(topic: str | None, man: bool) -> int:
    """Explain when schedules run, skips, the queue, phases, the reconcile offset, cron dialects or primers."""
    if man:
        root = click.get_current_context().find_root().command
        if isinstance(root, click.Group):
            click.echo(manual_page(root), nl=False)
        return 0
    if topic is None:
        say("Topics:")
        for one in EXPLANATIONS.values():
            say(f"  {one.topic:<10} {one.title}")
        return 0
    for line in explanation_lines(EXPLANATIONS[topic]):
        say(line)
    return 0


def explanation_lines(explanation: Explanation, width: int = _WIDTH) -> list[str]:
    """Folded to a width; what is indented stays as it is."""
    lines = [explanation.title, ""]
    for block in explanation.body.split("\n\n"):
        told = block.splitlines()
        lines += told if told[0].startswith(" ") else textwrap.wrap(" ".join(told), width)
        lines.append("")
    return lines[:-1]
