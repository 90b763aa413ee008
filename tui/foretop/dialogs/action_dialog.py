"""The base of all dialogs that write: the plan is kept up to date while it is open, and results are shown in it.

A dialog is made for one record. It overrides `fields` (what can be chosen), `planner` (what the choices come to; it may
raise BadInput, which is then shown in the place of the plan) and perhaps `update_choices`. Everything else is here.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Coroutine, Iterator
from enum import Enum, auto
from typing import Any, ClassVar

from msgspec.structs import replace
from textual import on, work
from textual.app import App
from textual.binding import Binding, BindingType
from textual.timer import Timer
from textual.widgets import Input

from foretop.dialogs import plan_text
from foretop.dialogs.action_targets import ActionTargets
from foretop.dialogs.dialog_frame import DialogFrame, DialogText
from foretop.dialogs.dialog_parts import NO_TABLE, OptionCycler, RadioList
from foretop.dialogs.plan_run import PlanRun
from foretop.terminal.clipboard import copy
from foretop.widgets.paragraphs import Paragraph, paragraph
from foretop.widgets.prompt import Prompt
from foretop_core.actions.action_record import ActionRecord
from foretop_core.actions.plan_executor import Outcome, Result
from foretop_core.actions.plans import Plan, Planner
from foretop_core.dashboard.action_service import ActionService, TrackedPlan
from foretop_core.dashboard.plan_table import PlanTable
from foretop_core.errors import ForetopError
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.rules.own_failures import failure_line
from foretop_core.rules.undone import UndoneChange
from foretop_core.tables.engine.drawings import Piece, line
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.text.terminal_text import cut, unsigned, width

_LOOK = 1.0
"""Seconds between two looks whether the plan must be made again."""
NOT_DONE = "Nothing was changed"
NO_MORE = "Nothing more was changed"
_LONGEST_TYPED, _END_TYPED = 36, 6
_OTHER_KNOB = 16
"""What the knob that cancels takes beside it, and the brackets and the gap."""
_SHORTEST_NAME = 8
_TYPING_PAUSE = 0.3
"""Seconds without a key after which the plan is made again."""
_A_SECONDS_OBJECTS = 100
"""Objects whose plan can be made again every second; of more of them less often."""
_BRIEF = 2.5
"""Seconds for a toast of three words."""


_QUOTED = re.compile("'([^']+)'")
"""What an error says of a field: the words that were typed there."""
_BAR = 20
_ASKED_AGAIN = frozenset({Outcome.CHANGED, Outcome.FAILED, Outcome.NOT_SENT})
"""After these the form of a single object is there again, with what was typed."""


class DialogState(Enum):
    ASKING = auto()
    SENDING = auto()
    DONE = auto()


class ActionDialog(DialogFrame):
    """A dialog that asks, sends and shows the results; what someone else changed meanwhile is asked again."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("c", "copy", show=False)]
    headline: str = ""
    """What the title says; `{}` stands for the name, or for how many."""
    titles: tuple[str, str] = ("", "")
    """What the knob says of one, whose name `{}` stands for, and of several, where it stands for `2 schedules`."""
    noun: str = "schedule"
    """What several are counted as."""
    another_choice_helps: bool = False
    """Whether what is refused with these choices may be possible with others: the form stays then."""

    def __init__(self, service: ActionService, record: ActionRecord, targets: ActionTargets, ascii: bool) -> None:
        super().__init__(ascii)
        self.service = service
        self.record = record
        self.targets = targets
        self.dialog_state = DialogState.ASKING
        self.planned: TrackedPlan | None = None
        self.opened = service.now(targets.keys[0].context)
        """The moment that the names of new objects tell: what is shown, and may have been copied, is what is made."""
        self.plan_run: PlanRun | None = None
        self._planned_at = self.opened
        """The moment of the table, which stays while a field is wrong."""
        self.problem = ""
        self.waits_for = ""
        """What must be known before anything can be planned; "" where nothing is missing."""
        self._refusal = ""
        self._protections = service.protections([key.context for key in targets.keys])
        """As they were shown last: a name that is to be typed from now on has not been typed yet."""
        self._asked_rights = False
        self._typing: Timer | None = None
        """Runs out when typing has paused."""
        self._ticks = 0
        self._basis: object = None
        """What the plan was made of, beside the fields."""
        self._without_form = False
        self._news: list[Paragraph] = []
        self._uids: dict[ObjectRef, str] = {}
        """Of the objects that the dialog is about, as they were shown last."""

    @property
    def keys(self) -> tuple[ObjectRef, ...]:
        return self.targets.keys

    # What the dialogs differ in

    @abstractmethod
    def planner(self) -> Planner:
        """The planner of what is asked for, as it stands in the dialog now."""

    def make_plan(self) -> TrackedPlan:
        return self.service.plan(self.record, self.planner(), self.keys)

    def update_choices(self) -> None:
        """Brings the choices up to date."""

    def more(self) -> list[Paragraph]:
        """The sentences before the plan."""
        return []

    def is_worth_sending(self, plan: Plan) -> bool:
        """True if there is anything to do."""
        return bool(plan.steps)

    @property
    def is_read_only(self) -> bool:
        return self.service.is_read_only(self.contexts)

    @property
    def title_line(self) -> str:
        """The title: what is done to a name, or to how many."""
        if len(self.keys) == 1:
            return plan_text.title(self.headline, self.keys[0].name, self.cells)
        return (self.titles[1] or self.headline).format(humanize.count(self._number, self.noun))

    @property
    def _number(self) -> int:
        """To how many of the chosen objects it is done; title, button and what is to be typed agree on it."""
        taken = set(self.planned.origins) if self.planned is not None else set()
        return len(taken) or len(self.keys)

    @property
    def confirm_label(self) -> str:
        """The label of the button with the choices as they stand, as far as there is room."""
        single, several = self.titles
        if not single:
            return self.verb
        if len(self.keys) > 1:
            counted = several.format(humanize.count(self._number, self.noun))
            return counted if width(counted) <= self._knob_room else self.verb
        return self.named_label(single, self.keys[0].name)

    def named_label(self, label: str, name: str) -> str:
        """A label of the knob with a name in it, which loses its middle; without it where there is no room."""
        room = self._knob_room - width(label.format(""))
        return label.format(cut(unsigned(name), room)) if room >= _SHORTEST_NAME else self.verb

    @property
    def _knob_room(self) -> int:
        """How wide the text of the knob that sends can be."""
        return self.query_one(".knobs").size.width - _OTHER_KNOB

    # Asking

    def on_mount(self) -> None:
        self.set_interval(_LOOK, self._replan_when_moved)
        self.replan()

    def _replan_when_moved(self) -> None:
        """Makes the plan again when its cluster or the minute is another one, and not while somebody types."""
        self._ticks += 1
        is_turn = self._ticks % (1 + len(self.keys) // _A_SECONDS_OBJECTS) == 0
        if is_turn and self._typing is None and self._basis != self.service.basis(self.contexts):
            self.replan()

    @on(Input.Changed)
    def _typed_on(self) -> None:
        """The plan is made again when typing pauses: typing does not wait for it, however many objects there are."""
        if self._typing is not None:
            self._typing.stop()
        self._typing = self.set_timer(_TYPING_PAUSE, self.replan)

    def _catch_up(self) -> None:
        """Makes the plan of what was typed last, before anything is done with it."""
        if self._typing is not None:
            self.replan()

    @property
    def wanted(self) -> str:
        """In production the name of the context; of what is dangerous its name, or of several how many.

        Of a name that nobody can type it is the end.
        """
        return " ".join((*map(_typed, self._production), *([self._wanted_object] if self.record.dangerous else [])))

    @property
    def _production(self) -> tuple[str, ...]:
        """The names that are asked for as in production."""
        return tuple(dict.fromkeys(protection.name for protection in self._protections if protection.name))

    @property
    def _production_word(self) -> str:
        if not self._production:
            return ""
        return (
            "as in production"
            if all(protection.in_doubt for protection in self._protections if protection.name)
            else "production"
        )

    @property
    def confirmed_service(self) -> ActionService:
        """Acts by what was typed."""
        return self.service.with_confirmed(self._production)

    @property
    def _wanted_object(self) -> str:
        return str(self._number) if len(self.keys) > 1 else _typed(self.keys[0].name)

    @property
    def wanted_is(self) -> str:
        """Says what is to be typed, where it is not a name alone."""
        several = self.record.dangerous and len(self.keys) > 1
        names = (*self._production, *([self.keys[0].name] if self.record.dangerous else []))
        parts = [
            self._production_word,
            "the number of objects" if several else "",
            "the end of its name" if not several and any(name != _typed(name) for name in names) else "",
        ]
        hints = ", ".join(part for part in parts if part)
        return f" ({hints})" if hints else ""

    @property
    def contexts(self) -> list[str]:
        return list(dict.fromkeys(key.context for key in self.keys))

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
        if self.dialog_state is not DialogState.ASKING:
            return
        self._notice_namesakes()
        self._notice_protection()
        try:
            self.planned = None if self.waits_for else self.make_plan()
            self.problem, self._planned_at = "", self.service.now(self.keys[0].context)
        except ForetopError as problem:
            self.planned, self.problem = None, str(problem)
        if self.planned is not None and self.planned.plan.steps and not self._asked_rights:
            self._asked_rights = True
            self._ask_rights(self.planned)
        self._show_form()
        self.update_choices()
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

    def _notice_protection(self) -> None:
        """A cluster that is production since the dialog was opened wants its name as well."""
        before, self._protections = self._production, self.service.protections(self.contexts)
        if self._production != before:
            self.show_wanted()
            self.show_fields(True)
            self.forget_what_was_typed()

    @property
    def is_impossible(self) -> bool:
        """True if nothing of it can be done, whatever is chosen: there is a reason to read, and nothing to fill in."""
        plan = self.planned.plan if self.planned is not None else None
        return plan is not None and not plan.steps and bool(plan.refused) and not self.another_choice_helps

    @property
    def _is_to_read(self) -> bool:
        """True if nothing can be sent from here, so that there is nothing to fill in and no button but the one out."""
        return self.is_read_only or self.is_impossible

    def _show_form(self) -> None:
        """Hides the form when the action becomes impossible, and shows it when it is possible again."""
        if self._is_to_read != self._without_form:
            self._without_form = self._is_to_read
            self.show_fields(True)
            self.start()

    def show_fields(self, shown: bool) -> None:
        super().show_fields(shown and not self._is_to_read)

    @work(exclusive=True, group="rights")
    async def _ask_rights(self, planned: TrackedPlan) -> None:
        """A right that is missing is named before anything is sent."""
        try:
            self._refusal = await self.refusal(planned.plan)
        except Exception as problem:
            self._refusal = failure_line(problem)
            self.draw()
            raise
        self.draw()

    async def refusal(self, plan: Plan) -> str:
        """Which right is missing for it, in a sentence; empty where none is."""
        return await self.service.refusal(plan)

    def draw(self) -> None:
        """While it is sent, what was agreed to stays as it was."""
        self.is_asking = self.dialog_state is DialogState.ASKING
        match self.dialog_state:
            case DialogState.ASKING:
                self.say(self._asked())
            case DialogState.SENDING:
                self.say(replace(self._text, writes=tuple(self._sending())))
            case DialogState.DONE:
                self.say(self._done())
        self._show_knobs()

    def _asked(self) -> DialogText:
        plan = self.planned.plan if self.planned is not None else None
        table = self.table(plan) if plan is not None else NO_TABLE
        if plan is None and self.problem:
            table = self._text.table  # Nothing moves under who is typing.
        copies = not isinstance(self.focused, Prompt)
        return DialogText(
            self.title_line,
            plan_text.place(self.keys, self.cells),
            tuple(self._lead(table)),
            table,
            tuple(self._said()),
            tuple(self.writes(plan, copies=copies)) if plan is not None else (),
        )

    def _lead(self, table: PlanTable) -> Iterator[Paragraph]:
        """Yields what speaks against it, then what it comes to in numbers."""
        yield from self._news
        yield from (paragraph(f"{why}.", Tone.WARN) for why in self._unexpected_protection())
        if not self.is_read_only:
            yield from (paragraph(text, Tone.BAD) for text in (self.problem, self._refusal) if text)
        if self.planned is not None:
            yield from self.warnings(self.planned.plan)
            sentence = self.consequence(self.planned.plan, table)
            skipped = [Piece(f" {text}", Tone.DIM) for text in plan_text.skipped(self.targets)]
            if sentence or skipped:
                yield plan_text.sentence((*sentence, *skipped))

    def warnings(self, plan: Plan) -> list[Paragraph]:
        return plan_text.warnings(plan, self.targets)

    def consequence(self, plan: Plan, table: PlanTable) -> tuple[Piece, ...]:
        """One sentence with the consequence in numbers."""
        if table.sentence or not table.rows:
            return table.sentence
        return (Piece(f"{humanize.count(len(plan.steps), self.noun)}.", Tone.BRIGHT),)

    def table(self, plan: Plan) -> PlanTable:
        return plan_text.table(plan, self.service.queue_line)

    def writes(self, plan: Plan, *, copies: bool) -> list[Paragraph]:
        return plan_text.writes(plan.steps, self.cells, copies=copies)

    def _proposal(self, plan: Plan) -> list[Paragraph]:
        return plan_text.proposal(plan)

    def _said(self) -> Iterator[Paragraph]:
        """Yields what is said between the table and what is written."""
        yield from self.more()
        if self.waits_for:
            yield paragraph(self.waits_for, Tone.DIM)
        if self.planned is not None:
            yield from self._proposal(self.planned.plan)
        elif self.problem and self._text.table.rows:
            planned_at = humanize.time(self._planned_at, self.service.now(self.keys[0].context))
            yield paragraph(f"The table is as of {planned_at}; it goes on once the error is corrected.", Tone.DIM)

    def _sending(self) -> Iterator[Paragraph]:
        if self.plan_run is not None:
            done, all_of_them = len(self.plan_run.told), len(self.plan_run.planned.plan.steps)
            drawn = line(1000 * done // max(1, all_of_them), _BAR, Tone.RUNNING, ascii=self.ascii)
            yield plan_text.sentence((Piece(f"{done} of {all_of_them}  ", Tone.BRIGHT), *drawn), "Sending")

    def _done(self) -> DialogText:
        return DialogText(
            self.title_line,
            plan_text.place(self.keys, self.cells),
            table=plan_text.outcome_table(self.reports(), self.cells),
            lead=tuple(self.outcome()),
        )

    def outcome(self) -> Iterator[Paragraph]:
        """Tells what became of it."""
        plan_run = self.plan_run
        if plan_run is not None:
            yield from plan_text.outcome(self.reports())
            if plan_run.problem:
                yield paragraph(plan_run.problem, Tone.BAD)
            yield from self._unwatched(plan_run)

    def _unexpected_protection(self) -> Iterator[str]:
        """Why it is read-only, and why a name is to be typed that is not asked for by the name of the context."""
        if self.is_read_only:
            yield from (
                f"Read-only, nothing is sent: {protection.read_only}"
                for protection in self._protections
                if protection.read_only
            )
        for protection in self._protections:
            if protection.production and protection.production != f"{protection.name} is marked production":
                yield f"{'As in production' if protection.in_doubt else 'Production'}: {protection.production}"

    def reports(self) -> list[plan_text.StepReport]:
        """The reports as they are now: what somebody put back is not done any more."""
        reports = self.plan_run.told if self.plan_run is not None else []
        undone = self.service.undone
        return [
            replace(report, undone=self._put_back(undone[target]))
            if (target := report.result.step.target) in undone
            else report
            for report in reports
        ]

    def _put_back(self, undone: UndoneChange) -> str:
        when = humanize.time(undone.at, self.service.now(undone.target.context), self.service.zone)
        return f"{undone.brief} at {when}"

    def show_notice(self, text: str) -> bool:
        """Not what the result says already: that is for the list of messages."""
        plan_run = self.plan_run
        if plan_run is None:
            return super().show_notice(text)
        undone = [self.service.undone.get(report.result.step.target) for report in plan_run.told]
        briefs = [change.brief for change in undone if change is not None]
        is_told = text == unsigned(plan_text.summary(plan_run.told, plan_run.problem))
        return is_told or any(brief in text for brief in briefs) or super().show_notice(text)

    def _unwatched(self, plan_run: PlanRun) -> Iterator[Paragraph]:
        """Lists those that nobody watches for being put back."""
        for report in plan_run.told:
            if why := self.service.unwatched.get(report.result.step.target):
                yield plan_text.look(f"{report.result.step.target.name}: not watched for who undoes it. {why}.")

    def _show_knobs(self) -> None:
        cancel, go = self.cancel, self.go
        asks = self.dialog_state is DialogState.ASKING
        cancel.say("Cancel" if asks and not self._is_to_read else "Close")
        if asks:
            go.display = not self._is_to_read
            go.say(self.confirm_label, dead=bool(self._why_not()))
        else:
            go.display = (
                self.dialog_state is DialogState.DONE and self.plan_run is not None and bool(self.plan_run.rest)
            )
            go.say("Repeat for the rest")

    def _why_not(self) -> str:
        """Why the knob does nothing just now."""
        if self.is_read_only:
            return "Not sent: read-only is on"
        if self.waits_for:
            return self.waits_for
        if self.problem or self._refusal:
            return "Not sent; see the error above"
        if self.planned is None or not self.is_worth_sending(self.planned.plan):
            return "Nothing to send"
        return "" if self.is_confirmed else self.unconfirmed

    def on_descendant_focus(self) -> None:
        """Draws again: where one types, c is a letter. Who leaves a field has typed it."""
        self._catch_up()
        self.draw()

    def action_copy(self) -> None:
        if self.planned is not None and self.planned.plan.steps:
            copy(self.app, plan_text.commands(self.planned.plan))

    def action_press(self) -> None:
        """Does what the button with the focus says."""
        self._catch_up()
        if self.focused is self.cancel:
            self.action_leave()
        elif self.dialog_state is DialogState.DONE:
            self.press_again()
        elif self.dialog_state is DialogState.ASKING:
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
        whole = (field for field in fields if field.value.strip() in quoted)
        among = (field for field in fields if any(words in field.value for words in quoted))
        return next(iter((*whole, *among)), None)

    def press_again(self) -> None:
        """Does what the button says once all was tried."""
        if self.plan_run is not None:
            self._ask_again(self.plan_run.rest, [report.result for report in self.plan_run.told])

    def action_leave(self) -> None:
        """Leaves; what is under way goes on, and is told in a toast. Where nothing is, that is told too."""
        if self.plan_run is not None:
            self.plan_run.listener = None
        super().action_leave()
        if self.dialog_state is DialogState.ASKING:
            self.app.notify(NOT_DONE if self.plan_run is None else NO_MORE, timeout=_BRIEF)

    # Sending, and afterwards

    def send(self, planned: TrackedPlan) -> Coroutine[Any, Any, None] | None:
        """The work of sending it, which goes on when the dialog is closed; None where nothing is to be sent."""
        self.dialog_state = DialogState.SENDING
        self.plan_run = PlanRun(self.confirmed_service, planned, self.planner(), _toast(self.app))
        self.plan_run.listener = self._moved
        self.query_one("#fields").disabled = True
        self.cancel.focus()
        self.draw()
        return self.plan_run.run()

    def _moved(self) -> None:
        plan_run = self.plan_run
        if plan_run is not None and plan_run.is_sent and self.dialog_state is DialogState.SENDING:
            self._settle(plan_run)
        else:
            self.draw()

    def _settle(self, plan_run: PlanRun) -> None:
        """All was tried: tell it, or ask again where it came to something else than was agreed to."""
        results = [report.result for report in plan_run.told]
        if any(result.outcome is not Outcome.DONE for result in results):
            self.app.notify(plan_text.summary(plan_run.told, plan_run.problem), severity="warning")
        if not results:
            self._ask_again(self.keys, [])
            self._refusal = plan_run.problem
            self.draw()
        elif len(results) == 1 and results[0].outcome in _ASKED_AGAIN:
            self._ask_again(self.keys, results)
        else:
            self.dialog_state = DialogState.DONE
            self.start_afresh()
            self.show_fields(False)
            self.draw()

    def _ask_again(self, keys: tuple[ObjectRef, ...], results: list[Result]) -> None:
        """With what has changed, and with nothing agreed to."""
        self._news = [line for result in results for line in plan_text.asked_again(result)]
        self.targets = replace(self.targets, keys=keys, hidden=0, skipped=())
        self.dialog_state = DialogState.ASKING
        self._asked_rights = False
        self.query_one("#fields").disabled = False
        self.start_afresh()
        self.show_fields(True)
        self.forget_what_was_typed()
        self.replan()


def _typed(name: str) -> str:
    """The part of a name that is to be typed."""
    return name if len(name) <= _LONGEST_TYPED else name[-_END_TYPED:]


def _toast(app: App[Any]) -> Callable[[PlanRun], None]:
    """For when the dialog is gone; the toast is kept in the messages."""

    def tell(plan_run: PlanRun) -> None:
        app.notify(plan_text.summary(plan_run.told, plan_run.problem))

    return tell
