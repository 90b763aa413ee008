"""What the configuration says about connecting, and what flags leave of it."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from foretop.commands.connection import connection_options
from foretop_core.kube.connection.config import SessionOptions

_FILE = """
defaultContexts: [prod]
groups: {prod: [prod-eu, prod-us], lab: [lab-1, lab-2]}
contexts: {prod-eu: {veleroVersion: 1.16.2}}
veleroVersion: 1.17.0
namespaces: [team-a]
veleroNamespace: velero
"""


def options(*arguments: str) -> SessionOptions:
    @click.command()
    @connection_options
    def command(session_options: SessionOptions) -> SessionOptions:
        return session_options

    made = command.main(arguments, standalone_mode=False)
    assert isinstance(made, SessionOptions)
    return made


@pytest.fixture(autouse=True)
def _file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "foretop").mkdir()
    (tmp_path / "foretop" / "config.yaml").write_text(_FILE)


def test_the_contexts_of_the_file_are_opened_where_none_is_named() -> None:
    assert options().connect.contexts == ("prod-eu", "prod-us")
    assert options().namespaces == ("team-a",)
    assert options().velero_namespace == "velero"


def test_the_name_of_a_group_stands_for_its_contexts() -> None:
    assert options("--context", "lab", "--context", "other").connect.contexts == ("lab-1", "lab-2", "other")


@pytest.mark.parametrize("flag", [("--kubeconfig", "/tmp/x"), ("--server", "https://x")])
def test_another_kubeconfig_or_server_has_nothing_to_do_with_the_contexts_of_the_file(flag: tuple[str, str]) -> None:
    assert options(*flag).connect.contexts == ()
    assert options(*flag, "--context", "prod").connect.contexts == ("prod-eu", "prod-us")


def test_all_namespaces_go_over_those_of_the_file() -> None:
    assert options("-A").namespaces == ()
    assert options("-n", "team-b").namespaces == ("team-b",)


def test_a_version_of_a_flag_goes_over_those_of_the_file_which_may_name_contexts_that_are_not_open() -> None:
    configured = options().velero_versions
    assert configured is not None
    configured.check(["lab-1"])
    assert configured.of("prod-eu") == {"": "1.16.2"}
    assert configured.of("lab-1") == {"": "1.17.0"}
    given = options("--velero-version", "1.18.3").velero_versions
    assert given is not None
    assert given.of("prod-eu") == {"": "1.18.3"}
    one = options("--velero-version", "prod-eu=1.18.1").velero_versions
    assert one is not None
    assert (one.of("prod-eu"), one.of("prod-us")) == ({"": "1.18.1"}, {"": "1.17.0"})
