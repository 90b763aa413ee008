"""Kubeconfigs: what kubectl would make of them, and one line for what cannot be used."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from foretop_core.errors import BadInput
from foretop_core.kube.connection.config import ConnectionOptions, Impersonation
from foretop_core.kube.connection.kubeconfig import (
    choose_contexts,
    in_cluster,
    read_kubeconfig,
    read_service_account,
    reloading,
)
from foretop_core.kube.connection.proxy import proxy_for


def write(path: Path, **content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "Config", **content}))
    return path


def context(name: str, cluster: str, user: str = "", **more: str) -> dict[str, Any]:
    return {"name": name, "context": {"cluster": cluster, **({"user": user} if user else {}), **more}}


def cluster(name: str, server: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "cluster": {"server": server, **more}}


def user(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "user": more}


def environ(*paths: Path) -> dict[str, str]:
    return {"KUBECONFIG": os.pathsep.join(str(path) for path in paths)}


def two_files(folder: Path) -> tuple[Path, Path]:
    first = write(
        folder / "first" / "config",
        **{"current-context": "one"},
        contexts=[context("one", "shared", "me"), context("both", "shared", "me")],
        clusters=[cluster("shared", "https://first:6443")],
        users=[user("me", token="first-token")],
    )
    second = write(
        folder / "second" / "config",
        **{"current-context": "two"},
        contexts=[context("two", "other", "me"), context("both", "other", namespace="elsewhere")],
        clusters=[
            cluster("shared", "https://second:6443", **{"tls-server-name": "x"}),
            cluster("other", "https://other:6443", **{"certificate-authority": "ca.crt"}),
        ],
        users=[user("me", token="second-token", username="ghost")],
    )
    (folder / "second" / "ca.crt").write_text("the second file's CA")
    return first, second


def test_of_two_files_that_set_the_current_context_the_first_wins(tmp_path: Path) -> None:
    first, second = two_files(tmp_path)
    assert read_kubeconfig(ConnectionOptions(), environ(first, second)).current == "one"
    assert read_kubeconfig(ConnectionOptions(), environ(second, first)).current == "two"


def test_an_entry_in_two_files_is_taken_whole_from_the_first(tmp_path: Path) -> None:
    (found,) = choose_contexts(ConnectionOptions(contexts=("both",)), environ(*two_files(tmp_path)))
    assert found.server == "https://first:6443"
    assert found.tls_server_name == ""
    assert found.namespace == "default"
    assert (found.identity.token, found.identity.username) == ("first-token", "")


def test_several_contexts_come_at_once_in_the_order_asked_for(tmp_path: Path) -> None:
    found = choose_contexts(ConnectionOptions(contexts=("two", "one", "two")), environ(*two_files(tmp_path)))
    assert [(one.name, one.server) for one in found] == [
        ("two", "https://other:6443"),
        ("one", "https://first:6443"),
    ]


def test_a_relative_path_starts_at_its_own_file(tmp_path: Path) -> None:
    first, second = two_files(tmp_path)
    (found,) = choose_contexts(ConnectionOptions(contexts=("two",)), environ(first, second))
    assert found.ca == "the second file's CA"


def test_missing_files_and_empty_ones_are_passed_over(tmp_path: Path) -> None:
    first, second = two_files(tmp_path)
    empty = tmp_path / "empty"
    empty.touch()
    blank = write(tmp_path / "blank", **{"current-context": ""})
    listed = environ(tmp_path / "no", empty, blank, second, first)["KUBECONFIG"]
    found = read_kubeconfig(ConnectionOptions(), {"KUBECONFIG": f"{os.pathsep}{listed}{os.pathsep}"})
    assert found.current == "two"


def test_data_is_preferred_to_a_file(tmp_path: Path) -> None:
    data = base64.b64encode(b"from data").decode()
    path = write(
        tmp_path / "config",
        contexts=[context("c", "k")],
        clusters=[cluster("k", "https://k", **{"certificate-authority": "no", "certificate-authority-data": data})],
    )
    (found,) = choose_contexts(ConnectionOptions(contexts=("c",)), environ(path))
    assert found.ca == "from data"


def test_a_401_finds_the_context_of_the_start_whatever_is_current_now(tmp_path: Path) -> None:
    first, second = two_files(tmp_path)
    (start,) = choose_contexts(ConnectionOptions(), environ(first, second))
    again = reloading(start, ConnectionOptions(), environ(first, second))
    content = yaml.safe_load(first.read_text())
    content["current-context"] = "two"
    content["users"][0]["user"]["token"] = "renewed"
    first.write_text(yaml.safe_dump(content))
    assert (again().name, again().identity.token) == ("one", "renewed")


def test_acting_as_somebody_else_goes_along(tmp_path: Path) -> None:
    options = ConnectionOptions(as_user="alice", as_groups=("devs", "ops"))
    (found,) = choose_contexts(options, environ(*two_files(tmp_path)))
    assert found.impersonation == Impersonation("alice", ("devs", "ops"))


def test_a_plugin_in_the_files_folder_is_found_from_anywhere(tmp_path: Path) -> None:
    plugin = {"apiVersion": "client.authentication.k8s.io/v1", "command": "./bin/login", "args": ["-v"]}
    path = write(
        tmp_path / "config",
        contexts=[context("c", "k", "me")],
        clusters=[cluster("k", "https://k")],
        users=[user("me", exec={**plugin, "env": [{"name": "A", "value": "1"}], "provideClusterInfo": True})],
    )
    (found,) = choose_contexts(ConnectionOptions(contexts=("c",)), environ(path))
    assert found.identity.plugin is not None
    assert found.identity.plugin.command == str(tmp_path / "bin" / "login")
    assert found.identity.plugin.env == (("A", "1"),)
    assert '"server": "https://k"' in found.identity.plugin.cluster_info


@pytest.mark.parametrize(
    ("version", "named"),
    [("client.authentication.k8s.io/v1alpha1", "client.authentication.k8s.io/v1alpha1"), ("", "nothing")],
)
def test_a_plugin_of_a_version_that_is_not_known_is_refused_by_that_version(
    version: str, named: str, tmp_path: Path
) -> None:
    path = write(
        tmp_path / "config",
        contexts=[context("c", "k", "me")],
        clusters=[cluster("k", "https://k")],
        users=[user("me", exec={"apiVersion": version, "command": "login"})],
    )
    with pytest.raises(BadInput, match=f"{named} is not known"):
        choose_contexts(ConnectionOptions(contexts=("c",)), environ(path))


def test_nothing_secret_is_in_the_printed_form(tmp_path: Path) -> None:
    (found,) = choose_contexts(ConnectionOptions(), environ(*two_files(tmp_path)))
    assert "first-token" not in repr(found)


TROUBLES = {
    "not yaml": ("contexts: [", "Cannot read the kubeconfig"),
    "a list": ("- a", "it does not contain a mapping"),
    "no current context": ("contexts: [{name: a, context: {cluster: k}}]", "give --context: a"),
    "nothing at all": ("{}", "No cluster to connect to"),
    "unknown current": ("current-context: gone", "Context 'gone' does not exist"),
    "no such cluster": (
        "{current-context: a, contexts: [{name: a, context: {cluster: k}}]}",
        "its cluster 'k' is not in",
    ),
    "no such user": (
        "{current-context: a, contexts: [{name: a, context: {cluster: k, user: u}}],"
        " clusters: [{name: k, cluster: {server: 'https://k'}}]}",
        "its user 'u' is not in",
    ),
    "no such CA file": (
        "{current-context: a, contexts: [{name: a, context: {cluster: k}}],"
        " clusters: [{name: k, cluster: {server: 'https://k', certificate-authority: none.crt}}]}",
        "none.crt: no such file",
    ),
    "a port that cannot be": (
        "{current-context: a, contexts: [{name: a, context: {cluster: k}}],"
        " clusters: [{name: k, cluster: {server: 'https://k:99999'}}]}",
        "not a valid http or https address",
    ),
    "no host": (
        "{current-context: a, contexts: [{name: a, context: {cluster: k}}],"
        " clusters: [{name: k, cluster: {server: 'https://'}}]}",
        "https:// is not a valid http or https address",
    ),
    "SOCKS of the old kind": (
        "{current-context: a, contexts: [{name: a, context: {cluster: k}}],"
        " clusters: [{name: k, cluster: {server: 'https://k', proxy-url: 'socks4://p:1080'}}]}",
        "socks4 scheme (use http://, https:// or socks5://)",
    ),
    "SOCKS without a host": (
        "{current-context: a, contexts: [{name: a, context: {cluster: k}}],"
        " clusters: [{name: k, cluster: {server: 'https://k', proxy-url: 'socks5://:1080'}}]}",
        "it names no host",
    ),
    "a provider that is gone": (
        "{current-context: a, contexts: [{name: a, context: {cluster: k, user: u}}],"
        " clusters: [{name: k, cluster: {server: 'https://k'}}],"
        " users: [{name: u, user: {auth-provider: {name: gcp}}}]}",
        "exec plugin",
    ),
}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_what_cannot_be_used_is_one_line(tmp_path: Path, trouble: str) -> None:
    content, told = TROUBLES[trouble]
    path = tmp_path / "config"
    path.write_text(content)
    with pytest.raises(BadInput) as caught:
        choose_contexts(ConnectionOptions(), environ(path))
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("server", ["https://anna:canary@k:99999/canary", "ftp://canary@k", "https://canary@/canary"])
def test_an_address_that_is_not_valid_is_told_without_its_secrets(server: str, tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(
        "{current-context: a, contexts: [{name: a, context: {cluster: k}}],"
        f" clusters: [{{name: k, cluster: {{server: '{server}'}}}}]}}"
    )
    with pytest.raises(BadInput, match="is not a valid http or https address") as caught:
        choose_contexts(ConnectionOptions(), environ(path))
    assert "canary" not in str(caught.value)


def test_a_file_named_on_the_command_line_must_exist(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="file not found"):
        choose_contexts(ConnectionOptions(kubeconfig=str(tmp_path / "none")), {})


def test_the_file_in_the_home_folder_is_the_default(tmp_path: Path) -> None:
    first, _ = two_files(tmp_path)
    (tmp_path / ".kube").mkdir()
    first.rename(tmp_path / ".kube" / "config")
    (found,) = choose_contexts(ConnectionOptions(), {"HOME": str(tmp_path)})
    assert found.name == "one"


def test_in_a_pod_the_service_account_is_used(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("pod-token")
    (tmp_path / "ca.crt").write_text("pod-ca")
    (tmp_path / "namespace").write_text("team-a\n")
    env = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "6443"}
    assert in_cluster(env, str(tmp_path))
    found = read_service_account(env, ConnectionOptions(), str(tmp_path))
    assert (found.server, found.namespace, found.ca) == ("https://[fd00::1]:6443", "team-a", "pod-ca")
    assert found.identity.token_file == str(tmp_path / "token")


PROXIES = [
    ("https://api.corp:6443", {"HTTPS_PROXY": "http://p:3128"}, "http://p:3128"),
    ("https://api.corp:6443", {"https_proxy": "p:3128"}, "http://p:3128"),
    ("http://api.corp", {"HTTPS_PROXY": "http://p:3128"}, ""),
    ("https://127.0.0.1:6443", {"HTTPS_PROXY": "http://p:3128"}, ""),
    ("https://localhost:6443", {"HTTPS_PROXY": "http://p:3128"}, ""),
    ("https://api.corp:6443", {"HTTPS_PROXY": "http://p", "NO_PROXY": "corp"}, ""),
    ("https://api.corp:6443", {"HTTPS_PROXY": "http://p", "NO_PROXY": ".corp"}, ""),
    ("https://corp:6443", {"HTTPS_PROXY": "http://p", "NO_PROXY": ".corp"}, "http://p"),
    ("https://10.1.2.3:6443", {"HTTPS_PROXY": "http://p", "NO_PROXY": "10.0.0.0/8"}, ""),
    ("https://10.1.2.3:6443", {"HTTPS_PROXY": "http://p", "NO_PROXY": "10.1.2.3:443"}, "http://p"),
    ("https://10.1.2.3:6443", {"HTTPS_PROXY": "http://p", "NO_PROXY": "10.1.2.3:6443"}, ""),
    ("https://api.corp", {"HTTPS_PROXY": "http://p", "NO_PROXY": "*"}, ""),
    ("https://api.corp", {"HTTPS_PROXY": "socks5://p:9"}, "socks5://p:9"),
    ("https://api.corp", {"ALL_PROXY": "socks5://p:9"}, "socks5://p:9"),
    ("https://api.corp", {"all_proxy": "socks5h://p"}, "socks5h://p:1080"),
    ("https://api.corp", {"HTTPS_PROXY": "http://p", "ALL_PROXY": "socks5://s:9"}, "http://p"),
    ("https://api.corp", {"ALL_PROXY": "socks5://p:9", "NO_PROXY": "corp"}, ""),
    ("https://127.0.0.1:6443", {"ALL_PROXY": "socks5://p:9"}, ""),
]


@pytest.mark.parametrize(("server", "env", "expected"), PROXIES)
def test_the_environments_proxy_is_used_as_go_uses_it(server: str, env: dict[str, str], expected: str) -> None:
    assert proxy_for(server, "", env) == expected


def test_a_path_in_kubeconfig_that_does_not_exist_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "typo"
    with pytest.raises(BadInput, match=f"{missing} does not exist"):
        choose_contexts(ConnectionOptions(), environ(missing))
    with pytest.raises(BadInput, match=f"none of these exists: {missing}, {tmp_path / 'other'}"):
        choose_contexts(ConnectionOptions(), environ(missing, tmp_path / "other"))
