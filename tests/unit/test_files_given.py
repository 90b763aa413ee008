"""Files that a person names: read within bounds, and not waited for without an end, whatever they are."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
import yaml

from foretop.commands import argument_values
from foretop.commands.complete_words import _cache_file, complete
from foretop.terminal.editor import run_editor
from foretop_core.errors import BadInput, ForetopError
from foretop_core.kube.connection.config import ConnectionOptions, OidcConfig
from foretop_core.kube.connection.kubeconfig import choose_contexts, read_service_account
from foretop_core.kube.connection.oidc import write_tokens
from foretop_core.own_files import read_given_file

SCHEDULE = """
apiVersion: velero.io/v1
kind: Schedule
metadata: {name: daily, namespace: velero}
spec: {schedule: "@daily"}
"""


def written_to_pipe(folder: Path, text: str) -> Path:
    """A pipe to which somebody writes as soon as it is read."""
    path = folder / "pipe"
    os.mkfifo(path)
    threading.Thread(target=lambda: path.write_text(text), daemon=True).start()
    return path


def kubeconfig(folder: Path, cluster: dict[str, str], user: dict[str, object]) -> ConnectionOptions:
    path = folder / "kubeconfig"
    content = {
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
        "clusters": [{"name": "k", "cluster": {"server": "https://127.0.0.1:1", **cluster}}],
        "users": [{"name": "u", "user": user}],
    }
    path.write_text(yaml.safe_dump(content))
    return ConnectionOptions(kubeconfig=str(path))


def test_a_manifest_without_an_end_is_one_line() -> None:
    with pytest.raises(BadInput, match=r"^/dev/zero cannot be read: it is larger than 128 MiB$"):
        argument_values.objects("/dev/zero")


def test_standard_input_without_an_end_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    with open("/dev/zero", encoding="utf-8") as zero:
        monkeypatch.setattr("sys.stdin", zero)
        with pytest.raises(BadInput, match="standard input cannot be read: it is larger than 128 MiB"):
            argument_values.objects("-")


def test_a_directory_as_a_manifest_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read: Is a directory"):
        argument_values.objects(str(tmp_path))


def test_the_output_of_a_command_can_be_a_manifest(tmp_path: Path) -> None:
    """As a shell's <(command) is."""
    read = argument_values.objects(str(written_to_pipe(tmp_path, SCHEDULE)))
    assert [found.name for _, found in read.objects] == ["daily"]


@pytest.mark.parametrize("code", ["utf-8-sig", "utf-16"])
def test_a_manifest_can_be_as_the_shell_of_windows_writes_it(code: str, tmp_path: Path) -> None:
    path = tmp_path / "daily.yaml"
    path.write_text(SCHEDULE, code)
    assert [found.name for _, found in argument_values.objects(str(path)).objects] == ["daily"]


def test_a_pipe_is_left_where_nothing_comes_out_of_it(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(OSError, match=r"nothing was written to it within 0\.05 s"):
        read_given_file(path, 100, 0.05)
    writer = os.open(path, os.O_RDWR)
    os.write(writer, b"half a ")
    with pytest.raises(OSError, match="nothing was written"):
        read_given_file(path, 100, 0.05)
    os.close(writer)


def test_nothing_at_all_is_an_empty_file() -> None:
    assert read_given_file(Path(os.devnull), 100, 0.05) == b""


@pytest.mark.parametrize("key", ["client-certificate", "client-key"])
@pytest.mark.parametrize("kind", ["pipe", "folder", "endless"])
def test_no_file_that_a_kubeconfig_names_is_waited_for(tmp_path: Path, key: str, kind: str) -> None:
    named = {"pipe": tmp_path / "pipe", "folder": tmp_path, "endless": Path("/dev/zero")}[kind]
    os.mkfifo(tmp_path / "pipe")
    why = "is a directory" if kind == "folder" else "not a regular file"
    with pytest.raises(BadInput, match=f"^{key} of 'u' in .* cannot be used: .*: {why}"):
        choose_contexts(kubeconfig(tmp_path, {}, {key: str(named)}), {})
    with pytest.raises(BadInput, match=f"^certificate-authority of 'k' in .*: {why}"):
        choose_contexts(kubeconfig(tmp_path, {"certificate-authority": str(named)}, {}), {})


def test_a_certificate_of_many_megabytes_is_not_held(tmp_path: Path) -> None:
    large = tmp_path / "large.pem"
    with large.open("wb") as file:
        file.truncate(2**24)
    with pytest.raises(BadInput, match="it is larger than 1 MiB"):
        choose_contexts(kubeconfig(tmp_path, {"certificate-authority": str(large)}, {}), {})


def test_a_kubeconfig_can_be_the_output_of_a_command(tmp_path: Path) -> None:
    text = Path(kubeconfig(tmp_path, {}, {"token": "t"}).kubeconfig).read_text()
    (found,) = choose_contexts(ConnectionOptions(kubeconfig=str(written_to_pipe(tmp_path, text))), {})
    assert found.server == "https://127.0.0.1:1"


def test_renewed_tokens_are_not_written_to_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    oidc = OidcConfig("u", tmp_path / "pipe", "i", "r", "https://issuer", "c")
    with pytest.raises(BadInput, match=r"was not written to .*: not a regular file"):
        write_tokens(oidc, oidc)


def test_a_pod_whose_certificate_is_a_pipe_is_one_line(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "ca.crt")
    with pytest.raises(BadInput, match="The pod's service account cannot be used"):
        read_service_account({"KUBERNETES_SERVICE_HOST": "h"}, ConnectionOptions(), str(tmp_path))


def test_an_editor_that_leaves_a_pipe_or_far_too_much_is_one_line(tmp_path: Path) -> None:
    draft = tmp_path / "draft.yaml"
    draft.write_text("")
    script = tmp_path / "editor"
    script.write_text('#!/bin/sh\nrm "$1"\nmkfifo "$1"\n')
    script.chmod(0o700)
    with pytest.raises(ForetopError, match="not a regular file"):
        run_editor(draft, {"EDITOR": str(script)})
    script.write_text('#!/bin/sh\nrm "$1"\ntruncate -s 16M "$1"\n')
    with pytest.raises(ForetopError, match="it is larger than 4 MiB"):
        run_editor(draft, {"EDITOR": str(script)})


@pytest.mark.parametrize("named", ["./editor", "sub/editor", "editor"])
def test_an_editor_is_never_run_out_of_the_current_folder(
    named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sub").mkdir()
    for folder in (tmp_path, tmp_path / "sub"):
        (folder / "editor").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        (folder / "editor").chmod(0o700)
    (draft := tmp_path / "draft.yaml").write_text("")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ForetopError, match=r"Cannot edit .*set EDITOR"):
        run_editor(draft, {"EDITOR": named, "PATH": f"{os.pathsep}.{os.pathsep}sub"})
    assert not (tmp_path / "ran").exists()


def test_names_kept_for_completion_are_not_waited_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    kept = _cache_file("object:schedules", {}, environ)
    kept.parent.mkdir(parents=True)
    os.mkfifo(kept)
    complete(["get", "schedules", ""], environ)
    assert capsys.readouterr().out.startswith(":")
