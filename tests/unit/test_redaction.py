"""Secrets in text that is not foretop's own."""

from __future__ import annotations

import json

import pytest

from foretop_core.actions.journal import JournalEntry, entry_line
from foretop_core.redaction import redacted, redacted_values, without_tokens
from foretop_core.tables.text.terminal_text import clean

SECRETS = {
    "https://acct.blob.core.windows.net/c/b?sv=2021&sig=canary%2Bx%3D: 403": (
        "https://acct.blob.core.windows.net/c/b?*: 403"
    ),
    "(https://storage.googleapis.com/b/o?GoogleAccessId=a&Signature=canary)": "(https://storage.googleapis.com/b/o?*)",
    "https://me:canary@host:9000/a/b#canary.": "https://*@host:9000/a/b#*.",
    "https://canary@host": "https://*@host",
    "https://me:can/ary@host": "https://me:can/ary@host",
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
}
PLAIN = (
    "https://prod:6443/k8s/clusters/c-1",
    "docker://registry/image@sha256:0123",
    "secretName: cloud-credentials",
    "the token is used up",
    "example.com/design=good",
    "rpc error: code = Unknown desc = NoSuchBucket",
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
    assert "can/ary" in text or "canary" not in without_tokens(text)


def test_nothing_of_a_secret_is_left_where_it_is_repeated() -> None:
    for text in SECRETS:
        assert redacted(redacted(text)) == redacted(text)
