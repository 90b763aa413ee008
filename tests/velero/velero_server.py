"""A real Velero server outside its cluster, started and killed at will."""

from __future__ import annotations

import contextlib
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.real.server_process import Server, ServerError
from tests.velero.velero_log import VeleroLog, read_log

FIXED_PORT = 8080
"""Velero binds this one whatever its flags say: one server at a time on a machine."""

_CREDENTIALS = "[default]\naws_access_key_id = any\naws_secret_access_key = any\n"


class RealVelero:
    """One server of the namespace velero; another release can be started when it is killed."""

    def __init__(self, plugins: Path, kubeconfig: Path, folder: Path, cloud: str) -> None:
        self._plugins = plugins
        self._kubeconfig = kubeconfig
        self._folder = folder
        self.log = folder / "velero.log"
        self._forgotten = 0
        self._server: Server | None = None
        credentials = folder / "credentials"
        credentials.write_text(_CREDENTIALS)
        self._environ = {
            "AWS_SHARED_CREDENTIALS_FILE": str(credentials),
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_ENDPOINT_URL_EC2": cloud,
            "HOME": str(folder),
            # The plugins inside Velero 1.14 are not told of its flag.
            "KUBECONFIG": str(kubeconfig),
            "VELERO_NAMESPACE": "velero",
            "VELERO_SCRATCH_DIR": str(folder),
            "TZ": "UTC",
        }

    @property
    def runs(self) -> bool:
        return self._server is not None and self._server.runs

    def start(self, binary: Path, flags: Sequence[str]) -> None:
        """Start it, and come back when its controllers have."""
        if self._server is not None:
            raise RuntimeError("Velero runs already")
        if is_taken(FIXED_PORT):
            raise ServerError(f"port {FIXED_PORT} is taken, and Velero binds no other: end what listens there")
        begin = self.log.stat().st_size if self.log.exists() else 0
        command: list[str | Path] = [
            binary,
            "server",
            f"--kubeconfig={self._kubeconfig}",
            "--namespace=velero",
            f"--plugin-dir={self._plugins}",
            "--metrics-address=127.0.0.1:0",
            "--profiler-address=127.0.0.1:0",
            "--log-level=debug",
            *flags,
        ]
        server = Server(command, self.log, lambda: self._has_begun(begin), self._environ)
        server.start()
        self._server = server

    def read_log(self) -> VeleroLog:
        """What the log has since `forget_log`."""
        return read_log(self.log.read_text(errors="replace")[self._forgotten :] if self.log.exists() else "")

    def forget_log(self) -> None:
        self._forgotten = len(self.log.read_text(errors="replace")) if self.log.exists() else 0

    def kill(self) -> None:
        """End it as `kill -9` does."""
        server, self._server = self._server, None
        if server is not None:
            server.kill()

    def _has_begun(self, begin: int) -> bool:
        with self.log.open("rb") as log:
            log.seek(begin)
            return b"controllerKind=Schedule" in log.read() and is_taken(FIXED_PORT)


def command_line(binary: Path, kubeconfig: Path, *arguments: str) -> str:
    """What `velero ...` prints."""
    done = subprocess.run(
        [binary, "--kubeconfig", kubeconfig, "--namespace", "velero", "--colorized=false", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    if done.returncode != 0:
        raise AssertionError(f"velero {' '.join(arguments)}: {done.stderr or done.stdout}")
    return done.stdout


def is_taken(port: int) -> bool:
    with contextlib.closing(socket.socket()) as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
