"""Panes and details at 80 by 24: what tells comes first, and what is cut keeps its ends."""

from __future__ import annotations

from foretop.widgets.paragraphs import paragraph, wrap
from foretop_core.models.kinds import BACKUP, NAB, SCHEDULE
from tests.tui.pilot import screen


def test_a_long_error_keeps_its_cause_where_there_is_no_room_for_all_of_it() -> None:
    words = " ".join(f"word{place}" for place in range(60))
    folded = wrap([paragraph(f"begins {words} NoSuchBucket", label="Status", yields=True), paragraph("next")], 40, 5)
    told = ["".join(piece.text for piece in line) for line in folded]
    assert len(told) == 5
    assert "begins" in told[0]
    assert told[2].endswith(" …")
    assert told[3].endswith("NoSuchBucket")


async def test_the_signs_of_runs_are_explained_where_they_stand_and_all_of_them_in_help() -> None:
    async with screen() as shown:
        await shown.press("2")
        await shown.on(shown.source.key(SCHEDULE, "velero", "etcd-hourly"))
        assert "_ missed" in shown.pane
        assert "V refused" not in shown.pane
        await shown.on(shown.source.key(SCHEDULE, "velero", "cassandra"))
        assert "oldest first" not in shown.pane
        await shown.press("?", "end", *["pagedown"] * 6)
        assert "V refused" in shown.text


async def test_the_detail_of_a_backup_draws_its_path() -> None:
    async with screen() as shown:
        await shown.press("7")
        await shown.on(shown.source.key(BACKUP, "velero", "mongo-nightly-20261115023003"))
        await shown.press("enter")
        assert "New ✓ ─ Queued ✓ ─ InProgress ◐ ─ Completed" in shown.text


async def test_the_detail_of_a_tenants_backup_names_its_velero_object_both_queues_and_its_spec() -> None:
    async with screen() as shown:
        await shown.press("3")
        await shown.on(shown.source.key(NAB, "team-pay", "ledger"))
        await shown.press("enter")
        for label in ("Velero ", "in Velero's queue", "Spec     namespaces team-pay · TTL"):
            assert label in shown.text


async def test_a_title_that_does_not_fit_is_cut_with_an_ellipsis() -> None:
    async with screen(size=(40, 24)) as shown:
        await shown.press("7")
        await shown.on(shown.source.key(BACKUP, "velero", "mongo-nightly-20261115023003"))
        await shown.press("enter")
        title = shown.lines[3]
        assert title.startswith(" backup velero/mongo")
        assert "…" in title
        assert title.endswith("3003")
