"""`foretop journal`: what was written to which cluster, when and by whom."""

from __future__ import annotations

import os

import click
import msgspec

from foretop.commands.help_examples import OwnOptionsFirst, example
from foretop.commands.output import emit, output_option, say, warn
from foretop_core.actions.field_changes import change_lines
from foretop_core.actions.journal import Journal, default_path
from foretop_core.actions.step_builders import compact_json
from foretop_core.errors import ForetopError
from foretop_core.rules import humanize
from foretop_core.tables.engine.json_items import as_list


@click.command("journal", cls=OwnOptionsFirst, epilog=example("foretop journal -o json"))
@output_option
def command(form: str) -> int:
    """Show what foretop has written to which cluster, oldest first, with what was before."""
    journal = Journal(default_path(os.environ))
    entries, passed_over = list(journal.read()), journal.lines_passed_over()
    if passed_over:
        lines = humanize.count(passed_over, "line")
        warn([ForetopError(f"{lines} of the journal {journal.folder} cannot be read", "what was written is not known")])
    exit_code = 1 if passed_over else 0
    if form != "text":
        emit(as_list(map(msgspec.to_builtins, entries)), form)
        return exit_code
    if not entries and not passed_over:
        say("No writes yet.")
    for entry in entries:
        say(f"{entry.at}  {entry.user}  {entry.context}  {entry.kind} {entry.namespace}/{entry.name}  {entry.result}")
        say(f"    {entry.method} {compact_json(entry.patch)}")
        for line in change_lines(entry.method, entry.patch, entry.before):
            say(f"    {line}")
        if entry.before:
            say(f"    before {compact_json(entry.before)}")
    return exit_code
