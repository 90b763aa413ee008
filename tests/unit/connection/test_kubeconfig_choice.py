"""Which context is used, and what is told where none can be."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from foretop_core.errors import BadInput
from foretop_core.kube.connection.config import MOST_KUBECONFIG_BYTES, ConnectionOptions, ContextConfig
from foretop_core.kube.connection.kubeconfig import (
    SERVICE_ACCOUNT,
    choose_contexts,
    in_cluster,
    read_service_account,
    reloading,
)

CLUSTERS = [{"name": "k", "cluster": {"server": "https://k"}}]


def contexts(*names: str) -> dict[str, Any]:
    return {"contexts": [{"name": name, "context": {"cluster": "k"}} for name in names], "clusters": CLUSTERS}


def written(folder: Path, content: object) -> Path:
    path = folder / "config"
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
    return path


def refusal(options: ConnectionOptions, environ: Mapping[str, str] | None = None) -> tuple[str, str, str]:
    with pytest.raises(BadInput) as caught:
        choose_contexts(options, environ or {})
    return caught.value.what, caught.value.why, caught.value.hint


def refused(folder: Path, content: object, **options: Any) -> tuple[str, str, str]:
    return refusal(ConnectionOptions(str(written(folder, content)), **options))


def test_without_any_file_there_is_no_cluster(tmp_path: Path) -> None:
    wanted = ("No cluster to connect to", "any kubeconfig file has no contexts", "set KUBECONFIG or give --kubeconfig")
    assert refusal(ConnectionOptions()) == wanted
    empty, missing = written(tmp_path, ""), tmp_path / "missing"
    listed = {"KUBECONFIG": f"{missing}{os.pathsep}{empty}"}
    assert refusal(ConnectionOptions(), listed)[1] == f"{empty} has no contexts"
    assert refusal(ConnectionOptions(), {"KUBECONFIG": str(missing)})[1] == f"{missing} does not exist"
    assert refusal(ConnectionOptions(contexts=("a",)))[1:] == ("looked in any kubeconfig file", "it has none")


def test_the_contexts_to_choose_from_are_listed_up_to_eight(tmp_path: Path) -> None:
    names = [f"c{number}" for number in range(9)]
    for current in ({}, {"current-context": 5}):
        what, why, hint = refused(tmp_path, contexts(*names[:8]) | current)
        assert (what, why) == ("No context selected", f"current-context is not set in {tmp_path / 'config'}")
        assert hint == "give --context: c0, c1, c2, c3, c4, c5, c6, c7"
    assert refused(tmp_path, contexts(*names))[2].endswith("c6, c7 and 1 more")
    assert refused(tmp_path, contexts(*names, "c9"), contexts=("gone",)) == (
        "Context 'gone' does not exist",
        f"looked in {tmp_path / 'config'}",
        "it has c0, c1, c2, c3, c4, c5, c6, c7 and 2 more",
    )


CANNOT = "The context 'a' cannot be used"
BROKEN: list[tuple[object, str, str]] = [
    ({"contexts": [{"context": {}}]}, "Cannot read the kubeconfig {}", "an entry of contexts has no name"),
    ({"users": [{"name": 5}]}, "Cannot read the kubeconfig {}", "an entry of users has no name"),
    ({"clusters": ["k"]}, "Cannot read the kubeconfig {}", "an entry of clusters has no name"),
    ("- a", "Cannot read the kubeconfig {}", "it does not contain a mapping"),
    ("a: b\nc: ]", "Cannot read the kubeconfig {}", "line 2: did not find expected node content"),
    (
        "a: b\n\nc: !secret d",
        "Cannot read the kubeconfig {}",
        "line 3: could not determine a constructor for the tag …",
    ),
    ({"current-context": "a", "contexts": [{"name": "a", "context": 5}]}, CANNOT, "it does not name a cluster"),
    ({"current-context": "a", **contexts("a"), "clusters": {"k": {}}}, CANNOT, "its cluster 'k' is not in {}"),
    (
        {
            "current-context": "a",
            "contexts": [{"name": "a", "context": {"cluster": "k", "user": "u"}}],
            "clusters": CLUSTERS,
        },
        CANNOT,
        "its user 'u' is not in {}",
    ),
]


@pytest.mark.parametrize(("content", "what", "why"), BROKEN)
def test_a_kubeconfig_that_cannot_be_used_says_where(tmp_path: Path, content: object, what: str, why: str) -> None:
    path = tmp_path / "config"
    assert refused(tmp_path, content)[:2] == (what.format(path), why.format(path))


def test_a_file_that_cannot_be_read_says_what_to_do(tmp_path: Path) -> None:
    assert refusal(ConnectionOptions(str(tmp_path)))[2] == "check its owner and mode"
    with (tmp_path / "long").open("wb") as long:
        long.truncate(MOST_KUBECONFIG_BYTES + 1)
    _, why, hint = refusal(ConnectionOptions(str(tmp_path / "long")))
    assert (why, hint) == ("it is larger than 32 MiB", "use another file")
    missing = tmp_path / "missing"
    assert refusal(ConnectionOptions(str(missing)))[1:] == ("file not found", "check --kubeconfig")
    (tmp_path / "latin").write_bytes(b"a: \xff")
    assert refusal(ConnectionOptions(str(tmp_path / "latin")))[1] == "it is not YAML"


def test_a_cluster_or_user_that_a_flag_names_must_exist(tmp_path: Path) -> None:
    content = {"current-context": "a", **contexts("a")}
    place = f"looked in {tmp_path / 'config'}"
    assert refused(tmp_path, content, cluster="x") == ("--cluster 'x' does not exist", place, "it has k")
    assert refused(tmp_path, content, user="x") == ("--user 'x' does not exist", place, "it has none")
    assert refused(tmp_path, content, server="https://o", user="x")[0] == "--user 'x' does not exist"
    assert refused(tmp_path, {}, server="https://o", user="x")[0] == "--user 'x' does not exist"


def chosen(path: Path, **options: Any) -> list[tuple[str, str, str]]:
    """Name, server and token of what is chosen; reading it again gives the same."""
    wanted = ConnectionOptions(str(path), **options)
    found = choose_contexts(wanted, {})
    assert [reloading(one, wanted, {})() for one in found] == list(found)
    return [(one.name, one.server, one.identity.token) for one in found]


def test_a_server_stands_alone_where_no_context_is_selected(tmp_path: Path) -> None:
    users = {"users": [{"name": "u", "user": {"token": "t"}}]}
    path = written(tmp_path, {"current-context": "gone", **contexts("a"), **users})
    assert chosen(path, server="https://o:1") == [("o:1", "https://o:1", "")]
    assert chosen(path, server="https://o:1", user="u") == [("o:1", "https://o:1", "t")]
    assert chosen(path, server="https://o:1", contexts=("a",)) == [("a", "https://o:1", "")]
    assert chosen(path, contexts=("a",), user="u") == [("a", "https://k", "t")]
    path = written(tmp_path, {"current-context": "a", **contexts("a"), **users})
    assert chosen(path, server="https://o:1") == [("a", "https://o:1", "")]
    assert chosen(path) == [("a", "https://k", "")]


def test_a_context_that_is_gone_when_it_is_read_again_is_told(tmp_path: Path) -> None:
    path = written(tmp_path, contexts("a"))
    for options in (ConnectionOptions(str(path)), ConnectionOptions(str(path), ("b",), server="https://o")):
        with pytest.raises(BadInput, match="Context 'b' does not exist"):
            reloading(ContextConfig("b", "https://k"), options, {})()
        with pytest.raises(BadInput, match="The pod's service account cannot be used"):
            reloading(ContextConfig(SERVICE_ACCOUNT, "https://k"), options, {})()


def test_a_pod_has_a_service_account_where_both_its_marks_are_there(tmp_path: Path) -> None:
    host = {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}
    assert not in_cluster(host, str(tmp_path))
    (tmp_path / "token").touch()
    assert not in_cluster({}, str(tmp_path))
    assert in_cluster(host, str(tmp_path))


@pytest.mark.parametrize(
    ("written_namespace", "used"),
    [("shop\n", "shop"), ("", "default"), (None, "default"), ("n" * 253, "n" * 253), ("n" * 254, "default")],
)
def test_a_pod_s_own_cluster(tmp_path: Path, written_namespace: str | None, used: str) -> None:
    (tmp_path / "ca.crt").write_text("PEM")
    if written_namespace is not None:
        (tmp_path / "namespace").write_text(written_namespace)
    found = read_service_account({"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, ConnectionOptions(), str(tmp_path))
    assert (found.server, found.namespace, found.ca) == ("https://10.0.0.1:443", used, "PEM")
