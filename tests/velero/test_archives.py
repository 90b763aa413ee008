"""What foretop gathers and records of a real Velero: opened, each says what the live cluster says at that moment."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from foretop.cli import run
from foretop_core.rooms.archives.contents import read_archive
from tests.rooms.archives.test_same_as_live import answers, different, looked_at
from tests.velero.real_cluster import RealVeleroCluster
from tests.velero.stories import NOT_DUE, wait_until_available
from tests.velero.velero_cluster import VELERO_NAMESPACE, ServerFlags, StorySteps


@pytest.mark.seconds(60)
def test_what_is_gathered_and_recorded_says_what_the_cluster_says(
    cluster: RealVeleroCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for variable in ("XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(variable, str(tmp_path))
    kubeconfig = str(cluster.api_server.kubeconfig("admin", VELERO_NAMESPACE))
    steps, recording = StorySteps(cluster), tmp_path / "story.jsonl"
    words = ["record", "-o", str(recording), "--kubeconfig", kubeconfig]
    recorder = subprocess.Popen([sys.executable, "-m", "foretop", *words], env=os.environ)
    try:
        cluster.wait_until(lambda: recording.exists() and recording.stat().st_size)
        for number in range(2):
            cluster.start(ServerFlags())
            wait_until_available(steps)
            steps.schedule(f"daily-{number}", NOT_DUE)
            steps.wait_for_phase("Schedule", f"daily-{number}", "Enabled")
            steps.schedule(f"broken-{number}", "61 * * * *")
            steps.wait_for_phase("Schedule", f"broken-{number}", "FailedValidation")
            steps.backup(f"by-hand-{number}")
            steps.wait_until_idle()
            # Nothing happens any more, so that all of them look at the same moment.
            cluster.kill()
            gathered, kept = tmp_path / f"gathered-{number}.tar.gz", tmp_path / f"kept-{number}.jsonl"
            moment = cluster.now().replace(microsecond=0) + timedelta(seconds=1)
            with looked_at(moment):
                assert run(["gather", "-o", str(gathered), "--with-texts", "-y", "--kubeconfig", kubeconfig]) in (0, 1)
                capsys.readouterr()
                live = dict(answers(capsys, "--kubeconfig", kubeconfig))
                shutil.copy(recording, kept)
                # A recording ends with what happened last.
                recorded = dict(answers(capsys, "-f", str(kept)))
            assert f"by-hand-{number}" in str(live["get backup"])
            assert different(live, dict(answers(capsys, "-f", str(gathered)))) == {}
            assert different(live, recorded) == {}
    finally:
        recorder.terminate()
        recorder.wait(60)
    first = read_archive(tmp_path / "kept-0.jsonl", lambda _: None)
    assert read_archive(recording, lambda _: None, first.now).objects == first.objects
