"""Velero binds one port whatever its flags say: each process that starts one has its own network, or its turn."""

from __future__ import annotations

import ctypes
import fcntl
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager

from tests.real.cache import cache_home
from tests.velero.velero_server import FIXED_PORT, is_taken

_CLONE_NEWNET = 0x40000000
_SIOCSIFFLAGS = 0x8914
_IFF_UP = 0x1
_INTERFACE_FLAGS = "16sH14x"


class PortTakenError(Exception):
    """Another process has Velero's port."""


@contextmanager
def velero_port(*, waits: bool) -> Iterator[None]:
    """Have Velero's port: in a network of our own from now on, or else by a lock, for which one waits or not."""
    if _enter_own_network():
        yield
        return
    with (cache_home() / "velero-port.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
        except BlockingIOError as taken:
            raise PortTakenError(
                f"another run of these tests has port {FIXED_PORT}, and Velero binds no other"
            ) from taken
        if is_taken(FIXED_PORT):
            raise PortTakenError(f"something listens on port {FIXED_PORT}, and Velero binds no other")
        yield


def _enter_own_network() -> bool:
    """Move this thread, and what it starts from now on, to a network with nothing but loopback.

    False, and nothing changed, where the system does not allow it: it needs Linux and root, or `unshare -r`.
    """
    unshare = getattr(ctypes.CDLL(None), "unshare", None)
    if unshare is None or unshare(_CLONE_NEWNET) != 0:
        return False
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack(_INTERFACE_FLAGS, b"lo", _IFF_UP))
    return True
