"""A write whose answer was lost is looked for: at the very object, within a limit, and as often as it takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from foretop_core.actions import write_answer
from foretop_core.actions.planners.backups import plan_delete_backup
from foretop_core.actions.write_answer import WriteEvidence, keep_looking, verify_write
from tests.wire.action_fixtures import Wire, a_schedule, box_with, hand_in, patch_schedule, pausing, planned, wire
from tests.wire.test_actions_lost import creating
from tests.wire.test_logs import ONE

__all__ = ["wire"]
pytestmark = pytest.mark.usefixtures("_quick_looks")


@pytest.fixture
def _quick_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_answer, "_EACH", 0.01)


async def test_a_write_that_comes_late_is_still_found(tmp_path: Path, wire: Wire) -> None:
    async with box_with([a_schedule()]) as box, hand_in(box, tmp_path) as executor:
        (step,) = planned(box, pausing).steps
        looks = []

        def late(method: str, path: str) -> str:
            looks.append(path)
            if len(looks) == 3:
                patch_schedule(box, "nightly", {key: step.write.body[key] for key in ("spec",)})
                marks = {"annotations": step.write.body["metadata"]["annotations"]}
                patch_schedule(box, "nightly", {"metadata": marks})
            return ""

        wire.cut = late
        assert await keep_looking(executor.client, step, 10.0, 10.0) is WriteEvidence.DONE
        assert len(looks) == 3


async def test_a_write_that_never_comes_is_given_up(tmp_path: Path, wire: Wire) -> None:
    async with box_with([a_schedule()]) as box, hand_in(box, tmp_path) as executor:
        (step,) = planned(box, pausing).steps
        assert await keep_looking(executor.client, step, 10.0, 0.0) is WriteEvidence.NOT_DONE
        assert len(wire.asked) == 1


@pytest.mark.parametrize("how", ["before", "500", "403"])
async def test_a_server_that_comes_back_is_asked_again(how: str, tmp_path: Path, wire: Wire) -> None:
    async with box_with([a_schedule()]) as box, hand_in(box, tmp_path) as executor:
        (step,) = planned(box, pausing).steps
        wire.cut = lambda method, path: how if len(wire.asked) < 4 else ""
        assert await verify_write(executor.client, step, 10.0) is WriteEvidence.NOT_DONE


@pytest.mark.parametrize("how", ["before", "500"])
async def test_a_server_that_stays_away_gives_no_answer(how: str, tmp_path: Path, wire: Wire) -> None:
    async with box_with([a_schedule()]) as box, hand_in(box, tmp_path) as executor:
        (step,) = planned(box, pausing).steps
        wire.cut = lambda method, path: how
        assert await verify_write(executor.client, step, 1.0) is WriteEvidence.NO_ANSWER
        assert len(wire.asked) > 1


async def test_only_the_server_s_own_word_means_that_there_is_none(tmp_path: Path, wire: Wire) -> None:
    async with box_with([a_schedule()]) as box, hand_in(box, tmp_path) as executor:
        (step,) = planned(box, creating).steps
        assert await verify_write(executor.client, step, 10.0) is WriteEvidence.NOT_DONE
        for page in ("<html>", '{"kind": "Status"}', '{"kind": "Schedule", "metadata": {"name": "other"}}'):
            wire.pages = {f"/schedules/{step.target.name}": page}
            assert await verify_write(executor.client, step, 0.1) is WriteEvidence.NO_ANSWER


async def test_a_request_with_a_generated_name_is_found_by_its_labels(tmp_path: Path) -> None:
    async with box_with([ONE]) as box, hand_in(box, tmp_path) as executor:
        snapshot = executor.snapshot()
        (step,) = plan_delete_backup(snapshot, snapshot.backups, executor.clock.now()).steps
        kind = box.storage.kind("DeleteBackupRequest")
        meta = {"name": "another", "namespace": "velero", "labels": {"velero.io/backup-name": "two"}}
        box.storage.create(kind, {"metadata": meta, "spec": {"backupName": "two"}})
        assert await verify_write(executor.client, step, 10.0) is WriteEvidence.NOT_DONE
        box.storage.create(kind, {**step.write.body, "metadata": {**step.write.body["metadata"], "name": "one-x"}})
        assert await verify_write(executor.client, step, 10.0) is WriteEvidence.DONE
