"""The objects of a backup by namespace and kind, and what differs: each side named, whatever the version of a kind."""

from __future__ import annotations

import json

from foretop_core.rooms.run_files.objects import Difference, difference_lines, differences, listed, object_lines
from foretop_core.rules.results import ResourceList, parse_resource_list


def resources(**kinds: list[str]) -> ResourceList:
    named = {"pod": "v1/Pod", "web": "apps/v1/Deployment", "old": "apps/v1beta1/Deployment", "space": "v1/Namespace"}
    return parse_resource_list(json.dumps({named[kind]: names for kind, names in kinds.items()}).encode())


def test_objects_are_listed_by_namespace_and_kind_and_filtered() -> None:
    found = resources(pod=["shop/db-0", "shop/web-1", "blog/db-0"], web=["shop/web"], space=["shop"])
    assert list(object_lines(listed(found), 10)) == [
        "  cluster-scoped",
        "    Namespace (1): shop",
        "  blog",
        "    Pod (1): db-0",
        "  shop",
        "    Pod (2): db-0 and web-1",
        "    apps/Deployment (1): web",
    ]
    assert listed(found, ("shop",), "WEB") == {
        ("shop", "Pod"): frozenset({"web-1"}),
        ("shop", "apps/Deployment"): frozenset({"web"}),
    }
    assert set(listed(found, ("shop",), "deploy")) == {("shop", "apps/Deployment")}
    assert list(object_lines(listed(found, ("shop",)), 1))[1] == "    Pod (2): db-0 and 1 more"


def test_two_copies_differ_in_what_only_one_of_them_has() -> None:
    before = listed(resources(pod=["shop/db-0", "shop/web-1"], old=["shop/web"]))
    now = listed(resources(pod=["shop/db-0", "shop/web-2", "blog/x"], web=["shop/web"]))
    found = differences(before, now)
    assert found == (
        Difference("blog", "Pod", ("x",), ()),
        Difference("shop", "Pod", ("web-2",), ("web-1",)),
    )
    assert list(difference_lines(found, ("daily-1", "daily-2"), 5)) == [
        "Only in daily-1:",
        "  shop Pod (1): web-1",
        "Only in daily-2:",
        "  blog Pod (1): x",
        "  shop Pod (1): web-2",
    ]
    assert differences(now, now) == ()
