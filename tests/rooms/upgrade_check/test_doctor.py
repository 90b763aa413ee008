"""What the doctor says of an upgrade, against an API server that is told what to answer."""

from __future__ import annotations

from typing import Any

import pytest

from foretop_core.models.kinds import SCHEDULE
from tests.wire.scripted_api import listed
from tests.wire.test_doctor import NEW, NOTE, OK, SCHEDULES, about, cluster, schedule, velero

CHANGES = "run foretop upgrade-check to see what changes and what to write instead"
SUNDAYS = (schedule("velero", "sundays", "0 2 * * 7"), schedule("velero", "mondays", "0 2 * * 1"))
OLD = "Velero up to 1.14 (robfig/cron v1.1.0)"
EITHER = "Velero 1.15 and later (robfig/cron v3.0.1 or netresearch/go-cron v0.15.0)"


@pytest.mark.parametrize(
    ("image", "given", "schedules", "line"),
    [
        ("v1.18.3", "", SUNDAYS, (OK, f"{NEW}, because of the tag 1.18.3 of its image", "")),
        (
            "v1.14.0",
            "",
            (),
            (OK, f"{OLD}, because of the tag 1.14.0 of its image. An upgrade to 1.18.3 changes 0 of 0 schedules", ""),
        ),
        (
            "v1.14.0",
            "",
            SUNDAYS[1:],
            (OK, f"{OLD}, because of the tag 1.14.0 of its image. An upgrade to 1.18.3 changes 0 of 1 schedule", ""),
        ),
        (
            "v1.14.0",
            "",
            SUNDAYS,
            (
                NOTE,
                f"{OLD}, because of the tag 1.14.0 of its image. An upgrade to 1.18.3 changes 1 of 2 schedules",
                CHANGES,
            ),
        ),
        (
            "main",
            "1.18",
            SUNDAYS,
            (
                NOTE,
                f"{EITHER}, because of --velero-version 1.18. An upgrade to 1.18.3 changes 1 of 2 schedules",
                f"give the release with --velero-version; {CHANGES}",
            ),
        ),
        (
            "v1.18.3",
            "1.14",
            (),
            (
                NOTE,
                f"{OLD}, because of --velero-version 1.14; against that: the tag 1.18.3 of its image. "
                "An upgrade to 1.18.3 changes 0 of 0 schedules",
                "",
            ),
        ),
        (
            "main",
            "",
            (),
            (
                OK,
                "every release of Velero (robfig/cron v1.1.0 or robfig/cron v3.0.1 or netresearch/go-cron v0.15.0), "
                "without evidence",
                "",
            ),
        ),
    ],
)
async def test_how_a_server_reads_cron_is_shown_with_what_an_upgrade_changes(
    image: str, given: str, schedules: tuple[dict[str, Any], ...], line: tuple[str, str, str]
) -> None:
    api = cluster(velero("velero", f"velero/velero:{image}"))
    api.answers[SCHEDULES.format("velero")] = listed(SCHEDULE, *schedules)
    verdict, found, remedy = line
    assert await about("cron", api, versions={"": given} if given else None) == [
        (verdict, f"in velero, {found}", remedy)
    ]


@pytest.mark.sweep
async def test_an_upgrade_is_judged_for_each_server_by_its_own_schedules() -> None:
    old = "velero/velero:v1.14.0"
    api = cluster(velero("team-a", old), velero("velero", old))
    api.answers[SCHEDULES.format("velero")] = listed(SCHEDULE, *SUNDAYS)
    found = [told.rpartition(" changes ")[2] for _, told, _ in await about("cron", api)]
    assert found == ["0 of 0 schedules", "1 of 2 schedules"]
