"""How many connections one context may hold: the limit of open files, less what else needs files, shared out."""

from __future__ import annotations

import resource

import msgspec

RESERVED = 64
"""Descriptors for the terminal, files, plugins and connections that are just being closed."""
MOST_REQUESTS = 32
MOST_OTHER_STREAMS = 8
"""A pod's log, or the wait for an address."""
MOST_WATCHES = 200
"""So many at once are enough for any person, and an API server has others to serve."""
_LEAST = 8


class ConnectionBudget(msgspec.Struct, frozen=True):
    """Connections that may be open at the same time, by what they are for."""

    requests: int = MOST_REQUESTS
    watches: int = MOST_WATCHES
    other_streams: int = MOST_OTHER_STREAMS


def connection_budget(contexts: int, descriptors: int | None = None) -> ConnectionBudget:
    """The share of one of so many contexts."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0] if descriptors is None else descriptors
    if limit == resource.RLIM_INFINITY:
        return ConnectionBudget()
    share = max((limit - RESERVED) // contexts, _LEAST)
    requests, others = min(MOST_REQUESTS, share // 4), min(MOST_OTHER_STREAMS, share // 8)
    return ConnectionBudget(requests, min(MOST_WATCHES, share - requests - others), others)
