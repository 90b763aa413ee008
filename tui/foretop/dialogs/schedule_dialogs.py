"""Creating a schedule and editing one: a form, and the person's own editor for the rest of a spec."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from msgspec.structs import replace
from textual import work
from textual.app import SuspendNotSupported
from textual.binding import Binding, BindingType

from foretop.dialogs import plan_text
from foretop.dialogs.action_targets import ActionTargets
from foretop.dialogs.plan_screen import PlanScreen
from foretop.panes.next_volumes_section import volume_paragraphs
from foretop.terminal.editor import create_draft, run_editor
from foretop.terminal.job_control import plain_terminal
from foretop.widgets.paragraphs import Paragraph, paragraph
from foretop_core.actions.action_record import ActionRecord, ChoiceField, Field, TextField
from foretop_core.actions.journal import default_path
from foretop_core.actions.planners.schedule_edits import (
    ScheduleEdit,
    merge_patch,
    merged,
    patch_from,
    plan_edit_schedule,
    texts_of,
)
from foretop_core.actions.planners.schedules import NewSchedule, check_expression, meaning, plan_create_schedules
from foretop_core.actions.plans import Planner, chosen
from foretop_core.actions.spec_editing import spec_as_text, spec_from_text
from foretop_core.actions.validation import comma_separated
from foretop_core.dashboard.action_service import ActionService
from foretop_core.errors import BadInput, ForetopError, Unreadable
from foretop_core.models import BackupSpec, Schedule, from_builtins
from foretop_core.models.wire import ObjectRef, as_json
from foretop_core.rules.cron_dialects import differences
from foretop_core.rules.facts.volume_facts import KINDS_OF_VOLUMES, described, next_volumes
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.tables.engine.status_glyphs import Tone

_SKIP = ("server default", "yes", "no")
_CRON, _TTL, _ALL = "30 2 * * *", "720h, Velero's default", "orders, ledger"


def _storage(snapshot: ClusterSnapshot, key: ObjectRef, name: str = "") -> ChoiceField:
    """The locations beside the schedule, and the one that it has."""
    places = [location.name for location in snapshot.storage if location.namespace == key.namespace]
    names = list(dict.fromkeys(("", *places, name)))
    options = tuple((place or "the default", place) for place in names)
    return ChoiceField("storage", "Storage", options, names.index(name))


def _skip(values: Iterable[Any], at: int = 0) -> ChoiceField:
    return ChoiceField("skip", "Skip immediately", tuple(zip(_SKIP, values, strict=True)), at)


class CreateScheduleDialog(PlanScreen):
    """Creates a schedule; the meaning of the expression and its next runs are shown while it is typed."""

    actions = ("create-schedule",)
    kinds_on_demand = KINDS_OF_VOLUMES

    def fields(self) -> Iterable[Field]:
        yield TextField("name", "Name", "orders-nightly")
        yield TextField("cron", "Cron", _CRON)
        yield TextField("namespaces", "Namespaces", _ALL, comma_separated, "all")
        yield TextField("ttl", "Kept for (TTL)", default=_TTL)
        yield _storage(self.snapshot, self.keys[0])
        yield _skip((None, True, False))
        yield ChoiceField("paused", "Paused", (("no", False), ("yes", True)))

    def planner(self) -> Planner:
        schedule = self._described()
        return lambda snapshot, _items, now: plan_create_schedules(snapshot, [schedule], now)

    def _described(self) -> NewSchedule:
        values = self.values()
        for name, what in (("name", "A schedule needs a name"), ("cron", "A schedule needs a cron expression")):
            if not values[name]:
                raise BadInput(what)
        template = BackupSpec(
            included_namespaces=values["namespaces"], ttl=values["ttl"], storage_location=values["storage"]
        )
        return NewSchedule(
            self.keys[0].namespace,
            values["name"],
            values["cron"],
            template,
            paused=values["paused"],
            skip_immediately=values["skip"],
        )

    def more(self) -> list[Paragraph]:
        """The meaning of what is typed, before the rest of it is right; then what becomes of the volumes."""
        if self.planned is not None:
            new = self._described()
            made = described(new.namespace, new.name, new.template)
            return volume_paragraphs(next_volumes(self.snapshot, made))
        text = self.typed("cron")
        if not text:
            return [paragraph("A five-field expression, @daily or @every 6h.", Tone.DIM)]
        candidates = self.snapshot.verdict(self.keys[0].namespace).candidates
        try:
            read = check_expression(text, candidates)
        except BadInput as problem:
            return [] if str(problem) == self.problem else [paragraph(str(problem), Tone.BAD)]
        doubt = differences(text, candidates)
        lines = plan_text.listed("Means", meaning(read, self.now))
        return [*lines, paragraph(doubt, Tone.WARN)] if doubt else lines


class EditScheduleDialog(PlanScreen):
    """Only what a person has changed is sent: what someone else changes meanwhile in another field stays."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("f4", "open_editor", show=False)]
    actions = ("edit-schedule",)
    kinds_on_demand = KINDS_OF_VOLUMES

    def __init__(self, service: ActionService, record: ActionRecord, targets: ActionTargets) -> None:
        super().__init__(service, record, targets)
        item = service.item(self.keys[0])
        self._opened: dict[str, Any] = as_json(item.spec) if isinstance(item, Schedule) else {}
        """The spec that was shown first, to which the edited one is compared."""
        self._edited = self._opened
        """The spec that the form was filled from."""
        self._uid = item.metadata.uid if item is not None else ""
        self._draft: Path | None = None
        self._broken: ForetopError | None = None
        """Why the text in the draft cannot be used; the draft is kept then."""

    def fields(self) -> Iterable[Field]:
        texts = texts_of(self._edited)
        yield TextField("schedule", "Cron", _CRON, value=texts["schedule"])
        yield TextField("ttl", "Kept for (TTL)", default=_TTL, value=texts["ttl"])
        yield TextField("included", "Namespaces", _ALL, default="all", value=texts["included"])
        yield TextField("excluded", "Except", "kube-system", default="none", value=texts["excluded"])
        yield _storage(self.snapshot, self.keys[0], texts["storage"])
        values = ("", "true", "false")
        yield _skip(values, values.index(texts["skip"]))

    def planner(self) -> Planner:
        if self._broken is not None:
            raise self._broken
        return self._edit_to(self._edited_spec())

    def _edit_to(self, spec: Mapping[str, Any]) -> Planner:
        edit = ScheduleEdit(merge_patch(self._opened, spec), self._opened, self._uid)
        return chosen(plan_edit_schedule, edit=edit)

    def more(self) -> list[Paragraph]:
        """Tells what becomes of the volumes with the template as it stands here."""
        item = self.service.item(self.keys[0])
        if self.planned is None or not isinstance(item, Schedule):
            return []
        try:
            edited = replace(item, spec=from_builtins(Schedule, {"spec": self._edited_spec()}).spec)
        except Unreadable:
            return []
        return volume_paragraphs(next_volumes(self.snapshot, edited))

    def _edited_spec(self) -> dict[str, Any]:
        filled = texts_of(self._edited)
        changed = {name: text for name, text in self.values().items() if text != filled[name]}
        return merged(self._edited, patch_from(changed))

    def _ways(self) -> tuple[str, ...]:
        return ("f4 editor", *super()._ways()) if self.is_asking else super()._ways()

    # The editor

    @work(exclusive=True, group="editor")
    async def action_open_editor(self) -> None:
        """The whole spec as the server has it now, with what was changed so far; what was broken as it was left."""
        if not self.is_asking:
            return
        try:
            if self._broken is None:
                await self._look_again()
            self._edit()
        except SuspendNotSupported:
            self.app.notify("This terminal cannot suspend the screen: use foretop schedule edit NAME --editor")
        except ForetopError as problem:
            self.app.notify(str(problem), severity="error")
        self.replan()

    async def _look_again(self) -> None:
        body = await self.service.source.fetch_object(self.keys[0])
        changed = merge_patch(self._opened, self._edited_spec())
        self._opened = dict(body.get("spec") or {})
        self._uid = str(body["metadata"].get("uid", ""))
        self._edited = merged(self._opened, changed)
        self.fill(self.fields())

    def _edit(self) -> None:
        before = ""
        if self._draft is None or self._broken is None:
            self._remove_draft()
            before = spec_as_text(self.keys[0], self._edited)
            folder = default_path(os.environ).parent / "edits"
            self._draft = create_draft(folder, self.keys[0].name, before)
        with plain_terminal(self.app):
            text = run_editor(self._draft, os.environ)
        self.app.refresh()
        if text != before:
            self._take(text, self._draft)

    def _take(self, text: str, draft: Path) -> None:
        """Takes what was saved, unless it is broken; an empty file changes nothing."""
        self._broken = None
        try:
            spec = spec_from_text(text, str(draft), self._opened)
            if spec is not None:
                self.service.plan(self.record, self._edit_to(spec), self.keys)
        except ForetopError as problem:
            named = str(problem) if str(draft) in str(problem) else f"{draft}: {problem}"
            self._broken = BadInput(named, "", "f4 opens it again")
            return
        if spec is not None:
            self._edited = spec
            self.fill(self.fields())

    def on_unmount(self) -> None:
        """A text that could not be used, or whose change was not made, stays where it is."""
        if self._draft is None:
            return
        run = self.plan_run
        made = run is None or (run.is_sent and all(report.is_done for report in run.told))
        if self._broken is not None or not made:
            self.app.notify(f"The edited text is in {self._draft}")
        else:
            self._remove_draft()

    def _remove_draft(self) -> None:
        if self._draft is not None:
            self._draft.unlink(missing_ok=True)
            self._draft = None
