"""What came of a drill, by the lists that Velero keeps of a backup and of a restore."""

from __future__ import annotations

import json

import pytest

from foretop_core.errors import Unreadable
from foretop_core.rooms.drills.leftovers import compared, ended_jobs, read_resource_list, read_restored_list

_KINDS = ("ConfigMap", "Deployment")
_BACKUP = json.dumps(
    {
        "v1/Namespace": ["shop"],
        "v1/ConfigMap": ["shop/settings", "shop/kube-root-ca.crt", "wiki/settings"],
        "apps/v1/Deployment": ["shop/web", "shop/api"],
        "v1/Pod": ["shop/web-0"],
        "v1/PersistentVolume": None,
    }
).encode()


def _restored(*deployments: str) -> bytes:
    return json.dumps({"v1/ConfigMap": ["trial/settings(created)"], "apps/v1/Deployment": list(deployments)}).encode()


def test_what_is_in_the_backup_of_one_namespace_is_counted_by_kind() -> None:
    assert dict(read_resource_list(_BACKUP, "shop")) == {"ConfigMap": 1, "Deployment": 2, "Pod": 1}


def test_only_what_was_made_counts_as_restored() -> None:
    body = _restored("trial/web(created)", "trial/api(failed)", "other/web(created)", "shop/old(updated)")
    assert dict(read_restored_list(body, ("shop", "trial"))) == {"ConfigMap": 1, "Deployment": 2}


def test_a_kind_of_which_fewer_came_back_fails_the_drill() -> None:
    expected = read_resource_list(_BACKUP, "shop")
    all_of_it = read_restored_list(_restored("trial/web(created)", "trial/api(created)"), ("trial",))
    assert compared(expected, all_of_it, _KINDS, "Completed").failed == ""
    report = compared(expected, read_restored_list(_restored("trial/web(created)"), ("trial",)), _KINDS, "Completed")
    assert (report.failed, report.left_out) == ("only 1 of 2 Deployment", ("Pod",))
    assert compared(expected, all_of_it, _KINDS, "PartiallyFailed").failed == "the restore is PartiallyFailed"
    assert compared(expected, {}, _KINDS, "", "no time").failed.startswith("no time; only 0 of 1 ConfigMap")


def test_a_job_that_had_ended_is_not_missing() -> None:
    log = (
        b'time="2026-11-15T02:41:07Z" level=info msg="trial/pack-1 is complete - skipping" groupResource=jobs.batch\n'
        b'time="2026-11-15T02:41:07Z" level=info msg="Attempting to restore Job: pack-2" groupResource=jobs.batch\n'
    )
    assert ended_jobs(log) == 1
    report = compared({"Job": 2}, {"Job": 1}, ("Job",), "Completed", jobs_ended=1)
    assert (report.failed, report.counts[0].ended_text) == ("", ", 1 had ended")
    report = compared({"Job": 3}, {"Job": 1}, ("Job",), "Completed", jobs_ended=1)
    assert report.failed == "only 1 of 2 Job"


@pytest.mark.parametrize("body", [b"", b"[]", b'{"v1/Pod": [1]}', b"<html>"])
def test_a_list_that_cannot_be_read_says_so(body: bytes) -> None:
    with pytest.raises(Unreadable, match="The resource list cannot be read"):
        read_resource_list(body, "shop")
