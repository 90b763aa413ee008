"""Known bugs of Velero's releases: what one sees of each, in which releases it was seen, and in which it is fixed.

A range is claimed only as far as it is known; of a release beyond it nothing is said.
"""

from __future__ import annotations

import msgspec

from foretop_core.rules.cron_dialects import Release


class KnownBug(msgspec.Struct, frozen=True):
    issue: int
    """Its number among the issues of velero-io/velero."""
    sign: str
    """What one sees of it."""
    first: Release
    last: Release
    """The last release that it was seen in."""
    fixed: str = ""
    """The release that fixes it; "" where none does yet."""

    def is_in(self, release: Release) -> bool | None:
        """True if a release has it; None where its patch decides that and is not known."""
        if release.patch is not None:
            return self.first <= release <= self.last
        line, first, last = ((one.major, one.minor) for one in (release, self.first, self.last))
        if not first <= line <= last:
            return False
        return True if first < line < last else None

    @property
    def reference(self) -> str:
        """`velero #9566, seen in 1.18.0, fixed in 1.18.1`."""
        seen = str(self.first) if self.first == self.last else f"{self.first} to {self.last}"
        return f"velero #{self.issue}, seen in {seen}, {f'fixed in {self.fixed}' if self.fixed else 'not fixed yet'}"

    @property
    def line(self) -> str:
        return f"{self.sign} ({self.reference})"


LEAKED_SLOT = KnownBug(
    10519,
    "a backup that was refused keeps its slot of the queue until Velero restarts",
    Release(1, 18, 0),
    Release(1, 18, 3),
)
LOST_DEFAULT = KnownBug(
    10241,
    "the server's default of skipImmediately is lost after its first use",
    Release(1, 18, 3),
    Release(1, 18, 3),
)
PATTERNS_TAKE_NOTHING = KnownBug(
    9566,
    "a template that has only patterns in excludedNamespaces takes nothing, and its backups are Completed",
    Release(1, 18, 0),
    Release(1, 18, 0),
    "1.18.1",
)
LAST_STATUS = KnownBug(
    9374,
    "the metric velero_backup_last_status is set to 1 at each look at a schedule, so that alerts on it never fire",
    Release(1, 13, 1),
    Release(1, 18, 3),
)
KNOWN_BUGS = (LEAKED_SLOT, LOST_DEFAULT, PATTERNS_TAKE_NOTHING, LAST_STATUS)
"""Those that cost backups first."""


def bugs_of(release: Release) -> tuple[KnownBug, ...]:
    """The bugs that a release has, or may have where its patch is not known."""
    return tuple(bug for bug in KNOWN_BUGS if bug.is_in(release) is not False)
