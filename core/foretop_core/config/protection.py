"""The protection of a connection: whether it may be written to, and what a person types first.

Protection belongs to a cluster. A context that the file marks `production` or `readOnly` protects its cluster, by
whatever name that is reached. A connection is compared with each such context; the first row that fits decides:

| uid of kube-system     | address   | authorities      | it is               |
|------------------------|-----------|------------------|---------------------|
| same                   | any       | any              | the same cluster    |
| differs                | same      | none in common   | another cluster     |
| differs                | same      | else             | the same cluster    |
| differs                | else      | any              | another cluster     |
| not known on one side  | same      | any              | the same cluster    |
| not known on one side  | differs   | none in common   | another cluster (1) |
| not known on one side  | else      | else             | in doubt            |

(1) In doubt where the file has the uid of the protected one and the connection's own cannot be read: an authority is
rotated and an address moved while the uid stays.

A uid in the file that differs at the same address is out of date: the cluster was made again. Only with another
authority as well it is a tunnel that leads elsewhere by now. "None in common" takes authorities on both sides that a
kubeconfig or a pod's service account names: a flag, the system's authorities and a connection that verifies nothing, or
is without TLS, tell nothing. A connection in doubt asks for its name as in production. The connection's own name always
counts, and of all that applies the strictest.
"""

from __future__ import annotations

import hashlib
import ipaddress
import posixpath
import socket
from collections.abc import Iterable, Mapping
from enum import Enum, auto
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec

from foretop_core.config.settings import VARIABLES

if TYPE_CHECKING:
    from foretop_core.config.config_file import ConfigFile

_PORTS = {"https": 443, "http": 80}
_LABEL, _OLD_LABEL = " CERTIFICATE-----", " X509 CERTIFICATE-----"
_BEGIN, _END = f"-----BEGIN{_LABEL}", f"-----END{_LABEL}"


class ClusterIdentity(msgspec.Struct, frozen=True):
    """All that distinguishes one cluster from another; what is not known is empty."""

    address: str = ""
    """As `server_address` writes it."""
    authorities: frozenset[str] = frozenset()
    """As `authorities_of` writes them."""
    uid: str = ""
    """Of the namespace kube-system."""


class Protection(msgspec.Struct, frozen=True):
    """The protection of one connection; an empty reason protects nothing."""

    read_only: str = ""
    """Why every write is refused."""
    production: str = ""
    """Why a name is to be typed before a write."""
    name: str = ""
    """The name to type: of the context that is protected, or of the connection where that is in doubt."""
    in_doubt: bool = False
    """It may be a protected cluster; nothing proves that it is, or that it is not."""
    lacks_own_uid: bool = False
    """It is in doubt because the uid of its own cluster cannot be read."""


NO_PROTECTION = Protection()


class Comparison(Enum):
    """The answer to whether a connection leads to a protected cluster."""

    SAME = auto()
    ANOTHER = auto()
    IN_DOUBT = auto()


def compare(mine: ClusterIdentity, other: ClusterIdentity) -> Comparison:
    """The table of this module."""
    same_address = bool(mine.address) and mine.address == other.address
    apart = bool(mine.authorities and other.authorities) and not mine.authorities & other.authorities
    if mine.uid and other.uid:
        same = mine.uid.lower() == other.uid.lower() or (same_address and not apart)
        return Comparison.SAME if same else Comparison.ANOTHER
    if same_address:
        return Comparison.SAME
    return Comparison.ANOTHER if apart and mine.address and other.address else Comparison.IN_DOUBT


def protection_of(
    name: str,
    identity: ClusterIdentity,
    config: ConfigFile,
    known: Mapping[str, Iterable[ClusterIdentity]],
    read_only: bool = False,
) -> Protection:
    """The strictest of what the file, the environment and the flags say of a connection by its name and its cluster.

    `known` has the clusters of the contexts that the file names, as the kubeconfigs have them; `read_only` is the flag.
    """
    refused = _read_only_everywhere(config, read_only)
    same: list[str] = []
    doubted: list[str] = []
    for context, settings in config.settings.contexts.items():
        if not (settings.read_only or settings.production):
            continue
        if context == name:
            comparison = Comparison.SAME
        else:
            comparison = _compare_all(identity, settings.cluster_uid, known.get(context, ()))
        if comparison is Comparison.IN_DOUBT:
            doubted.append(context)
        elif comparison is Comparison.SAME:
            if settings.read_only:
                refused = refused or _because(name, context, "readOnly")
            if settings.production:
                same.append(context)
    if same:
        origin = name if name in same else same[0]
        return _production(refused, _because(name, origin, "production"), origin)
    if doubted:
        has_uid = bool(config.settings.contexts[doubted[0]].cluster_uid)
        missing = "its own uid cannot be read" if has_uid else f"contexts.{doubted[0]}.clusterUid is not set"
        production = _production(refused, f"{name} may be the same cluster as {doubted[0]}: {missing}", name)
        return msgspec.structs.replace(production, in_doubt=True, lacks_own_uid=has_uid)
    return Protection(refused)


def server_address(server: str) -> str:
    """Host, port and path of an API server, the same for every way to write them; "" where it is not an address."""
    try:
        parts = urlsplit(server if "://" in server else f"https://{server}")
        host, port = (parts.hostname or "").rstrip("."), parts.port or _PORTS.get(parts.scheme, 443)
    except ValueError:
        return ""
    if not host:
        return ""
    path = posixpath.normpath(f"/{parts.path.strip('/')}").rstrip("/")
    return f"{_host(host)}:{port}{path}"


def cluster_identity(server: str, pem: str) -> ClusterIdentity:
    """A cluster as a kubeconfig has it. Plain HTTP, as of a tunnel, verifies no authority, so that none tells it."""
    is_plain = server.strip().lower().startswith("http://")
    return ClusterIdentity(server_address(server), frozenset() if is_plain else authorities_of(pem))


def authorities_of(pem: str) -> frozenset[str]:
    """Every certificate of a bundle, shortened; their order, their older label and all between them do not matter."""
    pem = pem.replace(_OLD_LABEL, _LABEL)
    blocks = [part.partition(_END)[0] for part in pem.split(_BEGIN)[1:]] or ([pem] if pem.strip() else [])
    return frozenset(hashlib.sha256("".join(block.split()).encode()).hexdigest() for block in blocks)


def _host(host: str) -> str:
    """All names of this machine are one: what listens there is told by the port."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        try:
            # 127.1 and 0x7f000001 lead where 127.0.0.1 does.
            address = ipaddress.IPv4Address(socket.inet_aton(host))
        except (OSError, ValueError):
            return "localhost" if host == "localhost" or host.endswith(".localhost") else host
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return "localhost" if address.is_loopback or address.is_unspecified else str(address)


def _compare_all(mine: ClusterIdentity, uid: str, known: Iterable[ClusterIdentity]) -> Comparison:
    """The same where any of them is, and another only where all of them are."""
    others = [msgspec.structs.replace(identity, uid=uid or identity.uid) for identity in known] or [
        ClusterIdentity(uid=uid)
    ]
    comparisons = {compare(mine, other) for other in others}
    if uid and not mine.uid:
        comparisons.add(Comparison.IN_DOUBT)
    return next(kind for kind in (Comparison.SAME, Comparison.IN_DOUBT, Comparison.ANOTHER) if kind in comparisons)


def _production(refused: str, why: str, wanted: str) -> Protection:
    """An empty name cannot be typed: nothing is written then."""
    if not wanted:
        refused = refused or f"{why}; a context without a name cannot be confirmed"
    return Protection(refused, why, wanted)


def _because(name: str, context: str, marked: str) -> str:
    if name == context:
        return f"{name} is marked {marked}"
    return f"{name} is the cluster of {context}, which is marked {marked}"


def _read_only_everywhere(config: ConfigFile, flag: bool) -> str:
    if config.protects_all:
        return f"{config.path} has mistakes"
    if config.settings.read_only:
        from_environment = "readOnly" in config.from_environment
        return f"{VARIABLES['readOnly']} is set" if from_environment else f"readOnly is set in {config.path}"
    return "it was on when foretop was started" if flag else ""
