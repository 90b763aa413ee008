"""`foretop prescaled`: the warm-up schedules of PreScaledCronJobs."""

from __future__ import annotations

import click

from foretop.commands.help_examples import CommandGroup, exit_codes_text
from foretop.commands.write_command import add_plain_verbs
from foretop_core.models.kinds import CRON_JOB, PRESCALED


@click.group("prescaled", cls=CommandGroup, epilog=exit_codes_text("prescaled"))
def command() -> None:
    """Set the warm-up schedules of PreScaledCronJobs."""


add_plain_verbs(command, (PRESCALED, CRON_JOB))
