"""Settings that every test runs with."""

import asyncio
import gc
import itertools
import os
import socket
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# The suite is no test module of its own, and its asserts shall say what they saw all the same.
pytest.register_assert_rewrite("tests.demo.conformance")

# How long an example takes is the machine's affair, and says nothing about the rule that it tests. On CI the examples
# are the same each time, so that a red run is the fault of what was changed; at home every run looks for new ones.
settings.register_profile(
    "foretop",
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("foretop")

# Rarely, as in the dashboard: at Python's own threshold a fifth of a screen test's time is spent looking for garbage.
gc.set_threshold(400_000, 20, 10)

# No test trusts the system's authorities, and reading them takes longer than most tests.
os.environ["SSL_CERT_FILE"] = os.environ["SSL_CERT_DIR"] = os.devnull


def _cut_what_servers_leave_open() -> None:
    """Connections that a closed server of a test leaves open are cut off; what a client leaves open is still found.

    asyncio closes neither a connection that it accepts while its server is closed nor one whose bytes nobody reads any
    more: the collector would find it and fail another test.
    """
    loops = asyncio.SelectorEventLoop
    close = loops.close

    def unless_closed(make: Callable[..., object]) -> Callable[..., object]:
        def transport(loop: object, sock: socket.socket, *args: object, server: Any = None, **more: object) -> object:
            if server is not None and not server.is_serving():
                sock.close()
                raise ConnectionAbortedError("The server is closed.")
            return make(loop, sock, *args, server=server, **more)

        return transport

    def cut_and_close(loop: asyncio.SelectorEventLoop) -> None:
        while not loop.is_closed() and not loop.is_running():
            # One that is accepted in this moment has its transport after a step of the loop.
            loop.run_until_complete(asyncio.sleep(0))
            held = list(loop._transports.values())  # type: ignore[attr-defined]
            if not (left := [transport for transport in held if transport._server]):
                break
            for transport in left:
                transport.abort()
        close(loop)

    for name in ("_make_socket_transport", "_make_ssl_transport"):
        setattr(loops, name, unless_closed(getattr(loops, name)))
    loops.close = cut_and_close  # type: ignore[assignment, method-assign]


_cut_what_servers_leave_open()

# What a person has set for the terminal, the network and the clusters at hand would decide how a test ends.
_OF_THIS_MACHINE = (
    *("KUBECONFIG", "NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "TEXTUAL_COLOR_SYSTEM", "TMUX", "STY"),
    *("SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "KUBERNETES_SERVICE_HOST"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"),
)


_HOMES = itertools.count()


_MOSTLY_WAITING = frozenset(
    f"test_{name}.py" for name in ("terminal_faults", "terminal", "terminals", "secrets_on_screen", "contexts")
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that mostly wait come first, beside those that work: at the end they would wait for each other."""
    items.sort(key=lambda item: item.path.name not in _MOSTLY_WAITING)


def pytest_collection_finish() -> None:
    """What is loaded now stays to the end: the collector need not look at it again."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """Looks for garbage once; pytest looks five times more, each time at all that its tests have left."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Configuration and state of a test are its own: a theme that one chose would colour the next."""
    for name in _OF_THIS_MACHINE:
        monkeypatch.delenv(name, raising=False)
    home = tmp_path_factory.getbasetemp() / f"home-{next(_HOMES)}"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))


@pytest.fixture(autouse=True)
def _strict(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Faults are let through the guards: one of foretop's own fails the test that meets it.

    Not before a screen: the pilot counts them there, and not those of a screen that is being closed.
    """
    if not {"tui", "tour"} & set(request.path.parts):
        monkeypatch.setenv("FORETOP_STRICT", "1")


@pytest.fixture
def as_for_a_user(_strict: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Faults stay with the guards."""
    monkeypatch.delenv("FORETOP_STRICT")
