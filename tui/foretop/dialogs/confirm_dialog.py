"""The dialog of every action that needs none of its own: its texts and fields come from the action's record."""

from __future__ import annotations

from collections.abc import Iterable
from operator import is_
from typing import Any

from msgspec.structs import replace
from textual import work
from textual.widget import Widget

from foretop.dialogs import plan_text
from foretop.dialogs.action_dialog import ActionDialog
from foretop.dialogs.action_targets import ActionTargets
from foretop.dialogs.dialog_parts import DialogField, OptionCycler
from foretop.widgets.paragraphs import Paragraph, paragraph
from foretop.widgets.prompt import Prompt, hint
from foretop_core.actions.action_record import ActionRecord, ChoiceField, TextField
from foretop_core.actions.plans import Plan, Planner, chosen
from foretop_core.actions.unwatched_reads import serves_field
from foretop_core.dashboard.action_service import ActionService, TrackedPlan
from foretop_core.errors import ForetopError
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.tables.engine.status_glyphs import Tone


class ConfirmDialog(ActionDialog):
    """Shows what will happen, with the fields of the record; dangerous actions need the name typed."""

    def __init__(self, service: ActionService, record: ActionRecord, targets: ActionTargets, ascii: bool) -> None:
        super().__init__(service, record, targets, ascii)
        assert record.dialog is not None
        self.spec = record.dialog
        self.headline, self.verb, self.titles = self.spec.headline, self.spec.verb, self.spec.titles
        self.noun = self.spec.noun
        self._unserved = ""
        """Why a choice is not offered."""
        self._lost: tuple[tuple[ClusterSnapshot, ...], tuple[ObjectRef, ...], tuple[str, ...]] | None = None

    def on_mount(self) -> None:
        for field in self.spec.fields:
            if isinstance(field, ChoiceField) and field.served is not None:
                self._field(field).display = False
                self._learn_whether_served(field)

    def fields(self) -> Iterable[Widget]:
        for field in self.spec.fields:
            if isinstance(field, TextField):
                text, placeholder = self.targets.typed.get(field.name, ""), hint(field.default, field.example)
                yield DialogField(field.label, Prompt(value=text, placeholder=placeholder, id=field.name))
            else:
                labels = tuple(label for label, _ in field.options)
                yield DialogField(field.label, OptionCycler(labels, field.name, self.ascii))

    def _field(self, field: ChoiceField) -> DialogField:
        node = self.query_one(f"#{field.name}", OptionCycler).parent
        assert isinstance(node, DialogField)
        return node

    def _choices(self) -> dict[ChoiceField, int]:
        """The choices that are offered, and which option of each is chosen."""
        offered = (field for field in self.spec.fields if isinstance(field, ChoiceField) and self._field(field).display)
        return {field: self.query_one(f"#{field.name}", OptionCycler).at for field in offered}

    @work
    async def _learn_whether_served(self, field: ChoiceField) -> None:
        """By all clusters that are concerned: what one of them lacks is not offered."""
        assert field.served is not None
        try:
            served = [await serves_field(self.service.client(context), *field.served) for context in self.contexts]
        except ForetopError:
            served = [False]
        self._field(field).display = all(served)
        self._unserved = "" if all(served) else field.unserved
        self.replan()

    @property
    def is_impossible(self) -> bool:
        """True if no choice helps: what is refused with one may be possible with another."""
        return super().is_impossible and not any(map(self._is_possible, self._choices()))

    def _is_possible(self, field: ChoiceField) -> bool:
        """One of the options leads to a change."""
        flag = {field.served_as: True} if field.served_as else {}
        planners = (chosen(self.record.planner, **flag, **{field.name: value}) for _, value in field.options)
        try:
            return any(self.service.plan(self.record, planner, self.keys).plan.steps for planner in planners)
        except ForetopError:
            return True

    @property
    def confirm_label(self) -> str:
        text = next((field.options[index][0] for field, index in self._choices().items() if field.on_button), "")
        return text.title() or super().confirm_label

    def planner(self) -> Planner:
        values: dict[str, Any] = {"named_at": self.opened} if self.spec.names_objects else {}
        choices = self._choices()
        for field in self.spec.fields:
            if isinstance(field, TextField):
                values[field.name] = field.read(self.query_one(f"#{field.name}", Prompt).value)
                continue
            values[field.name] = field.options[choices.get(field, 0)][1]
            if field.served_as:
                values[field.served_as] = field in choices
        return chosen(self.record.planner, **values)

    def make_plan(self) -> TrackedPlan:
        """Each object is planned alone; what only all of them together lose is said once for all."""
        tracked = super().make_plan()
        if self.spec.together is None:
            return tracked
        warnings = (*self._lost_together(tracked.origins), *tracked.plan.warnings)
        return replace(tracked, plan=replace(tracked.plan, warnings=warnings))

    def _lost_together(self, keys: tuple[ObjectRef, ...]) -> tuple[str, ...]:
        """Worked out anew only where something has changed: it looks at all objects."""
        snapshots = tuple(self.service.snapshot(context) for context in self.contexts)
        last_look = self._lost
        if last_look is not None and last_look[1] == keys and all(map(is_, last_look[0], snapshots)):
            return last_look[2]
        assert self.spec.together is not None
        losses = []
        for snapshot in snapshots:
            items = [self.service.item(key) for key in keys if key.context == snapshot.context]
            losses.append(self.spec.together(snapshot, [item for item in items if item is not None]))
        self._lost = (snapshots, keys, tuple(filter(None, losses)))
        return self._lost[2]

    def warnings(self, plan: Plan) -> list[Paragraph]:
        """Adds what it comes to: where nothing is typed that it depends on, it is read first."""
        return [*super().warnings(plan), *(plan_text.proposal(plan) if self._is_question and plan.steps else [])]

    def _proposal(self, plan: Plan) -> list[Paragraph]:
        return [] if self._is_question and plan.steps else super()._proposal(plan)

    @property
    def _is_question(self) -> bool:
        return not any(isinstance(field, TextField) for field in self.spec.fields)

    def more(self) -> list[Paragraph]:
        """Until a plan tells it, how the object is now."""
        item = self.service.item(self.keys[0])
        paragraphs = [paragraph(self._unserved, Tone.DIM)] if self._unserved and not self.is_impossible else []
        if self.spec.current is None or self.planned is not None or len(self.keys) > 1 or item is None:
            return paragraphs
        return [*paragraphs, paragraph(self.spec.current(item, self.service.now(self.keys[0].context)), label="Now")]
