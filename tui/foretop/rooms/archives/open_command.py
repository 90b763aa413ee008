"""`foretop open`: the dashboard on archives, as of the moment at which they were made."""

from __future__ import annotations

import os

import click
from msgspec.structs import replace

from foretop.commands import argument_values
from foretop.commands.connection import connection_options
from foretop.commands.help_examples import OwnOptionsFirst, example
from foretop.commands.report import report_on_clusters
from foretop.commands.start_dashboard import DisplayFlags, has_terminal, screen_options, watch_clusters
from foretop_core.errors import BadInput
from foretop_core.kube.connection.config import SessionOptions


@click.command("open", cls=OwnOptionsFirst, epilog=example("foretop open bundle.tar.gz"))
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option("--at", "at", metavar="TIME", help="A recording as of this time, instead of its end.")
@connection_options
@screen_options
def command(
    paths: tuple[str, ...], at: str | None, session_options: SessionOptions, display_flags: DisplayFlags
) -> int:
    """The dashboard on what people send: velero debug's bundle, a must-gather, or what kubectl get -o yaml prints.

    PATH is a directory, tar, zip, YAML or JSON, or a recording (.jsonl, an event a line); several are several clusters.
    A recording has a time line: T plays it, comma and full stop go to what changed before and after.
    Its time is that of the archive, nothing is written or downloaded, and what is not in it is said. Without a terminal
    it prints one plain report.
    """
    for path in paths:
        if not os.path.exists(path):
            # Before the screen, which would look for it again and again.
            raise BadInput(f"{path} cannot be opened", "No such file or directory", "give a path that is there")
    options = replace(session_options, files=paths, files_at=argument_values.moment(at) if at else None)
    if has_terminal():
        return watch_clusters(options, display_flags)
    return report_on_clusters(options)
