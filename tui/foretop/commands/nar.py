"""`foretop nar`: delete a non-admin restore, read its results."""

from __future__ import annotations

import click

from foretop.commands.results_output import add_results
from foretop.commands.write_command import add_plain_verbs
from foretop_core.models.kinds import BACKUP, NAB, NAR, RESTORE, STORAGE


@click.group("nar")
def command() -> None:
    """Delete non-admin restores, and read what went wrong in them.

    Exit code: 0 done, 1 some failed, 2 usage, 3 refused (read-only, rights, state), 4 the plan changed under way.
    """


add_plain_verbs(command, (NAR, RESTORE))
add_results(
    command,
    NAR,
    lambda snapshot: snapshot.nars,
    (NAR, NAB, RESTORE, BACKUP, STORAGE),
    "a non-admin restore, by namespace and resource, where its rules allow",
)
