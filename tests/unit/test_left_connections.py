"""Connections that a test's server leaves open fail no other test."""

import asyncio
import gc
import socket

import pytest


@pytest.mark.parametrize("before", range(6))
@pytest.mark.parametrize("after", range(4))
def test_a_server_may_be_closed_while_it_accepts(before: int, after: int) -> None:
    """The collector would warn here, and a warning fails the test."""

    async def connect_and_close() -> None:
        server = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
        at = server.sockets[0].getsockname()
        with socket.create_connection(at):
            for _ in range(before):
                await asyncio.sleep(0)
            with socket.create_connection(at):
                for _ in range(after):
                    await asyncio.sleep(0)
                server.close()

    with asyncio.Runner() as runner:
        runner.run(connect_and_close())
    gc.collect()
