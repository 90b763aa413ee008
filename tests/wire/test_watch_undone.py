"""`--watch-undone`: a command says who puts its write back, and ends as soon as that is seen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from foretop.cli import run
from tests.wire.boxes import living_box


def test_a_write_that_argo_cd_puts_back_is_told_and_fails_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with living_box("gitops", tmp_path, 10.0) as (_, config):
        asked = ("--yes", "--watch-undone", "5", "--kubeconfig", config)
        assert run(["schedule", "pause", "orders-hourly", *asked]) == 1
        told = capsys.readouterr().out
        assert "schedule openshift-adp/orders-hourly: put back by argocd-controller at " in told
        assert run(["schedule", "pause", "orders-hourly", "-o", "json", *asked]) == 1
        (item,) = json.loads(capsys.readouterr().out)["items"]
        assert (item["result"], item["undone"][:29]) == ("done", "put back by argocd-controller")
        run(["journal", "-o", "json"])
        seen = [one for one in json.loads(capsys.readouterr().out)["items"] if one["user"] == "argocd-controller"]
        assert [one["result"] for one in seen] == ["put back by argocd-controller; foretop only saw it"] * 2


def test_without_the_option_or_with_nothing_to_put_back_nobody_waits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with living_box("gitops", tmp_path, 1.0) as (_, config):
        assert run(["schedule", "pause", "orders-hourly", "--yes", "--kubeconfig", config]) == 0
        words = ("backup", "create", "--from-schedule", "by-hand", "--yes", "--no-wait")
        assert run([*words, "--watch-undone", "60", "--kubeconfig", config]) == 0
        assert "put back" not in capsys.readouterr().out
        assert run(["schedule", "pause", "by-hand", "--yes", "--watch-undone", "0", "--kubeconfig", config]) == 2
        assert "1<=x<=60" in capsys.readouterr().err
