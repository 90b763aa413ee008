"""`foretop primer`: the expressions that warm a cluster up, and what cannot be primed."""

from __future__ import annotations

import pytest

from foretop.cli import run
from tests.unit.test_cli import BOTH_DAYS, FROM, answer, refusal


def test_primer_prints_expressions_pairs_and_the_prescaler_s_answer(capsys: pytest.CaptureFixture[str]) -> None:
    output = answer(capsys, "primer", "5,12,48,56 * * * 5", "--warmup", "10", *FROM, "--count", "1", "-o", "json")
    assert output["expression"] == "5,12,48,56 * * * 5"
    assert output["warmupMinutes"] == 10
    assert output["primed"] == ["2,38,46 * * * 5", "55 0-22 * * 5", "55 23 * * 4"]
    assert output["exact"] is True
    assert output["extraIn8Years"] == 0
    assert output["runs"] == [{"warmup": "2026-11-19T23:55:00Z", "run": "2026-11-20T00:05:00Z"}]
    assert output["prescaler"]["supported"] is True
    assert output["prescaler"]["documented"] is False
    assert output["prescaler"]["missedIn8Years"] == 417


def test_primer_warns_of_daylight_saving_and_keeps_the_zone(capsys: pytest.CaptureFixture[str]) -> None:
    output = answer(capsys, "primer", "0 3 * * *", "--warmup", "30", "--tz", "Europe/Berlin", "-o", "json")
    assert output["primed"] == ["30 2 * * *"]
    assert "daylight saving" in output["note"]
    own = answer(capsys, "primer", "CRON_TZ=Europe/Berlin 0 3 * * *", "--warmup", "30", "-o", "json")
    assert own["primed"] == ["CRON_TZ=Europe/Berlin 30 2 * * *"]


def test_primer_reads_its_input_as_a_given_release_and_answers_for_cron_jobs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = ("primer", BOTH_DAYS, "--warmup", "10", *FROM, "--count", "1", "-o", "json")
    output = answer(capsys, *asked)
    assert (output["primed"], output["runs"][0]["run"]) == (["50 1 1 * 1"], "2026-11-16T02:00:00Z")
    newest = answer(capsys, *asked, "--velero-version", "1.18.3")
    assert newest["runs"][0]["run"] == "2027-02-01T02:00:00Z"
    assert newest["exact"] is False
    assert newest["extraIn8Years"] > 0


def test_primer_prints_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["primer", "0/15 * 1 * *", "--warmup", "10", *FROM]) == 0
    printed = capsys.readouterr().out
    assert "50 23 28,29 2 *" in printed
    assert "95 warm-ups missed and 96 unneeded" in printed


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["primer", "0 2 * * *"], ["Missing option", "--warmup"]),
        (["primer", "0 2 * * *", "--warmup", "-1"], ["cannot warm up -1 minutes ahead", "use 0 to 10080"]),
        (["primer", "0 2 * * *", "--warmup", "10081"], ["cannot warm up 10081 minutes ahead", "use 0 to 10080"]),
        (["primer", "0 2 * * *", "--warmup", "ten"], ["'ten' is not a valid integer"]),
        (["primer", "0 2 * * 9", "--warmup", "10"], ["day of week", "above maximum (6)"]),
        (["primer", "@every 1h", "--warmup", "10"], ["cannot prime @every 1h"]),
        (["primer", "0 0 31 2 *", "--warmup", "10"], ["never fires"]),
        (
            ["primer", "0 2 1 * 1", "--warmup", "10", "--velero-version", "1.18"],
            ["does not determine", "give the patch"],
        ),
        (
            ["primer", "0 2 * * *", "--warmup", "10", "--velero-version", "1.14", "--tz", "Asia/Tokyo"],
            ["--tz cannot be used with Velero 1.14", "refuses every time zone"],
        ),
    ],
)
def test_bad_input_is_one_line_and_exit_code_two(
    capsys: pytest.CaptureFixture[str], arguments: list[str], words: list[str]
) -> None:
    line = refusal(capsys, *arguments)
    for word in words:
        assert word in line
