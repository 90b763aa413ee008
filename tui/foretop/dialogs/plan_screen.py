"""The screen of every action that writes: it asks, shows the plan as of now, sends it and tells the results.

Texts and fields come from the action's record. An action whose form needs more than they say has a class of its own,
which overrides `fields` (what can be chosen), `planner` (what the choices come to; it may raise BadInput, which is then
shown in the place of the plan) and what is said beside it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from datetime import datetime
from enum import Enum, auto
from typing import Any, ClassVar

from msgspec.structs import replace
from textual import on, work
from textual.binding import Binding, BindingType
from textual.timer import Timer
from textual.widgets import Input

from foretop.dialogs import plan_text
from foretop.dialogs.action_targets import ActionTargets
from foretop.dialogs.dialog_frame import DialogFrame, DialogText
from foretop.dialogs.dialog_parts import NO_TABLE, DialogField, OptionCycler, RadioList
from foretop.dialogs.plan_run import PlanRun
from foretop.terminal.clipboard import copy
from foretop.widgets.paragraphs import Paragraph, paragraph
from foretop.widgets.prompt import Prompt
from foretop_core.actions.action_record import ActionRecord, AskedOf, ChoiceField, Field, TextField
from foretop_core.actions.plan_executor import Outcome, Result
from foretop_core.actions.plans import Plan, Planner, PlanStep, chosen
from foretop_core.actions.unwatched_reads import serves_field
from foretop_core.dashboard.action_service import ActionService, TrackedPlan
from foretop_core.dashboard.plan_table import PlanTable
from foretop_core.errors import ForetopError
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.rules.own_failures import failure_line
from foretop_core.rules.sentences import render
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.tables.engine.drawings import Piece, line
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.resources.findings import subject_and_what, subject_text
from foretop_core.tables.text.terminal_text import cut, cut_end, unsigned, width

NOT_DONE = "Nothing was changed"
_LONGEST_TYPED, _END_TYPED = 36, 6
_OTHER_KNOB = 16
"""What the knob that cancels takes beside it, and the brackets and the gap."""
_SHORTEST_NAME = 8
_TYPING_PAUSE = 0.3
"""Seconds without a key after which the plan is made again."""
_REST = 9
"""So many times as long as a plan took it is not made again: of many objects, keys would wait for it all the time."""
_BRIEF = 2.5
"""Seconds for a toast of three words."""
_QUOTED = re.compile("'([^']+)'")
"""What an error says of a field: the words that were typed there."""
_BAR = 20
_FEW = 3
_ASKED_AGAIN = frozenset({Outcome.CHANGED, Outcome.FAILED, Outcome.NOT_SENT})
"""After these the form of a single object is there again, with what was typed."""


class DialogState(Enum):
    ASKING = auto()
    SENDING = auto()
    DONE = auto()


class PlanScreen(DialogFrame):
    """The form of an action, its plan, and two buttons; plans again when its cluster or the minute is another one."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("c", "copy", show=False)]
    actions: ClassVar[tuple[str, ...]] = ()
    """The ids of the records that it is for, and nothing else is."""

    def __init__(self, service: ActionService, record: ActionRecord, targets: ActionTargets) -> None:
        super().__init__()
        assert record.dialog is not None
        self.spec = record.dialog
        self.service = service
        self.record = record
        self.targets = targets
        self.dialog_state = DialogState.ASKING
        self.planned: TrackedPlan | None = None
        self.opened = self.now
        """The moment that the names of new objects tell: what is shown, and may have been copied, is what is made."""
        self.plan_run: PlanRun | None = None
        self._planned_at = self.opened
        """The moment of the table, which stays while a field is wrong."""
        self.problem = ""
        self.waits_for = ""
        """What must be known before anything can be planned; "" where nothing is missing."""
        self._refusal = ""
        self._protections = service.protections(self.contexts)
        """As they were shown last: a name that is to be typed from now on has not been typed yet."""
        self._asked_rights = False
        self._typing: Timer | None = None
        """Runs out when typing has paused."""
        self._basis: object = None
        """What the plan was made of, beside the fields."""
        self._rests_until = 0.0
        self._is_formless = False
        self._news: list[Paragraph] = []
        self._uids: dict[ObjectRef, str] = {}
        """Of the objects that the dialog is about, as they were shown last."""
        self._unserved = ""
        """Why a choice is not offered."""

    @property
    def is_asking(self) -> bool:
        return self.dialog_state is DialogState.ASKING

    @property
    def keys(self) -> tuple[ObjectRef, ...]:
        return self.targets.keys

    @property
    def context(self) -> str:
        """The cluster; of several the first."""
        return self.keys[0].context

    @property
    def contexts(self) -> list[str]:
        return list(dict.fromkeys(key.context for key in self.keys))

    @property
    def now(self) -> datetime:
        return self.service.now(self.context)

    @property
    def snapshot(self) -> ClusterSnapshot:
        return self.service.snapshot(self.context)

    @property
    def plan(self) -> Plan | None:
        return self.planned.plan if self.planned is not None else None

    @property
    def steps(self) -> tuple[PlanStep, ...]:
        return self.planned.plan.steps if self.planned is not None else ()

    # What the dialogs differ in

    def fields(self) -> Iterable[Field | tuple[Field, Field] | RadioList]:
        for field in self.spec.fields:
            begun = self.targets.typed.get(field.name, "")
            yield replace(field, value=begun) if begun and isinstance(field, TextField) else field

    def planner(self) -> Planner:
        """The planner of what is asked for, as it stands in the dialog now."""
        values, others = self.values(), self._others()
        values |= {name: others[name] for name in self.spec.takes}
        offered = self._choices()
        for field in self.spec.fields:
            if isinstance(field, ChoiceField) and field.served_as:
                values[field.served_as] = field in offered
                values[field.name] = values[field.name] if field in offered else field.options[0][1]
        return chosen(self._planner, **values)

    @property
    def _planner(self) -> Callable[..., Plan]:
        return self.spec.planner or self.record.planner

    def _others(self) -> dict[str, Any]:
        """The values that are no fields, by the names under which a planner takes them."""
        users = {context: self.service.user(context) for context in self.contexts}
        others = {"findings": self.targets.findings, "users": users, "shifts": self.service.shifts}
        return {"named_at": self.opened, **others}

    def make_plan(self) -> TrackedPlan:
        """Each object is planned alone; what only all of them together lose is said once for all."""
        planner = self.planner()
        if self.record.asked_of in (AskedOf.NEW, AskedOf.FINDING):
            return self.service.plan_beside(self.record, planner, self.contexts)
        tracked = self.service.plan(self.record, planner, self.keys)
        if (together := self.spec.together) is None:
            return tracked
        losses = []
        for snapshot in map(self.service.snapshot, self.contexts):
            items = (self.service.item(key) for key in tracked.origins if key.context == snapshot.context)
            losses.append(together(snapshot, [item for item in items if item is not None]))
        warnings = (*filter(None, losses), *tracked.plan.warnings)
        return replace(tracked, plan=replace(tracked.plan, warnings=warnings))

    async def refusal(self, plan: Plan) -> str:
        """Which right is missing for it, in a sentence; empty where none is."""
        return await self.service.refusal(plan)

    @property
    def is_impossible(self) -> bool:
        """True if nothing of it can be done, whatever is chosen: there is a reason to read, and nothing to fill in."""
        if self.steps or self.plan is None or not self.plan.refused or self.spec.another_choice_helps:
            return False
        # A form that takes more than fields is refused for what it is asked of.
        is_own = bool(self.actions or self.spec.planner)
        return is_own or not any(map(self._is_possible, self._choices()))

    def _choices(self) -> list[ChoiceField]:
        """The choices that are offered."""
        fields = (node.field for node in self._fields.walk_children(DialogField) if node.display)
        return [field for field in fields if isinstance(field, ChoiceField)]

    def _is_possible(self, field: ChoiceField) -> bool:
        """One of the options leads to a change."""
        flag = {field.served_as: True} if field.served_as else {}
        planners = (chosen(self._planner, **flag, **{field.name: value}) for _, value in field.options)
        try:
            return any(self.service.plan(self.record, planner, self.keys).plan.steps for planner in planners)
        except ForetopError:
            return True

    @property
    def title_line(self) -> str:
        """The title: what is done to a name, or to how many."""
        headline, findings = self.spec.headline, self.targets.findings
        if findings:
            what = subject_text(findings[0]) if len(findings) == 1 else humanize.count(len(findings), self.spec.noun)
            return cut_end(unsigned(headline.format(what)), self.cells)
        if len(self.keys) == 1:
            return plan_text.title(headline, self.keys[0].name, self.cells)
        return (self.spec.titles[1] or headline).format(humanize.count(self._number, self.spec.noun))

    @property
    def _number(self) -> int:
        """To how many of the chosen objects it is done; title, button and what is to be typed agree on it."""
        return len(set(self.planned.origins) if self.planned is not None else ()) or len(self.keys)

    @property
    def confirm_label(self) -> str:
        """The label of the button with the choices as they stand, as far as there is room."""
        for field in self._choices():
            if field.on_button:
                return field.options[self.cycler(field.name).at][0].title()
        single, several = self.spec.titles
        if not single:
            return self.spec.verb
        if len(self.keys) > 1:
            counted = several.format(humanize.count(self._number, self.spec.noun))
            return counted if width(counted) <= self._knob_room else self.spec.verb
        return self.named_label(single, self.keys[0].name)

    def named_label(self, label: str, name: str) -> str:
        """A label of the knob with a name in it, which loses its middle; without it where there is no room."""
        room = self._knob_room - width(label.format(""))
        return label.format(cut(unsigned(name), room)) if room >= _SHORTEST_NAME else self.spec.verb

    @property
    def _knob_room(self) -> int:
        """How wide the text of the knob that sends can be."""
        return self.query_one(".knobs").size.width - _OTHER_KNOB

    def more(self) -> list[Paragraph]:
        """The sentences before the plan: the first few findings, and how the object is now, until a plan tells it."""
        paragraphs = [paragraph(self._unserved, Tone.DIM)] if self._unserved and not self.is_impossible else []
        if findings := self.targets.findings:
            lines = [
                subject_and_what(finding, render(finding.what, self.service.now(finding.context)))
                for finding in findings[:_FEW]
            ]
            lines += [f"and {len(findings) - _FEW} more"] if len(findings) > _FEW else []
            paragraphs += plan_text.listed("Finding", lines)
        item = self.service.item(self.keys[0])
        if self.spec.current is not None and self.planned is None and len(self.keys) == 1 and item is not None:
            paragraphs.append(paragraph(self.spec.current(item, self.now), label="Now"))
        return paragraphs

    def warnings(self, plan: Plan) -> list[Paragraph]:
        """Adds what it comes to, where nothing is typed that it depends on: it is read first then."""
        return [*plan_text.warnings(plan, self.targets), *(plan_text.proposal(plan) if self._leads(plan) else [])]

    def proposal(self, plan: Plan) -> list[Paragraph]:
        return [] if self._leads(plan) else plan_text.proposal(plan)

    def _leads(self, plan: Plan) -> bool:
        is_form = bool(self.actions or self.targets.findings)
        return bool(plan.steps) and not is_form and not any(isinstance(field, TextField) for field in self.spec.fields)

    def consequence(self, plan: Plan, table: PlanTable) -> Sequence[Piece]:
        """One sentence with the consequence in numbers."""
        if table.sentence or not table.rows:
            return table.sentence
        return (Piece(f"{humanize.count(len(plan.steps), self.spec.noun)}.", Tone.BRIGHT),)

    def table(self, plan: Plan) -> PlanTable:
        return plan_text.table(plan, self.service.queue_line)

    def writes(self, plan: Plan) -> str:
        """All that is written, in one line."""
        return plan_text.written_by(plan.steps)

    # Asking

    def on_mount(self) -> None:
        self._ask_for_names()
        if "users" in self.spec.takes:
            self.learn_users()
        for field in self.spec.fields:
            if isinstance(field, ChoiceField) and field.served is not None:
                self._field(field).display = False
                self._learn_whether_served(field)
        self.replan()

    def _field(self, field: ChoiceField) -> DialogField:
        return next(node for node in self._fields.walk_children(DialogField) if node.field is field)

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

    def learn_users(self) -> None:
        """Asks who acts, which is written: nothing is shown to be written before that is known."""
        if not all(map(self.service.knows_user, self.contexts)):
            self.waits_for = "Asking the cluster who you are…"
            self._ask_who()

    @work
    async def _ask_who(self) -> None:
        try:
            await asyncio.gather(*map(self.service.learn_user, self.contexts))
        finally:
            self.waits_for = ""
        self.replan()

    def pulse(self) -> None:
        """Makes the plan again when its cluster or the minute is another one, and not while somebody types."""
        if self._basis is None or self._typing is not None or self._basis == self.service.basis(self.contexts):
            return
        loop = asyncio.get_running_loop()
        if loop.time() >= self._rests_until:
            begun = loop.time()
            self.replan()
            self._rests_until = loop.time() + _REST * (loop.time() - begun)

    @on(Input.Changed)
    def _typed_on(self, event: Input.Changed) -> None:
        """The plan is made again when typing pauses: typing does not wait for it, however many objects there are."""
        if event.input is self._confirm:
            self.show_knobs()
            return
        if self._typing is not None:
            self._typing.stop()
        self._typing = self.set_timer(_TYPING_PAUSE, self.replan)

    def _catch_up(self) -> None:
        """Makes the plan of what was typed last, before anything is done with it."""
        if self._typing is not None:
            self.replan()

    def _ask_for_names(self) -> None:
        """In production the name of the context; of what is dangerous its name, or of several how many.

        Of a name that nobody can type it is the end.
        """
        names, hints = list(self._production), []
        if names:
            in_doubt = all(protection.in_doubt for protection in self._protections if protection.name)
            hints.append("as in production" if in_doubt else "production")
        is_counted = self.record.dangerous and len(self.keys) > 1
        if self.record.dangerous and not is_counted:
            names.append(self.keys[0].name)
        ends = [name if len(name) <= _LONGEST_TYPED else name[-_END_TYPED:] for name in names]
        if is_counted:
            hints.append("the number of objects")
        elif ends != names:
            hints.append("the end of its name")
        self.wanted = " ".join((*ends, str(self._number)) if is_counted else ends)
        self.wanted_is = f" ({', '.join(hints)})" if hints else ""

    @property
    def _production(self) -> tuple[str, ...]:
        """The names that are asked for as in production."""
        return tuple(dict.fromkeys(protection.name for protection in self._protections if protection.name))

    @property
    def confirmed_service(self) -> ActionService:
        """Acts by what was typed."""
        return self.service.with_confirmed(self._production)

    @on(RadioList.Chosen)
    @on(OptionCycler.Turned)
    def replan(self) -> None:
        """Shows what would happen now, not what would have happened when the dialog was opened."""
        if self._typing is not None:
            self._typing.stop()
            self._typing = None
        self._basis = self.service.basis(self.contexts)
        if self.dialog_state is DialogState.DONE and (self.service.undone or self.service.unwatched):
            self.draw()
        if not self.is_asking:
            return
        self._notice_namesakes()
        before, self._protections = self._production, self.service.protections(self.contexts)
        try:
            self.planned = None if self.waits_for else self.make_plan()
            self.problem, self._planned_at = "", self.now
        except ForetopError as problem:
            self.planned, self.problem = None, str(problem)
        self._ask_for_names()
        if self._production != before:
            # A cluster that is production since the dialog was opened wants its name as well.
            self.show_fields(True)
            self.forget_what_was_typed()
        if self.plan is not None and self.steps and not self._asked_rights:
            self._asked_rights = True
            self._ask_rights(self.plan)
        if self._is_to_read != self._is_formless:
            self._is_formless = self._is_to_read
            self.show_fields(True)
            self.start()
        self.draw()

    def _notice_namesakes(self) -> None:
        """An object that was deleted and created again is another one than was looked at: nothing is agreed to yet."""
        items = ((key, self.service.item(key)) for key in self.keys)
        uids = {key: item.metadata.uid for key, item in items if item is not None}
        again = [key for key, uid in uids.items() if self._uids.get(key, uid) != uid]
        self._uids |= uids
        if again:
            self._news = [plan_text.look(f"{key} was deleted and created again in the meantime.") for key in again]
            self.forget_what_was_typed()

    @property
    def is_read_only(self) -> bool:
        return self.service.is_read_only(self.contexts)

    @property
    def _is_to_read(self) -> bool:
        """True if nothing can be sent from here, so that there is nothing to fill in and no button but the one out."""
        return self.is_read_only or self.is_impossible

    def show_fields(self, shown: bool) -> None:
        super().show_fields(shown and not self._is_to_read)

    @work(exclusive=True, group="rights")
    async def _ask_rights(self, plan: Plan) -> None:
        """A right that is missing is named before anything is sent."""
        try:
            self._refusal = await self.refusal(plan)
        except Exception as problem:
            self._refusal = failure_line(problem)
            raise
        finally:
            self.draw()

    def draw(self) -> None:
        """While it is sent, what was agreed to stays as it was."""
        match self.dialog_state:
            case DialogState.ASKING:
                self.say(self._asked())
            case DialogState.SENDING:
                self.say(self.under_way())
            case DialogState.DONE:
                self.say(self.result())
        self.show_knobs()

    def page_of(self, **parts: Any) -> DialogText:
        """The text under the title."""
        return DialogText(self.title_line, plan_text.place(self.keys, self.cells), **parts)

    def _asked(self) -> DialogText:
        plan = self.plan
        table = self.table(plan) if plan is not None else NO_TABLE
        if plan is None and self.problem:
            table = self._text.table  # Nothing moves under who is typing.
        copies = not isinstance(self.focused, Prompt)
        writes = plan_text.written_lines(self.writes(plan), self.cells, copies=copies) if plan is not None else ()
        return self.page_of(
            lead=tuple(self._against(plan, table)), table=table, said=tuple(self._body()), writes=tuple(writes)
        )

    def _against(self, plan: Plan | None, table: PlanTable) -> Iterator[Paragraph]:
        """Yields what speaks against it, then what it comes to in numbers."""
        yield from self._news
        for protection in self._protections:
            if self.is_read_only and protection.read_only:
                yield paragraph(f"Read-only, nothing is sent: {protection.read_only}.", Tone.WARN)
        for protection in self._protections:
            if protection.production and protection.production != f"{protection.name} is marked production":
                word = "As in production" if protection.in_doubt else "Production"
                yield paragraph(f"{word}: {protection.production}.", Tone.WARN)
        if not self.is_read_only:
            yield from (paragraph(text, Tone.BAD) for text in (self.problem, self._refusal) if text)
        if plan is not None:
            yield from self.warnings(plan)
            skipped = [Piece(f" {text}", Tone.DIM) for text in plan_text.skipped(self.targets)]
            if sentence := (*self.consequence(plan, table), *skipped):
                yield plan_text.sentence(sentence)

    def _body(self) -> Iterator[Paragraph]:
        """Yields what is said between the table and what is written."""
        yield from self.more()
        if self.waits_for:
            yield paragraph(self.waits_for, Tone.DIM)
        if self.planned is not None:
            yield from self.proposal(self.planned.plan)
        elif self.problem and self._text.table.rows:
            as_of = humanize.time(self._planned_at, self.now)
            yield paragraph(f"The table is as of {as_of}; it goes on once the error is corrected.", Tone.DIM)

    def under_way(self) -> DialogText:
        """The same as before, and how many of the writes were sent."""
        done, of = len(self.plan_run.told) if self.plan_run is not None else 0, len(self.steps)
        drawn = line(1000 * done // max(1, of), _BAR, Tone.RUNNING, ascii=getattr(self.app, "is_ascii", False))
        sending = plan_text.sentence((Piece(f"{done} of {of}  ", Tone.BRIGHT), *drawn), "Sending")
        return replace(self._text, writes=(sending,))

    def result(self) -> DialogText:
        table = plan_text.outcome_table(self.reports(), self.cells)
        return self.page_of(lead=tuple(self.outcome()), table=table)

    def outcome(self) -> Iterator[Paragraph]:
        """Tells what became of it, and which objects nobody watches for being put back."""
        if self.plan_run is not None:
            yield from plan_text.outcome(self.reports())
            if self.plan_run.problem:
                yield paragraph(self.plan_run.problem, Tone.BAD)
            for report in self.plan_run.told:
                target = report.result.step.target
                if why := self.service.unwatched.get(target):
                    yield plan_text.look(f"{target.name}: not watched for who undoes it. {why}.")

    def reports(self) -> list[plan_text.StepReport]:
        """The reports as they are now: what somebody put back is not done any more."""
        reports = []
        for report in self.plan_run.told if self.plan_run is not None else ():
            undone, text = self.service.undone.get(report.result.step.target), ""
            if undone is not None:
                now = self.service.now(undone.target.context)
                text = f"{undone.brief} at {humanize.time(undone.at, now, self.service.zone)}"
            reports.append(replace(report, undone=text))
        return reports

    def show_notice(self, text: str) -> bool:
        """Not what the result says already: that is for the list of messages."""
        if self.plan_run is None:
            return super().show_notice(text)
        undone = (self.service.undone.get(report.result.step.target) for report in self.plan_run.told)
        is_told = any(change is not None and change.brief in text for change in undone)
        return is_told or text == unsigned(self.plan_run.summary) or super().show_notice(text)

    def show_knobs(self) -> None:
        if self.is_asking:
            self.cancel.say("Close" if self._is_to_read else "Cancel")
            self.go.display = not self._is_to_read
            self.go.say(self.confirm_label, dead=bool(self._why_not()))
        else:
            self.cancel.say("Close")
            is_done, run = self.dialog_state is DialogState.DONE, self.plan_run
            self.go.display = is_done and run is not None and bool(run.rest)
            self.go.say("Repeat for the rest")

    def _why_not(self) -> str:
        """Why the knob does nothing just now."""
        if self.is_read_only:
            return "Not sent: read-only is on"
        if self.waits_for:
            return self.waits_for
        if self.problem or self._refusal:
            return "Not sent; see the error above"
        if not self.steps:
            return "Nothing to send"
        return "" if self.is_confirmed else self.unconfirmed

    def on_descendant_focus(self) -> None:
        """Draws again: where one types, c is a letter. Who leaves a field has typed it."""
        self._catch_up()
        self.draw()

    def action_copy(self) -> None:
        if self.plan is not None and self.steps:
            copy(self.app, plan_text.commands(self.plan))

    def action_press(self) -> None:
        """Does what the button with the focus says."""
        self._catch_up()
        if self.focused is self.cancel:
            self.action_leave()
        elif self.dialog_state is DialogState.DONE:
            self.press_again()
        elif self.is_asking:
            if why := self._why_not():
                self.app.notify(why, severity="warning")
                if (wrong := self._wrong_field()) is not None:
                    wrong.focus()
            elif self.planned is not None and (work := self.send(self.planned)) is not None:
                self.app.run_worker(work)

    def why_stay(self) -> str:
        self._catch_up()
        wrong = self._wrong_field()
        is_here = wrong is not None and wrong is self.focused
        return "Correct this field first; see the error above" if is_here else ""

    def _wrong_field(self) -> Prompt | None:
        """The field with the words that the error quotes, before one that has them among others."""
        quoted = _QUOTED.findall(self.problem)
        fields = [stop for stop in self._stops() if isinstance(stop, Prompt)]
        whole = [field for field in fields if field.value.strip() in quoted]
        among = [field for field in fields if any(words in field.value for words in quoted)]
        return next(iter(whole + among), None)

    def press_again(self) -> None:
        """Does what the button says once all was tried."""
        if self.plan_run is not None:
            self._ask_again(self.plan_run.rest, [report.result for report in self.plan_run.told])

    def action_leave(self) -> None:
        """Leaves; what is under way goes on, and is told in a toast. Where nothing is, that is told too."""
        if self.plan_run is not None:
            self.plan_run.listener = None
        super().action_leave()
        if self.is_asking:
            self.app.notify(NOT_DONE if self.plan_run is None else "Nothing more was changed", timeout=_BRIEF)

    def propose(self, **texts: str) -> None:
        """Fills in what was tried elsewhere."""
        for name, text in texts.items():
            self.query_one(f"#{name}", Prompt).value = text
        self.replan()

    # Sending, and afterwards

    def send(self, planned: TrackedPlan) -> Coroutine[Any, Any, None] | None:
        """The work of sending it, which goes on when the dialog is closed; None where nothing is to be sent."""
        notify: Callable[[str], None] = self.app.notify
        self.dialog_state = DialogState.SENDING
        self.plan_run = PlanRun(self.confirmed_service, planned, self.planner(), lambda run: notify(run.summary))
        self.plan_run.listener = self._moved
        self._fields.disabled = True
        self.cancel.focus()
        self.draw()
        return self.plan_run.run()

    def _moved(self) -> None:
        if self.plan_run is not None and self.plan_run.is_sent and self.dialog_state is DialogState.SENDING:
            self._settle(self.plan_run)
        else:
            self.draw()

    def _settle(self, plan_run: PlanRun) -> None:
        """All was tried: tell it, or ask again where it came to something else than was agreed to."""
        results = [report.result for report in plan_run.told]
        if not all(report.is_done for report in plan_run.told):
            self.app.notify(plan_run.summary, severity="warning")
        if not results:
            self._ask_again(self.keys, [])
            self._refusal = plan_run.problem
            self.draw()
        elif len(results) == 1 and results[0].outcome in _ASKED_AGAIN:
            self._ask_again(self.keys, results)
        else:
            self.dialog_state = DialogState.DONE
            self.show_fields(False)
            self.draw()

    def _ask_again(self, keys: tuple[ObjectRef, ...], results: list[Result]) -> None:
        """With what has changed, and with nothing agreed to."""
        self._news = [line for result in results for line in plan_text.asked_again(result)]
        self.targets = replace(self.targets, keys=keys, hidden=0, skipped=())
        self.dialog_state = DialogState.ASKING
        self._asked_rights = False
        self._fields.disabled = False
        self.show_fields(True)
        self.forget_what_was_typed()
        self.replan()
