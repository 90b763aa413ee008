"""Which proxy a cluster is reached through, by the rules that kubectl has from Go."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit

from foretop_core.errors import BadInput

_PORTS = {"http": 80, "https": 443}


def proxy_for(server: str, proxy_url: str, environ: Mapping[str, str]) -> str:
    """The kubeconfig's `proxy-url`, else the environment's, else none (an empty text)."""
    if proxy_url:
        return _checked(proxy_url, "proxy-url in the kubeconfig")
    parts = urlsplit(server)
    name = f"{parts.scheme}_proxy"
    value = environ.get(name.upper()) or environ.get(name) or ""
    if not value or _bypassed(parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 0), environ):
        return ""
    return _checked(value if "://" in value else f"http://{value}", f"{name.upper()} in the environment")


def _checked(url: str, where: str) -> str:
    scheme = urlsplit(url).scheme
    if scheme in _PORTS:
        return url
    if scheme.startswith("socks"):
        raise BadInput(
            f"The proxy in {where} cannot be used",
            "foretop speaks HTTP CONNECT to proxies, not SOCKS",
            "name an http:// proxy there, or tunnel the port with ssh -L",
        )
    raise BadInput(f"The proxy in {where} cannot be used", f"{scheme or 'no'} scheme", "use http:// or https://")


def _bypassed(host: str, port: int, environ: Mapping[str, str]) -> bool:
    address = _address(host)
    if host == "localhost" or (address is not None and address.is_loopback):
        return True
    listed = environ.get("NO_PROXY") or environ.get("no_proxy") or ""
    return any(_matches(entry.strip().lower(), host.lower(), port) for entry in listed.split(",") if entry.strip())


def _matches(entry: str, host: str, port: int) -> bool:
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
        bare, _, wanted = entry.rpartition(":")
        return wanted == str(port) and _address(bare.strip("[]")) == address
    bare, colon, wanted = entry.partition(":")
    if colon and wanted != str(port):
        return False
    bare = bare.removeprefix("*")
    return host.endswith(bare) if bare.startswith(".") else host == bare or host.endswith(f".{bare}")


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
