"""What repeats a spec repeats all of it: with fields of a newer Velero, which foretop has no model of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from foretop_core.actions.plan_executor import Outcome
from foretop_core.actions.planners.backups import plan_back_up_now, plan_run_again
from foretop_core.actions.plans import Planner
from foretop_core.models import BackupSpec, RestoreSpec
from foretop_demo.access import Rule, User
from foretop_demo.kinds import Catalog, load_catalog
from tests.objects import NOW
from tests.wire.action_fixtures import a_schedule, box_with, done, hand_in, world_in
from tests.wire.command_fixtures import ENDED
from tests.wire.test_commands import obj

_NEWER = {"backupType": "Incremental", "tape": {"slots": [1, 2]}}
_SPEC: dict[str, Any] = {"includedNamespaces": ["shop"], **_NEWER}
_CREATOR = User("creator", (Rule(("create",), ("velero.io",), ("backups",)),))
"""May not read what is repeated."""


@pytest.fixture(autouse=True)
def newer_velero(monkeypatch: pytest.MonkeyPatch) -> None:
    """A box whose definitions know fields of a backup that foretop does not know."""

    def catalog() -> Catalog:
        found = load_catalog()
        for name, path in (("Backup", ("spec",)), ("Schedule", ("spec", "template"))):
            part = found.named(name).schema
            for step in path:
                part = part["properties"][step]
            part["properties"] |= {"backupType": {"type": "string"}, "tape": _OPEN}
        return found

    monkeypatch.setattr("foretop_demo.in_process_api.load_catalog", catalog)


_OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_OBJECTS = [
    obj("Backup", "ended", _SPEC, status=ENDED),
    a_schedule("nightly", template=_SPEC),
]


async def _made(planner: Planner, held: str, folder: Path, **how: Any) -> tuple[dict[str, Any], str]:
    """The spec of the backup that is made, and what is told of it."""
    async with box_with(_OBJECTS, [_CREATOR]) as box, hand_in(box, folder, **how) as executor:
        snapshot = world_in(box)
        plan = planner(snapshot, getattr(snapshot, held), NOW)
        (result,) = await done(executor, plan, planner)
        assert result.outcome is Outcome.DONE, result.error
        name = plan.steps[0].target.name
        return box.storage.get(box.storage.kind("Backup"), "velero", name)["spec"], result.error


@pytest.mark.parametrize(("planner", "held"), [(plan_run_again, "backups"), (plan_back_up_now, "schedules")])
async def test_a_field_that_foretop_does_not_know_is_repeated_and_told(
    planner: Planner, held: str, tmp_path: Path
) -> None:
    spec, told = await _made(planner, held, tmp_path)
    assert spec == _SPEC
    assert told == "with backupType and tape as well, which foretop does not know"


async def test_who_may_not_read_what_is_repeated_makes_it_of_what_is_known(tmp_path: Path) -> None:
    spec, told = await _made(plan_run_again, "backups", tmp_path, user="creator")
    assert (spec, told) == ({"includedNamespaces": ["shop"]}, "")


def test_the_models_have_all_fields_of_the_newest_release() -> None:
    """What they lack would be repeated all the same, and told as unknown."""
    for name, model in (("Backup", BackupSpec), ("Restore", RestoreSpec)):
        properties = load_catalog().named(name).schema["properties"]["spec"]["properties"]
        assert set(properties) <= set(model.__struct_encode_fields__)
