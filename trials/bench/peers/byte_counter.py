"""`python -m trials.bench.peers.byte_counter PORT`: passes TCP on to a loopback port and counts what comes back.

It prints its own port, and for each line on standard input the bytes so far. A process of its own, so that it takes no
time from the one that reads the screen.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from contextlib import suppress
from types import TracebackType
from typing import Self

_CHUNK = 1 << 18


class ByteCounter:
    """The counter, run beside us until the end of the block."""

    def __init__(self, port: int) -> None:
        self._target = port

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", __name__, str(self._target)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.port = self._number()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def received(self) -> int:
        """How much the API server has sent since the start."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        return self._number()

    def _number(self) -> int:
        assert self._process.stdout is not None
        return int(self._process.stdout.readline())


class _Relay:
    def __init__(self, port: int) -> None:
        self.port = port
        self.received = 0

    async def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self.port)
        await asyncio.gather(self._pass(reader, back), self._pass(there, writer, counted=True))

    async def _pass(self, source: asyncio.StreamReader, target: asyncio.StreamWriter, *, counted: bool = False) -> None:
        with suppress(ConnectionError):
            while data := await source.read(_CHUNK):
                self.received += len(data) if counted else 0
                target.write(data)
                await target.drain()
        target.close()


async def _serve(port: int) -> None:
    relay = _Relay(port)
    server = await asyncio.start_server(relay.connect, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    while await asyncio.to_thread(sys.stdin.readline):
        print(relay.received, flush=True)


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1])))
