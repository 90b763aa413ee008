"""Fetches the results of a backup or restore and hands them to the page that shows them."""

from __future__ import annotations

from collections.abc import Callable

from core.actions.files import File, Run
from core.actions.results import results_of
from core.models import NonAdmin
from core.rules.results import Results
from core.store import Key
from tui.hands import Hands
from tui.modals.fetching import FetchWindow

Keep = Callable[[Key, Results], None]


class ResultsWindow(FetchWindow):
    """Is gone as soon as they have come."""

    file = File.RESULTS

    def __init__(self, hands: Hands, key: Key, ascii: bool, keep: Keep) -> None:
        super().__init__(hands, key, ascii)
        self._keep = keep
        self._results = Results()

    async def get(self, item: Run | NonAdmin) -> None:
        self._results = await results_of(self.hand, item, progress=self.came)

    def got(self) -> None:
        self._keep(self.key, self._results)
        self.action_leave()
