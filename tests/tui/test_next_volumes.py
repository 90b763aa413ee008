"""What the next run takes of volumes: in one sentence on the page of a schedule and in the dialogs that write one."""

from __future__ import annotations

from foretop_core.models.kinds import CLAIM, SCHEDULE
from tests.tui.dashboard_on_box import CONTEXT, stand
from tests.tui.pilot import MIDDLE

_SENTENCE = "the next run takes 0 volumes, 2 not known"
_FIRST = "stateful/data-0 not known:"


async def test_the_page_and_both_dialogs_say_the_same_sentence() -> None:
    async with stand("protection", size=MIDDLE) as at:
        await at.go("2", at.key(SCHEDULE, "stateful-daily"))
        await at.shown.press("e")
        await at.see("Edit stateful-daily", _SENTENCE, _FIRST)
        await at.shown.press("tab", "tab", "ctrl+u")
        await at.paste("shop")
        await at.see("Volumes its namespaces have none")
        await at.shown.press("escape")
        await at.shown.press("enter")
        await at.see(_SENTENCE, _FIRST)
        await at.shown.press("escape", "a")
        await at.paste("another")
        await at.shown.press("tab")
        await at.paste("0 3 * * *")
        await at.shown.press("tab")
        await at.paste("stateful")
        await at.see(_SENTENCE, _FIRST)


async def test_only_what_is_open_has_claims_watched() -> None:
    async with stand("protection", size=MIDDLE) as at:
        await at.go("2", at.key(SCHEDULE, "stateful-daily"))
        watched = at.session.clusters[CONTEXT]
        assert CLAIM not in watched._followed
        await at.shown.press("e")
        await at.see(_SENTENCE)
        assert CLAIM in watched._followed
        await at.shown.press("escape")
        await at.shown.until(lambda: CLAIM not in watched._followed)
