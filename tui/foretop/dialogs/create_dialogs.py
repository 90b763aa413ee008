"""Dialogs with a form: create a restore or a schedule."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace
from textual import work
from textual.widget import Widget

from foretop.dialogs import plan_text
from foretop.dialogs.action_dialog import ActionDialog
from foretop.dialogs.action_targets import ActionTargets
from foretop.dialogs.dialog_parts import DialogField, OptionCycler
from foretop.panes.next_volumes_section import volume_paragraphs
from foretop.widgets.paragraphs import Paragraph, paragraph
from foretop.widgets.prompt import Prompt, hint
from foretop_core.actions.action_record import ActionRecord
from foretop_core.actions.planners.restores import (
    RestoreRequest,
    beside,
    copies_of,
    copy_limits,
    offered_mapping,
    only_namespace,
    plan_restore,
    targets,
)
from foretop_core.actions.planners.schedules import NewSchedule, check_expression, meaning, plan_create_schedules
from foretop_core.actions.plans import Plan, Planner
from foretop_core.actions.step_builders import restore_name, unavailable_storage
from foretop_core.actions.unwatched_reads import ExistingObjects, existing_objects
from foretop_core.dashboard.action_service import ActionService, TrackedPlan
from foretop_core.dashboard.plan_table import PlanTable
from foretop_core.errors import BadInput, ForetopError
from foretop_core.kube.access.accessible_namespaces import visible_namespaces
from foretop_core.models import Backup, BackupSpec, RestoreSpec
from foretop_core.models.kinds import BACKUP
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.rules.cron_dialects import differences
from foretop_core.rules.facts.volume_facts import KINDS_OF_VOLUMES, described, next_volumes
from foretop_core.tables.engine.drawings import Piece
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.text.terminal_text import unsigned

_POLICIES = ("stay unchanged", "are overwritten")
_VOLUMES = ("Velero's default", "restored", "not restored")
_MOST_LOOKED_INTO = 3
_LOOKING = "looking…"
_SKIP = ("server default", "yes", "no")


class RestoreDialog(ActionDialog):
    """Creates a restore: what the backup contains, where it goes, and what exists there already."""

    verb = "Restore"
    headline = "Restore from {}"
    titles = ("Restore from {}", "Restore from {}")
    noun = "backup"

    def __init__(self, service: ActionService, record: ActionRecord, chosen: ActionTargets, ascii: bool) -> None:
        super().__init__(service, record, chosen, ascii)
        self._there: frozenset[str] | None = None
        """The namespaces there are; None where they may not be seen, and while they are looked at."""
        self._is_looking = True
        item = self.service.item(self.keys[0])
        self._backup = item if isinstance(item, Backup) else None
        space, context = self.targets.namespace, self.keys[0].context
        self._copies = copies_of(self.service.snapshot(context), space) if space else ()
        """The copies that the namespace can be brought back from, the newest first."""
        self._inside: dict[str, ExistingObjects | None] = {}
        """What is in each namespace that was looked at; None while it is counted."""
        self._places: tuple[str, ...] = ()

    def on_mount(self) -> None:
        self._look_at_namespaces()

    def _offered(self) -> str:
        """The field as it starts: what exists goes beside itself. Of one namespace its new name says all."""
        if self._backup is None:
            return ""
        space, names = self.targets.namespace, self._backup.spec.included_namespaces
        offered = offered_mapping(self.service.snapshot(self.keys[0].context), (space,) if space else names)
        return unsigned(offered.get(space) or ", ".join(f"{old}:{new}" for old, new in offered.items()))

    def fields(self) -> Iterable[Widget]:
        offered, space = self._offered(), unsigned(self.targets.namespace)
        into = hint(f"{space} itself", beside(space)) if space else hint("where they were", "from:to, from:to")
        mapping = Prompt(placeholder=into, id="mapping")
        mapping.value, mapping.cursor_position = offered, len(offered)
        chosen = Prompt(placeholder=hint("all in the backup", "orders, ledger"), id="namespaces")
        chosen.value, chosen.cursor_position = self.targets.namespace, len(self.targets.namespace)
        if len(self._copies) > 1:
            labels = [
                f"{self._copy_label(backup)} ({index} of {len(self._copies)})"
                for index, backup in enumerate(self._copies, 1)
            ]
            copies = OptionCycler(labels, "copy", self.ascii)
            copies.at = next(
                (index for index, backup in enumerate(self._copies) if backup.name == self.keys[0].name), 0
            )
            yield DialogField("Copy", copies)
        yield DialogField("Namespaces", chosen)
        yield DialogField("Resources", Prompt(placeholder=hint("all", "configmaps, secrets"), id="resources"))
        yield DialogField("Into", mapping)
        yield DialogField("Existing", OptionCycler(_POLICIES, "existing", self.ascii))
        yield DialogField("Volumes", OptionCycler(_VOLUMES, "volumes", self.ascii))
        yield DialogField("Name", Prompt(placeholder=hint(restore_name(self.keys[0].name, self.opened)), id="name"))

    def _copy_label(self, copy: Backup) -> str:
        """`14 Nov 21:10Z, PartiallyFailed`; its name and its age are said below."""
        when = humanize.time(copy.started, self.opened) if copy.started is not None else copy.name
        return when if copy.phase == "Completed" else f"{when}, {copy.phase}"

    def _take_copy(self) -> None:
        """The restore is from the copy that is chosen now."""
        for chosen in self.query("#copy").results(OptionCycler):
            copy = self._copies[chosen.at]
            if copy.name != self.keys[0].name:
                self._backup = copy
                key = ObjectRef(self.keys[0].context, BACKUP.name, copy.namespace, copy.name)
                self.targets = replace(self.targets, keys=(key,))
                self.query_one("#name", Prompt).show_hint(hint(restore_name(copy.name, self.opened)))

    @property
    def is_impossible(self) -> bool:
        """True unless another copy lies where it can be read."""
        snapshot = self.service.snapshot(self.keys[0].context)
        others = (backup for backup in self._copies if backup.name != self.keys[0].name)
        return super().is_impossible and all(unavailable_storage(snapshot, backup) for backup in others)

    @property
    def title_line(self) -> str:
        if not self.targets.namespace:
            return super().title_line
        return plan_text.title("Restore {}", self.targets.namespace, self.cells)

    @property
    def confirm_label(self) -> str:
        """Names the place that a namespace comes back to, as far as there is room for it."""
        space = self.targets.namespace
        if not space:
            return super().confirm_label
        into = self._places[0] if len(self._places) == 1 else space
        return self.named_label("Restore {}" if into == space else "Restore into {}", into)

    def more(self) -> list[Paragraph]:
        """Tells how old the copy of a namespace is and how little it has, and what is in every target already."""
        backup = self._backup
        if backup is None:
            return []
        paragraphs = []
        if self.targets.namespace:
            now = self.service.now(self.keys[0].context)
            age = f", {humanize.duration(now - backup.started)} old" if backup.started is not None else ""
            only = ", its only copy" if len(self._copies) == 1 else ""
            paragraphs.append(paragraph(f"{backup.name}{age}{only}", label="From"))
            limits = copy_limits(backup, self.targets.namespace)
            paragraphs += [paragraph(humanize.join(limits), Tone.WARN, label="Has")] if limits else []
        return [
            *paragraphs,
            *(paragraph(text, label=" " if index else "Target") for index, text in enumerate(self._exists())),
        ]

    def consequence(self, plan: Plan, table: PlanTable) -> tuple[Piece, ...]:
        """Says how much goes where, and what becomes of what is there."""
        if len(plan.steps) != 1:
            return super().consequence(plan, table)
        lines = (f"{humanize.capitalized(line)}." for line in plan.steps[0].summary[1:])
        return (Piece(" ".join(lines), Tone.BRIGHT),)

    def _proposal(self, plan: Plan) -> list[Paragraph]:
        fields = [", ".join(step.fields) for step in plan.steps]
        return [*super()._proposal(plan), *(paragraph(text, label="Sets") for text in fields if text)]

    def writes(self, plan: Plan, *, copies: bool) -> list[Paragraph]:
        return plan_text.written_lines("; ".join(step.summary[0] for step in plan.steps), self.cells, copies=copies)

    def _exists(self) -> list[str]:
        """Tells what is there already, target by target; where that may not be seen, the plan says so."""
        if self._is_looking:
            return [_LOOKING]
        existing = [f"{place}: {self._inside[place] or _LOOKING}" for place in self._places if place in self._inside]
        new = [place for place in self._places if self._there is not None and place not in self._there]
        return (
            [*existing, f"{humanize.join(new)}: not yet; Velero creates {'it' if len(new) == 1 else 'them'}"]
            if new
            else existing
        )

    def planner(self) -> Planner:
        self._take_copy()
        request = self._request()
        self._look_inside(request)
        empty = [place for place, objects in self._inside.items() if objects == ExistingObjects()]
        present = frozenset() if self._is_looking else self._there and self._there.difference(empty)
        return lambda snapshot, items, now: plan_restore(snapshot, items, request, now, present)

    def _look_inside(self, wanted: RestoreRequest) -> None:
        """At each namespace that would be written to and exists, once."""
        self._places = targets(self._backup, wanted) if self._backup is not None else ()
        existing = [place for place in self._places if self._there is not None and place in self._there]
        for place in existing[:_MOST_LOOKED_INTO]:
            if place not in self._inside:
                self._inside[place] = None
                self._count_in(place)

    @work
    async def _count_in(self, place: str) -> None:
        self._inside[place] = await existing_objects(self.service.client(self.keys[0].context), place)
        self.replan()

    def _request(self) -> RestoreRequest:
        request = RestoreRequest(
            name=self.query_one("#name", Prompt).value.strip() or restore_name(self.keys[0].name, self.opened),
            existing=("", "update")[self.query_one("#existing", OptionCycler).at],
            volumes=(None, True, False)[self.query_one("#volumes", OptionCycler).at],
            more=RestoreSpec(
                included_namespaces=listed(self.query_one("#namespaces", Prompt).value),
                included_resources=listed(self.query_one("#resources", Prompt).value),
            ),
        )
        only = only_namespace(self._backup, request) if self._backup is not None else ""
        return replace(request, mapping=read_mapping(self.query_one("#mapping", Prompt).value, only))

    @work
    async def _look_at_namespaces(self) -> None:
        """Asks which there are; where they may not be seen, the plan says so."""
        try:
            self._there = frozenset(await visible_namespaces(self.service.client(self.keys[0].context))) or None
        except ForetopError:
            self._there = None
        self._is_looking = False
        self.replan()


class CreateScheduleDialog(ActionDialog):
    """Creates a schedule; the meaning of the expression and its next runs are shown while it is typed."""

    verb = "Create the schedule"
    another_choice_helps = True
    headline = "Create a schedule"
    kinds_on_demand = KINDS_OF_VOLUMES

    def fields(self) -> Iterable[Widget]:
        yield DialogField("Name", Prompt(placeholder=hint(example="orders-nightly"), id="name"))
        yield DialogField("Cron", Prompt(placeholder=hint(example="30 2 * * *"), id="cron"))
        yield DialogField("Namespaces", Prompt(placeholder=hint("all", "orders, ledger"), id="namespaces"))
        yield DialogField("Kept for (TTL)", Prompt(placeholder=hint("720h, Velero's default"), id="ttl"))
        snapshot = self.service.snapshot(self.keys[0].context)
        places = [location.name for location in snapshot.storage if location.namespace == self.keys[0].namespace]
        yield DialogField("Storage", OptionCycler(("the default", *places), "storage", self.ascii))
        yield DialogField("Skip immediately", OptionCycler(_SKIP, "skip", self.ascii))
        yield DialogField("Paused", OptionCycler(("no", "yes"), "paused", self.ascii))

    def propose(self, name: str, cron: str) -> None:
        """Fills in a schedule that was tried elsewhere."""
        self.query_one("#name", Prompt).value = name
        self.query_one("#cron", Prompt).value = cron
        self.replan()

    def planner(self) -> Planner:
        schedule = self._described()
        return lambda snapshot, items, now: plan_create_schedules(snapshot, [schedule], now)

    def make_plan(self) -> TrackedPlan:
        """Nothing is there yet that it could be asked of."""
        context = self.keys[0].context
        return TrackedPlan(self.planner()(self.service.snapshot(context), (), self.service.now(context)))

    def more(self) -> list[Paragraph]:
        """The meaning of what is typed, before the rest of it is right; then what becomes of the volumes."""
        text = self._typed("cron")
        if self.planned is not None:
            new = self._described()
            made = described(new.namespace, new.name, new.template)
            return volume_paragraphs(next_volumes(self.service.snapshot(self.keys[0].context), made))
        if not text:
            return [paragraph("A five-field expression, @daily or @every 6h.", Tone.DIM)]
        key = self.keys[0]
        candidates = self.service.snapshot(key.context).verdict(key.namespace).candidates
        try:
            read = check_expression(text, candidates)
        except BadInput as problem:
            return [] if str(problem) == self.problem else [paragraph(str(problem), Tone.BAD)]
        meanings = meaning(read, self.service.now(key.context))
        doubt = differences(text, candidates)
        lines = [paragraph(line, label=" " if index else "Means") for index, line in enumerate(meanings)]
        return [*lines, paragraph(doubt, Tone.WARN)] if doubt else lines

    def _described(self) -> NewSchedule:
        for name, what in (("name", "A schedule needs a name"), ("cron", "A schedule needs a cron expression")):
            if not self._typed(name):
                raise BadInput(what)
        storage = self.query_one("#storage", OptionCycler)
        template = BackupSpec(
            included_namespaces=listed(self._typed("namespaces")),
            ttl=self._typed("ttl"),
            storage_location=storage.value if storage.at else "",
        )
        return NewSchedule(
            self.keys[0].namespace,
            self._typed("name"),
            self._typed("cron"),
            template,
            paused=self.query_one("#paused", OptionCycler).at == 1,
            skip_immediately=(None, True, False)[self.query_one("#skip", OptionCycler).at],
        )

    def _typed(self, name: str) -> str:
        return self.query_one(f"#{name}", Prompt).value.strip()


def listed(text: str) -> tuple[str, ...]:
    """`orders, ledger`."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def read_mapping(text: str, only: str) -> dict[str, str]:
    """`orders:orders-restored, ledger:ledger-old`; where `only` one namespace is restored, a name is its new one."""
    name = text.strip()
    if only and name and not set(name) & set(":,"):
        return {only: name} if name != only else {}
    mapping: dict[str, str] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        old, colon, new = (piece.strip() for piece in part.partition(":"))
        if not (old and colon and new):
            raise BadInput(f"{part!r} is not a valid mapping", "", "write from:to")
        mapping[old] = new
    return mapping
