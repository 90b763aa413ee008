"""What a start costs before the first row, in counts."""

from __future__ import annotations

import subprocess
import sys

_IMPORT = """
import asyncio, ssl
read = []
plain = ssl.SSLContext.load_default_certs
def load(self, *arguments):
    read.append(self)
    plain(self, *arguments)
ssl.SSLContext.load_default_certs = load
from foretop_core.kube.connection import aiohttp_pool
from foretop_core.kube.connection.config import ContextConfig
asyncio.run(aiohttp_pool.import_in_background(ContextConfig(name="a", server="https://a")))
import aiohttp
print(len(read))
ssl.create_default_context()
print(len(read))
"""


def test_the_authorities_of_the_system_are_not_read_for_a_default_that_nobody_uses() -> None:
    done = subprocess.run([sys.executable, "-c", _IMPORT], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "1"]
