"""What all dialogs share: the plan stays true while it is open, cancel is what enter does, and results are told here.

A dialog is made for one intent. It overrides `fields` (what can be chosen), `wish` (what the choices come to; it may
raise BadInput, which is then shown in the place of the plan) and perhaps `outlook`. Everything else is here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum, auto
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Label

from core.actions.execute import Outcome
from core.actions.intents import Intent
from core.actions.plans import Wish
from core.errors import ForetopError
from core.store import Key
from core.view.marks import Tone
from core.view.text import clean
from tui.copying import copy
from tui.hands import Hands, Planned
from tui.modals import sentences
from tui.modals.deed import Deed
from tui.modals.parts import Choices, Knob, Sentences, Turn
from tui.modals.window import Window
from tui.prose import Para, para
from tui.tones import spelt
from tui.widgets.prompt import Prompt

if TYPE_CHECKING:
    from tui.app import Dashboard

REPLAN = 1.0
READ_ONLY = "Read-only: nothing is sent"


class Stage(Enum):
    ASKING = auto()
    SENDING = auto()
    TOLD = auto()


class Dialog(Window[None]):
    """Asks, sends, tells; may ask again."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "copy", show=False),
        Binding("down", "step(1)", show=False),
        Binding("up", "step(-1)", show=False),
        Binding("left,right", "other_knob", show=False),
        Binding("pagedown", "scroll_by(5)", show=False),
        Binding("pageup", "scroll_by(-5)", show=False),
    ]

    def __init__(self, hands: Hands, intent: Intent, keys: tuple[Key, ...], hidden: int, ascii: bool) -> None:
        super().__init__(ascii)
        self.hands = hands
        self.intent = intent
        self.keys = keys
        self.hidden = hidden
        self.stage = Stage.ASKING
        self.planned: Planned | None = None
        self.deed: Deed | None = None
        self.problem = ""
        self._refusal = ""
        self._news: list[Para] = []

    # What the dialogs differ in

    verb: ClassVar[str] = ""
    """The word on the knob that sends."""
    headline: ClassVar[str] = ""
    """What the title says; `{}` stands for the name, or for how many."""

    def fields(self) -> Iterable[Widget]:
        """What can be chosen or typed."""
        return ()

    def wish(self) -> Wish:
        raise NotImplementedError

    def make_plan(self) -> Planned:
        return self.hands.plan(self.intent, self.wish(), self.keys)

    def outlook(self) -> None:
        """Brings the choices up to date."""

    def more(self) -> list[Para]:
        """What else is to be said before the plan."""
        return []

    # The window

    def compose(self) -> ComposeResult:
        with Vertical(classes="window dialog"):
            with Vertical(id="fields"):
                yield from self.fields()
                if self.wanted_name:
                    yield Label(Text(clean(f"Type {self.wanted_name} below {self._why_typed()}."), no_wrap=True))
                    with Horizontal(classes="confirm"):
                        yield Label("> ", markup=False)
                        yield Prompt(id="confirm")
            yield Sentences(ascii=self.ascii, id="said")
            with Horizontal(classes="knobs"):
                yield Knob("Cancel", "cancel")
                yield Knob(self.verb, "go")

    def _title(self) -> str:
        return sentences.title(self.headline, self.keys, self.query_one(".dialog").size.width - 2)

    @property
    def wanted_name(self) -> str:
        """What must be typed before anything dangerous is sent."""
        if not self.intent.dangerous:
            return ""
        return self.keys[0].name if len(self.keys) == 1 else str(len(self.keys))

    def _why_typed(self) -> str:
        return "to show that it is meant" if len(self.keys) == 1 else "(how many) to show that they are meant"

    def on_mount(self) -> None:
        self.query_one("#fields").display = bool(self.query("#fields > *"))
        self.query_one("#cancel").focus()
        self.set_interval(REPLAN, self.replan)
        self.replan()
        self._ask_rights()

    def on_resize(self, event: events.Resize) -> None:
        said = self.query_one(Sentences)
        fixed = sum(child.outer_size.height for child in self.query(".dialog > *") if child is not said)
        said.styles.max_height = max(3, event.size.height - max(fixed, 1) - 2)
        self.call_after_refresh(self._draw)

    @property
    def dashboard(self) -> Dashboard:
        from tui.app import Dashboard

        assert isinstance(self.app, Dashboard)
        return self.app

    # Asking

    @on(Choices.Chosen)
    @on(Turn.Turned)
    @on(Input.Changed)
    def replan(self) -> None:
        """What is shown is what would happen now, not what would have happened when the dialog was opened."""
        if self.stage is not Stage.ASKING:
            return
        try:
            self.planned = self.make_plan()
            self.problem = ""
        except ForetopError as problem:
            self.planned, self.problem = None, str(problem)
        self.outlook()
        self._draw()

    @work(exclusive=True, exit_on_error=False, group="rights")
    async def _ask_rights(self) -> None:
        if self.planned is not None:
            self._refusal = await self.hands.refusal(self.planned.plan)
        self.replan()

    def _draw(self) -> None:
        window = self.query_one(".dialog")
        window.border_title = Content(spelt(self._title(), self.ascii))
        window.border_subtitle = Content(spelt(self._ways(), self.ascii))
        cells = max(40, self.query_one(Sentences).size.width - 2)
        self.query_one(Sentences).show(list(self._said(cells)))
        self._show_knobs()

    def _ways(self) -> str:
        """The keys that work here."""
        if self.stage is not Stage.ASKING:
            return "enter, esc or q leaves"
        moves = "up down choose · " if self.query(Choices) else "tab to the fields · " if self.query(Prompt) else ""
        return f"{moves}left right, enter · esc or q leaves"

    def _said(self, cells: int) -> Iterator[Para]:
        if self.stage is Stage.TOLD and self.deed is not None:
            yield from sentences.outcome(self.deed.told)
            return
        yield from self._news
        yield from self.more()
        if self.problem:
            yield para(self.problem, Tone.BAD)
        if self._refusal:
            yield para(self._refusal, Tone.BAD)
        if self.planned is not None:
            yield from sentences.proposal(self.planned.plan, self.hidden, cells)
        if self.stage is Stage.SENDING and self.deed is not None:
            yield para(f"Sending: {len(self.deed.told)} of {len(self.deed.planned.plan.steps)}", bold=True)

    def _show_knobs(self) -> None:
        cancel, go = self.query_one("#cancel", Knob), self.query_one("#go", Knob)
        if self.stage is Stage.TOLD:
            cancel.say("Close")
            go.display = self.deed is not None and bool(self.deed.rest)
            go.say("Repeat for the rest")
            return
        cancel.say("Cancel")
        go.display = True
        if self._is_read_only:
            go.say(READ_ONLY, dead=True)
        else:
            go.say(self.verb, dead=bool(self._why_not()))

    @property
    def _is_read_only(self) -> bool:
        return self.hands.is_read_only(self.contexts)

    @property
    def contexts(self) -> list[str]:
        return list(dict.fromkeys(key.context for key in self.keys))

    def _why_not(self) -> str:
        """Why the knob does nothing just now."""
        if self._is_read_only:
            return "Nothing is sent: read-only is on"
        if self.problem or self._refusal:
            return self.problem or self._refusal
        if self.planned is None or not self.planned.plan.steps:
            return "There is nothing to send"
        if self.wanted_name and self.query_one("#confirm", Prompt).value != self.wanted_name:
            return f"Type {self.wanted_name} first"
        return ""

    # Keys

    def action_step(self, by: int) -> None:
        choices = self.query(Choices)
        if self.stage is Stage.ASKING and choices:
            choices.first().move(by)
        elif self.stage is Stage.ASKING and self.query("#fields Prompt, #fields Turn"):
            (self.focus_next if by > 0 else self.focus_previous)()
        else:
            self.action_scroll_by(by)

    def action_scroll_by(self, by: int) -> None:
        self.query_one(Sentences).scroll_lines(by)

    def action_other_knob(self) -> None:
        cancel, go = self.query_one("#cancel", Knob), self.query_one("#go", Knob)
        (cancel if go.has_focus or not go.display else go).focus()

    def action_copy(self) -> None:
        if self.planned is not None and self.planned.plan.steps:
            copy(self.dashboard, sentences.commands(self.planned.plan))

    @on(Prompt.Dropped)
    def _dropped(self, event: Prompt.Dropped) -> None:
        event.stop()
        self.action_leave()

    @on(Prompt.Passed)
    def _passed(self, event: Prompt.Passed) -> None:
        event.stop()
        (self.focus_next if event.by > 0 else self.focus_previous)()

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        self.focus_next()

    @on(Knob.Pressed)
    def _pressed(self, event: Knob.Pressed) -> None:
        event.stop()
        if event.knob.id == "cancel":
            self.action_leave()
        elif self.stage is Stage.TOLD and self.deed is not None:
            changed = [one.result for one in self.deed.told if one.result.outcome is Outcome.CHANGED]
            self._ask_again(
                self.deed.rest, [line for one in changed for line in sentences.changed(one.step, one.again)]
            )
        elif self.stage is Stage.ASKING:
            if why := self._why_not():
                self.dashboard.notify(why, severity="warning")
            elif self.planned is not None:
                self._send(self.planned)

    def action_leave(self) -> None:
        """While a write is under way the dialog stays, so that its result is seen."""
        if self.stage is not Stage.SENDING:
            if self.deed is not None:
                self.deed.listener = None
            super().action_leave()

    # Sending, and afterwards

    def _send(self, planned: Planned) -> None:
        self.stage = Stage.SENDING
        self.deed = Deed(self.hands, planned, self.wish(), self._tell_afterwards(self.dashboard))
        self.deed.listener = self._moved
        self._draw()
        self.dashboard.run_worker(self.deed.run(), exit_on_error=False)

    def _moved(self) -> None:
        deed = self.deed
        if deed is not None and deed.is_sent and self.stage is Stage.SENDING:
            self._settle(deed)
        else:
            self._draw()

    def _settle(self, deed: Deed) -> None:
        """All was tried: tell it, or ask again where it came to something else than was agreed to."""
        only = deed.told[0].result if len(deed.told) == 1 else None
        if not deed.told:
            self._refusal = deed.problem
            self._ask_again(self.keys, [])
        elif only is not None and only.outcome is Outcome.CHANGED and self.keys:
            self._ask_again(self.keys, sentences.changed(only.step, only.again))
        else:
            self.stage = Stage.TOLD
            self.query_one("#fields").display = False
            self._draw()
            self.query_one("#cancel").focus()

    def _ask_again(self, keys: tuple[Key, ...], news: list[Para]) -> None:
        self.keys, self.hidden, self._news = keys, 0, news
        self.stage = Stage.ASKING
        self.query_one("#fields").display = bool(self.query("#fields > *"))
        for prompt in self.query("#confirm").results(Prompt):
            prompt.value = ""
        self.replan()
        self.query_one("#cancel").focus()

    @staticmethod
    def _tell_afterwards(app: Dashboard) -> Callable[[Deed], None]:
        """The dialog may be gone by then; the toast is kept in the messages."""

        def tell(deed: Deed) -> None:
            app.notify(sentences.summary(deed.told))

        return tell
