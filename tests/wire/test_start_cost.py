"""What a start changes in the process, and what it does not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import trustme

_IMPORT = """
import asyncio, ssl
from foretop_core.kube.connection import aiohttp_pool
from foretop_core.kube.connection.config import ContextConfig
plain, seen = dict(vars(ssl.SSLContext)), set()
async def together():
    configs = [ContextConfig(name=name, server="https://a", proxy=proxy) for name, proxy in
               (("a", ""), ("b", "socks5://p:1"), ("c", ""), ("d", "socks5://p:1"))]
    loading = [asyncio.ensure_future(aiohttp_pool.import_in_background(config)) for config in configs]
    while not all(one.done() for one in loading):
        seen.add(len(ssl.create_default_context().get_ca_certs()))
        await asyncio.sleep(0)
    await asyncio.gather(*loading)
asyncio.run(together())
from aiohttp import connector
theirs = (connector._SSL_CONTEXT_VERIFIED, connector._SSL_CONTEXT_UNVERIFIED)
print(seen, dict(vars(ssl.SSLContext)) == plain, *(len(one.get_ca_certs()) for one in theirs))
"""


def test_only_the_libraries_that_are_loaded_for_several_clusters_go_without_the_authorities(tmp_path: Path) -> None:
    trustme.CA().cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    environ = {**os.environ, "SSL_CERT_FILE": str(tmp_path / "ca.pem")}
    done = subprocess.run([sys.executable, "-c", _IMPORT], capture_output=True, text=True, check=True, env=environ)
    assert done.stdout.split() == ["{1}", "True", "0", "0"]
