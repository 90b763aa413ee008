"""Resource policies: as Velero's own code read 300 of them, by release, hostile ones, and what they narrow."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from foretop_core.rules.cron_dialects.releases import Release
from foretop_core.rules.volumes.policies import (
    PolicyNotRead,
    PolicyRefusal,
    ResourcePolicies,
    read_policies,
)
from tests.policy_answers import NEWEST, config_map, difference

VECTORS = Path(__file__).parents[2] / "data/vectors/policies.jsonl"
SKIP_ALL = "version: v1\nvolumePolicies:\n- conditions: {}\n  action: {type: skip}\n"


def read(text: str, release: Release | None = NEWEST) -> ResourcePolicies | PolicyRefusal | PolicyNotRead:
    return read_policies(config_map({"policy.yaml": text}), release)


def test_foretop_reads_what_velero_read() -> None:
    found: Counter[str] = Counter()
    for line in VECTORS.read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        found[difference(one["question"], one["answer"])] += 1
    not_read = found.pop("not read", 0)
    assert set(found) == {""}
    assert not_read < 20


@pytest.mark.parametrize(
    ("field", "text", "first"),
    [
        ("pvcLabels", "conditions: {pvcLabels: {a: b}}", Release(1, 16, 0)),
        ("pvcPhase", "conditions: {pvcPhase: [Bound]}", Release(1, 18, 0)),
        ("pvcAccessModes", "conditions: {pvcAccessModes: [ReadWriteOnce]}", Release(1, 18, 3)),
    ],
)
def test_a_condition_is_refused_by_releases_before_it_came(field: str, text: str, first: Release) -> None:
    policy = f"version: v1\nvolumePolicies:\n- {text}\n  action: {{type: skip}}\n"
    assert isinstance(read(policy, first), ResourcePolicies)
    before = read(policy, Release(1, 15, 2))
    assert isinstance(before, PolicyRefusal)
    assert before.why.endswith(f"field {field} not found in type resourcepolicies.volumeConditions")
    unknown = read(policy, None)
    assert isinstance(unknown, PolicyNotRead)
    assert field in unknown.why
    line = read(policy, Release(first.major, first.minor, None))
    assert isinstance(line, PolicyNotRead if first.patch else ResourcePolicies)


def test_what_every_release_reads_is_read_where_the_release_is_not_known() -> None:
    assert isinstance(read(SKIP_ALL, None), ResourcePolicies)


def test_the_filters_of_a_namespace_are_those_of_its_name_before_those_of_a_pattern() -> None:
    found = read(
        "version: v1\nnamespacedFilterPolicies:\n"
        "- {namespaces: ['shop*'], resourceFilters: [{kinds: [secrets]}]}\n"
        "- {namespaces: [shop], resourceFilters: [{}]}\n"
    )
    assert isinstance(found, ResourcePolicies)
    assert [one.kinds for one in found.filters_of("shop") or ()] == [()]
    assert [one.kinds for one in found.filters_of("shop-db") or ()] == [("secrets",)]
    assert found.filters_of("pay") is None


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"a": SKIP_ALL, "b": ""},
    ],
)
def test_a_config_map_has_exactly_one_key(data: dict[str, str]) -> None:
    found = read_policies(config_map(data), NEWEST)
    assert found == PolicyRefusal("read", "illegal resource policies velero/policy configmap")


@pytest.mark.parametrize(
    "text",
    [
        "[" * 500_000,
        "a: " * 300_000,
        "- " * 300_000,
        "version: v1\nvolumePolicies: &a [*a, *a]",
        "version: v1\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\n"
        "d: &d [*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e]\n"
        "g: [*f,*f,*f,*f,*f,*f,*f,*f]",
        "version: !!binary djE=",
        "version: v1\n<<: {a: b}",
        "version: v1\nvolumePolicies:\n- conditions: {pvcLabels: {a: 1.0}}\n  action: {type: skip}",
        "version: v1\nvolumePolicies:\n- conditions: {capacity: '1e999999999,'}\n  action: {type: skip}",
        "version: v1\nvolumePolicies:\n- conditions: {capacity: '" + "9" * 100_000 + ",'}\n  action: {type: skip}",
        "version: v1\n\x00",
        "\x07",
        "version: v1\n? [a, b]\n: c",
        "version: v1\nnamespacedFilterPolicies:\n- {namespaces: ['" + "a*" * 50_000 + "'], resourceFilters: [{}]}",
        "version: v1\nnamespacedFilterPolicies:\n- {namespaces: [a], resourceFilters: [{kinds: [p], names: ['"
        + "[a" * 50_000
        + "']}]}",
        "x" * 1_100_000,
    ],
)
def test_hostile_text_is_refused_or_not_read(text: str) -> None:
    assert isinstance(read(text), PolicyRefusal | PolicyNotRead)


def test_a_megabyte_of_patterns_is_not_read() -> None:
    names = ", ".join(f"'team-{number}-*'" for number in range(70_000))
    found = read(f"version: v1\nnamespacedFilterPolicies:\n- {{namespaces: [{names}], resourceFilters: [{{}}]}}\n")
    assert isinstance(found, PolicyNotRead)
    assert "characters" in found.why


def test_thousands_of_patterns_are_compared_where_they_begin_as_a_name_does() -> None:
    names = ", ".join(f"'team-{number}-*'" for number in range(5_000))
    found = read(f"version: v1\nnamespacedFilterPolicies:\n- {{namespaces: [{names}], resourceFilters: [{{}}]}}\n")
    assert isinstance(found, ResourcePolicies)
    assert found.filters_of("team-4999-a") is not None
    assert found.filters_of("shop") is None
