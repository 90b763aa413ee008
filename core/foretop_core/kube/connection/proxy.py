"""Which proxy a cluster is reached through, by the rules that kubectl has from Go."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit

from foretop_core.errors import BadInput

_PORTS = {"http": 80, "https": 443}
_SOCKS = ("socks5", "socks5h")
_SOCKS_PORT = 1080


def is_socks(proxy: str) -> bool:
    """True if this proxy is spoken to in SOCKS5 and not in HTTP."""
    return urlsplit(proxy).scheme in _SOCKS


def proxy_for(server: str, proxy_url: str, environ: Mapping[str, str]) -> str:
    """The kubeconfig's `proxy-url`, else the environment's, else none (an empty text).

    `ALL_PROXY` comes last: Go does not know it, but it is where those who use `ssh -D` write their proxy.
    """
    if proxy_url:
        return _checked(proxy_url, "proxy-url in the kubeconfig")
    try:
        parts = urlsplit(server)
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return ""  # Who uses the address says what is wrong with it.
    for name in (f"{parts.scheme}_proxy".upper(), "ALL_PROXY"):
        value = environ.get(name) or environ.get(name.lower()) or ""
        if not value:
            continue
        if _bypassed(parts.hostname or "", port, environ):
            return ""
        return _checked(value if "://" in value else f"http://{value}", f"{name} in the environment")
    return ""


def _checked(url: str, where: str) -> str:
    what = f"The proxy in {where} cannot be used"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise BadInput(what, "its address is malformed", "write it as socks5://host:1080") from None
    if parts.scheme not in (*_PORTS, *_SOCKS):
        raise BadInput(what, f"{parts.scheme or 'no'} scheme", "use http://, https:// or socks5://")
    if not parts.hostname:
        raise BadInput(what, "it names no host", "write it as socks5://host:1080")
    if port == 0:
        raise BadInput(what, "its port is 0", "write it as socks5://host:1080")
    if parts.scheme in _PORTS:
        return url
    # Go's default; the library wants it written.
    return url if port else parts._replace(netloc=f"{parts.netloc.rstrip(':')}:{_SOCKS_PORT}").geturl()


def _bypassed(host: str, port: int | None, environ: Mapping[str, str]) -> bool:
    address = _address(host)
    if host == "localhost" or (address is not None and address.is_loopback):
        return True
    listed = environ.get("NO_PROXY") or environ.get("no_proxy") or ""
    return any(_matches(entry.strip().lower(), host.lower(), port) for entry in listed.split(",") if entry.strip())


def _matches(entry: str, host: str, port: int | None) -> bool:
    if entry == "*":
        return True
    address = _address(host)
    if "/" in entry:
        try:
            return address is not None and address in ipaddress.ip_network(entry, strict=False)
        except ValueError:
            return False
    if address is not None:
        if _address(entry.strip("[]")) == address:
            return True
        bare, _, entry_port = entry.rpartition(":")
        return entry_port == str(port) and _address(bare.strip("[]")) == address
    bare, colon, entry_port = entry.partition(":")
    if colon and entry_port != str(port):
        return False
    bare = bare.removeprefix("*")
    return host.endswith(bare) if bare.startswith(".") else host == bare or host.endswith(f".{bare}")


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
