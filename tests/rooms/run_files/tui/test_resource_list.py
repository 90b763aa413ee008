"""The list of what is in a backup: fetched with consent."""

from __future__ import annotations

import json

import pytest

from foretop.rooms.run_files.log_lines import LogLines
from foretop_core.errors import Unreadable
from foretop_core.models.kinds import BACKUP
from foretop_core.rules.results import parse_resource_list
from foretop_demo.scenarios.scenario_builder import HOME
from tests.tui.dashboard_on_box import Stand, stand

REQUEST = f"POST /apis/velero.io/v1/namespaces/{HOME}/downloadrequests"


def newest_completed(at: Stand) -> str:
    done = [one for one in at.box.storage.list(at.box.storage.kind("Backup")) if one["status"]["phase"] == "Completed"]
    return str(max(one["metadata"]["name"] for one in done if one["metadata"]["namespace"] == HOME))


def test_a_list_is_in_order_and_counted() -> None:
    found = parse_resource_list(json.dumps({"v1/Pod": ["b/two", "a/one"], "apps/v1/Deployment": None}).encode())
    assert found.lines() == ("2 objects of 2 kinds", "apps/v1/Deployment:", "v1/Pod:", "  - a/one", "  - b/two")


@pytest.mark.parametrize(
    "text", [b"", b"[]", b"{", b'{"v1/Pod": 3}', b'{"v1/Pod": [1]}', b'{"\xff": []}', b'{"a":' * 9999]
)
def test_what_is_not_a_list_is_refused(text: bytes) -> None:
    with pytest.raises(Unreadable):
        parse_resource_list(text)


async def test_a_backups_resources_are_listed_after_consent() -> None:
    async with stand("quiet") as at:
        name = newest_completed(at)
        await at.go("7", at.key(BACKUP, name))
        await at.shown.press("enter", "d", "end")
        await at.see(":resources fetches the list from storage")
        await at.shown.press(":")
        await at.paste("resources")
        await at.shown.press("enter")
        await at.see("Fetch the resource list of", "a DownloadRequest for the resource list", "[ Fetch ]")
        assert at.writes == []
        await at.send()
        await at.see("apps/v1/Deployment:")
        namespaces = len(at.object("Backup", name)["spec"]["includedNamespaces"])
        assert at.shown.app.screen.query_one(LogLines).lines[0] == f"{10 * namespaces} objects of 10 kinds"
        await at.shown.press("question_mark")
        await at.see("Keys of the resource list", "q close the resource list")
        await at.shown.press("escape")
        assert at.writes == [REQUEST]
        await at.shown.press("ctrl+s")
        assert "v1/ConfigMap:" in (at.folder / f"{name}-resources.log").read_text()
