"""kubectl's connection flags: laid over a kubeconfig, or in the place of one."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from foretop.cli import run
from foretop_core.errors import BadInput
from foretop_core.kube.connection.config import ConnectionOptions, ContextConfig
from foretop_core.kube.connection.kubeconfig import choose_contexts, reloading
from foretop_demo.local_api_server import LocalApiServer
from tests.wire.boxes import box_in_thread, kubeconfig
from tests.wire.test_commands import OBJECTS

CONFIG = {
    "current-context": "one",
    "contexts": [{"name": "one", "context": {"cluster": "east", "user": "ann", "namespace": "shop"}}],
    "clusters": [
        {"name": "east", "cluster": {"server": "https://east:1", "tls-server-name": "e"}},
        {"name": "west", "cluster": {"server": "https://west:1", "insecure-skip-tls-verify": True}},
    ],
    "users": [
        {"name": "ann", "user": {"username": "ann", "password": "secret"}},
        {"name": "bob", "user": {"token": "bobs"}},
    ],
}


def chosen(folder: Path, options: ConnectionOptions) -> ContextConfig:
    path = folder / "config"
    path.write_text(yaml.safe_dump(CONFIG))
    (found,) = choose_contexts(options, {"KUBECONFIG": str(path)})
    assert reloading(found, options, {"KUBECONFIG": str(path)})() == found
    return found


def test_a_flag_takes_the_place_of_what_the_file_says(tmp_path: Path) -> None:
    plain = chosen(tmp_path, ConnectionOptions())
    assert (plain.server, plain.tls_server_name, plain.identity.username) == ("https://east:1", "e", "ann")
    given = chosen(tmp_path, ConnectionOptions(server="https://other:2", token="t", request_timeout=5.0))
    assert (given.name, given.server, given.tls_server_name, given.namespace) == ("one", "https://other:2", "", "shop")
    assert (given.identity.token, given.identity.username, given.request_timeout) == ("t", "", 5.0)


def test_another_cluster_and_user_of_the_file_are_taken(tmp_path: Path) -> None:
    found = chosen(tmp_path, ConnectionOptions(cluster="west", user="bob"))
    assert (found.server, found.insecure, found.identity.token) == ("https://west:1", True, "bobs")
    with pytest.raises(BadInput, match=r"--cluster 'north' does not exist.*it has east, west"):
        chosen(tmp_path, ConnectionOptions(cluster="north"))
    with pytest.raises(BadInput, match="--user 'eve' does not exist"):
        chosen(tmp_path, ConnectionOptions(user="eve"))


def test_a_given_trust_is_the_only_one(tmp_path: Path) -> None:
    authority = tmp_path / "ca.crt"
    authority.write_text("PEM")
    found = chosen(tmp_path, ConnectionOptions(cluster="west", certificate_authority=str(authority)))
    assert (found.ca, found.insecure) == ("PEM", False)
    assert chosen(tmp_path, ConnectionOptions(insecure_skip_tls_verify=True)).insecure


def test_no_token_is_in_the_printed_form() -> None:
    assert "secret" not in repr(ConnectionOptions(token="secret"))


@pytest.fixture(scope="module")
def box() -> Iterator[LocalApiServer]:
    with box_in_thread(OBJECTS) as made:
        yield made


def test_a_server_and_a_token_are_enough(
    box: LocalApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    authority = tmp_path / "ca.crt"
    made = yaml.safe_load(Path(kubeconfig(box, tmp_path)).read_text())["clusters"][0]["cluster"]
    flags = ["--server", box.url, "--token", box.token()]
    if data := made.get("certificate-authority-data"):
        import base64

        authority.write_bytes(base64.b64decode(data))
        flags += ["--certificate-authority", str(authority)]
    assert run(["get", "schedules", *flags, "-o", "json"]) == 0
    items = json.loads(capsys.readouterr().out)["items"]
    assert {item["name"] for item in items} == {"broken", "hourly"}
    assert items[0]["context"] == box.url.partition("://")[2]
    assert run(["get", "schedules", "--server", box.url, "--token", "wrong", *flags[4:]]) == 2
    assert "wrong" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--request-timeout", "soon"], "'soon' is not a duration"),
        (["--certificate-authority", "x", "--insecure-skip-tls-verify"], "not both"),
        (["--server", "https://127.0.0.1:1", "--request-timeout", "2s"], "connection refused"),
        (["--certificate-authority", "/no/such", "--server", "https://127.0.0.1:1"], "/no/such"),
    ],
)
def test_flags_that_cannot_be_used_are_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: str
) -> None:
    monkeypatch.setenv("KUBECONFIG", os.devnull)
    assert run(["get", "schedules", *arguments]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert words in line
