"""Restoring from a backup, or bringing a namespace back: what is there already is looked up while it is asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace
from textual import work

from foretop.dialogs import plan_text
from foretop.dialogs.action_targets import ActionTargets
from foretop.dialogs.plan_screen import PlanScreen
from foretop.widgets.paragraphs import Paragraph, paragraph
from foretop.widgets.prompt import Prompt, hint
from foretop_core.actions.action_record import ActionRecord, ChoiceField, Field, TextField
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
from foretop_core.actions.plans import Plan, Planner
from foretop_core.actions.step_builders import restore_name, unavailable_storage
from foretop_core.actions.unwatched_reads import ExistingObjects, existing_objects
from foretop_core.actions.validation import comma_separated
from foretop_core.dashboard.action_service import ActionService
from foretop_core.dashboard.plan_table import PlanTable
from foretop_core.errors import BadInput, ForetopError
from foretop_core.kube.access.accessible_namespaces import visible_namespaces
from foretop_core.models import Backup, RestoreSpec
from foretop_core.models.kinds import BACKUP
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.tables.engine.drawings import Piece
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.text.terminal_text import unsigned

_POLICIES = ChoiceField("existing", "Existing", (("stay unchanged", ""), ("are overwritten", "update")))
_VOLUMES = ChoiceField("volumes", "Volumes", (("Velero's default", None), ("restored", True), ("not restored", False)))
_MOST_LOOKED_INTO = 3
_LOOKING = "looking…"


class RestoreDialog(PlanScreen):
    """Creates a restore: what the backup contains, where it goes, and what exists there already."""

    actions = ("restore",)

    def __init__(self, service: ActionService, record: ActionRecord, chosen: ActionTargets) -> None:
        super().__init__(service, record, chosen)
        self._there: frozenset[str] | None = None
        """The namespaces there are; None where they may not be seen, and while they are looked at."""
        self._is_looking = True
        item = service.item(self.keys[0])
        self._backup = item if isinstance(item, Backup) else None
        self._space = self.targets.namespace
        self._copies = copies_of(self.snapshot, self._space) if self._space else ()
        """The copies that the namespace can be brought back from, the newest first."""
        self._inside: dict[str, ExistingObjects | None] = {}
        """What is in each namespace that was looked at; None while it is counted."""
        self._places: tuple[str, ...] = ()

    def on_mount(self) -> None:
        self._look_at_namespaces()

    def fields(self) -> Iterable[Field]:
        space = unsigned(self._space)
        if len(self._copies) > 1:
            labels = (
                f"{self._copy_label(copy)} ({index} of {len(self._copies)})"
                for index, copy in enumerate(self._copies, 1)
            )
            names = [copy.name for copy in self._copies]
            at = names.index(self.keys[0].name) if self.keys[0].name in names else 0
            yield ChoiceField("copy", "Copy", tuple(zip(labels, self._copies, strict=True)), at)
        yield TextField("namespaces", "Namespaces", "orders, ledger", comma_separated, "all in the backup", self._space)
        yield TextField("resources", "Resources", "configmaps, secrets", comma_separated, "all")
        empty, example = (f"{space} itself", beside(space)) if space else ("where they were", "from:to, from:to")
        yield TextField("mapping", "Into", example, default=empty, value=self._offered())
        yield _POLICIES
        yield _VOLUMES
        yield TextField("name", "Name", default=restore_name(self.keys[0].name, self.opened))

    def _offered(self) -> str:
        """The field as it starts: what exists goes beside itself. Of one namespace its new name says all."""
        if self._backup is None:
            return ""
        names: Sequence[str] = (self._space,) if self._space else self._backup.spec.included_namespaces
        offered = offered_mapping(self.snapshot, names)
        return unsigned(offered.get(self._space) or ", ".join(f"{old}:{new}" for old, new in offered.items()))

    def _copy_label(self, copy: Backup) -> str:
        """`14 Nov 21:10Z, PartiallyFailed`; its name and its age are said below."""
        when = humanize.time(copy.started, self.opened) if copy.started is not None else copy.name
        return when if copy.phase == "Completed" else f"{when}, {copy.phase}"

    @property
    def is_impossible(self) -> bool:
        """True unless another copy lies where it can be read."""
        others = (copy for copy in self._copies if copy.name != self.keys[0].name)
        return super().is_impossible and all(unavailable_storage(self.snapshot, copy) for copy in others)

    @property
    def title_line(self) -> str:
        return plan_text.title("Restore {}", self._space, self.cells) if self._space else super().title_line

    @property
    def confirm_label(self) -> str:
        """Names the place that a namespace comes back to, as far as there is room for it."""
        if not self._space:
            return super().confirm_label
        into = self._places[0] if len(self._places) == 1 else self._space
        return self.named_label("Restore {}" if into == self._space else "Restore into {}", into)

    def more(self) -> list[Paragraph]:
        """Tells how old the copy of a namespace is and how little it has, and what is in every target already."""
        backup = self._backup
        if backup is None:
            return []
        paragraphs = []
        if self._space:
            age = f", {humanize.duration(self.now - backup.started)} old" if backup.started is not None else ""
            only = ", its only copy" if len(self._copies) == 1 else ""
            paragraphs.append(paragraph(f"{backup.name}{age}{only}", label="From"))
            limits = copy_limits(backup, self._space)
            paragraphs += [paragraph(humanize.join(limits), Tone.WARN, label="Has")] if limits else []
        return paragraphs + plan_text.listed("Target", self._exists())

    def _exists(self) -> list[str]:
        """Tells what is there already, target by target; where that may not be seen, the plan says so."""
        if self._is_looking:
            return [_LOOKING]
        existing = [f"{place}: {self._inside[place] or _LOOKING}" for place in self._places if place in self._inside]
        new = [place for place in self._places if self._there is not None and place not in self._there]
        them = "it" if len(new) == 1 else "them"
        return existing + ([f"{humanize.join(new)}: not yet; Velero creates {them}"] if new else [])

    def consequence(self, plan: Plan, table: PlanTable) -> Sequence[Piece]:
        """Says how much goes where, and what becomes of what is there."""
        if len(plan.steps) != 1:
            return super().consequence(plan, table)
        lines = (f"{humanize.capitalized(line)}." for line in plan.steps[0].summary[1:])
        return (Piece(" ".join(lines), Tone.BRIGHT),)

    def proposal(self, plan: Plan) -> list[Paragraph]:
        fields = (", ".join(step.fields) for step in plan.steps)
        return [*super().proposal(plan), *(paragraph(text, label="Sets") for text in fields if text)]

    def writes(self, plan: Plan) -> str:
        return "; ".join(step.summary[0] for step in plan.steps)

    def planner(self) -> Planner:
        values = self.values()
        copy = values.get("copy")
        if copy is not None and copy.name != self.keys[0].name:
            self._backup = copy
            self.targets = replace(
                self.targets, keys=(ObjectRef(self.context, BACKUP.name, copy.namespace, copy.name),)
            )
            self.query_one("#name", Prompt).show_hint(hint(restore_name(copy.name, self.opened)))
        request = RestoreRequest(
            name=values["name"] or restore_name(self.keys[0].name, self.opened),
            existing=values["existing"],
            volumes=values["volumes"],
            more=RestoreSpec(included_namespaces=values["namespaces"], included_resources=values["resources"]),
        )
        only = only_namespace(self._backup, request) if self._backup is not None else ""
        request = replace(request, mapping=read_mapping(values["mapping"], only))
        self._look_inside(request)
        empty = [place for place, objects in self._inside.items() if objects == ExistingObjects()]
        present = frozenset() if self._is_looking else self._there and self._there.difference(empty)
        return lambda snapshot, items, now: plan_restore(snapshot, items, request, now, present)

    def _look_inside(self, request: RestoreRequest) -> None:
        """At each namespace that would be written to and exists, once."""
        self._places = targets(self._backup, request) if self._backup is not None else ()
        existing = [place for place in self._places if self._there is not None and place in self._there]
        for place in existing[:_MOST_LOOKED_INTO]:
            if place not in self._inside:
                self._inside[place] = None
                self._count_in(place)

    @work
    async def _count_in(self, place: str) -> None:
        self._inside[place] = await existing_objects(self.service.client(self.context), place)
        self.replan()

    @work
    async def _look_at_namespaces(self) -> None:
        """Asks which there are; where they may not be seen, the plan says so."""
        try:
            self._there = frozenset(await visible_namespaces(self.service.client(self.context))) or None
        except ForetopError:
            self._there = None
        self._is_looking = False
        self.replan()


def read_mapping(text: str, only: str) -> dict[str, str]:
    """`orders:orders-restored, ledger:ledger-old`; where `only` one namespace is restored, a name is its new one."""
    name = text.strip()
    if only and name and not set(name) & set(":,"):
        return {only: name} if name != only else {}
    mapping: dict[str, str] = {}
    for part in comma_separated(text):
        old, colon, new = (piece.strip() for piece in part.partition(":"))
        if not (old and colon and new):
            raise BadInput(f"{part!r} is not a valid mapping", "", "write from:to")
        mapping[old] = new
    return mapping
