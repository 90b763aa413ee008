"""Runs a command that is killed with SIGKILL, with all that it started, when our standard input ends.

It can be frozen meanwhile.

The other end of that pipe is held by the test process, so a server dies with it, whatever ends it. The
kernel's parent-death signal would do on Linux alone, and follows the thread that started the server.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading

FREEZE, THAW = signal.SIGUSR1, signal.SIGUSR2
"""What to send to this process: a frozen command answers nobody, and still dies with us."""


def _kill_when_let_go(child: subprocess.Popen[bytes]) -> None:
    sys.stdin.buffer.read()
    _kill_group(child)


def _kill_group(child: subprocess.Popen[bytes]) -> None:
    """Velero's plugins are processes of their own, and outlive a server that is killed alone."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)


def main() -> int:
    child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, process_group=0)
    signal.signal(FREEZE, lambda *_: child.send_signal(signal.SIGSTOP))
    signal.signal(THAW, lambda *_: child.send_signal(signal.SIGCONT))
    threading.Thread(target=_kill_when_let_go, args=(child,), daemon=True).start()
    try:
        return child.wait()
    finally:
        _kill_group(child)


if __name__ == "__main__":
    sys.exit(main())
