"""Kubeconfigs read twice: by foretop and by the loader of the kubernetes package, which knows nothing of it."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes.client import Configuration
from kubernetes.config import list_kube_config_contexts, load_kube_config
from kubernetes.config.config_exception import ConfigException

from foretop_core.errors import BadInput
from foretop_core.kube.connection.config import ConnectionOptions
from foretop_core.kube.connection.kubeconfig import choose_contexts, read_kubeconfig
from tests.real.test_kubeconfig import FIRST, ORDERS, SECOND
from tests.wire.test_kubeconfig import TROUBLES, cluster, context, environ, two_files, user, write

Case = Callable[[Path], tuple[Path, ...]]


@dataclass(frozen=True)
class Reading:
    """What both loaders say of one context."""

    server: str
    ca: str = ""
    token: str = ""
    basic: str = ""
    namespace: str = "default"
    certificate: bytes = b""
    key: bytes = b""
    tls_server_name: str = ""
    insecure: bool = False
    proxy: str = ""


def ours(paths: tuple[Path, ...], name: str) -> Reading:
    (found,) = choose_contexts(ConnectionOptions(contexts=(name,)), environ(*paths))
    who = found.identity
    pair = base64.b64encode(f"{who.username}:{who.password}".encode()).decode()
    token = Path(who.token_file).read_text().strip() if who.token_file else who.token
    return Reading(
        server=found.server,
        ca=found.ca,
        token=token or (who.oidc.id_token if who.oidc else ""),
        basic=f"Basic {pair}" if who.username and not token else "",
        namespace=found.namespace,
        certificate=who.certificate,
        key=who.key,
        tls_server_name=found.tls_server_name,
        insecure=found.insecure,
        proxy=found.proxy,
    )


def theirs(paths: tuple[Path, ...], name: str) -> Reading:
    listed = os.pathsep.join(map(str, paths))
    read = Configuration(proxy="", no_proxy="")
    load_kube_config(config_file=listed, context=name, client_configuration=read, persist_config=False)
    contexts, _ = list_kube_config_contexts(listed)
    (body,) = (each["context"] for each in contexts if each["name"] == name)
    shown = read.api_key.get("BearerToken", "")
    return Reading(
        server=read.host,
        ca=_content(read.ssl_ca_cert).decode(),
        token=shown.removeprefix("Bearer ") if shown.startswith("Bearer ") else "",
        basic=shown if shown.startswith("Basic ") else "",
        namespace=body.get("namespace") or "default",
        certificate=_content(read.cert_file),
        key=_content(read.key_file),
        tls_server_name=read.tls_server_name or "",
        insecure=not read.verify_ssl,
        proxy=read.proxy or "",
    )


def _content(path: str | None) -> bytes:
    return Path(path).read_bytes() if path else b""


def _data(content: bytes) -> str:
    return base64.b64encode(content).decode()


def one(folder: Path, cluster_more: dict[str, Any], **user_more: Any) -> tuple[Path, ...]:
    """One file with one context `c`, all of whose relative paths lead to a file beside it."""
    for name in ("ca.crt", "me.crt", "me.key", "token"):
        (folder / name).write_text(f"content of {name}")
    path = write(
        folder / "config",
        **{"current-context": "c"},
        contexts=[context("c", "k", "me", namespace="velero")],
        clusters=[cluster("k", cluster_more.pop("server", "https://k:6443"), **cluster_more)],
        users=[user("me", **user_more)],
    )
    return (path,)


def order(first: str, second: str) -> Case:
    def case(folder: Path) -> tuple[Path, ...]:
        for name, content in {"first": FIRST, "second": SECOND, "blank": {"current-context": ""}}.items():
            (folder / name).write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "Config", **content}))
        (folder / "empty").touch()
        return folder / first, folder / second

    return case


AGREED: dict[str, Case] = {
    "two files": two_files,
    "two files, the other way round": lambda folder: two_files(folder)[::-1],
    "a CA beside the file": lambda folder: one(folder, {"certificate-authority": "ca.crt"}, token="t"),
    "data and a file": lambda folder: one(
        folder, {"certificate-authority": "no", "certificate-authority-data": _data(b"from data")}, token="t"
    ),
    "a client certificate in files": lambda folder: one(
        folder, {}, **{"client-certificate": "me.crt", "client-key": "me.key"}
    ),
    "a client certificate as data": lambda folder: one(
        folder, {}, **{"client-certificate-data": _data(b"crt"), "client-key-data": _data(b"key")}
    ),
    "a token file": lambda folder: one(folder, {}, tokenFile="token"),
    "a password": lambda folder: one(folder, {}, username="me", password="pass"),
    "no check of the certificate": lambda folder: one(folder, {"insecure-skip-tls-verify": True}, token="t"),
    "another name of the server": lambda folder: one(folder, {"tls-server-name": "api.corp"}, token="t"),
    "a proxy": lambda folder: one(folder, {"proxy-url": "http://p:3128"}, token="t"),
    "a SOCKS proxy": lambda folder: one(folder, {"proxy-url": "socks5://p:1080"}, token="t"),
    "a slash at the end": lambda folder: one(folder, {"server": "https://k:6443/prefix/"}, token="t"),
    "plain HTTP": lambda folder: one(folder, {"server": "http://k:8001"}, token="t"),
    "an OIDC token without an end": lambda folder: one(
        folder, {}, **{"auth-provider": {"name": "oidc", "config": {"id-token": "aGVhZA.e30K.c2ln"}}}
    ),
    **{" then ".join(names): order(*names) for names in ORDERS if "empty" not in names},
}


@pytest.mark.parametrize("case", AGREED)
def test_both_loaders_read_the_same(tmp_path: Path, case: str) -> None:
    paths = AGREED[case](tmp_path)
    kubeconfig = read_kubeconfig(ConnectionOptions(), environ(*paths))
    assert kubeconfig.contexts
    for name in kubeconfig.contexts:
        assert ours(paths, name) == theirs(paths, name)


def test_on_purpose_the_first_file_says_what_is_current_as_in_kubectl(tmp_path: Path) -> None:
    first, second = two_files(tmp_path)
    for paths, name in (((first,), "one"), ((second,), "two"), ((first, second), "one"), ((second, first), "two")):
        _, theirs_current = list_kube_config_contexts(os.pathsep.join(map(str, paths)))
        assert read_kubeconfig(ConnectionOptions(), environ(*paths)).current == name
        # The package lets the last file win.
        assert theirs_current["name"] == {first: "one", second: "two"}[paths[-1]]


def test_on_purpose_an_empty_file_is_passed_over_as_in_kubectl(tmp_path: Path) -> None:
    paths = order("empty", "second")(tmp_path)
    assert ours(paths, "two") == theirs(paths[1:], "two")
    with pytest.raises(ConfigException, match="file is empty"):
        theirs(paths, "two")


def test_on_purpose_a_password_is_sent_as_utf8_as_in_kubectl(tmp_path: Path) -> None:
    paths = one(tmp_path, {}, username="me", password="päss")
    assert ours(paths, "c").basic == f"Basic {_data('me:päss'.encode())}"
    assert theirs(paths, "c").basic == f"Basic {_data('me:päss'.encode('latin-1'))}"


def test_on_purpose_a_token_file_goes_before_a_token_as_in_kubectl(tmp_path: Path) -> None:
    paths = one(tmp_path, {}, tokenFile="token", token="t")
    assert (ours(paths, "c").token, theirs(paths, "c").token) == ("content of token", "t")


def test_on_purpose_a_token_goes_before_an_auth_provider_as_in_kubectl(tmp_path: Path) -> None:
    provider = {"name": "oidc", "config": {"id-token": "aGVhZA.e30K.c2ln"}}
    paths = one(tmp_path, {}, token="t", **{"auth-provider": provider})
    assert (ours(paths, "c").token, theirs(paths, "c").token) == ("t", "aGVhZA.e30K.c2ln")


def test_on_purpose_a_server_without_a_scheme_gets_one_as_in_kubectl(tmp_path: Path) -> None:
    paths = one(tmp_path, {"server": "k:8001"}, token="t")
    assert ours(paths, "c") == replace(theirs(paths, "c"), server="http://k:8001")
    assert theirs(paths, "c").server == "k:8001"


@pytest.mark.parametrize("trouble", TROUBLES)
def test_what_the_package_refuses_is_refused_and_told_in_one_line(tmp_path: Path, trouble: str) -> None:
    """The package reads some of these: it meets a wrong port or a missing user only when it connects, or never."""
    content, _ = TROUBLES[trouble]
    path = tmp_path / "config"
    path.write_text(content)
    with pytest.raises(BadInput):
        choose_contexts(ConnectionOptions(), environ(path))
    read_by_package = trouble in READ_BY_PACKAGE
    try:
        load_kube_config(str(path), client_configuration=Configuration(), persist_config=False)
    except (ConfigException, yaml.YAMLError, AttributeError, TypeError):
        assert not read_by_package
    else:
        assert read_by_package


READ_BY_PACKAGE = {
    "no such user",
    "a port that cannot be",
    "no host",
    "SOCKS of the old kind",
    "SOCKS without a host",
}
