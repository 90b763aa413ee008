"""Every action has somebody who carries it out, and nobody carries out what is no action."""

from __future__ import annotations

from collections import Counter

from foretop.app import Dashboard
from foretop.bindings import ACTIONS
from foretop.main_screen.action_host import ActionCarrier
from foretop.pages.make_page import make_page
from foretop_core.dashboard.session_protocol import ClusterSession, DisplayOptions
from foretop_core.pages import DETAIL, PAGES


def _no_session() -> ClusterSession:
    raise AssertionError("nothing is watched here")


def test_the_tables_of_handlers_and_the_actions_are_the_same() -> None:
    screen = Dashboard(_no_session).get_default_screen()
    behind: list[ActionCarrier] = [screen, screen.write_actions, screen.object_actions, screen.screen_actions]
    pages: list[ActionCarrier] = [make_page(name, DisplayOptions(), screen) for name in (*PAGES, DETAIL)]
    handled = {action_id for carrier in (*behind, *pages) for action_id in carrier.handlers()}
    assert handled == {action.id for action in ACTIONS}
    twice = Counter(action_id for carrier in behind for action_id in carrier.handlers())
    assert [action_id for action_id, times in twice.items() if times > 1] == []
