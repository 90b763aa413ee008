"""What a start changes in the process, and what it does not."""

from __future__ import annotations

import subprocess
import sys

_IMPORT = """
import asyncio, ssl, sys
from foretop_core.kube.connection import aiohttp_pool
from foretop_core.kube.connection.config import ContextConfig
plain, seen = ssl.create_default_context, set()
async def together():
    configs = [ContextConfig(name=name, server="https://a", proxy=proxy) for name, proxy in
               (("a", ""), ("b", "socks5://p:1"), ("c", ""), ("d", "socks5://p:1"))]
    loading = [asyncio.ensure_future(aiohttp_pool.import_in_background(config)) for config in configs]
    while not all(one.done() for one in loading):
        seen.add(ssl.create_default_context is plain)
        await asyncio.sleep(0)
    await asyncio.gather(*loading)
asyncio.run(together())
print(seen, ssl.create_default_context is plain)
"""


def test_loading_the_libraries_for_several_clusters_at_once_patches_nothing() -> None:
    done = subprocess.run([sys.executable, "-c", _IMPORT], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["{True}", "True"]
