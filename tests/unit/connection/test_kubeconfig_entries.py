"""One context from its cluster, its user and the flags over them."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from foretop_core.errors import BadInput
from foretop_core.kube.connection.config import AuthInfo, ConnectionOptions, ContextConfig, ExecConfig, Impersonation
from foretop_core.kube.connection.kubeconfig import (
    KubeconfigEntry,
    override_cluster,
    override_user,
    read_context,
    server_name,
)

V1 = "client.authentication.k8s.io/v1"
FILE = Path("/home/anna/.kube/config")


def entry(name: str, body: dict[str, Any], file: Path = FILE) -> KubeconfigEntry:
    return KubeconfigEntry(name, body, file)


def read(
    cluster: dict[str, Any] | None = None,
    user: dict[str, Any] | None = None,
    options: ConnectionOptions | None = None,
    file: Path = FILE,
    environ: dict[str, str] | None = None,
) -> ContextConfig:
    return read_context(
        entry("c", {}, file),
        entry("k", {"server": "https://k", **(cluster or {})}, file),
        None if user is None else entry("me", user, file),
        options or ConnectionOptions(),
        environ or {},
    )


def coded(content: bytes) -> str:
    return base64.b64encode(content).decode()


def test_a_context_with_nothing_but_a_server() -> None:
    assert read() == read(user={}) == ContextConfig("c", "https://k")


@pytest.mark.parametrize(
    ("server", "more", "used"),
    [
        ("k:8001", {}, "http://k:8001"),
        ("k", {"insecure-skip-tls-verify": True}, "https://k"),
        ("k", {"certificate-authority-data": coded(b"PEM")}, "https://k"),
        ("https://k:1/", {}, "https://k:1"),
        ("https://k:65535", {}, "https://k:65535"),
        ("http://[::1]:80", {}, "http://[::1]:80"),
    ],
)
def test_a_server_without_a_scheme_is_https_where_its_trust_is_settled(
    server: str, more: dict[str, Any], used: str
) -> None:
    assert read({"server": server, **more}).server == used


@pytest.mark.parametrize(
    ("server", "shown"),
    [
        ("https://anna:secret@k:0/secret", "https://k:0"),
        ("https://k:65536", "https://k:65536"),
        ("https://:1", "https://:1"),
        ("ftp://k", "ftp://k"),
        ("https://[k", "https://[k"),
        ("k:x", "http://k:x"),
    ],
)
def test_an_address_that_cannot_be_is_shown_by_its_host(server: str, shown: str) -> None:
    with pytest.raises(BadInput) as caught:
        read({"server": server})
    assert caught.value.why == f"{shown} is not a valid http or https address"


CANNOT = [
    ({"server": ""}, {}, "server of 'k'", "it is not set"),
    ({"server": 5}, {}, "server of 'k'", "it is not text"),
    ({"certificate-authority-data": "a b c"}, {}, "certificate-authority-data of 'k'", "it is not base64"),
    ({"certificate-authority-data": "PEM*"}, {}, "certificate-authority-data of 'k'", "it is not base64"),
    ({"certificate-authority-data": "UEVN*"}, {}, "certificate-authority-data of 'k'", "it is not base64"),
    ({"certificate-authority-data": coded(b"\xff")}, {}, "certificate-authority of 'k'", "it is not a PEM certificate"),
    (
        {"certificate-authority-data": coded(b"PEM"), "insecure-skip-tls-verify": True},
        {},
        "insecure-skip-tls-verify of 'k'",
        "a certificate-authority is given too",
    ),
    ({}, {"token": 5}, "token of 'me'", "it is not text"),
    ({}, {"exec": {"apiVersion": V1}}, "exec.command of 'me'", "it is not set"),
    ({}, {"exec": {"command": "login"}}, "exec.apiVersion of 'me'", "nothing is not known"),
    ({}, {"exec": {"command": "login", "apiVersion": "v0"}}, "exec.apiVersion of 'me'", "v0 is not known"),
    ({}, {"auth-provider": {"name": "gcp"}}, "auth-provider 'gcp' of 'me'", "Kubernetes no longer supports it"),
    ({}, {"auth-provider": {"name": "oidc"}}, "auth-provider oidc of 'me'", "it has no id-token"),
    ({}, {"auth-provider": {"name": "oidc", "config": {}}}, "auth-provider oidc of 'me'", "it has no id-token"),
]


@pytest.mark.parametrize(("cluster", "user", "what", "why"), CANNOT)
def test_what_cannot_be_used_is_named_with_its_entry_and_file(
    cluster: dict[str, Any], user: dict[str, Any], what: str, why: str
) -> None:
    with pytest.raises(BadInput) as caught:
        read(cluster, user)
    assert (caught.value.what, caught.value.why) == (f"{what} in {FILE} cannot be used", why)


def test_only_true_is_true() -> None:
    for value in ("true", 1, False, None):
        assert read({"insecure-skip-tls-verify": value}).insecure is False
    assert read({"insecure-skip-tls-verify": True}).insecure is True


def test_files_are_named_from_the_folder_of_the_kubeconfig(tmp_path: Path) -> None:
    (tmp_path / "me.crt").write_bytes(b"certificate")
    user = {"client-certificate": "../me.crt", "client-key-data": coded(b"key"), "tokenFile": "token"}
    found = read(user=user, file=tmp_path / "kube" / "config")
    wanted = AuthInfo(certificate=b"certificate", key=b"key", token_file=str(tmp_path / "kube" / "token"))
    assert found.identity == wanted


def test_every_way_to_sign_in_is_read() -> None:
    found = read(user={"token": "t", "username": "anna", "password": "p"})
    assert found.identity == AuthInfo(token="t", username="anna", password="p")


def test_a_plugin_has_what_its_entry_says() -> None:
    plugin = {
        "apiVersion": V1,
        "command": "login",
        "args": ["-n", 5],
        "env": [{"name": "A", "value": "1"}, "B=2", {"name": "C"}],
        "interactiveMode": "Never",
        "installHint": "get it",
    }
    env = (("A", "1"), ("C", ""))
    assert read(user={"exec": plugin}).identity.plugin == ExecConfig("login", ("-n", "5"), env, V1, "Never", "get it")


def test_a_plugin_with_little_in_its_entry_gets_the_usual() -> None:
    version = f"{V1}beta1"
    plugin = {"apiVersion": version, "command": "bin/login", "args": "-n", "env": "A=1"}
    found = read(user={"exec": plugin}).identity.plugin
    assert found == ExecConfig("/home/anna/.kube/bin/login", (), (), version, "IfAvailable")


@pytest.mark.parametrize(
    ("cluster", "info"),
    [
        ({}, {}),
        ({"tls-server-name": "api", "proxy-url": "http://p:1"}, {"tls-server-name": "api", "proxy-url": "http://p:1"}),
        ({"insecure-skip-tls-verify": True}, {"insecure-skip-tls-verify": True}),
        ({"certificate-authority-data": coded(b"PEM")}, {"certificate-authority-data": coded(b"PEM")}),
        (
            {
                "extensions": [
                    "x",
                    {"name": "other", "extension": 1},
                    {"name": f"{V1[:-3]}/exec", "extension": {"a": 2}},
                ]
            },
            {"config": {"a": 2}},
        ),
        ({"extensions": {"name": f"{V1[:-3]}/exec", "extension": 1}}, {}),
    ],
)
def test_a_plugin_that_asks_for_it_is_told_of_its_cluster(cluster: dict[str, Any], info: dict[str, Any]) -> None:
    asking = {"exec": {"apiVersion": V1, "command": "login", "provideClusterInfo": True}}
    found = read(cluster, asking).identity.plugin
    assert found is not None
    assert json.loads(found.cluster_info) == {"server": "https://k", **info}
    quiet = read(cluster, {"exec": {"apiVersion": V1, "command": "login"}}).identity.plugin
    assert quiet is not None
    assert quiet.cluster_info == ""


@pytest.mark.parametrize("have", ["id-token", "refresh-token"])
def test_one_of_the_two_tokens_is_enough_for_oidc(have: str) -> None:
    provider = {"name": "oidc", "config": {have: "t", "idp-certificate-authority-data": coded(b"PEM")}}
    found = read(user={"auth-provider": provider}, environ={"HTTPS_PROXY": "http://p:1"}).identity.oidc
    assert found is not None
    assert {found.id_token, found.refresh_token} == {"t", ""}
    assert (found.user, found.file, found.ca, found.proxy) == ("me", FILE, "PEM", "")


def test_the_provider_of_oidc_tokens_is_reached_through_the_proxy_of_the_environment() -> None:
    config = {"id-token": "t", "idp-issuer-url": "https://idp"}
    provider = {"auth-provider": {"name": "oidc", "config": config}}
    found = read(user=provider, environ={"HTTPS_PROXY": "http://p:1"}).identity.oidc
    assert found is not None
    assert (found.issuer, found.proxy) == ("https://idp", "http://p:1")


def test_whom_to_act_as_is_what_the_flags_say_else_the_user() -> None:
    user = {"as": "anna", "as-groups": ["ops"], "as-uid": "7", "as-user-extra": {"scopes": ["a", "b"], "team": "c"}}
    extra = (("scopes", "a"), ("scopes", "b"), ("team", "c"))
    assert read(user=user).impersonation == Impersonation("anna", ("ops",), "7", extra)
    assert read(user={"as": "anna", "as-user-extra": ["a"]}).impersonation == Impersonation("anna")
    for given in (user, None):
        flags = ConnectionOptions(as_user="bob", as_groups=("dev",))
        assert read(user=given, options=flags).impersonation == Impersonation("bob", ("dev",))
        assert read(user=given, options=ConnectionOptions(as_user="bob")).impersonation == Impersonation("bob")
        with pytest.raises(BadInput, match="--as-group cannot be used alone"):
            read(user=given, options=ConnectionOptions(as_groups=("dev",)))


@pytest.mark.parametrize(
    ("server", "name"),
    [
        ("https://anna:secret@k:1/path", "k:1"),
        ("anna@k:1", "k:1"),
        ("k", "k"),
        ("https://", "server"),
        ("https://[", "server"),
    ],
)
def test_a_cluster_that_only_a_flag_names_is_called_by_its_host(server: str, name: str) -> None:
    assert server_name(ConnectionOptions(server=server)) == name


TRUST = {"certificate-authority": "a", "certificate-authority-data": "b", "insecure-skip-tls-verify": False}


@pytest.mark.parametrize(
    ("options", "left"),
    [
        (ConnectionOptions(), {"server": "https://k", "tls-server-name": "n", **TRUST}),
        (ConnectionOptions(server="https://o"), {"server": "https://o", **TRUST}),
        (
            ConnectionOptions(certificate_authority="/ca"),
            {"server": "https://k", "tls-server-name": "n", "certificate-authority": "/ca"},
        ),
        (
            ConnectionOptions(insecure_skip_tls_verify=True),
            {"server": "https://k", "tls-server-name": "n", "insecure-skip-tls-verify": True},
        ),
    ],
)
def test_a_flag_takes_the_place_of_what_belongs_to_it_alone(options: ConnectionOptions, left: dict[str, Any]) -> None:
    cluster = entry("k", {"server": "https://k", "tls-server-name": "n", **TRUST})
    assert override_cluster(cluster, options) == entry("k", left)


def test_a_token_takes_the_place_of_every_other_way_to_sign_in() -> None:
    others = dict.fromkeys(("token", "tokenFile", "username", "password", "exec", "auth-provider"), "x")
    user = entry("me", {**others, "client-key": "mine"})
    assert override_user(user, ConnectionOptions(token="t")) == entry("me", {"client-key": "mine", "token": "t"})
    assert override_user(user, ConnectionOptions()) == user
    assert override_user(None, ConnectionOptions()) is None
    assert override_user(None, ConnectionOptions(token="t")) == entry("--token", {"token": "t"}, Path())
