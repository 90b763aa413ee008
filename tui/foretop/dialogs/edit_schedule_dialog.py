"""Editing a schedule: a form with the present values, and the person's own editor for the rest of the spec."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

from msgspec.structs import replace
from textual import work
from textual.app import SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.widget import Widget

from foretop.dialogs.action_dialog import ActionDialog, DialogState
from foretop.dialogs.action_targets import ActionTargets
from foretop.dialogs.dialog_parts import DialogField, OptionCycler
from foretop.panes.next_volumes_section import volume_paragraphs
from foretop.terminal.editor import create_draft, run_editor
from foretop.terminal.job_control import plain_terminal
from foretop.widgets.paragraphs import Paragraph
from foretop.widgets.prompt import Prompt, hint
from foretop_core.actions.action_record import ActionRecord
from foretop_core.actions.journal import default_path
from foretop_core.actions.plan_executor import Outcome
from foretop_core.actions.planners.schedule_edits import (
    ScheduleEdit,
    merge_patch,
    merged,
    patch_from,
    plan_edit_schedule,
    texts_of,
)
from foretop_core.actions.plans import Planner
from foretop_core.actions.spec_editing import spec_as_text, spec_from_text
from foretop_core.dashboard.action_service import ActionService
from foretop_core.errors import BadInput, ForetopError, Unreadable
from foretop_core.models import Schedule, from_builtins
from foretop_core.models.wire import as_json
from foretop_core.rules.facts.volume_facts import KINDS_OF_VOLUMES, next_volumes

_SKIP = {"": "server default", "true": "yes", "false": "no"}
_DEFAULT_STORAGE = "the default"
_PROMPTS = (
    ("schedule", "Cron", hint(example="30 2 * * *")),
    ("ttl", "Kept for (TTL)", hint("720h, Velero's default")),
    ("included", "Namespaces", hint("all", "orders, ledger")),
    ("excluded", "Except", hint("none", "kube-system")),
)


class EditScheduleDialog(ActionDialog):
    """Only what a person has changed is sent: what someone else changes meanwhile in another field stays."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("f4", "open_editor", show=False)]
    verb = "Change"
    headline = "Edit {}"
    titles = ("Change {}", "Change {}")
    kinds_on_demand = KINDS_OF_VOLUMES

    def __init__(self, service: ActionService, record: ActionRecord, targets: ActionTargets, ascii: bool) -> None:
        super().__init__(service, record, targets, ascii)
        item = service.item(self.keys[0])
        self._opened: dict[str, Any] = as_json(item.spec) if isinstance(item, Schedule) else {}
        """The spec that was shown first, to which the edited one is compared."""
        self._edited = self._opened
        """The spec that the form was filled from."""
        self._uid = item.metadata.uid if item is not None else ""
        self._draft: Path | None = None
        self._broken: ForetopError | None = None
        """Why the text in the draft cannot be used; the draft is kept then."""

    def fields(self) -> Iterable[Widget]:
        texts = texts_of(self._edited)
        for name, label, placeholder in _PROMPTS:
            prompt = Prompt(placeholder=placeholder, id=name)
            prompt.value = texts[name]
            yield DialogField(label, prompt)
        snapshot, key = self.service.snapshot(self.keys[0].context), self.keys[0]
        places = [location.name for location in snapshot.storage if location.namespace == key.namespace]
        storage = OptionCycler((_DEFAULT_STORAGE, *places), "storage", self.ascii)
        storage.offer(texts["storage"] or _DEFAULT_STORAGE)
        skip = OptionCycler(tuple(_SKIP.values()), "skip", self.ascii)
        skip.offer(_SKIP[texts["skip"]])
        yield DialogField("Storage", storage)
        yield DialogField("Skip immediately", skip)

    def planner(self) -> Planner:
        if self._broken is not None:
            raise self._broken
        edit = ScheduleEdit(merge_patch(self._opened, self._wanted()), self._opened, self._uid)
        return lambda snapshot, items, now: plan_edit_schedule(snapshot, items, edit, now)

    def more(self) -> list[Paragraph]:
        """Tells what becomes of the volumes with the template as it stands here."""
        item = self.service.item(self.keys[0])
        if self.planned is None or not isinstance(item, Schedule):
            return []
        try:
            wanted = from_builtins(Schedule, {"spec": self._wanted()}).spec
        except Unreadable:
            return []
        edited = replace(item, spec=wanted)
        return volume_paragraphs(next_volumes(self.service.snapshot(self.keys[0].context), edited))

    def _wanted(self) -> dict[str, Any]:
        filled = texts_of(self._edited)
        changed = {name: text for name, text in self._typed().items() if text != filled[name]}
        return merged(self._edited, patch_from(changed))

    def _typed(self) -> dict[str, str]:
        texts = {name: self.query_one(f"#{name}", Prompt).value.strip() for name, *_ in _PROMPTS}
        storage, skip = self.query_one("#storage", OptionCycler).value, self.query_one("#skip", OptionCycler).value
        texts["storage"] = "" if storage == _DEFAULT_STORAGE else storage
        texts["skip"] = next(text for text, label in _SKIP.items() if label == skip)
        return texts

    def _ways(self) -> tuple[str, ...]:
        return ("f4 editor", *super()._ways()) if self.is_asking else super()._ways()

    def propose(self, schedule: str) -> None:
        """Fills in an expression that was tried elsewhere."""
        self.query_one("#schedule", Prompt).value = schedule
        self.replan()

    # The editor

    @work(exclusive=True, group="editor")
    async def action_open_editor(self) -> None:
        """The whole spec as the server has it now, with what was changed so far; what was broken as it was left."""
        if self.dialog_state is not DialogState.ASKING:
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
        changed = merge_patch(self._opened, self._wanted())
        self._opened = dict(body.get("spec") or {})
        self._uid = str(body["metadata"].get("uid", ""))
        self._edited = merged(self._opened, changed)
        self._fill()

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
                edit = ScheduleEdit(merge_patch(self._opened, spec), self._opened, self._uid)
                self.service.plan(
                    self.record, lambda snapshot, items, now: plan_edit_schedule(snapshot, items, edit, now), self.keys
                )
        except ForetopError as problem:
            named = str(problem) if str(draft) in str(problem) else f"{draft}: {problem}"
            self._broken = BadInput(named, "", "f4 opens it again")
            return
        if spec is not None:
            self._edited = spec
            self._fill()

    def _fill(self) -> None:
        texts = texts_of(self._edited)
        for name, *_ in _PROMPTS:
            self.query_one(f"#{name}", Prompt).value = texts[name]
        storage, skip = self.query_one("#storage", OptionCycler), self.query_one("#skip", OptionCycler)
        storage.offer(texts["storage"] or _DEFAULT_STORAGE)
        skip.offer(_SKIP[texts["skip"]])

    def on_unmount(self) -> None:
        """A text that could not be used, or whose change was not made, stays where it is."""
        if self._draft is None:
            return
        run = self.plan_run
        made = run is None or (run.is_sent and all(report.result.outcome is Outcome.DONE for report in run.told))
        if self._broken is not None or not made:
            self.app.notify(f"The edited text is in {self._draft}")
        else:
            self._remove_draft()

    def _remove_draft(self) -> None:
        if self._draft is not None:
            self._draft.unlink(missing_ok=True)
            self._draft = None
