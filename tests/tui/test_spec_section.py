"""The spec in words says what Velero takes, as `velero backup describe` does."""

from __future__ import annotations

from typing import Any

import pytest

from foretop.panes.spec_section import spec_lines
from tests.objects import backup


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, ""),
        ({"includedClusterScopedResources": ["*"]}, "all"),
        ({"includedClusterScopedResources": ["storageclasses"]}, "storageclasses"),
        (
            {"includedClusterScopedResources": ["*"], "excludedClusterScopedResources": ["nodes"]},
            "all, without nodes",
        ),
        ({"excludedClusterScopedResources": ["nodes"]}, "only those that namespaced ones need, without nodes"),
    ],
)
def test_cluster_resources_are_taken_only_on_request(spec: dict[str, Any], expected: str) -> None:
    """With an exclusion alone Velero takes no cluster-scoped resource by itself."""
    assert dict(spec_lines(backup(spec=spec)))["Cluster resources"] == expected
