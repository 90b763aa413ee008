"""Which proxy leads to a cluster, and which hosts are reached without one."""

from __future__ import annotations

import pytest

from foretop_core.errors import BadInput
from foretop_core.kube.connection.proxy import is_socks, proxy_for

HTTPS = {"HTTPS_PROXY": "http://p:3128"}
WITHOUT_PROXY = [
    ("https://api.corp", "api.corp"),
    ("https://api.corp", "API.Corp"),
    ("https://API.corp", "api.corp"),
    ("https://api.corp", "other,, api.corp ,"),
    ("https://api.corp", "api.corp:443"),
    ("http://api.corp", "api.corp:80"),
    ("https://api.corp:6443", "api.corp:6443"),
    ("https://api.corp", "*.corp"),
    ("https://api.corp", "corp"),
    ("https://10.1.2.3", "10.1.2.3"),
    ("https://10.1.2.3", "10.1.2.3:443"),
    ("http://10.1.2.3", "10.1.2.3:80"),
    ("https://10.1.2.3", "10.9.9.9/8"),
    ("https://[fd00::1]:6443", "fd00::1"),
    ("https://[fd00::1]:6443", "[fd00::1]"),
    ("https://[fd00::1]:6443", "[fd00::1]:6443"),
    ("https://[fd00::1]:6443", "fd00::/8"),
    ("https://[::1]:6443", ""),
    ("https://127.9.9.9", ""),
]
THROUGH_PROXY = [
    ("https://api.corp", ""),
    ("https://api.corp", "other"),
    ("https://api.corp", "pi.corp"),
    ("https://corp", "*.corp"),
    ("https://api.corp:6443", "api.corp:443"),
    ("https://api.corp", "10.0.0.0/8"),
    ("https://10.1.2.3", "192.168.0.0/16"),
    ("https://10.1.2.3", "10.0.0.0/99"),
    ("https://10.1.2.3", "10.1.2.4"),
    ("https://10.1.2.3", "10.1.2.4:443"),
    ("https://10.1.2.3", "corp"),
    ("https://[fd00::1]:6443", "[fd00::1]:443"),
    ("https://localhost.corp", "localhost"),
]


@pytest.mark.parametrize("name", ["NO_PROXY", "no_proxy"])
@pytest.mark.parametrize(("server", "listed"), WITHOUT_PROXY)
def test_a_host_that_no_proxy_names_is_reached_directly(server: str, listed: str, name: str) -> None:
    assert proxy_for(server, "", {**HTTPS, "HTTP_PROXY": "http://p:3128", name: listed}) == ""


@pytest.mark.parametrize(("server", "listed"), THROUGH_PROXY)
def test_any_other_host_is_reached_through_the_proxy(server: str, listed: str) -> None:
    assert proxy_for(server, "", {**HTTPS, "NO_PROXY": listed}) == "http://p:3128"


def test_the_kubeconfig_goes_before_the_environment() -> None:
    environ = {**HTTPS, "NO_PROXY": "*"}
    assert proxy_for("https://api.corp", "http://mine:1", environ) == "http://mine:1"


def test_an_address_that_is_not_valid_has_no_proxy() -> None:
    assert proxy_for("https://api.corp:x", "", HTTPS) == ""


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ("socks5://p", "socks5://p:1080"),
        ("socks5h://me:secret@p:", "socks5h://me:secret@p:1080"),
        ("socks5://p:1", "socks5://p:1"),
        ("http://p", "http://p"),
        ("https://p:1", "https://p:1"),
    ],
)
def test_a_socks_proxy_without_a_port_gets_the_usual_one(given: str, used: str) -> None:
    assert proxy_for("https://api.corp", given, {}) == used


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("ftp://p", "ftp scheme"),
        ("//p:3128", "no scheme"),
        ("http://:3128", "it names no host"),
        ("socks5://p:0", "its port is 0"),
        ("http://p:x", "its address is malformed"),
    ],
)
def test_a_proxy_that_cannot_be_used_says_why(given: str, why: str) -> None:
    with pytest.raises(BadInput) as caught:
        proxy_for("https://api.corp", given, {})
    assert caught.value.why == why
    with pytest.raises(BadInput, match="The proxy in HTTPS_PROXY in the environment cannot be used") as caught:
        proxy_for("https://api.corp", "", {"HTTPS_PROXY": given if "://" in given else f"ftp:{given}"})


def test_only_socks5_is_socks() -> None:
    assert [is_socks(f"{scheme}://p") for scheme in ("socks5", "socks5h", "http", "https")] == [
        True,
        True,
        False,
        False,
    ]
