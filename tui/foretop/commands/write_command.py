"""The sequence of every command that writes: plan, show, ask, send, report; and its exit codes."""

from __future__ import annotations

import asyncio
import functools
import os
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

import click
import msgspec
from msgspec.structs import replace

from foretop.commands.action_reporter import ActionReporter
from foretop.commands.connection import connection_options
from foretop.commands.help_examples import OwnOptionsFirst, example
from foretop.commands.live_session import running_session, wait_synced
from foretop.commands.object_selection import ObjectSelection, choosing_options
from foretop.commands.output import say_to, warn
from foretop_core.actions.action_catalog import RECORDS
from foretop_core.actions.action_record import ActionRecord, Follow
from foretop_core.actions.guard import check_confirmed
from foretop_core.actions.journal import Journal, default_path
from foretop_core.actions.plan_executor import Outcome, PlanExecutor, Result, login, whoami
from foretop_core.actions.plans import Plan, Planner, PlanStep, objects_of
from foretop_core.actions.velero_pickup import PICKED_UP_WITHIN, Probe, follow_write
from foretop_core.dashboard.undone_watch import undone_entry, watch_for_undoing
from foretop_core.errors import ActionRefused
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.models import Resource
from foretop_core.models.kinds import Kind
from foretop_core.room_finder import room_modules
from foretop_core.rules import humanize
from foretop_core.rules.facts.run_facts import queue_line
from foretop_core.rules.own_failures import failure_line
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.session import Session

DONE, SOME_FAILED, REFUSED, CHANGED = 0, 1, 3, 4
_DRY = "--dry-run"


class WriteOptions(msgspec.Struct, frozen=True):
    """The options of every write: dry run, confirmation, output."""

    dry_run: str = ""
    yes: bool = False
    form: str = "text"
    confirmed_context: str = ""
    """The protected context that --confirm-context names."""
    watch_undone: int = 0
    """For how many minutes it is watched whether somebody puts it back."""

    @property
    def asks(self) -> bool:
        return not self.yes and not self.dry_run

    def check(self) -> None:
        """Before anything is sent: without a terminal nobody can be asked."""
        if self.asks and not sys.stdin.isatty():
            raise click.UsageError("no terminal to ask on: give --yes (or --dry-run to see what would happen)")


_PLAIN = WriteOptions()


class CommandSession(msgspec.Struct):
    """One context, synced, with the executor of its writes."""

    session: Session
    executor: PlanExecutor
    context: str
    namespaces: tuple[str, ...]
    options: WriteOptions = _PLAIN
    waits: bool = False
    """What was written is followed until Velero has taken it up."""
    _known: bool = False

    async def introduce(self) -> str:
        """The name of who acts, also for a dry run: it shows what a real one would write."""
        if not self._known:
            self.executor = replace(self.executor, user=await whoami(self.executor.client, os.environ))
            self._known = True
        return self.executor.user

    @property
    def snapshot(self) -> ClusterSnapshot:
        return self.session.snapshot(self.context)

    @property
    def now(self) -> datetime:
        return self.executor.clock.now()

    async def run(
        self,
        planner: Planner,
        items: Iterable[Any],
        *,
        follow: Follow | None = None,
        to_the_end: bool = False,
    ) -> int:
        """Plans the action, shows it, asks, sends it, follows it and reports; `follow` in the place of the record's."""
        options, asked, before = self.options, list(items), self.snapshot
        plan = planner(before, asked, self.now)
        reporter = ActionReporter(options.form, self.context, options.asks)
        reporter.plan(plan, lambda _, namespace, planned: queue_line(before, namespace, plan.at, planned=planned))
        if options.dry_run != "client" and plan.steps:
            await self.executor.guard(plan)
        if options.dry_run == "client" or not plan.steps:
            reporter.close(planned=plan.steps)
            return REFUSED if plan.refused and not plan.steps else _exit_code(plan, [])
        confirm_production(self, options)
        await self.introduce()
        results = await _send(self, plan, planner, options, reporter)
        done = [result for result in results if result.outcome is Outcome.DONE and not options.dry_run]
        well = True
        if self.waits and (probe := follow or plan.record.follow) is not None:
            # As they were before anything was sent: what was there already does not count.
            resources = {before.ref(item): item for item in asked if isinstance(item, Resource)}
            probes = (
                (result.step, probe(before, resources.get(result.step.target), result.step, plan.at)) for result in done
            )
            within = None if to_the_end or plan.record.to_the_end else PICKED_UP_WITHIN
            well = await _follow(self, probes, within, reporter)
        if options.watch_undone:
            well = not await _watch_undone(self, done, options.watch_undone, reporter) and well
        reporter.close()
        return _exit_code(plan, results) or (DONE if well else SOME_FAILED)


class WriteCommand(OwnOptionsFirst):
    """A command that takes `--dry-run` without a value: one comes with `=` only, so that a name may follow."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        until = args.index("--") if "--" in args else len(args)
        spelled = [f"{_DRY}=client" if arg == _DRY and index < until else arg for index, arg in enumerate(args)]
        return super().parse_args(ctx, spelled)


def verb_of(
    group: click.Group | None, record: ActionRecord, index: int = 0
) -> Callable[[Callable[..., Any]], click.Command]:
    """Makes a command that writes under the name that its record has, in the group that is named there, if any."""
    line = record.commands[index]
    where, _, verb = line.words.rpartition(" ")
    if where != (group.name if group is not None else ""):
        raise LookupError(f"the record of {record.id} puts {verb} under {where or 'foretop'}")
    make = group.command if group is not None else click.command
    return make(verb, cls=WriteCommand, epilog=example(line.example))


def add_plain_verbs(group: click.Group, kinds: tuple[Kind, ...]) -> None:
    """Adds the commands of the group that are made from a record alone: they take names, and nothing of their own."""
    for record in RECORDS:
        for index, line in enumerate(record.commands):
            if line.help and line.words.startswith(f"{group.name} "):
                command = writing(kinds)(functools.partial(_ask_of_named, record=record))
                command.__doc__ = line.help
                verb_of(group, record, index)(choosing_options(wait_option(command) if record.follow else command))


def add_verbs_of_rooms(group: click.Group) -> None:
    """Adds the commands that the rooms have for a group of the core."""
    for module in room_modules("foretop", "run_commands"):
        module.add_to(group)


async def _ask_of_named(at: CommandSession, *, selection: ObjectSelection, record: ActionRecord) -> int:
    kind = record.kinds[0]
    return await at.run(record.planner, selection.of(at.snapshot, kind, objects_of(at.snapshot, kind)))


def acting_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds what every write takes; the command gets `write_options`."""

    @functools.wraps(command)
    def checked(*arguments: Any, write_options: WriteOptions, **options: Any) -> Any:
        write_options.check()
        return command(*arguments, write_options=write_options, **options)

    return _WATCH_UNDONE(plain_acting_options(checked))


confirm_option = click.option(
    "--confirm-context",
    metavar="NAME",
    help="With --yes: the name of the context whose cluster the configuration marks as production.",
)
_WATCH_UNDONE = click.option(
    "--watch-undone",
    type=click.IntRange(1, 60),
    metavar="MINUTES",
    help="Wait for so long whether somebody puts it back, such as Argo CD; if so, say who and exit with 1.",
)


def plain_acting_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The same for a command that leaves nothing behind which somebody could put back."""

    @functools.wraps(command)
    def with_manner(
        *arguments: Any,
        dry_run: str | None,
        yes: bool,
        form: str,
        confirm_context: str | None,
        watch_undone: int | None = None,
        **options: Any,
    ) -> Any:
        write_options = WriteOptions(dry_run or "", yes, form, confirm_context or "", watch_undone or 0)
        return command(*arguments, write_options=write_options, **options)

    for option in (
        click.option(
            "-o", "--output", "form", type=click.Choice(["text", "json", "yaml"]), default="text", show_default=True
        ),
        confirm_option,
        click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation."),
        click.option(
            _DRY,
            "dry_run",
            type=click.Choice(["client", "server"]),
            metavar="[=client|server]",
            help="Send nothing, or only let the server validate it.",
        ),
    ):
        with_manner = option(with_manner)
    return with_manner


wait_option = click.option(
    "-w/-W", "--wait/--no-wait", "wait", default=None, help="Wait and show progress (on a terminal: yes)."
)


def wants_to_wait(wait: bool | None) -> bool:
    """A person at a terminal wants to see what comes of it; a script says so."""
    return sys.stdout.isatty() if wait is None else wait


def run_async(work: Coroutine[Any, Any, int]) -> int:
    """Runs a command's work; what was refused is one line and its own exit code."""
    try:
        return asyncio.run(work)
    except ActionRefused as problem:
        warn([problem])
        return REFUSED


def in_session(
    kinds: tuple[Kind, ...], prepare: Callable[..., dict[str, Any]] | None = None
) -> Callable[[Callable[..., Coroutine[Any, Any, int]]], Callable[..., int]]:
    """Makes a command of a function: it gets the session of one context, in which these kinds have been seen.

    `prepare` judges what was given before any cluster is asked, and says what the function gets of it.
    """

    def decorate(function: Callable[..., Coroutine[Any, Any, int]]) -> Callable[..., int]:
        async def run(
            session_options: SessionOptions, write_options: WriteOptions, waits: bool, given: dict[str, Any]
        ) -> int:
            async with open_session(session_options, kinds, write_options, waits) as session:
                return await function(session, **given)

        def command(*, session_options: SessionOptions, write_options: WriteOptions = _PLAIN, **given: Any) -> int:
            waits = "wait" in given and wants_to_wait(given.pop("wait"))
            arguments = prepare(**given) if prepare is not None else given
            return run_async(run(session_options, write_options, waits, arguments))

        command.__doc__ = function.__doc__
        command.__name__ = getattr(function, "__name__", "command")
        return command

    return decorate


def writing(
    kinds: tuple[Kind, ...], prepare: Callable[..., dict[str, Any]] | None = None
) -> Callable[[Callable[..., Coroutine[Any, Any, int]]], Callable[..., Any]]:
    """The same for a command that writes, with the options of every write and of every connection."""
    return lambda function: connection_options(acting_options(in_session(kinds, prepare)(function)))


@asynccontextmanager
async def open_session(
    session_options: SessionOptions, kinds: tuple[Kind, ...], write_options: WriteOptions = _PLAIN, waits: bool = False
) -> AsyncIterator[CommandSession]:
    """One context with these kinds seen; writes go to one cluster at a time."""
    if len(session_options.connect.contexts) > 1:
        raise click.UsageError("a command that writes takes exactly one --context")
    async with running_session(session_options, kinds) as session:
        await wait_synced(session)
        context = session.contexts[0]
        executor = session.executor(context, Journal(default_path(os.environ)), login(os.environ))
        home = (session_options.velero_namespace,) if session_options.velero_namespace else ()
        namespaces = session_options.namespaces or home
        yield CommandSession(session, executor, context, namespaces, write_options, waits)


def confirm_production(at: CommandSession, write_options: WriteOptions) -> None:
    """In production a name is asked for, or was given; --yes alone is not enough. The guard has judged before."""
    if not write_options.dry_run:
        confirm_name(at, write_options.confirmed_context, asks=write_options.asks)


def confirm_name(at: CommandSession, given: str, *, asks: bool) -> None:
    """Confirms the writes from here on by the name that was typed, or given with --confirm-context."""
    protection = at.executor.client.protection
    if protection.name and asks and given != protection.name:
        question = f"{protection.production}: type {protection.name} to continue"
        given = click.prompt(question, default="", show_default=False, err=True).strip()
        if given != protection.name:
            raise click.Abort
    at.executor = replace(at.executor, confirmed=frozenset({given} if given else ()))
    check_confirmed(at.executor.client, at.executor.confirmed)


async def _send(
    at: CommandSession, plan: Plan, planner: Planner, write_options: WriteOptions, reporter: ActionReporter
) -> list[Result]:
    """All results; what changed under way is shown and asked again where somebody can be asked."""
    results: list[Result] = []
    remaining = plan
    while True:
        if write_options.asks and not _agreed(remaining):
            raise click.Abort
        changed: list[Result] = []
        async for result in at.executor.carry_out(remaining, planner, write_options.dry_run == "server"):
            if result.outcome is Outcome.CHANGED and result.again is not None and write_options.asks:
                changed.append(result)
                continue
            results.append(result)
            reporter.result(result)
        if not changed:
            return results
        steps = tuple(result.again for result in changed if result.again is not None)
        remaining = Plan(plan.record, plan.at, steps)
        say_to("It was modified by someone else in the meantime. The updated plan:", err=True)
        reporter.plan(remaining)


async def _follow(
    at: CommandSession,
    probes: Iterable[tuple[PlanStep, Probe | None]],
    within: float | None,
    reporter: ActionReporter,
) -> bool:
    well = True
    for step, probe in probes:
        if probe is not None:
            async for news in follow_write(at.session.store, at.context, probe, within):
                reporter.news(step, news.sentence)
                well = well and (news.well or not news.done)
    return well


async def _watch_undone(at: CommandSession, done: list[Result], minutes: int, reporter: ActionReporter) -> bool:
    """True if somebody has undone one of them, which the journal notes too."""
    watches = (watch_for_undoing(at.session, result, 60.0 * minutes) for result in done)
    changes = await asyncio.gather(*watches, return_exceptions=True)
    for result, undone in zip(done, changes, strict=True):
        if isinstance(undone, BaseException):
            reporter.undone(result.step, f"not watched for who undoes it: {failure_line(undone)}")
        elif undone is not None:
            reporter.undone(result.step, f"{undone.brief} at {humanize.time(undone.at, at.now)}")
            await at.executor.journal.append_in_thread(undone_entry(undone))
    return any(changes)


def _agreed(plan: Plan) -> bool:
    """Cancel is the default; a dangerous action wants the name, or the number where there are several."""
    steps = plan.steps
    if not plan.record.dangerous:
        return click.confirm(f"{plan.record.title}?", default=False, err=True)
    answer = steps[0].target.name if len(steps) == 1 else str(len(steps))
    what = "its name" if len(steps) == 1 else "how many"
    typed: str = click.prompt(
        f"{plan.record.title}: type {what} ({answer}) to confirm", default="", show_default=False, err=True
    )
    return typed.strip() == answer


def _exit_code(plan: Plan, results: list[Result]) -> int:
    outcomes = {result.outcome for result in results}
    if Outcome.CHANGED in outcomes:
        return CHANGED
    failed = [result for result in results if result.outcome is not Outcome.DONE]
    if failed and len(failed) == len(results) and all(result.status == 403 for result in failed):
        return REFUSED
    return SOME_FAILED if failed or plan.refused else DONE
