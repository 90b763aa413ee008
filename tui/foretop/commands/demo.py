"""`foretop demo`: a simulated cluster, on the dashboard or served to kubectl."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import timedelta
from pathlib import Path

import click

from foretop.commands.connection import session_options_of
from foretop.commands.help_examples import OwnOptionsFirst, example
from foretop.commands.start_dashboard import DisplayFlags, has_terminal, screen_options, show_dashboard
from foretop_core.actions.journal import default_path
from foretop_core.dashboard.session_protocol import ClusterSession
from foretop_core.kube.connection.config import ConnectionOptions, SessionOptions
from foretop_core.own_files import own_folder
from foretop_core.rules.cron_dialects import NEWEST_KNOWN, read_release
from foretop_demo.reconcile import Behaviour
from foretop_demo.scenarios import SCENES, SHOWN_FIRST, Scenario, ScenarioOptions, find_scene
from foretop_demo.simulated_cluster import FIXED_START, SimulatedCluster

# Deferred imports: the screen is painted before the session is loaded.

_SETTLE = timedelta(seconds=20)
_SPEED, _SERVED_SPEED = 60.0, 1.0


@click.command("demo", cls=OwnOptionsFirst, epilog=example("foretop demo --scene outage"))
@click.option(
    "--scene", "name", default=SHOWN_FIRST, metavar="NAME", help=f"One of {', '.join(SCENES)}.", show_default=True
)
@click.option(
    "--speed",
    type=click.FloatRange(0.01, 3600),
    metavar="N",
    help="Speed as a multiple of real time (default 60; with --serve 1).",
)
@click.option("--seed", type=int, metavar="N", help="Repeat the scene exactly, including its times.")
@click.option("--schedule-skip-immediately", is_flag=True, default=None, help="Velero's flag of the same name.")
@click.option("--concurrent-backups", type=click.IntRange(1, 100), metavar="N", help="Velero's flag of the same name.")
@click.option(
    "--behaviour",
    type=click.Choice([each.value for each in Behaviour]),
    default=Behaviour.RELEASED.value,
    help="Follow the released controllers, or the design documents.",
    show_default=True,
)
@click.option(
    "--velero-version", default=NEWEST_KNOWN, metavar="VERSION", help="The simulated Velero release.", show_default=True
)
@click.option("--serve", is_flag=True, help="Print the path of a kubeconfig and serve until ctrl+c.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Serve on this port.")
@screen_options
@click.pass_context
def command(
    ctx: click.Context,
    name: str,
    speed: float | None,
    seed: int | None,
    schedule_skip_immediately: bool | None,
    concurrent_backups: int | None,
    behaviour: str,
    velero_version: str,
    serve: bool,
    port: int,
    display_flags: DisplayFlags,
) -> int:
    """A cluster in a box: Velero, the non-admin controller and their objects, on this machine alone.

    Without a terminal one plain report is printed.
    """
    options = ScenarioOptions(
        seed=1 if seed is None else seed,
        skip_immediately=schedule_skip_immediately,
        concurrent_backups=concurrent_backups,
        behaviour=Behaviour(behaviour),
        velero_version=str(read_release(velero_version)),
    )
    rate = speed or (_SERVED_SPEED if serve else _SPEED)
    scene = find_scene(name)

    def build() -> SimulatedCluster:
        return SimulatedCluster(scene, options, FIXED_START if seed is not None else None, rate)

    if serve:
        return asyncio.run(_serve(build(), port))
    if not has_terminal():
        return _report(build())
    return _show(build, port, display_flags, session_options_of(ctx).read_only, rate)


def _report(box: SimulatedCluster) -> int:
    """The same text as `foretop report`, once the scene has settled; its findings are no fault of the demo."""
    from foretop.commands.report import report_snapshots
    from foretop_core.rules.build_snapshot import assemble

    box.settle(_SETTLE)
    report_snapshots([(assemble(box.objects(), "minicluster"), box.clock.now())], (), "text")
    return 0


def _show(
    build: Callable[[], SimulatedCluster], port: int, display_flags: DisplayFlags, read_only: bool, speed: float
) -> int:
    """The screen first; the box is built behind it, and then looked at as any cluster is."""
    with ExitStack() as stack:
        stack.enter_context(own_state())

        def open_source() -> ClusterSession:
            from foretop_core.session import open_session

            box = build()
            kubeconfig = stack.enter_context(_served(box, port))
            return open_session(
                SessionOptions(ConnectionOptions(kubeconfig=str(kubeconfig)), read_only=read_only),
                {},
                box.running_clock,
            )

        return show_dashboard(open_source, display_flags, read_only=read_only, speed=speed)


@contextmanager
def own_state() -> Iterator[None]:
    """The journal of a demo is its own, and begins anew: its cluster and time do so too."""
    before = os.environ.get("XDG_STATE_HOME")
    folder = default_path(os.environ).parent / "demo"
    journal = folder / "foretop" / "journal"
    with suppress(OSError), own_folder(journal) as descriptor:
        for path in journal.glob("*.jsonl"):
            os.unlink(path.name, dir_fd=descriptor)
    os.environ["XDG_STATE_HOME"] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ["XDG_STATE_HOME"]
        else:
            os.environ["XDG_STATE_HOME"] = before


@contextmanager
def _served(box: SimulatedCluster, port: int) -> Iterator[Path]:
    """Serves the box on a thread of its own, so that its bustle does not hold up the screen."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="box", daemon=True)
    thread.start()
    try:
        with tempfile.TemporaryDirectory(prefix="foretop-") as folder:
            cluster = asyncio.run_coroutine_threadsafe(box.open(port=port), loop).result()
            try:
                yield cluster.kubeconfig(Path(folder) / "kubeconfig")
            finally:
                asyncio.run_coroutine_threadsafe(box.close(), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _serve(box: SimulatedCluster, port: int) -> int:
    """The path alone on the first line, flushed: whoever started this may be waiting for it."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    # A terminal that is closed ends it too, and its folder goes with it; nohup has the signal ignored, and it stays so.
    hung_up = () if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else (signal.SIGHUP,)
    for number in (signal.SIGINT, signal.SIGTERM, *hung_up):
        loop.add_signal_handler(number, stop.set)
    with tempfile.TemporaryDirectory(prefix="foretop-") as folder:
        try:
            cluster = await box.open(port=port)
            click.echo(cluster.kubeconfig(Path(folder) / "kubeconfig"))
            sys.stdout.flush()
            click.echo(_about(box.scene, box), err=True)
            await stop.wait()
        finally:
            await box.close()
    return 0


def _about(scene: Scenario, box: SimulatedCluster) -> str:
    options = box.builder.options
    return (
        f"scene {scene.name}: {scene.shows}; Velero {options.velero_version}, {options.behaviour.value} behaviour; "
        f"time runs at x{box.speed:g}; ctrl+c ends it"
    )
