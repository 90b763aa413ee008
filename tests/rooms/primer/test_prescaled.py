"""`foretop prescaled`, called as a person or a script calls it, against the cluster in a box."""

from __future__ import annotations

import json

import pytest

from foretop.cli import run
from foretop_core.actions.action_record import ActionRecord
from foretop_core.rooms.primer.planners import CREATE_WARM_UP, PRIME
from foretop_demo.local_api_server import LocalApiServer
from tests.unit.test_packaging import allows, rules
from tests.wire.action_fixtures import Wire, wire
from tests.wire.command_fixtures import Foretop, box, foretop, home, only

__all__ = ["box", "foretop", "home", "wire"]


def test_the_warm_up_schedule_is_written_as_the_primer_tells_it(
    box: LocalApiServer, foretop: Foretop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert foretop("prescaled", "prime", "friday", "--yes") == 0
    assert "spec.primerSchedule absent → 50 13-15 * * *" in capsys.readouterr().out
    assert foretop("prescaled", "prime", "velero/friday", "--yes") == 3
    assert "spec.primerSchedule is '50 13-15 * * *' already" in capsys.readouterr().out


def test_a_warm_up_cron_job_is_created_beside_its_schedule(
    box: LocalApiServer, foretop: Foretop, wire: Wire, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("prescaled", "create", "schedule/velero/nightly", "--warmup", "15")
    assert foretop(*asked, "--dry-run=server") == 0
    assert box.storage.list(box.storage.kind("CronJob")) == []
    assert foretop(*asked, "--yes") == 0
    assert "cronjob velero/warm-up-nightly is created" in capsys.readouterr().out
    made = only(box, "CronJob")
    assert (made["metadata"]["name"], made["spec"]["timeZone"]) == ("warm-up-nightly", "Etc/UTC")
    assert run(["journal", "-o", "json"]) == 0
    *_, line = json.loads(capsys.readouterr().out)["items"]
    assert (line["kind"], line["method"], line["result"]) == ("CronJob", "POST", "done")
    assert foretop(*asked, "--yes") == 3
    assert "CronJob warm-up-nightly exists already" in capsys.readouterr().out
    # Of a plain CronJob, the warm-up just as well.
    assert foretop("prescaled", "create", "cronjob/warm-up-nightly", "--yes") == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nightly",), "write it as schedule/NAME or cronjob/NAME"),
        (("backup/ended",), "write it as schedule/NAME or cronjob/NAME"),
        (("schedule/nightly", "--warmup", "soon"), "give 1 to 10,080 minutes"),
        (("schedule/nightly", "--request", "gpu=1"), "write it as cpu=2,memory=4Gi"),
        (("schedule/none",), "Schedule none not found"),
    ],
)
def test_bad_input_for_a_warm_up_is_one_line(
    arguments: tuple[str, ...], words: str, foretop: Foretop, wire: Wire, capsys: pytest.CaptureFixture[str]
) -> None:
    assert foretop("prescaled", "create", *arguments, "--yes") == 2
    assert words in (told := capsys.readouterr().err)
    assert told.count("\n") == 1
    assert not wire.writes


def test_a_warm_up_cron_job_needs_the_right_to_create_one(
    box: LocalApiServer, foretop: Foretop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert foretop("prescaled", "create", "schedule/nightly", "--yes", user="reader") == 3
    assert "create on cronjobs.batch in velero is not allowed" in capsys.readouterr().err
    assert box.storage.list(box.storage.kind("CronJob")) == []


@pytest.mark.parametrize(("record", "role"), [(PRIME, "foretop-prescaled"), (CREATE_WARM_UP, "foretop-warm-ups")])
def test_each_write_has_a_role_of_its_own(record: ActionRecord, role: str) -> None:
    (needed,) = record.rights
    assert allows(rules(role), needed.verb, needed.kind.group, needed.kind.plural)
    assert not allows(rules("foretop-write"), needed.verb, needed.kind.group, needed.kind.plural)


def test_only_administrators_are_granted_what_creates_a_warm_up() -> None:
    assert CREATE_WARM_UP.for_administrators
    assert not PRIME.for_administrators
