"""The topics of the help, from the help and from the palette."""

from __future__ import annotations

import pytest

from foretop.widgets.line_widgets import TextPane
from foretop_core.tables.text.explanations import explanations
from tests.examples import sampled
from tests.tui.pilot import SMALL, screen


async def test_the_help_lists_the_topics_and_enter_opens_one() -> None:
    async with screen(size=SMALL) as shown:
        await shown.press("question_mark")
        assert "tab topics explained" in shown.text
        await shown.press("tab")
        for topic in explanations().values():
            assert topic.title in shown.text
        await shown.press("down", "enter")
        assert explanations()["skip"].title in shown.text
        await shown.press("escape")
        assert "tab topics explained" in shown.text
        await shown.press("escape")
        assert len(shown.app.screen_stack) == 1


@pytest.mark.parametrize("topic", sampled(explanations(), "skip"))
async def test_a_topic_is_shown_in_full_by_the_palette(topic: str) -> None:
    async with screen(size=(100, 50)) as shown:
        await shown.press("colon", *f"explain {topic}", "enter")
        await shown.until(lambda: explanations()[topic].title in shown.text)
        whole = " ".join(shown.app.screen.query_one(TextPane).text.split())
        for block in explanations()[topic].body.strip().split("\n\n"):
            assert " ".join(block.split()) in whole
