from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foretop_core.tables.engine.view_scope import brief_name, short_names


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        ([], []),
        (["prod-eu"], ["prod-eu"]),
        (["prod-eu", "prod-us"], ["eu", "us"]),
        (["admin@eu.example.org", "admin@us.example.org"], ["eu", "us"]),
        (["arn:aws:eks:eu-1:1:cluster/a", "arn:aws:eks:eu-1:1:cluster/b"], ["a", "b"]),
        (["prod", "prod-us"], ["prod", "prod-us"]),
        (["prod-", "prod-us"], ["prod", "prod-us"]),
        (["eu-prod", "us-prod"], ["eu", "us"]),
        (["a", "b"], ["a", "b"]),
        (["", "prod-eu"], ["", "prod-eu"]),
        (["default/api-one:6443/admin", "default/api-two:6443/admin"], ["one", "two"]),
    ],
)
def test_names_are_shortened_to_their_differences(names: list[str], shown: list[str]) -> None:
    assert list(short_names(names).values()) == shown


@given(st.lists(st.text("ab-/.", max_size=8), unique=True, max_size=5))
def test_two_clusters_never_get_the_same_name(names: list[str]) -> None:
    short = short_names(names)
    assert list(short) == names
    assert len(set(short.values())) == len(names)
    assert all(short[name] in name for name in names)


@pytest.mark.parametrize(
    ("context", "brief"),
    [
        ("openshift-adp/api-prod-eu-example-com:6443/kube:admin", "prod-eu-example-com"),
        ("arn:aws:eks:eu-central-1:123456789012:cluster/prod", "prod"),
        ("gke_project_europe-west1_prod-eu", "prod-eu"),
        ("prod-eu", "prod-eu"),
        ("a/b", "a/b"),
        ("arn:", "arn:"),
        ("gke_", "gke_"),
        ("", ""),
    ],
)
def test_a_context_is_shortened_to_its_cluster(context: str, brief: str) -> None:
    assert brief_name(context) == brief
