"""Logs and descriptions of an archive: which is whose, and what a description tells of results and resources."""

from __future__ import annotations

import pytest

from foretop_core.actions.planners.downloads import RunFile
from foretop_core.rooms.archives.texts import described_file, log_name, pod_log_name
from foretop_core.rules.results import parse, parse_resource_list

DESCRIBED = b"""\
Name:         nightly
Phase:  PartiallyFailed (run `velero backup logs nightly` for more information)

Warnings:
  Velero:     <none>
  Cluster:    <none>
  Namespaces: <none>

Errors:
  Velero:   name: /db message: /Error backing up item error: /timed out
            plugin panicked
  Cluster:  <none>
  Namespaces:
    shop:   resource: /pods name: /web error: /connection: refused
            second sentence
    crm:    third sentence

Resource List:
  apps/v1/Deployment:
    - shop/web
    - shop/db
  v1/Namespace:
    - shop
"""


def test_the_results_of_a_description_are_those_of_velero() -> None:
    results = parse(described_file(DESCRIBED, RunFile.RESULTS) or b"")
    assert results.warnings == ()
    told = {group.title: {one.subject: one.message for one in group.problems} for group in results.errors}
    assert told == {
        "Velero itself": {"db": "Error backing up item: timed out", "": "plugin panicked"},
        "namespace crm": {"": "third sentence"},
        "namespace shop": {"pods/web": "connection: refused", "": "second sentence"},
    }


def test_the_resources_of_a_description() -> None:
    listed = parse_resource_list(described_file(DESCRIBED, RunFile.RESOURCES) or b"")
    assert {kind.kind: kind.names for kind in listed.kinds} == {
        "apps/v1/Deployment": ("shop/db", "shop/web"),
        "v1/Namespace": ("shop",),
    }


@pytest.mark.parametrize("text", [b"", b"Errors:  3\nWarnings:  0\n", b"Resource List:  <error getting it: no URL>\n"])
def test_a_number_or_an_excuse_tells_nothing(text: bytes) -> None:
    assert described_file(text, RunFile.RESULTS) is None
    assert described_file(text, RunFile.RESOURCES) is None


def test_logs_are_found_by_the_names_that_the_tools_give_them() -> None:
    texts = (
        "velero-bundle/backup_nightly.log",
        "velero-bundle/backup_describe_nightly.txt",
        "velero-bundle/kubecapture/core_v1/velero/velero-1/velero/velero.log",
        "must-gather/namespaces/velero/velero.io/backups/weekly.log",
        "must-gather/namespaces/velero/velero.io/backups/describe-weekly.txt",
        "must-gather/namespaces/velero/pods/velero-2/velero/velero/logs/current.log",
        "must-gather/namespaces/velero/pods/velero-2/velero/velero/logs/previous.log",
    )
    assert log_name(texts, "backup", "nightly", is_log=True) == texts[0]
    assert log_name(texts, "backup", "nightly", is_log=False) == texts[1]
    assert log_name(texts, "restore", "nightly", is_log=True) == ""
    assert log_name(texts, "backup", "weekly", is_log=True) == texts[3]
    assert log_name(texts, "backup", "weekly", is_log=False) == texts[4]
    assert pod_log_name(texts, "velero", "velero-1", "velero", previous=False) == texts[2]
    assert pod_log_name(texts, "velero", "velero-2", "", previous=False) == texts[5]
    assert pod_log_name(texts, "velero", "velero-2", "velero", previous=True) == texts[6]
    assert pod_log_name(texts, "velero", "velero-3", "", previous=False) == ""
