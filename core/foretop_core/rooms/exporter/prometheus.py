"""Asks a Prometheus, Thanos or Mimir for the metrics of exporters; whatever it answers is bounded and judged."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from functools import partial
from itertools import chain, islice

import msgspec
from aiohttp import ClientConnectorCertificateError, ClientError, ClientSession, ClientTimeout, TCPConnector

from foretop_core.background import in_thread
from foretop_core.config.settings import PrometheusSettings
from foretop_core.errors import BadInput, ForetopError
from foretop_core.foreign_text import LONGEST_QUOTE, redacted
from foretop_core.http_address import check_http_address, why_no_answer
from foretop_core.rooms.exporter.fleet import NEEDED, Series
from foretop_core.tables.text.terminal_text import unsigned

_MOST_BYTES = 50 * 2**20
"""A hundred clusters of forty schedules answer with a tenth of it."""
_LIMIT = 30.0
_MOST = 1e13
"""A duration of more seconds has no place in a calendar."""
_LONGEST_LABEL = 253
_MOST_WARNINGS = 5
_PREFIX = "foretop_"


class _Sample(msgspec.Struct, frozen=True):
    metric: Mapping[str, str]
    value: tuple[float, str] = (0.0, "")
    """A histogram has none."""


class _Data(msgspec.Struct, frozen=True):
    result: tuple[_Sample, ...] = ()


class _Answer(msgspec.Struct, frozen=True):
    status: str = ""
    error: str = ""
    warnings: tuple[str, ...] = ()
    """Such as those of Thanos, of a store that did not answer: its clusters are missing."""
    data: _Data = _Data()


class PrometheusServer(msgspec.Struct, frozen=True):
    """The address to ask, and the credentials for it."""

    url: str
    token: str = ""
    tls: ssl.SSLContext | None = None


def server_of(settings: PrometheusSettings, token: str) -> PrometheusServer:
    """Raises BadInput where it cannot be asked."""
    tls = None
    if settings.ca_file:
        try:
            tls = ssl.create_default_context(cafile=settings.ca_file)
        except OSError as problem:
            raise BadInput(f"Cannot use {settings.ca_file}", problem.strerror or str(problem)) from None
    check_http_address(settings.url, "a Prometheus", token)
    return PrometheusServer(settings.url, token, tls)


class Reply(msgspec.Struct, frozen=True):
    """The series of all queries, and why they are perhaps not all."""

    series: tuple[Series, ...]
    gaps: tuple[ForetopError, ...]


async def ask(server: PrometheusServer) -> Reply:
    """The answers to all queries; raises ForetopError in one line."""
    headers = {"Authorization": f"Bearer {server.token}"} if server.token else {}
    connector = TCPConnector(ssl=server.tls) if server.tls is not None else TCPConnector()
    async with ClientSession(headers=headers, timeout=ClientTimeout(_LIMIT), connector=connector) as session:
        answers = await asyncio.gather(*(_ask(session, server, query) for query in NEEDED))
    warnings = dict.fromkeys(text for answer in answers for text in answer.warnings)
    samples = chain.from_iterable(answer.data.result for answer in answers)
    return Reply(
        tuple(series for sample in samples if (series := _series(sample)) is not None),
        tuple(_failure(server, text, "all of ") for text in islice(warnings, _MOST_WARNINGS)),
    )


async def _ask(session: ClientSession, server: PrometheusServer, query: str) -> _Answer:
    address = f"{server.url.rstrip('/')}/api/v1/query"
    try:
        # A redirect may lead to another host, and with it the token.
        async with session.post(address, data={"query": query}, allow_redirects=False) as answer:
            status = answer.status
            body = bytearray()
            async for part in answer.content.iter_chunked(2**16):
                body += part
                if len(body) > _MOST_BYTES:
                    break
    except TimeoutError:
        raise _failure(server, f"no answer within {_LIMIT:g} s") from None
    except (ClientError, OSError) as problem:
        is_trust = isinstance(problem, ClientConnectorCertificateError)
        hint = "look at --prometheus-ca, or caFile in the configuration" if is_trust else ""
        raise _failure(server, why_no_answer(problem), hint=hint) from None
    if len(body) > _MOST_BYTES:
        raise _failure(server, f"its answer has more than {_MOST_BYTES // 2**20} MB")
    try:
        decoded: _Answer = await in_thread(partial(msgspec.json.decode, body, type=_Answer))
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        decoded = _Answer(error="it does not answer as Prometheus does" if status == 200 else "")
    if status != 200 or decoded.status != "success":
        words = ": ".join(filter(None, (f"HTTP {status}" if status != 200 else "", decoded.error)))
        raise _failure(server, words, hint="look at --prometheus-token-file" if status in (401, 403) else "")
    return decoded


def _failure(server: PrometheusServer, why: str, what: str = "", hint: str = "") -> ForetopError:
    return ForetopError(f"Cannot ask {what}{redacted(server.url)}", unsigned(redacted(why))[:LONGEST_QUOTE], hint)


def _series(sample: _Sample) -> Series | None:
    """None for what is no number of an exporter."""
    name = sample.metric.get("__name__", "")
    try:
        value = float(sample.value[1])
    except ValueError:
        return None
    if not name.startswith(_PREFIX) or not abs(value) <= _MOST:
        return None
    labels = {label: text[:_LONGEST_LABEL] for label, text in sample.metric.items()}
    return Series(name.removeprefix(_PREFIX), labels, value)
