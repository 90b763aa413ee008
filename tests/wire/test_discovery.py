"""The version of a kind that a server serves, whatever discovery answers."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from foretop_core.kube.connection.connection_errors import ApiError
from foretop_core.kube.connection.discovery import served_version
from foretop_core.models.kinds import DATA_UPLOAD, POD, SCHEDULE, Kind
from tests.wire.scripted_api import ScriptedApi, client_of

GROUP = "/apis/velero.io"
SCHEDULES, OTHERS = {"resources": [{"name": "x"}, {"name": "schedules"}]}, {"resources": [{"name": "x"}]}


def group(*versions: str, preferred: str = "") -> dict[str, object]:
    found: dict[str, object] = {"versions": [{"version": name} for name in versions]}
    return {**found, "preferredVersion": {"version": preferred}} if preferred else found


async def version(answers: Mapping[str, object], kind: Kind = SCHEDULE) -> str | None:
    async with client_of(ScriptedApi({f"{GROUP}{path}": found for path, found in answers.items()})) as client:
        return await served_version(client, kind)


@pytest.mark.parametrize(
    ("answers", "served"),
    [
        ({"": group("v1"), "/v1": SCHEDULES}, "v1"),
        ({"": group("v2", "v1", preferred="v2"), "/v1": SCHEDULES, "/v2": SCHEDULES}, "v1"),
        ({"": group("v2", "v1", preferred="v2"), "/v1": OTHERS, "/v2": SCHEDULES}, "v2"),
        ({"": group("v2", "v3", preferred="v3"), "/v2": SCHEDULES, "/v3": SCHEDULES}, "v3"),
        ({"": group("v2", "v3"), "/v2": SCHEDULES, "/v3": SCHEDULES}, "v2"),
        ({"": group("v1"), "/v1": OTHERS}, None),
        ({"": group("v1"), "/v1": {"resources": None}}, None),
        ({"": group("v1")}, None),
        ({"": {"versions": None}}, None),
        ({}, None),
        ({"": 403}, "v1"),
    ],
)
async def test_the_known_version_comes_before_the_one_that_the_server_prefers(
    answers: dict[str, object], served: str | None
) -> None:
    assert await version(answers) == served


async def test_a_kind_of_the_core_is_not_asked_for() -> None:
    assert await version({}, POD) == "v1"


async def test_each_kind_of_a_group_has_its_own_version() -> None:
    answers = {"": group("v1", "v2alpha1", preferred="v1"), "/v1": SCHEDULES}
    assert await version({**answers, "/v2alpha1": {"resources": [{"name": "datauploads"}]}}, DATA_UPLOAD) == "v2alpha1"


@pytest.mark.parametrize("code", [400, 404, 405, 500])
async def test_discovery_that_fails_does_not_say_that_nothing_is_installed(code: int) -> None:
    for answers in ({"": code}, {"": group("v1"), "/v1": code}):
        if code == 404:
            assert await version(answers) is None
        else:
            with pytest.raises(ApiError):
                await version(answers)
