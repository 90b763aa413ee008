"""`foretop handover`: what the next shift must know, as text or Markdown."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping

import click
from msgspec.structs import replace

from foretop.commands.connection import config_of, connection_options
from foretop.commands.help_examples import OwnOptionsFirst, example
from foretop.commands.live_session import judged_state, running_session, wait_evidence
from foretop.commands.output import warn
from foretop_core.clock import display_zone
from foretop_core.dashboard.handover import handover_of, handover_text
from foretop_core.kube.connection.config import SessionOptions


@click.command("handover", cls=OwnOptionsFirst, epilog=example("foretop handover -o markdown > handover.md"))
@connection_options
@click.option(
    "-o",
    "--output",
    "form",
    type=click.Choice(["text", "markdown"]),
    default="text",
    show_default=True,
    help="Output format.",
)
def command(session_options: SessionOptions, form: str) -> int:
    """The hand-over to the next shift.

    What is wrong, what is known and why, what is paused until when, what runs in the next 12 hours, and what
    foretop has written in the last 12. Times are in the zone of the configuration.
    """
    zone_name = config_of(click.get_current_context()).settings.time_zone
    return asyncio.run(_handover(session_options, zone_name, os.environ, markdown=form == "markdown"))


async def _handover(
    session_options: SessionOptions, zone_name: str, environ: Mapping[str, str], *, markdown: bool
) -> int:
    async with running_session(replace(session_options, with_velero=True)) as session:
        _, bad = await wait_evidence(session)
        handover = await handover_of(await judged_state(session), environ)
        click.echo(handover_text(handover, display_zone(zone_name, environ), markdown=markdown))
        warn(bad)
        return 1 if bad else 0
