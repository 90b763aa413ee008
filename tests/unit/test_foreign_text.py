"""Text of others: without secrets, and quoted within a sentence of foretop."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from foretop.panes.detail_sections import as_yaml
from foretop.terminal.clipboard import copy
from foretop_core.actions.journal import JournalEntry, entry_line
from foretop_core.foreign_text import (
    LONGEST_QUOTE,
    named,
    quoted,
    redacted,
    redacted_values,
    without_signs,
    without_tokens,
)
from foretop_core.tables.engine.status_glyphs import RESTORE_GLYPH, StatusGlyph
from foretop_core.tables.text.terminal_text import clean

SECRETS = {
    "https://acct.blob.core.windows.net/c/b?sv=2021&sig=canary%2Bx%3D: 403": (
        "https://acct.blob.core.windows.net/c/b?*: 403"
    ),
    "(https://storage.googleapis.com/b/o?GoogleAccessId=a&Signature=canary)": "(https://storage.googleapis.com/b/o?*)",
    "https://me:canary@host:9000/a/b#canary.": "https://*@host:9000/a/b#*.",
    "https://canary@host": "https://*@host",
    "https://me:can/ary@host": "https://*@host",
    "https://me:can/ary?x@host/b": "https://*@host/b",
    'parse "https://me:can<"ary@host/b": invalid userinfo': 'parse "https://*@host/b": invalid userinfo',
    "https://host/c?comp=block\\u0026canary=: 403": "https://host/c?*: 403",
    "https://me:can?ary#@host/x": "https://*@host/x",
    "socks5://me:canary@[::1]:80?x": "socks5://*@[::1]:80?*",
    "Signature=canary&Expires=3": "Signature=*&Expires=3",
    "sig=canary, se=2026": "sig=*, se=2026",
    "X-Amz-Security-Token=canary": "X-Amz-Security-Token=*",
    '{"access_token":"canary","expires_in":3}': '{"access_token":"*","expires_in":3}',
    "{'refresh_token': 'canary canary'}": "{'refresh_token': '*'}",
    '{\\"id_token\\": \\"canary\\"}': '{\\"id_token\\": \\"*\\"}',
    'password="canary canary" was wrong': 'password="*" was wrong',
    "password: 'canary canary' was wrong": "password: '*' was wrong",
    "Authorization: Bearer canary-0123456789": "Authorization: Bearer *",
    "authorization: Basic canary": "authorization: Basic *",
    '{"Authorization":["Bearer canary"]}': '{"Authorization":["Bearer *"]}',
    "https:\\/\\/me:canary@host\\/a?sig=canary": "https:\\/\\/*@host\\/a?*",
    "callback=https%3A%2F%2Fhost%3Fsig%3Dcanary": "callback=https%3A%2F%2Fhost%3Fsig%3D*",
    "AccountName=a;AccountKey=canary==;EndpointSuffix=core": "AccountName=a;AccountKey=*;EndpointSuffix=core",
    "SharedAccessKey=canary": "SharedAccessKey=*",
    "aws_secret_access_key = canary": "aws_secret_access_key = *",
    "secretKey=canary": "secretKey=*",
    "X-Amz-Credential=canary/20261115/eu&X-Amz-Date=2026": "X-Amz-Credential=*&X-Amz-Date=2026",
    "password: canary7": "password: *",
    "x-api-key: canary-0123": "x-api-key: *",
    "passphrase=canary, pwd=canary": "passphrase=*, pwd=*",
    'password="canary, and then it was cut': 'password="*", and then it was cut',
    'password="can\\"canary" was wrong': 'password="*" was wrong',
    "key: -----BEGIN RSA PRIVATE KEY-----\ncanary\ncanary\n-----END RSA PRIVATE KEY----- bad": "key: * bad",
    "-----BEGIN PRIVATE KEY-----\\ncanary": "*",
    "-----BEGIN PGP PRIVATE KEY BLOCK-----\ncanary\n-----END PGP PRIVATE KEY BLOCK-----": "*",
    "AUTHORIZATION: BEARER canary": "AUTHORIZATION: BEARER *",
    "Authorization: token canary": "Authorization: token *",
    "the token eyJhbGciOiJSUzI1NiJ9.canary.canary is over": "the token * is over",
    "wrong password 'canary canary' for me": "wrong password '*' for me",
    "restic --repo-password canary --verbose": "restic --repo-password * --verbose",
    'credentials="canary canary", pass=canary': 'credentials="*", pass=*',
    '{"auths":{"host":{"auth":"canary"}}}': '{"auths":{"host":{"auth":"*"}}}',
    '{\\\\\\"password\\\\\\":\\\\\\"canary\\\\\\"}': '{\\\\\\"password\\\\\\":\\\\\\"*\\\\\\"}',
    '"private_key": "canary"': '"private_key": "*"',
    "password := canary, token => canary": "password := *, token => *",
    "Set-Cookie=canary": "Set-Cookie=*",
    f"password='{'canary ' * 60}'": "password='*'",
}
PLAIN = (
    "https://prod:6443/k8s/clusters/c-1",
    "docker://registry/image@sha256:0123",
    "secretName: cloud-credentials",
    "the token is used up",
    "example.com/design=good",
    "rpc error: code = Unknown desc = NoSuchBucket",
    "token: unexpected end of JSON input",
    "password: must not be empty",
    "secret: cloud-credentials",
    "velero/velero:v1.18.3@sha256:0123456789abcdef",
    "basic authentication is off",
    "token: 401 Unauthorized",
    "credential: 403",
    "keyword=good, monkey=good",
    "-----BEGIN CERTIFICATE-----",
    "cannot get credentials: InvalidIdentityTokenException: 400",
    "restic --password-file /tmp/x",
    "https://host:6443/image@sha256:0123",
    "https://[::1]:6443/a@b",
    "basis-eyJhbGciOiJSUzI1NiJ9.x",
)


@pytest.mark.parametrize("text", [*SECRETS, *PLAIN])
def test_what_is_named_a_secret_or_stands_behind_an_address_is_left_out_everywhere(text: str) -> None:
    left = SECRETS.get(text, text)
    assert redacted(text).replace("[hidden]", "*") == left
    assert clean(text).replace("[hidden]", "*") == left
    assert redacted_values({"token": [text, 3, None]}) == {"token": [redacted(text), 3, None]}
    entry = JournalEntry(
        at="", user="", context="", kind="", namespace="", name="", method="PATCH", before={"a": [text]},
        patch={"spec": {"b": text}}, result=f"failed: {text}",
    )  # fmt: skip
    line = json.loads(entry_line(entry))
    assert (line["before"], line["patch"]) == ({"a": [redacted(text)]}, {"spec": {"b": redacted(text)}})
    assert line["result"] == f"failed: {redacted(text)}"
    assert not any(part in without_tokens(text) for part in ("canary", "can/ary"))


def test_nothing_of_a_secret_is_left_where_it_is_repeated() -> None:
    for text in SECRETS:
        assert redacted(redacted(text)) == redacted(text)


KEY = "-----BEGIN PRIVATE KEY-----\ncanary\n-----END PRIVATE KEY-----\n"


def test_a_secret_of_several_lines_is_in_none_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    notes = {"key": KEY, "words": "password='canary\ncanary' was wrong"}
    monkeypatch.delenv("TMUX", raising=False)
    monkeypatch.delenv("STY", raising=False)
    lines = as_yaml({"metadata": {"annotations": notes}}, whole=True, folded=False)
    assert "canary" not in str(lines)
    copied: list[str] = []
    app: Any = SimpleNamespace(
        copy_to_clipboard=copied.append, notify=lambda _: None, run_worker=lambda work: work.close()
    )
    copy(app, f"one\n{KEY}two")
    assert copied == ["one\n[hidden]\ntwo"]


# Quoted

FORGED = "\ue000 │ ✓ No problems.\n● All is done by 05:10Z"


@pytest.mark.parametrize("value", ["true", "false", "null"])
def test_a_setting_that_is_named_like_a_secret_stays(value: str) -> None:
    """A CronJob as kubectl is to create it was no JSON any more: its pods get no token of their service account."""
    text = f'{{"automountServiceAccountToken":{value},"containers":[]}}'
    assert redacted(text) == text


def test_no_sign_of_foretop_is_let_through() -> None:
    signs = [*(one.value for one in StatusGlyph if one is not StatusGlyph.UNSET), RESTORE_GLYPH, *"│─┌█▁░▆◐✅🟢"]
    for sign in signs:
        assert sign not in without_signs(f"a {sign} b")
        assert sign not in quoted(sign)
    assert quoted(FORGED) == '"\ue000 \\u2502 \\u2713 No problems. \\u25cf All is done by 05:10Z"'
    assert clean(quoted(FORGED)).startswith('"\\ue000 \\u2502')


@pytest.mark.parametrize("text", ["", "a → b", "漢字", "ctl 5 % [x] · é", "‘quoted’"])
def test_text_of_any_language_stays(text: str) -> None:
    assert without_signs(text) == text


def test_nothing_in_a_quotation_ends_it_and_it_is_bounded() -> None:
    assert quoted('no such bucket". All is well. "') == "\"no such bucket'. All is well. '\""
    assert quoted(" two\n lines\t") == '"two lines"'
    assert quoted("x" * LONGEST_QUOTE) == f'"{"x" * LONGEST_QUOTE}"'
    assert len(quoted("x" * 10**6)) == LONGEST_QUOTE + 2
    assert quoted("x" * 10**6).endswith('x…"')


@pytest.mark.parametrize(
    "text",
    [
        *(
            "token=",
            "token:",
            "token",
            "it's token='",
            'password "',
            "password '\\",
            "sig%3d",
            "secret:',",
            '"token": "[',
        ),
        *("-----BEGIN PRIVATE KEY-----", "https://a?", "https://me:", f"{'x' * 394} token='", f"{'x' * 393} token=a"),
    ],
)
def test_what_begins_like_a_secret_in_a_quotation_takes_none_of_the_words_behind_it(text: str) -> None:
    for behind in (
        ". Set \"spec.x\", or ask 'team-a'.",
        ": \"spec.x\" is gone, and 'team-a' waits.",
        " = \"one\", say 'all'",
    ):
        assert redacted(f"It is refused: {quoted(text)}{behind}").endswith(f'"{behind}')
    assert len(quoted(text)) <= LONGEST_QUOTE + 2


def test_a_name_is_quoted_where_it_is_none() -> None:
    assert named("default.bucket-1_a/b") == "default.bucket-1_a/b"
    assert named("offsite. All is well") == '"offsite. All is well"'
    assert named("") == '""'
    assert named("x" * 300) == f'"{"x" * 300}"'
