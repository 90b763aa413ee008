"""The data movements and events of one object, asked for once."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from foretop_core.actions.unwatched_reads import events_of, movements_of
from foretop_core.errors import ForetopError
from foretop_core.models import Restore, from_builtins
from tests.objects import backup, restore
from tests.wire.action_fixtures import Wire, box_with, hand_in, wire
from tests.wire.command_fixtures import UPLOAD

__all__ = ["wire"]
DOWNLOAD = {
    "apiVersion": "velero.io/v2alpha1",
    "kind": "DataDownload",
    "metadata": {"name": "down", "namespace": "velero", "labels": {"velero.io/restore-name": "running"}},
    "spec": {
        "targetVolume": {"namespace": "team-a", "pv": "", "pvc": "data-0"},
        "backupStorageLocation": "default",
        "snapshotID": "s-1",
        "sourceNamespace": "team-a",
        "operationTimeout": "10m",
    },
}


async def test_a_backup_has_what_was_moved_up_and_a_restore_what_was_moved_down(tmp_path: Path) -> None:
    async with box_with([UPLOAD, DOWNLOAD]) as box, hand_in(box, tmp_path) as executor:
        runs = (backup("running"), restore("running"), backup("other"))
        found = [[one.name for one in await movements_of(executor.client, run)] for run in runs]
        assert found == [["up"], ["down"], []]


def _refused(code: str, method: str, path: str) -> str:
    return code if path.endswith("podvolumebackups") else ""


async def test_a_kind_that_is_not_installed_has_none_and_any_other_error_is_told(tmp_path: Path, wire: Wire) -> None:
    async with box_with([UPLOAD]) as box, hand_in(box, tmp_path) as executor:
        wire.cut = partial(_refused, "404")
        assert [one.name for one in await movements_of(executor.client, backup("running"))] == ["up"]
        for code in ("403", "405"):
            wire.cut = partial(_refused, code)
            with pytest.raises(ForetopError, match=f"told {code}"):
                await movements_of(executor.client, backup("running"))


async def test_the_events_are_those_of_that_very_object(tmp_path: Path, wire: Wire) -> None:
    def event(name: str, uid: str) -> dict[str, Any]:
        about = {"kind": "Restore", "name": "back", "namespace": "velero", "uid": uid}
        meta = {"name": name, "namespace": "velero"}
        return {"apiVersion": "v1", "kind": "Event", "metadata": meta, "involvedObject": about, "reason": "Seen"}

    item = from_builtins(Restore, {"metadata": {"name": "back", "namespace": "velero", "uid": "u-1"}})
    async with box_with([event("mine", "u-1"), event("other", "u-2")]) as box, hand_in(box, tmp_path) as executor:
        assert [one.name for one in await events_of(executor.client, item)] == ["mine"]
        wire.pages["/events"] = (
            '{"kind": "EventList", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": null}'
        )
        assert await events_of(executor.client, item) == ()
