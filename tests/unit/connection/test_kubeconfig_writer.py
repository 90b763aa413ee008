"""Renewed tokens in a kubeconfig: put where the old ones are, with all else as it was."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from foretop_core.errors import BadInput
from foretop_core.kube.connection.config import OidcConfig
from foretop_core.kube.connection.oidc import write_tokens

HEAD = """# mine
users:
- just a word
- user: {token: x}
- name: other
  user: {auth-provider: {name: oidc, config: {id-token: theirs, refresh-token: old-refresh}}}
"""
MINE = """- name: me  # the company's
  user:
    auth-provider:
      name: oidc
      config:
        refresh-token: old-refresh  # good once
        id-token: 'old'
zone: Zürich
"""


def renewed_in(path: Path, id_token: str = "new-id-token", refresh_token: str = "new") -> str:
    before = OidcConfig("me", path, "old", "old-refresh")
    write_tokens(before, replace(before, id_token=id_token, refresh_token=refresh_token))
    return path.read_text()


def kubeconfig(folder: Path, text: str) -> Path:
    path = folder / "config"
    path.write_text(text)
    return path


def test_only_the_letters_of_the_tokens_change(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path, HEAD + MINE)
    path.chmod(0o640)
    assert renewed_in(path) == HEAD + MINE.replace("old-refresh", "new").replace("'old'", "new-id-token")
    assert path.stat().st_mode & 0o7777 == 0o640
    assert [found.name for found in tmp_path.iterdir()] == ["config"]


@pytest.mark.parametrize("token", ["true", "1.5", "null", "~", "a: b", "a #b", "@x", "2026-13-45", "-", "'x", "0x1F"])
def test_a_token_that_yaml_would_read_as_something_else_is_quoted(tmp_path: Path, token: str) -> None:
    path = kubeconfig(tmp_path, HEAD + MINE)
    written = renewed_in(path, token)
    assert written.startswith(HEAD)
    config = yaml.safe_load(written)["users"][3]["user"]["auth-provider"]["config"]
    assert config == {"id-token": token, "refresh-token": "new"}


BEYOND_AN_EDIT = {
    "a missing field": "- {name: me, user: {auth-provider: {config: {refresh-token: old-refresh}}}}\n",
    "a merged field": "- {name: me, user: {auth-provider: {config: {<<: {refresh-token: old-refresh}, id-token: o}}}}",
    "a block": "- name: me\n  user:\n    auth-provider:\n      config:\n        id-token: |-\n          old\n"
    "        refresh-token: old-refresh\n",
}


@pytest.mark.parametrize("way", BEYOND_AN_EDIT)
def test_where_letters_cannot_be_replaced_the_file_is_written_anew_with_the_same_content(
    tmp_path: Path, way: str
) -> None:
    text = f"zone: Zürich\n{HEAD}{BEYOND_AN_EDIT[way]}"
    wanted = yaml.safe_load(text)
    wanted["users"][3]["user"]["auth-provider"]["config"] = {"id-token": "new-id-token", "refresh-token": "new"}
    written = renewed_in(kubeconfig(tmp_path, text))
    assert yaml.safe_load(written) == wanted
    assert written.startswith("zone: Zürich\nusers:\n")


def test_users_that_are_merged_in_are_found_too(tmp_path: Path) -> None:
    config = "{refresh-token: old-refresh, id-token: old}"
    text = f"<<: {{users: [{{name: me, user: {{auth-provider: {{config: {config}}}}}}}]}}\n"
    (mine,) = yaml.safe_load(renewed_in(kubeconfig(tmp_path, text)))["users"]
    assert mine["user"]["auth-provider"]["config"] == {"id-token": "new-id-token", "refresh-token": "new"}


LEFT_ALONE = {
    "a newer sign-in": HEAD + MINE.replace("old-refresh", "newer"),
    "a user that is gone": HEAD,
    "nothing": "",
    "a list": "- users\n",
    "no list of users": "users: {me: {}}\n",
    "no user": "users: [{name: me}]\n",
    "another way to sign in": "users: [{name: me, user: {auth-provider: oidc}}]\n",
    "no config": "users: [{name: me, user: {auth-provider: {config: [old-refresh]}}}]\n",
}


@pytest.mark.parametrize("way", LEFT_ALONE)
def test_a_file_without_the_old_tokens_is_left_alone(tmp_path: Path, way: str) -> None:
    path = kubeconfig(tmp_path, LEFT_ALONE[way])
    before = path.stat().st_ino
    assert renewed_in(path) == LEFT_ALONE[way]
    assert path.stat().st_ino == before


@pytest.mark.parametrize("content", [b"users: [", b"\xff"])
def test_a_file_that_is_broken_by_now_is_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "config"
    path.write_bytes(content)
    with pytest.raises(BadInput, match=f"'me' was not written to {path}: it can no longer be read"):
        renewed_in(path)
    assert [found.name for found in tmp_path.iterdir()] == ["config"]


def test_another_program_s_lock_is_waited_for(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path, HEAD + MINE)
    lock = tmp_path / "config.lock"
    lock.touch()
    other = threading.Timer(0.1, lock.unlink)
    other.start()
    assert "new-id-token" in renewed_in(path)
    other.join()


def test_a_lock_that_stays_is_one_line_and_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("foretop_core.kube.connection.oidc.LOCK_LIMIT", 0.0)
    path = kubeconfig(tmp_path, HEAD + MINE)
    lock = tmp_path / "config.lock"
    lock.touch()
    with pytest.raises(BadInput, match=f"another program is writing it, or has left {lock.name} behind"):
        renewed_in(path)
    assert path.read_text() == HEAD + MINE
    assert lock.exists()
