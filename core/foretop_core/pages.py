"""The pages: one record each, from which tabs, commands, jumps, `get` and the configuration's names are made.

The records are text alone, so that the command line and the configuration know the names without loading a table. The
screen's half of a page is its record in `foretop.panes.page_records`. A room has its page as `PAGE` in its half in the
core, and the module `page` for the screen.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from foretop_core.late import load

DETAIL = "detail"
"""The page of one object; it is reached from a row and has no record here."""
_RESOURCES = "foretop_core.tables.resources"


class PageConflict(Exception):
    """Two pages want the same, or one lacks what it needs; raised when the program is imported."""


class PageRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The name of a page, how it is reached, and which table it shows."""

    id: str
    title: str
    commands: tuple[str, ...]
    """What one types after the colon."""
    digit: int = 0
    """The key of its tab where the configuration has no `tabs`; a page without one is reached by a command."""
    name: str
    """On its tab."""
    short: str
    """On its tab, where there is little room."""
    shortest: str = ""
    """On its tab, where a page without a tab stands beside all of them; "" for the short one."""
    view: str = ""
    """The module in `tables/resources` and the view in it; none for a page without columns."""
    get: tuple[tuple[str, str], ...] = ()
    """What one types after `foretop get`, each with the only kind that is printed; "" prints all rows."""
    home_of: tuple[str, ...] = ()
    """The kinds whose objects a jump shows here."""
    first_kind: str = ""
    """The kind whose first rows are not kept waiting by the others; without one all kinds are needed."""
    room: str = ""
    """The room that it is of, which has its half for the screen."""

    def load_view(self) -> Any:
        """The class of its view; the module is imported now."""
        try:
            return load(f"{_RESOURCES}.{self.view}")
        except (ImportError, AttributeError, ValueError) as problem:
            raise PageConflict(f"page {self.id} has no view: {problem}") from problem

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its columns; none where it has no table."""
        return tuple(column.name for column in self.load_view()().columns) if self.view else ()


_RECORDS = (
    PageRecord(
        id="triage",
        title="Triage: what is wrong",
        digit=1,
        name="Triage",
        short="Triage",
        commands=("triage", "findings"),
        view="findings:FindingsView",
        get=(("findings", ""), ("triage", "")),
    ),
    PageRecord(
        id="schedules",
        title="Schedules",
        digit=2,
        name="Schedules",
        short="Sched",
        commands=("schedules", "schedule", "sched"),
        view="schedules:SchedulesView",
        get=(
            ("schedules", ""),
            ("schedule", ""),
        ),
        home_of=("Schedule",),
        first_kind="Schedule",
    ),
    PageRecord(
        id="nonadmin",
        title="Non-admin backups and restores",
        digit=3,
        name="NonAdmin",
        short="NonAdm",
        commands=("nab", "nar", "nonadmin"),
        view="nonadmin:NonAdminView",
        get=(
            ("nab", "NonAdminBackup"),
            ("nar", "NonAdminRestore"),
            ("nonadmin", ""),
        ),
        home_of=("NonAdminBackup", "NonAdminRestore"),
        first_kind="NonAdminBackup",
    ),
    PageRecord(
        id="queue",
        title="Queue: what runs and what waits",
        digit=4,
        name="Queue",
        short="Queue",
        commands=("queue",),
        view="queue:QueueView",
        get=(("queue", ""),),
    ),
    PageRecord(
        id="calendar",
        title="Calendar: upcoming runs and collisions",
        digit=5,
        name="Calendar",
        short="Cal",
        commands=("calendar", "cal"),
    ),
    PageRecord(
        id="backups",
        title="Backups",
        digit=7,
        name="Backups",
        short="Backups",
        shortest="Backup",
        commands=("backups", "backup"),
        view="runs:BackupsView",
        get=(
            ("backups", ""),
            ("backup", ""),
        ),
        home_of=("Backup",),
        first_kind="Backup",
    ),
    PageRecord(
        id="restores",
        title="Restores",
        digit=8,
        name="Restores",
        short="Restores",
        shortest="Restore",
        commands=("restores", "restore"),
        view="runs:RestoresView",
        get=(
            ("restores", ""),
            ("restore", ""),
        ),
        home_of=("Restore",),
        first_kind="Restore",
    ),
    PageRecord(
        id="protection",
        title="Protection: can each namespace be brought back, and from what",
        digit=9,
        name="Protection",
        short="Protect",
        commands=("protection", "namespaces"),
        view="protection:ProtectionView",
        get=(("protection", ""),),
        home_of=("Namespace",),
    ),
    PageRecord(
        id="storage",
        title="Storage locations",
        name="Storage",
        short="Storage",
        commands=("storage", "bsl"),
        view="storage:StorageView",
        get=(
            ("storage", ""),
            ("bsl", ""),
        ),
        home_of=(
            "BackupStorageLocation",
            "NonAdminBackupStorageLocation",
            "NonAdminBackupStorageLocationRequest",
        ),
        first_kind="BackupStorageLocation",
    ),
    PageRecord(
        id="pods",
        title="Pods: the Velero server, its node agents and data movers",
        name="Pods",
        short="Pods",
        commands=("pods", "po"),
        view="pods:PodsView",
        get=(
            ("pods", ""),
            ("pod", ""),
        ),
    ),
    PageRecord(
        id="movements",
        title="Data movements: volumes on their way, with the time left",
        name="Movements",
        short="Moves",
        commands=("movements", "datauploads", "datadownloads", "podvolumebackups", "podvolumerestores"),
        view="movements:MovementsView",
        get=(("movements", ""),),
    ),
    PageRecord(
        id="repositories",
        title="Repositories: volume data by namespace and storage location",
        name="Repositories",
        short="Repos",
        commands=("repositories", "backuprepositories"),
        view="repositories:RepositoriesView",
        get=(("repositories", ""),),
        home_of=("BackupRepository",),
    ),
)


def check_pages(pages: Iterable[PageRecord]) -> None:
    """Refuses two pages with one id, digit, command, name for `get` or kind, and names both."""
    owners: dict[str, str] = {}
    for page in pages:
        taken = (
            f"the id {page.id}",
            *([f"digit {page.digit}"] if page.digit else []),
            *(f"command :{word}" for word in page.commands),
            *(f"get {word}" for word, _ in page.get),
            *(f"kind {kind}" for kind in page.home_of),
        )
        for claimed in taken:
            if claimed in owners:
                raise PageConflict(f"pages {owners[claimed]} and {page.id} both have {claimed}")
            owners[claimed] = page.id


ROOM_PAGES_FILE = Path(__file__).with_name("room_pages.json")
"""The pages of the rooms, written from them: names are known without a room."""
_OF_ROOMS = msgspec.json.decode(ROOM_PAGES_FILE.read_bytes(), type=tuple[PageRecord, ...])
_ALL = sorted((*_RECORDS, *_OF_ROOMS), key=lambda page: page.digit or math.inf)

check_pages(_ALL)
PAGES: Mapping[str, PageRecord] = {page.id: page for page in _ALL}
"""By id, in the order of the tabs."""
TABS: tuple[PageRecord, ...] = tuple(page for page in PAGES.values() if page.digit)
MOST_TABS = 9
"""There is a digit for each."""


def chosen_tabs(names: Sequence[str]) -> tuple[PageRecord, ...]:
    """The pages as tabs in this order, each with its digit; without names the usual ones."""
    if not names:
        return TABS
    return tuple(replace(PAGES[name], digit=place) for place, name in enumerate(names[:MOST_TABS], 1))


PAGE_OF: Mapping[str, str] = {kind: page.id for page in PAGES.values() for kind in page.home_of}
"""By kind, the page that shows its objects."""
GET_TABLES: Mapping[str, tuple[PageRecord, str]] = {
    word: (page, only) for page in PAGES.values() for word, only in page.get
}
"""By what one types after `foretop get`, the page whose rows are printed, and the only kind of them; "" for all."""
