"""Where one goes from a finding."""

from __future__ import annotations

from msgspec.structs import replace

from foretop_core.dashboard.related_objects import related_to_finding
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.triage import Finding, Severity

STORAGE = ObjectRef("prod", "BackupStorageLocation", "velero", "offsite")
SCHEDULE = ObjectRef("prod", "Schedule", "velero", "copy")
BACKUP = ObjectRef("prod", "Backup", "velero", "copy-1")
CAUSE = Finding("storage-unavailable", Severity.ERROR, STORAGE, None, "unavailable", "", "")
REFUSED = Finding("schedule-failing", Severity.ERROR, SCHEDULE, None, "refused", "", "", (BACKUP,), blames=STORAGE)


def test_the_cause_that_a_finding_names_is_among_what_it_leads_to() -> None:
    assert related_to_finding(REFUSED) == (BACKUP, SCHEDULE)
    assert related_to_finding(replace(REFUSED, because=CAUSE)) == (STORAGE, BACKUP, SCHEDULE)


def test_the_line_that_gathers_a_finding_is_not_its_cause() -> None:
    gathering = replace(CAUSE, members=(REFUSED, REFUSED))
    assert related_to_finding(replace(REFUSED, because=gathering)) == (BACKUP, SCHEDULE)
