"""Secrets of a context, in whatever form somebody repeats them."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from foretop_core.foreign_text import without_tokens
from foretop_core.kube.connection.config import AuthInfo, ContextConfig
from foretop_core.kube.connection.secrets_filter import is_secret_beside, without_secrets


def shown(text: str, config: ContextConfig, authorization: str = "") -> str:
    return without_secrets(text, config, authorization).replace("[hidden]", "*")


def coded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


PLAIN = ContextConfig("c", "https://k")


def test_what_goes_in_the_header_is_hidden_and_so_is_the_password_in_it() -> None:
    pair = coded("anna:pa:ssw")
    assert shown(f"{pair} pa:ssw anna", PLAIN, f"Basic {pair}") == "* * anna"
    assert shown("tok-en", PLAIN, "Bearer tok-en") == "*"


def test_token_and_password_of_the_context_are_hidden_from_six_letters_on() -> None:
    for letters, hidden in (("abcdef", True), ("abcde", False)):
        for identity in (AuthInfo(token=letters), AuthInfo(password=letters)):
            config = ContextConfig("c", "https://k", identity=identity)
            assert (shown(letters, config) == "*") is hidden


def test_a_secret_that_begins_another_leaves_no_end_of_it() -> None:
    config = ContextConfig("c", "https://k/abcdef", identity=AuthInfo(token="abcdefghij"))
    assert shown("abcdefghij and abcdef", config) == "* and *"


@pytest.mark.parametrize("where", ["server", "proxy"])
def test_user_and_password_of_an_address_are_hidden_however_written(where: str) -> None:
    address = "https://anna-maria:p%40ss-w@host:1"
    given: dict[str, Any] = {"server": "https://k", where: address}
    config = ContextConfig("c", **given)
    pair = coded("anna-maria:p@ss-w")
    assert shown(f"p%40ss-w p@ss-w {pair} anna-maria", config) == "* * * anna-maria"
    alone = ContextConfig("c", **{**given, where: "https://the-token@host:1"})
    assert shown("the-token", alone) == "*"


def test_the_path_of_the_server_is_hidden_as_a_whole_and_in_parts() -> None:
    config = ContextConfig("c", "https://k/first-one/second%20one")
    assert shown("/first-one/second%20one", config) == "/*"
    assert shown("first-one, second one and second%20one", config) == "*, * and *"


def test_what_looks_like_a_header_is_hidden_though_nobody_knows_it() -> None:
    assert shown("it had Bearer 0123456789abcdef", PLAIN) == "it had Bearer *"


@pytest.mark.parametrize(
    ("word", "secret"),
    [("abcdef", True), ("'abcdef',", True), ("abcde", False), ("'abcde'", False), ("abcdeg", False)],
)
def test_a_word_of_a_secret_answer_is_a_secret(word: str, secret: bool) -> None:
    assert is_secret_beside(word, "the answer is abcdef") is secret


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("password=hunter2 is wrong", "password=* is wrong"),
        ("the token is used up", "the token is used up"),
        ("your code 123456 has ended", "your code * has ended"),
        ("eyJhbGciOiJI.x.y", "*"),
        ("a1" * 12, "*"),
        ("internationalizationofthings", "internationalizationofthings"),
        ("the token hQzvTqXwLmKpRsYbNcDf", "the token *"),
        ("it said hQzvTqXwLmKpRsYbNcDfGjWk!", "it said *!"),
        ("x" * 32, "*"),
        (
            "UnauthorizedSSOTokenError in AWS_WEB_IDENTITY_TOKEN_FILE",
            "UnauthorizedSSOTokenError in AWS_WEB_IDENTITY_TOKEN_FILE",
        ),
        ("cluster my-cluster-production-europe", "cluster my-cluster-production-europe"),
        ("1" * 24, "*"),
    ],
)
def test_what_looks_like_a_token_is_hidden(text: str, left: str) -> None:
    assert without_tokens(text).replace("[hidden]", "*") == left
