"""Files from the object store: whole or not at all, and nothing told to anybody but the address that was signed."""

from __future__ import annotations

import asyncio
import gzip
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import trustme
from aiohttp import web

from foretop_core.actions.run_logs import log_file_name
from foretop_core.actions.signed_url_download import DownloadFailed, TlsTrust, fetch

TEXT = b"level=info msg=begun\n" * 2000
PACKED = gzip.compress(TEXT, mtime=0)


@asynccontextmanager
async def storage(
    answer: Callable[[web.BaseRequest], web.Response], tls: ssl.SSLContext | None = None
) -> AsyncIterator[str]:
    async def serve(request: web.BaseRequest) -> web.StreamResponse:
        return answer(request)

    runner = web.ServerRunner(web.Server(serve, access_log=None))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls).start()
    try:
        yield f"http{'s' if tls else ''}://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def got(url: str, trust: TlsTrust | None = None, **environ: str) -> bytes:
    return await fetch(url, trust or TlsTrust(), lambda done, total: None, environ=environ)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (PACKED, TEXT),
        (gzip.compress(TEXT[:21], mtime=0) + gzip.compress(TEXT[21:], mtime=0), TEXT),
        (
            gzip.compress(TEXT[:21], mtime=0)
            + gzip.compress(b"", mtime=0)
            + gzip.compress(TEXT[21:], mtime=0)
            + b"\0" * 64,
            TEXT,
        ),
        (gzip.compress(b"", mtime=0), b""),
    ],
)
async def test_a_file_is_unpacked_to_its_end(body: bytes, text: bytes) -> None:
    async with storage(lambda request: web.Response(body=body)) as url:
        assert await got(f"{url}/log.gz?sig=x") == text


@pytest.mark.parametrize("body", [PACKED[:-1], PACKED[:40], PACKED + PACKED[:30], PACKED[:5], b""])
async def test_a_file_that_is_cut_is_not_shown_as_the_whole(body: bytes) -> None:
    async with storage(lambda request: web.Response(body=body)) as url:
        with pytest.raises(DownloadFailed, match="The file is not whole"):
            await got(f"{url}/log.gz?sig=x")


@pytest.mark.parametrize(
    "url",
    [
        "http://[::1",
        "http://[::1/x?canary",
        "ftp://a/canary",
        "",
        "canary",
        "http://a:x/canary",
        "http://",
        "//a/b",
        "file:///etc/passwd?canary",
        "data:text/plain,canary",
        "http+unix://a/canary",
        "http://127.0.0.1:1/\x1b]52;c;x\x07?canary",
        "http://127.0.0.1:1/x HTTP/1.1\r\nHost: b\r\n\r\n?canary",
        "http://127.0.0.1:1/\0canary",
        "http://127.0.0.1:1/\ud800canary",
        "http://a\x1b]0;b/canary",
        "http://anna:canary@127.0.0.1:1/x",
        f"http://127.0.0.1:1/{'c' * 1_000_000}",
        f"http://{'a' * 100_000}/canary",
    ],
)
async def test_an_odd_address_is_one_line(url: str) -> None:
    with pytest.raises(DownloadFailed) as caught:
        await got(url)
    assert "canary" not in str(caught.value)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    "answer",
    [
        b"\0\0noise canary\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n" + PACKED,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 403 canary\r\n\r\n",
        b"HTTP/1.1 302 x\r\nLocation: file:///etc/passwd?canary\r\n\r\n",
        b"HTTP/1.1 302 x\r\nLocation: http://[::1?canary\r\n\r\n",
        b"HTTP/1.1 302 x\r\nLocation: http://\x1b]0;canary/\r\n\r\n",
        b"HTTP/1.1 204 No Content\r\n\r\n",
        b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
        b"HTTP/1.1 206 Partial Content\r\nContent-Length: %d\r\n\r\n" % len(PACKED) + PACKED,
        b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>",
    ],
)
async def test_an_odd_answer_is_no_file_and_one_line(answer: bytes) -> None:
    async with bytes_of(answer) as url:
        with pytest.raises(DownloadFailed) as caught:
            await got(f"{url}/log.gz?sig=canary")
    assert "canary" not in str(caught.value)


async def test_a_file_comes_through_the_proxy_of_the_environment() -> None:
    asked = []

    def answer(request: web.BaseRequest) -> web.Response:
        asked.append(str(request.url))
        return web.Response(body=PACKED)

    async with storage(answer) as proxy:
        assert await got("http://store.invalid/log.gz?sig=x", HTTP_PROXY=proxy) == TEXT
    assert asked == ["http://store.invalid/log.gz?sig=x"]


@pytest.mark.parametrize("way", ["silent proxy", "dripping head"])
async def test_a_storage_that_never_answers_is_given_up(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("foretop_core.actions.signed_url_download.ANSWER_LIMIT", 0.2)
    monkeypatch.setattr("foretop_core.actions.signed_url_download.CONNECT_LIMIT", 0.3)
    head = b"HTTP/1.1 200 OK\r\nX-Long: " if way == "dripping head" else b""
    async with bytes_of(head, drips=bool(head)) as url, asyncio.timeout(120):
        storage_url = url if head else "https://storage.example.test"
        with pytest.raises(DownloadFailed, match="no answer in time"):
            await got(f"{storage_url}/log.gz?sig=canary", HTTPS_PROXY=url)


async def test_a_file_that_drips_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("foretop_core.actions.signed_url_download.FILE_LIMIT", 0.5)
    # A header of gzip with a name in it: what drips belongs to the name.
    head = b"HTTP/1.1 200 OK\r\n\r\n\x1f\x8b\x08\x08\0\0\0\0\0\x03"
    async with bytes_of(head, drips=True) as url, asyncio.timeout(120):
        with pytest.raises(DownloadFailed, match="is too slow: the file did not come within"):
            await got(f"{url}/log.gz?sig=canary")


@asynccontextmanager
async def bytes_of(answer: bytes, drips: bool | None = None) -> AsyncIterator[str]:
    """A server that says just this, and then hangs up, drips, or is silent."""
    serving: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(ConnectionError):
                await reader.read(10)
                writer.write(answer)
                await writer.drain()
                while drips is not None:
                    writer.write(b"a" if drips else b"")
                    await writer.drain()
                    await asyncio.sleep(0.05)
        finally:
            writer.close()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving.add(asyncio.ensure_future(serve(reader, writer)))

    running = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{running.sockets[0].getsockname()[1]}"
    finally:
        for one in serving:
            one.cancel()
        await asyncio.gather(*serving, return_exceptions=True)
        running.close()


async def test_no_password_of_a_netrc_goes_along_nor_any_secret_of_the_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login anna password canary\n")
    (tmp_path / ".netrc").chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    heard: list[Any] = []

    def answer(request: web.BaseRequest) -> web.Response:
        heard.append(request.headers.get("Authorization"))
        return web.Response(status=403, reason="no")

    async with storage(answer) as url:
        with pytest.raises(DownloadFailed) as caught:
            await got(f"{url}/log.gz?sig=canary")
    assert heard == [None]
    assert "canary" not in str(caught.value)


async def test_a_redirect_leads_to_another_host_but_not_to_http(tmp_path: Path) -> None:
    async with storage(lambda request: web.Response(body=PACKED)) as plain:
        location = {"Location": f"{plain}/there?sig=canary"}
        async with storage(lambda request: web.Response(status=307, headers=location)) as url:
            assert await got(f"{url}/log.gz") == TEXT
        authority, tls = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("127.0.0.1").configure_cert(tls)
        authority.cert_pem.write_to_path(tmp_path / "ca.pem")
        async with storage(lambda request: web.Response(status=307, headers=location), tls) as url:
            with pytest.raises(DownloadFailed, match="redirects from https to http") as caught:
                await got(f"{url}/log.gz", TlsTrust(str(tmp_path / "ca.pem")))
        assert "canary" not in str(caught.value)


async def test_a_redirect_in_a_circle_ends() -> None:
    async with storage(lambda request: web.Response(status=302, headers={"Location": "/again"})) as url:
        with pytest.raises(DownloadFailed, match="again and again"):
            await got(url)


async def test_an_error_of_the_connection_does_not_quote_the_address() -> None:
    with pytest.raises(DownloadFailed) as caught:
        await got("http://127.0.0.1:1/log.gz?sig=canary")
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize(
    "name", ["../../etc/cron.d/x", "/etc/passwd", "..", "", "a\x1b]0;x\x07b", "a\nb", "x" * 5000, "日本"]
)
def test_a_saved_log_stays_in_its_folder(name: str, tmp_path: Path) -> None:
    path = tmp_path / log_file_name(name)
    assert path.parent == tmp_path
    assert path.resolve().parent == tmp_path.resolve()
    path.write_text("")
    assert log_file_name("daily-20261115024107") == "daily-20261115024107.log"
