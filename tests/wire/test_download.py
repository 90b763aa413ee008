"""Files from the object store: whole or not at all, and nothing told to anybody but the address that was signed."""

from __future__ import annotations

import asyncio
import errno
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
from foretop_core.errors import BadInput

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


async def got(url: str, trust: TlsTrust | None = None, **environ: str) -> bytes | bytearray:
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


async def test_the_progress_counts_the_packed_bytes() -> None:
    came: list[tuple[int, int]] = []
    async with storage(lambda request: web.Response(body=PACKED)) as url:
        await fetch(f"{url}/log.gz", TlsTrust(), lambda done, total: came.append((done, total)), environ={})
    assert [total for _, total in came] == [len(PACKED)] * len(came)
    assert [done for done, _ in came] == sorted(done for done, _ in came)
    assert came[-1] == (len(PACKED), len(PACKED))
    came.clear()
    async with bytes_of(b"HTTP/1.1 200 OK\r\n\r\n" + PACKED) as url:
        await fetch(f"{url}/log.gz", TlsTrust(), lambda done, total: came.append((done, total)), environ={})
    assert came[-1] == (len(PACKED), 0), "the length is not told"


async def test_a_file_that_is_marked_as_packed_is_unpacked_once() -> None:
    headers = {"Content-Encoding": "gzip"}
    async with storage(lambda request: web.Response(body=PACKED, headers=headers)) as url:
        assert await got(f"{url}/log.gz") == TEXT


async def test_the_address_is_asked_for_as_it_was_signed() -> None:
    asked: list[str] = []

    def answer(request: web.BaseRequest) -> web.Response:
        asked.append(request.raw_path)
        return web.Response(body=PACKED)

    async with storage(answer) as url:
        await got(f"{url}/a%2fb/log.gz?sig=a%2fb%7e+c%3D")
    assert asked == ["/a%2fb/log.gz?sig=a%2fb%7e+c%3D"]


@pytest.mark.parametrize("parts", [1, 2])
async def test_a_file_may_be_as_long_as_the_limit_and_no_longer(parts: int) -> None:
    size = 3 * 2**20
    body = b"".join(gzip.compress(bytes(size // parts), 1) for _ in range(parts))

    async def length(most: int) -> int:
        return len(await fetch(f"{url}/log.gz", TlsTrust(), lambda done, total: None, most, {}))

    async with storage(lambda request: web.Response(body=body)) as url:
        assert await length(size) == size
        assert await length(size + 1) == size
        with pytest.raises(DownloadFailed, match="The file is too long: more than 2 MiB"):
            await length(size - 1)


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


@pytest.mark.parametrize(
    ("host", "told"),
    [
        ("minio", "that name is known inside the cluster only"),
        ("minio:9000", "that name is known inside the cluster only"),
        ("minio.velero.svc:9000", "that name is known inside the cluster only"),
        ("minio.velero.svc.cluster.local", "that name is known inside the cluster only"),
        ("minio.velero.svc.example.org", "that name is known inside the cluster only"),
        ("anna:canary@minio.velero.svc:9000", "that name is known inside the cluster only"),
        ("s3.example.org", "connection refused"),
        ("s3.example.org:9000", "connection refused"),
    ],
)
async def test_a_host_that_cannot_be_reached_is_named_with_its_remedy(host: str, told: str) -> None:
    async with bytes_of(b"") as gone:
        pass
    with pytest.raises(DownloadFailed) as caught:
        await got(f"http://{host}/log.gz?sig=canary", HTTP_PROXY=gone)
    assert caught.value.what.startswith(f"The storage at {host.rpartition('@')[2]} cannot be reached")
    assert told in caught.value.why
    assert "config.publicUrl" in caught.value.hint
    assert "canary" not in str(caught.value)


async def test_a_name_that_is_not_known_is_told_in_the_words_of_the_resolver() -> None:
    with pytest.raises(DownloadFailed, match=r"The storage at store\.invalid cannot be reached") as caught:
        await got("http://store.invalid/log.gz?sig=canary")
    assert " " in caught.value.why, "words, and not the name of a class"


async def test_a_firewall_of_this_machine_is_told_in_the_words_of_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refused(*_arguments: object, **_options: object) -> None:
        raise PermissionError(errno.EPERM, "Connect call failed ('192.0.2.1', 443)")

    monkeypatch.setattr(asyncio.get_running_loop(), "sock_connect", refused)
    with pytest.raises(DownloadFailed, match="cannot be reached: operation not permitted"):
        await got("http://192.0.2.1/log.gz?sig=canary")


async def test_an_error_without_words_of_the_system_is_named_by_its_kind() -> None:
    async with bytes_of(b"") as url:
        with pytest.raises(DownloadFailed, match=r"cannot be reached: ServerDisconnectedError"):
            await got(f"{url}/log.gz?sig=canary")


@pytest.mark.parametrize(("status", "told"), [(403, "answered 403: Forbidden"), (599, "answered 599")])
async def test_a_refusal_is_told_in_the_words_of_the_standard(status: int, told: str) -> None:
    async with storage(lambda request: web.Response(status=status, reason="canary")) as url:
        with pytest.raises(DownloadFailed) as caught:
            await got(f"{url}/log.gz")
    assert str(caught.value) == f"The storage at {url.removeprefix('http://')} {told}"


@pytest.mark.parametrize(
    ("host", "valid"),
    [("a", True), ("a" * 253, True), ("a" * 254, False), ("a.b:1", True), ("a.b:0", False), ("", False)],
)
async def test_only_a_host_that_can_be_is_asked(host: str, valid: bool) -> None:
    with pytest.raises(DownloadFailed) as caught:
        await got(f"http://{host}/log.gz", HTTP_PROXY="http://127.0.0.1:1")
    assert ("is not valid" in caught.value.what) is not valid


@asynccontextmanager
async def bytes_of(answer: bytes, drips: bool | None = None) -> AsyncIterator[str]:
    """A server that says just this, and then hangs up, drips, or is silent."""
    serving: set[asyncio.Task[None]] = set()
    writers: list[asyncio.StreamWriter] = []

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
        writers.append(writer)
        serving.add(asyncio.ensure_future(serve(reader, writer)))

    running = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{running.sockets[0].getsockname()[1]}"
    finally:
        for one in serving:
            one.cancel()
        await asyncio.gather(*serving, return_exceptions=True)
        running.close()
        for writer in writers:
            writer.transport.abort()
        await asyncio.sleep(0)


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


async def test_trust_is_in_the_system_s_authorities_and_one_more_or_blind(tmp_path: Path) -> None:
    authority, tls = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("store.example.org").configure_cert(tls)
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    async with storage(lambda request: web.Response(body=PACKED), tls) as url:
        for trust in (TlsTrust(), TlsTrust(str(tmp_path / "ca.pem"))):
            with pytest.raises(DownloadFailed, match="is not trusted: its certificate"):
                await got(f"{url}/log.gz", trust)
        assert await got(f"{url}/log.gz", TlsTrust(blindly=True)) == TEXT
    (tmp_path / "no.pem").write_text("no certificate")
    for name in ("no.pem", "absent.pem"):
        with pytest.raises(BadInput, match=rf"{name} cannot be used as --cacert"):
            TlsTrust(str(tmp_path / name)).context()


async def test_a_redirect_from_https_to_https_is_followed(tmp_path: Path) -> None:
    authority, tls = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(tls)
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")

    def answer(request: web.BaseRequest) -> web.Response:
        if request.path == "/there":
            return web.Response(body=PACKED)
        return web.Response(status=302, headers={"Location": "/there"})

    async with storage(answer, tls) as safe:
        trust = TlsTrust(str(tmp_path / "ca.pem"))
        assert await got(f"{safe}/log.gz", trust) == TEXT
        location = {"Location": f"{safe}/log.gz"}
        async with storage(lambda request: web.Response(status=302, headers=location)) as plain:
            assert await got(f"{plain}/log.gz", trust) == TEXT


@pytest.mark.parametrize("location", ["http://[::1?canary", "file:///etc/passwd?canary"])
async def test_a_redirect_to_what_cannot_be_asked_says_so(location: str) -> None:
    async with storage(lambda request: web.Response(status=302, headers={"Location": location})) as url:
        with pytest.raises(DownloadFailed, match="The storage's address is not valid") as caught:
            await got(f"{url}/log.gz")
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_every_kind_of_redirect_is_followed(status: int) -> None:
    def answer(request: web.BaseRequest) -> web.Response:
        if request.path == "/there":
            return web.Response(body=PACKED)
        return web.Response(status=status, headers={"Location": "/there"})

    async with storage(answer) as url:
        assert await got(f"{url}/log.gz") == TEXT


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
