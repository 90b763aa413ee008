"""A session for one command: opened, waited for until it has seen what it may see, and closed."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import time
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from foretop.commands.output import say_progress, warn
from foretop_core.background import in_thread
from foretop_core.dashboard.background_reads import BackgroundReads
from foretop_core.dashboard.state import DashboardState
from foretop_core.errors import BadInput, ForetopError, Unreadable
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.models.kinds import Kind
from foretop_core.own_files import read_file, why_not
from foretop_core.rules.facts.volume_facts import KINDS_OF_VOLUMES
from foretop_core.session import WATCHED, Session, open_session

_LONGEST_TOKEN = 2**14


@asynccontextmanager
async def running_session(session_options: SessionOptions, kinds: tuple[Kind, ...] = WATCHED) -> AsyncIterator[Session]:
    """Archives are read in a thread, which may take seconds; what was left out of them is said."""
    opened = partial(open_session, session_options, os.environ, kinds=kinds, progress=say_progress)
    session = await in_thread(opened) if session_options.files else opened()
    for client in session.connections.clients.values():
        warn([ForetopError(f"{client.config.name}: {note}") for note in client.notes])
    session.start()
    try:
        yield session
    finally:
        await session.stop()


async def wait_synced(session: Session) -> tuple[list[str], list[ForetopError]]:
    """The contexts that could be looked at, and why the others could not; an error where none could."""
    answers = await asyncio.gather(*(session.settled(name) for name in session.contexts), return_exceptions=True)
    good, bad = [], []
    for name, answer in zip(session.contexts, answers, strict=True):
        if isinstance(answer, ForetopError):
            bad.append(answer)
        elif isinstance(answer, BaseException):
            raise answer
        else:
            good.append(name)
    if bad and not good:
        raise bad[0]
    return good, bad


async def wait_evidence(session: Session) -> tuple[list[str], list[ForetopError]]:
    """As `wait_synced`, and for the volumes by which findings are judged, as the exporter judges them.

    Where a Velero is, and so where they count, is known only after the first lists.
    """
    await wait_synced(session)
    session.watch_on_demand(KINDS_OF_VOLUMES)
    return await wait_synced(session)


def dashboard_state(session: Session) -> DashboardState:
    """The state of a dashboard on this session, with the person's own limits and background reads."""
    reads = BackgroundReads(os.environ, waits=True)
    return DashboardState(session, time.monotonic, reads, thresholds=session.thresholds)


async def judged_state(session: Session) -> DashboardState:
    """The same, with its findings."""
    state = dashboard_state(session)
    state.judge(at_once=True)
    return state


def unreadable(session: Session) -> tuple[Unreadable, ...]:
    """The objects that came and could not be read."""
    return tuple(
        Unreadable(f"{key.kind} {key.namespace}/{key.name} cannot be read", item.problem)
        for key, item in session.store.unreadable.items()
    )


async def until_ended(work: Coroutine[Any, Any, int]) -> int:
    """The exit code of a command that runs until it is ended: from outside too, it ends all that it has started."""
    task = asyncio.ensure_future(work)
    ended: list[int] = []

    def end(number: int) -> None:
        ended.append(number)
        task.cancel()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGHUP) if os.name == "posix" else ():
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup
            loop.add_signal_handler(number, end, number)
    try:
        return await task
    except asyncio.CancelledError:
        if not ended:
            raise
        return 128 + ended[0]


def bearer_token(path: str | None) -> str:
    """The token in a file that somebody named; "" for none."""
    if path is None:
        return ""
    try:
        token = read_file(Path(path), _LONGEST_TOKEN).decode().strip()
    except (OSError, UnicodeDecodeError) as problem:
        why = why_not(problem) if isinstance(problem, OSError) else "it is not text"
        raise BadInput(f"Cannot read {path}", why) from None
    if not token:
        raise BadInput(f"{path} has no token", "it is empty", "write the token into it")
    if not re.fullmatch("[!-~]+", token):
        raise BadInput(
            f"{path} has no token", "it is more than one word, or not ASCII", "write the token alone into it"
        )
    return token
