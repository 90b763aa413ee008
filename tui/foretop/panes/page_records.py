"""The screen's half of each page: its pane, what it says where it has no rows, and the legend of its signs.

The other half, with the page's names and its view, is its record in `foretop_core.pages`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
from msgspec.structs import replace

from foretop.bindings import key_name
from foretop.panes.empty_state import NO_SCHEDULES, empty_queue
from foretop.widgets.column_layout import ColumnPriorities
from foretop.widgets.paragraphs import Line, Paragraph, lead, paragraph, span
from foretop_core.dashboard.findings_table import FindingsTableModel
from foretop_core.dashboard.state import DashboardState
from foretop_core.dashboard.table_models import StoreTableModel, TableModel
from foretop_core.late import Late, load
from foretop_core.models import Resource
from foretop_core.models.kinds import ON_DEMAND
from foretop_core.models.wire import ObjectRef
from foretop_core.pages import DETAIL, PAGES, PageConflict, PageRecord
from foretop_core.rules import humanize
from foretop_core.rules.facts.schedule_runs import RUN_WORDS
from foretop_core.rules.sentences import keys_in, with_keys
from foretop_core.tables.engine.drawings import LEVELS, RUN_SIGNS
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.status_glyphs import RESTORE_GLYPH, StatusGlyph, Tone, severity_mark
from foretop_core.tables.engine.view import TableView, UnreadableRow, View, table_view

if TYPE_CHECKING:
    from foretop_core.rules.facts.contents_facts import FetchedFiles


def _pane(path: str) -> Late:
    """A function of a module in `panes`, which is imported when the page is first drawn."""
    return Late(f"foretop.panes.{path}")


class Sign(msgspec.Struct, frozen=True):
    """A sign, with its colour."""

    text: str
    meaning: str
    tone: Tone = Tone.PLAIN


def signs_of(**meanings: str) -> tuple[Sign, ...]:
    """Names glyphs of a status, each with its meaning."""
    glyphs = ((StatusGlyph[name.upper()], meaning) for name, meaning in meanings.items())
    return tuple(Sign(glyph.value, meaning, glyph.tone) for glyph, meaning in glyphs)


_RUNS = signs_of(
    healthy="completed",
    running="running, or being deleted",
    waiting="waiting",
    look="partly failed",
    broken="failed",
    unset="a phase that foretop does not know",
)
_PROGRESS = (
    Sign("━━╸──", "how much is done"),
    Sign("data 25%+?", "how much of its volumes is moved; +? if a size is unknown"),
)
_LARGE = Sign("██▍▋▉──", "how much of its items, or of its volumes, is done")
_RESTORE = Sign(RESTORE_GLYPH, "before a name: a restore, not a backup")
_TOOK = Sign("▆▆", "how long it took against the longest in sight, on a large terminal")


_ON_DEMAND = frozenset(kind.name for kind in ON_DEMAND)


class SectionHost(Protocol):
    """The page of an object, as a section of a room sees it."""

    @property
    def key(self) -> ObjectRef | None:
        """The object that is open."""

    def draw(self) -> None:
        """Draws it anew."""

    def run_worker(self, work: Coroutine[Any, Any, None], /, *, group: str, exclusive: bool) -> object: ...


class FetchedPart(Protocol):
    """The part of a section that a person fetches, and that is kept."""

    def forget(self) -> None:
        """Another object is open, or none."""

    def paragraphs(self, state: DashboardState, key: ObjectRef) -> Sequence[Paragraph]: ...

    def has_list(self, state: DashboardState, key: ObjectRef) -> bool:
        """True if there is something to fetch."""

    def lacks_list(self, state: DashboardState, key: ObjectRef) -> bool:
        """True if it was not fetched yet."""

    def why_no_list(self, state: DashboardState, key: ObjectRef) -> str:
        """The reason why there is none; "" where there is one."""

    def keep(self, state: DashboardState, key: ObjectRef, files: FetchedFiles) -> None: ...


class DetailSection(msgspec.Struct, frozen=True, kw_only=True):
    """A section of a room on the page of an object, found as `SECTION` of its module `section`."""

    name: str
    after: str
    """The section that it follows."""
    kinds: frozenset[str]
    known: Callable[[DashboardState, ObjectRef, Resource], Sequence[Paragraph]]
    """What it says without fetching anything."""
    has_more: Callable[[DashboardState, ObjectRef, Resource], bool]
    """Whether that is worth a line where all of an object is told at once."""
    last_words: Callable[[Resource], Sequence[Paragraph]]
    """What stands at the end of a description."""
    fetched: Callable[[SectionHost], FetchedPart]


class ScreenPage(msgspec.Struct, frozen=True, kw_only=True):
    """How a page looks; what is shown of its rows comes from the view that its other half names."""

    id: str
    signs: tuple[Sign, ...]
    tells: Callable[[Any, RenderContext], tuple[Paragraph, ...]] | None = None
    """What the pane says of a row; a page with a table has it."""
    empty: str | Callable[[DashboardState], list[Line]] = "None."
    """What to say where there are no rows though all was seen."""
    pane_grows: bool = False
    """Whether the pane below the table takes all lines that its rows leave free, for rows that seldom come and go.

    Otherwise it takes half of the table's where the rows leave that free.
    """
    shows_keys: bool = False
    """Whether the pane says the keys that act on the row."""
    shows_keys_beside: bool = False
    """Whether it does so where it stands beside the table: below it, the footer stands next to it."""
    tells_more: Callable[[Any, RenderContext, int], tuple[Paragraph, ...]] | None = None
    """What a pane of so many cells says below, where it stands beside the table."""
    tells_remedy: bool = False
    """Whether it says after its first sentence what the findings about the row ask for; without one, what they are."""
    ends_with_chart: bool = False
    """Whether that is a chart, which stands below the keys."""
    groups: tuple[tuple[str, ...], ...] = ()
    """The labels that stand together in a pane beside the table; others follow what is above them."""
    explains: Callable[[Any, RenderContext], tuple[Paragraph, ...]] | None = None
    """Its way, or the signs in its row, which a pane below the table says after what is wrong and what comes."""
    named_keys: Callable[[Any], Collection[str]] = lambda entry: ()
    """The actions that the words of a row name, besides the remedies that its pane tells: their keys come first."""

    @property
    def view(self) -> TableView[Any]:
        return table_view(PAGES[self.id])

    @property
    def kinds_on_demand(self) -> frozenset[str]:
        """The kinds that its rows are made from and that are watched only while they are shown."""
        view = self.view
        return view.watched & _ON_DEMAND if isinstance(view, View) else frozenset()

    @property
    def priorities(self) -> ColumnPriorities:
        """Which columns are given up last, and how much of them is kept."""
        view = self.view
        return ColumnPriorities(view.rank, least=view.least, first=view.first, narrow=view.narrow)

    def rows(self, state: DashboardState) -> TableModel:
        view = self.view
        return StoreTableModel(state, view, worst_first=True) if isinstance(view, View) else FindingsTableModel(state)

    def pane(
        self,
        rows: TableModel,
        key: ObjectRef,
        state: DashboardState,
        cells: int | None = None,
        keys: Callable[[Collection[str]], tuple[Paragraph, ...]] = lambda named: (),
    ) -> tuple[Paragraph, ...]:
        """The text on the row under the cursor, in a pane of so many cells beside the table, or below it.

        `keys` tells the keys that act on it, those first that the pane names.
        """
        entry = rows.entry(key)
        if entry is None or self.tells is None:
            return ()
        if isinstance(entry, UnreadableRow):
            return (paragraph(f"{key.namespace}/{key.name} cannot be read: {entry.problem}", Tone.BAD),)
        render = rows.render_context(key, entry)
        paragraphs = self.tells(entry, render)
        shows_keys = paragraphs and (self.shows_keys or (self.shows_keys_beside and cells))
        told_keys = keys(self._named(entry, key, state)) if shows_keys else ()
        if cells is None and self.explains is not None:
            # Below the sentences: one that goes on with another is not to be parted from it.
            until = next((place for place, line in enumerate(paragraphs) if place > 1 and line.label), len(paragraphs))
            paragraphs = (*paragraphs[:until], *self.explains(entry, render), *paragraphs[until:])
        if self.tells_remedy:
            # A pane that begins with a label has no sentence of its own on what is wrong.
            first, rest = (
                (fault_lines(state, key), paragraphs)
                if paragraphs and paragraphs[0].label
                else (paragraphs[:1], paragraphs[1:])
            )
            paragraphs = (*first, *remedy_lines(state, key), *rest)
        if cells is None:
            return *paragraphs, *told_keys
        below = self.tells_more(entry, render, cells) if self.tells_more is not None else ()
        return (
            (*self._grouped(paragraphs, told_keys), *below)
            if self.ends_with_chart
            else self._grouped(paragraphs, below, told_keys)
        )

    def _named(self, entry: Any, key: ObjectRef, state: DashboardState) -> Collection[str]:
        """The actions that the pane of a row names."""
        findings = state.findings_to_fix(key) if self.tells_remedy else ()
        return {*self.named_keys(entry), *chain.from_iterable(keys_in(finding.remedy) for finding in findings)}

    def _grouped(self, *parts: tuple[Paragraph, ...]) -> tuple[Paragraph, ...]:
        """The paragraphs, the first of each group apart from what is above it."""
        group_of = {label: group for group in (*self.groups, ("Keys",)) for label in group}
        paragraphs: list[Paragraph] = []
        before: tuple[str, ...] = ()
        for line in chain.from_iterable(parts):
            group = group_of.get(line.label, before)
            paragraphs.append(replace(line, apart=True) if paragraphs and group != before else line)
            before = group
        return tuple(paragraphs)

    def why_empty(self, state: DashboardState) -> list[Line]:
        return [(span(self.empty, Tone.DIM),)] if isinstance(self.empty, str) else self.empty(state)


def fault_lines(state: DashboardState, key: ObjectRef) -> tuple[Paragraph, ...]:
    """The findings about an object, each in the few words of its line in Triage."""
    return tuple(
        lead(
            f"{humanize.capitalized(state.render_context_of(finding).text(finding.what))}.",
            severity_mark(finding.severity).tone if finding.acknowledged is None else Tone.DIM,
        )
        for finding in state.findings_about(key)
    )


def remedy_lines(state: DashboardState, key: ObjectRef) -> tuple[Paragraph, ...]:
    """The remedies of the findings about an object or what it depends on, as in Triage."""
    return tuple(
        lead(
            state.render_context_of(finding).text(with_keys(finding.remedy, key_name)),
            Tone.PLAIN,
            label=" " if place else "Do",
        )
        for place, finding in enumerate(state.findings_to_fix(key))
    )


_RECORDS = (
    ScreenPage(
        id="triage",
        groups=(("Do",), ("Since", "Hits"), ("Raw",)),
        tells=_pane("triage_pane:finding_pane"),
        empty=_pane("triage_pane:calm"),
        pane_grows=True,
        shows_keys=True,
        named_keys=lambda finding: keys_in(finding.remedy),
        signs=(
            *signs_of(broken="an error", look="a warning", waiting="a note"),
            Sign("└", "one of the findings that the line above gathers, or that follow from it"),
        ),
    ),
    ScreenPage(
        id="schedules",
        tells_remedy=True,
        groups=(("Do",), ("Next", "Due", "Last", "Usual"), ("Cron", "Takes", "Storage", "Skip")),
        pane_grows=True,
        tells=_pane("schedule_pane:schedule_pane"),
        tells_more=_pane("schedule_pane:schedule_runs"),
        ends_with_chart=True,
        explains=_pane("schedule_pane:strip_signs"),
        shows_keys_beside=True,
        empty=NO_SCHEDULES,
        signs=(
            *signs_of(
                healthy="runs as it should",
                waiting="its last backup waits in the queue",
                paused="paused",
                look="its last backup partly failed, its next is refused, or Velero does not answer",
                broken="invalid, overdue, never fires, or its last backup failed",
            ),
            Sign("resume 04:30", "in a pause that is meant to end then; nothing resumes by itself"),
            Sign("over", "paused for longer than it was meant to be"),
            Sign("LAST RUNS", "oldest first"),
            Sign(LEVELS, "a good run, as high as it took against the usual"),
            *(Sign(sign, RUN_WORDS[letter]) for letter, sign in RUN_SIGNS.items()),
            Sign(
                "SKIP",
                "whether unpausing skips a run that is due: its own field, or `server:` for the server's default",
            ),
        ),
    ),
    ScreenPage(
        id="nonadmin",
        groups=(("Next", "Triage", "Queue"), ("Steps",)),
        shows_keys_beside=True,
        tells=_pane("nonadmin_pane:nonadmin_pane"),
        tells_more=_pane("nonadmin_pane:nonadmin_steps"),
        explains=_pane("nonadmin_pane:nonadmin_path"),
        empty="No non-admin backups or restores. Tenants make them in their own namespaces.",
        signs=(
            *signs_of(
                healthy="Velero's object completed",
                running="running, or being deleted",
                waiting="waiting",
                look="refused, lost, partly failed, not picked up, or stuck in its deletion",
                broken="failed",
            ),
            _RESTORE,
            *_PROGRESS,
            Sign("2nd, 17:15", "VELERO: place in the queue, expected start"),
            Sign("A Q D", "the conditions Accepted, Queued and Deleting"),
            *signs_of(true="the condition is true", broken="it is false", unset="it is not set"),
        ),
    ),
    ScreenPage(
        id="queue",
        groups=(("Takes", "From", "Items", "Data", "Usual"), ("Name",)),
        shows_keys_beside=True,
        tells=_pane("runs_pane:queue_pane"),
        tells_more=_pane("runs_pane:whole_name"),
        empty=empty_queue,
        signs=(
            *_RUNS,
            _RESTORE,
            *_PROGRESS,
            _LARGE,
            Sign(
                "░░▆▆", "its wait and its run on an axis that begins now; of one that has ended ▆▆ is how long it took"
            ),
            Sign(
                "#",
                "▶ at work; · has given its slot back and still moves volumes; a number is the place of one that waits",
            ),
            Sign("IN", "the time until it starts or, at work, until it ends; of one that has ended how long it took"),
            Sign("AT", "when that is: ~17:15 expected to start, 17:15 to end; 17:15? is a guess, ? is not known"),
            Sign("8m → 17:15", "STARTS/ENDS, on request: has run for 8 minutes, expected to end at 17:15"),
        ),
    ),
    ScreenPage(
        id="calendar",
        signs=(
            Sign("▆▆▆", "a run: one that has ended in the colour of its outcome, one to come dim"),
            Sign("█▆╌", "runs: done already, to its likely end, to its late end: 90% sure by then"),
            Sign("▎", "a run shorter than half a cell"),
            Sign("░", "waits for a slot"),
            Sign("P F", "partly failed, failed"),
            Sign("×", "lost: the next one falls due first; or refused: its storage location cannot be used"),
            Sign("‖", "a run that a pause prevents"),
            Sign("▒", "a warm-up before a job"),
            Sign("·", "a warm-up that nothing makes: the prescaler has no CronJob for it"),
            Sign("▁▃█", "slots in use, full height is the limit; yellow where all are taken and somebody waits"),
            Sign("3 +", "how many wait for a slot; + is more than nine"),
            Sign("By 06:00", "whether the night's own runs are done: those of schedules that run seldom in a day"),
            Sign("90% sure", "in nine of ten nights that were played it is not later"),
            Sign("Peak", "the most slots in use at one time; with tenants: backups are in it that they may ask for"),
            Sign("9 wait, done 21:01", "of a day: the most that wait at once, and when all that waited are done"),
            *signs_of(paused="paused", look="late, refused or not warmed up", broken="does not run"),
        ),
    ),
    ScreenPage(
        id="backups",
        groups=(("Made", "Why", "When"), ("Items", "Volumes", "Lacks"), ("Takes",), ("Name",)),
        shows_keys_beside=True,
        tells=_pane("runs_pane:backup_pane"),
        tells_more=_pane("runs_pane:whole_name_of_backup"),
        empty="No backups. One is made when a schedule runs, or by hand on its row.",
        signs=(*_RUNS, Sign("E W", "errors and warnings"), _TOOK),
    ),
    ScreenPage(
        id="restores",
        groups=(("Into", "Made", "Why", "When"), ("Items",), ("From",), ("Name",)),
        shows_keys_beside=True,
        tells=_pane("runs_pane:restore_pane"),
        tells_more=_pane("runs_pane:whole_name"),
        empty="No restores. One is made from a backup, on the pages Backups and Protection.",
        signs=(*_RUNS, Sign("E W", "errors and warnings"), _TOOK),
    ),
    ScreenPage(
        id="storage",
        tells_remedy=True,
        groups=(("Do",), ("Says", "Why"), ("Where", "Access", "Status"), ("Holds", "Volumes", "Used by")),
        pane_grows=True,
        tells=_pane("storage_pane:place_pane"),
        empty="No storage locations. Velero needs one to write to: velero backup-location create, or OADP's DPA.",
        signs=signs_of(
            healthy="available",
            broken="unavailable",
            look="a request that waits for approval",
            waiting="not checked yet",
        ),
    ),
    ScreenPage(
        id="pods",
        groups=(("Role", "Last"), ("Says",), ("Do",)),
        tells=_pane("pod_pane:pod_pane"),
        empty="No Velero pods. The server, the node agents and maintenance jobs are listed while they exist.",
        signs=signs_of(
            healthy="ready", waiting="starting", look="not ready", broken="failing or restarting", unset="has ended"
        ),
    ),
    ScreenPage(
        id="movements",
        tells=_pane("volumes_section:movement_pane"),
        empty="No data movements. One is listed while a volume is copied to storage or back.",
        signs=(
            *signs_of(
                healthy="completed",
                running="moving data",
                waiting="waiting, or being prepared",
                look="cancelled, or about to be",
                broken="failed",
            ),
            Sign("▇▇▁▁", "how much is done"),
        ),
    ),
    ScreenPage(
        id="repositories",
        tells_remedy=True,
        tells=_pane("storage_pane:repository_pane"),
        empty="No backup repositories: Velero makes one for each namespace whose volumes it moves.",
        signs=signs_of(
            healthy="ready", look="its latest maintenance failed", waiting="not used yet", broken="not ready"
        ),
    ),
    ScreenPage(
        id="protection",
        tells_remedy=True,
        groups=(
            *(("Do",), ("Why", "Coming"), ("Newest", "Copies")),
            *(("Covered", "Volumes", "Storage", "Repo"), ("Tried",)),
        ),
        pane_grows=True,
        shows_keys_beside=True,
        tells=_pane("protection_pane:protection_pane"),
        empty="No namespaces with backups or schedules. One is listed when a schedule covers it or a backup has it.",
        signs=(
            *signs_of(
                healthy="a good copy, as new as promised",
                waiting="no copy yet and none is due, or one run has made no copy",
                paused="all that would back it up is paused",
                look="covered by nothing, or only partial copies",
                broken="no copy in time, copies about to expire or out of reach, or a repository that is not ready",
                unset="deleted, or not looked at (see thresholds.ignoredNamespaces)",
            ),
            Sign("━━╸─", "the age of its newest copy against what is promised; ×3.2 is more than three times as old"),
            Sign("2P", "COPY: no good copy, two partial ones; the age is that of the newest"),
            Sign("runs, waits", "NEXT: the backup that will be its next copy is at work, or in the queue"),
            Sign("~2/2", "VOLUMES: by the number of snapshots, which does not tell whose they are"),
            Sign("5h×", "NEXT: no run can make a copy, this one is refused: its storage location cannot be used"),
        ),
    ),
    ScreenPage(
        id=DETAIL,
        signs=(
            *_RUNS,
            Sign(LEVELS, "Runs: one bar for each run, as high as it took long, in the colour of its outcome"),
            Sign("┤ └ │", "Runs: the scale, in minutes"),
            *(Sign(sign, f"below a bar: {RUN_WORDS[letter]}") for letter, sign in RUN_SIGNS.items()),
            *signs_of(true="Steps: done; of a condition: it is true"),
        ),
    ),
)


def check_screen_pages(pages: Iterable[PageRecord], shown: Iterable[ScreenPage]) -> None:
    """Refuses a page that lacks one of its halves or a part of one, and names it."""
    halves = {page.id: page for page in shown}
    by_id = {page.id: page for page in pages}
    for lost in sorted(halves.keys() - by_id.keys() - {DETAIL}):
        raise PageConflict(f"page {lost} has no record in foretop_core.pages")
    for page in (page for page in by_id.values() if not page.room):
        half = halves.get(page.id)
        if half is None:
            raise PageConflict(f"page {page.id} has no record in foretop.panes.page_records")
        if bool(page.view) != (half.tells is not None):
            raise PageConflict(f"page {page.id} has {'a view and no pane' if page.view else 'a pane and no view'}")


def check_parts(pages: Iterable[PageRecord], shown: Iterable[ScreenPage]) -> None:
    """Refuses a page whose view or pane cannot be loaded, and names it.

    Loads all of them, which no start needs: `python -m tests.write_tables` and the tests call it.
    """
    for half in shown:
        for part in (part for part in msgspec.structs.astuple(half) if isinstance(part, Late)):
            try:
                load(part.path)
            except (ImportError, AttributeError) as problem:
                raise PageConflict(f"page {half.id} has no pane: {problem}") from problem
    for page in (page for page in pages if page.view):
        table_view(page)


check_screen_pages(PAGES.values(), _RECORDS)
SCREEN_PAGES: Mapping[str, ScreenPage] = {page.id: page for page in _RECORDS}
TABLE_PAGES: Mapping[str, ScreenPage] = {page.id: page for page in _RECORDS if page.tells is not None}
"""The pages with a table."""


def signs_on(page_id: str) -> tuple[Sign, ...]:
    """The legend of a page; that of a room's page is loaded now."""
    if page_id in PAGES and (room := PAGES[page_id].room):
        signs: tuple[Sign, ...] = load(f"foretop.rooms.{room}.page:SIGNS")
        return signs
    return SCREEN_PAGES[page_id].signs
