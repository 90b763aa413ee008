"""Ways to reach a cluster that the configuration protects: none writes without the name that production wants."""

from __future__ import annotations

import ast
import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click
import pytest
import trustme
import yaml

from foretop.cli import run
from foretop_core.actions.guard import write_path
from foretop_core.actions.plan_executor import Outcome
from foretop_core.kube.connection.aiohttp_pool import make_pool
from foretop_core.kube.connection.client import MERGE_PATCH
from foretop_core.kube.connection.connection_errors import WriteRefused
from foretop_core.kube.connection.kubeconfig import in_cluster, read_service_account
from foretop_demo.access import Rule, User
from foretop_demo.local_api_server import LocalApiServer
from tests.examples import sampled
from tests.rooms import samples
from tests.wire.action_fixtures import Wire, done, hand_in, pausing, planned, wire
from tests.wire.boxes import box_in_thread, kubeconfig
from tests.wire.command_fixtures import OBJECTS, foretop, held, home
from tests.wire.test_actions_refused import WRITES, changed_by

__all__ = ["foretop", "home", "wire"]
PRODUCTION = "contexts: {prod: {production: true}}\n"
READ_ONLY = "contexts: {prod: {readOnly: true}}\n"
PAUSE = ("schedule", "pause", "nightly", "--yes")
NO_NAMESPACES = User(
    "blind",
    (
        Rule(("*",), ("velero.io", "oadp.openshift.io", "apps"), ("*",)),
        Rule(("create",), ("authorization.k8s.io",), ("*",)),
    ),
)
AUTHORITY, OTHER = trustme.CA(), trustme.CA()


@pytest.fixture
def box(wire: Wire) -> Iterator[LocalApiServer]:
    with box_in_thread(OBJECTS, [NO_NAMESPACES]) as made:
        yield made


@dataclass
class Way:
    """One way to the box; `name` is what production wants there, and "" where it is read-only."""

    name: str = "prod"
    arguments: tuple[str, ...] = ()
    config: str | bytes | None = PRODUCTION
    environ: dict[str, str] = field(default_factory=dict)


class Place:
    """A machine with a kubeconfig that has the box as prod, and another cluster as dev."""

    def __init__(
        self, box: LocalApiServer, wire: Wire, folder: Path, secure: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.box, self.wire, self.folder, self.secure, self.monkeypatch = box, wire, folder, secure, monkeypatch
        self.port = str(urlsplit(box.url).port)
        self.file = self.write("kubeconfig", {"prod": box.url, "dev": "http://127.0.0.1:1"})
        self.uid = box.storage.get(box.storage.kind("Namespace"), "", "kube-system")["metadata"]["uid"]
        self.config = folder / "config" / "foretop" / "config.yaml"
        monkeypatch.setenv("KUBECONFIG", str(self.file))

    def write(self, name: str, servers: Mapping[str, str | dict[str, Any]], user: str = "admin") -> Path:
        path = self.folder / name
        path.write_text(
            yaml.safe_dump(
                {
                    "current-context": next(iter(servers)),
                    "clusters": [
                        {"name": one, "cluster": {"server": server} if isinstance(server, str) else server}
                        for one, server in servers.items()
                    ],
                    "users": [{"name": "me", "user": {"token": self.box.token(user)}}],
                    "contexts": [{"name": one, "context": {"cluster": one, "user": "me"}} for one in servers],
                }
            )
        )
        return path

    def beside(self, server: str | dict[str, Any], **way: Any) -> Way:
        """A context of another name in the same kubeconfig, which leads to the box by this address."""
        self.write("kubeconfig", {"prod": self.box.url, "other": server})
        return Way(arguments=("--context", "other"), **way)

    def trusted(self, port_of: str, authority: trustme.CA = AUTHORITY, **more: Any) -> dict[str, Any]:
        ca = self.folder / f"{id(authority)}.crt"
        authority.cert_pem.write_to_path(str(ca))
        return {"server": port_of, "certificate-authority": str(ca), **more}


def _renamed(place: Place) -> Way:
    place.write("copy", {"harmless": place.box.url})
    return Way(arguments=("--kubeconfig", str(place.folder / "copy")))


def _renamed_alone(place: Place) -> Way:
    place.file.unlink()
    place.write("copy", {"harmless": place.box.url})
    return Way("harmless", ("--kubeconfig", str(place.folder / "copy")))


def _renamed_in_place(place: Place) -> Way:
    place.write("kubeconfig", {"harmless": place.box.url})
    return Way("harmless")


def _second_file(place: Place) -> Way:
    place.write("second", {"harmless": place.box.url})
    return Way(arguments=("--context", "harmless"), environ={"KUBECONFIG": f"{place.folder / 'second'}:{place.file}"})


def _shadowed(place: Place) -> Way:
    """The first file gives the name prod to something else: the name still counts, and so does its cluster."""
    place.write("first", {"prod": "http://127.0.0.1:2", "harmless": place.box.url})
    return Way("harmless", ("--context", "harmless"), environ={"KUBECONFIG": f"{place.folder / 'first'}:{place.file}"})


def _by_proxy(place: Place) -> Way:
    return place.beside({"server": "http://api.prod.example", "proxy-url": place.box.url}, name="other")


def _by_proxy_with_uid(place: Place) -> Way:
    marked = f"contexts: {{prod: {{production: true, clusterUid: {place.uid.upper()}}}}}\n"
    return place.beside({"server": "http://api.prod.example", "proxy-url": place.box.url}, config=marked)


def _read_only_by_uid(place: Place) -> Way:
    marked = f"contexts: {{elsewhere: {{readOnly: true, clusterUid: {place.uid}}}}}\n"
    return Way("", ("--context", "prod"), marked)


def _uid_not_readable(place: Place) -> Way:
    proxied = {"server": "http://api.prod.example", "proxy-url": place.box.url}
    place.write("kubeconfig", {"other": proxied}, "blind")
    marked = f"contexts: {{prod: {{production: true, clusterUid: {place.uid}}}}}\n"
    return Way("other", config=marked)


def _rotated(place: Place) -> Way:
    """The protected cluster has another address and another authority by now; its uid is in the file."""
    place.write(
        "kubeconfig", {"prod": place.trusted("https://api.prod.example", OTHER), "other": place.trusted(place.secure)}
    )
    return Way("other", ("--context", "other"), f"contexts: {{prod: {{production: true, clusterUid: {place.uid}}}}}\n")


def _rotated_and(how: str) -> Callable[[Place], Way]:
    """Its kube-system is not read: the answer to that is an error, none, or cut."""

    def way(place: Place) -> Way:
        place.monkeypatch.setattr("foretop_core.kube.connection.client._UID_LIMIT", 0.2)
        place.wire.cut = lambda method, path: how if path.endswith("/kube-system") else ""
        return _rotated(place)

    return way


def _rotated_and_answers(text: str) -> Callable[[Place], Way]:
    """Something else answers in the place of kube-system."""

    def way(place: Place) -> Way:
        place.wire.pages["/kube-system"] = text
        return _rotated(place)

    return way


def _rotated_and_blind(place: Place) -> Way:
    way = _rotated(place)
    place.write(
        "kubeconfig",
        {"prod": place.trusted("https://api.prod.example", OTHER), "other": place.trusted(place.secure)},
        "blind",
    )
    return way


def _rotated_without_uid(place: Place) -> Way:
    """Somebody meant to write it down."""
    way = _rotated(place)
    return Way("", way.arguments, "contexts: {prod: {production: true, clusterUid: }}\n")


def _verified_by_nothing(place: Place) -> Way:
    other = {"server": place.secure, "insecure-skip-tls-verify": True}
    place.write("kubeconfig", {"prod": place.trusted("https://api.prod.example", OTHER), "other": other})
    return Way("other", ("--context", "other"))


def _by_proxy_of_the_environment(place: Place) -> Way:
    way = place.beside("http://api.prod.example", name="other")
    way.environ = {"HTTP_PROXY": place.box.url}
    return way


def _rotated_read_only(place: Place) -> Way:
    """In doubt it asks as in production: whether it may be written to is not known."""
    way = _rotated_and("500")(place)
    way.config = f"contexts: {{prod: {{readOnly: true, clusterUid: {place.uid}}}}}\n"
    return way


def _by_tls_name(place: Place) -> Way:
    """prod is known by its name, and this one goes to an address with that name for its certificate."""
    place.write(
        "kubeconfig",
        {
            "prod": place.trusted("https://api.prod.example"),
            "other": {**place.trusted(place.secure), "tls-server-name": "api.prod.example"},
        },
    )
    return Way("other", ("--context", "other"))


def _by_tunnel(place: Place) -> Way:
    """Plain HTTP, as kubectl proxy and a tunnel have it, verifies no authority, whichever the file names beside it."""
    place.write(
        "kubeconfig", {"prod": place.trusted("https://api.prod.example", OTHER), "other": place.trusted(place.box.url)}
    )
    return Way("other", ("--context", "other"))


def _by_other_trust(place: Place) -> Way:
    """The flag that verifies nothing takes away what tells the two apart."""
    place.write(
        "kubeconfig", {"prod": place.trusted("https://api.prod.example"), "other": place.trusted(place.secure, OTHER)}
    )
    return Way("other", ("--context", "other", "--insecure-skip-tls-verify"))


def _in_cluster(place: Place) -> Way:
    folder = place.folder / "serviceaccount"
    folder.mkdir()
    (folder / "token").write_text(place.box.token())
    (folder / "namespace").write_text("velero")
    AUTHORITY.cert_pem.write_to_path(str(folder / "ca.crt"))
    for function in (in_cluster, read_service_account):
        place.monkeypatch.setattr(function, "__defaults__", (str(folder),))
    secure = urlsplit(place.secure)
    return Way(
        "in-cluster",
        environ={
            "KUBECONFIG": str(place.folder / "none"),
            "KUBERNETES_SERVICE_HOST": str(secure.hostname),
            "KUBERNETES_SERVICE_PORT": str(secure.port),
        },
    )


def _dangling(place: Place) -> Way:
    place.config.parent.mkdir(parents=True)
    place.config.symlink_to(place.folder / "not-mounted.yaml")
    return Way("", config=None)


def _folder_for_file(place: Place) -> Way:
    place.config.mkdir(parents=True)
    return Way("", config=None)


def _token_in_path(place: Place) -> Way:
    server = yaml.safe_load(Path(kubeconfig(place.box, place.folder)).read_text())["clusters"][0]["cluster"]["server"]
    return place.beside(server, name="other")


def _without_a_name(place: Place) -> Way:
    place.write(
        "kubeconfig", {"prod": place.box.url, "": {"server": "http://api.prod.example", "proxy-url": place.box.url}}
    )
    return Way("", ("--context", ""))


def _marked_without_a_name(place: Place) -> Way:
    place.write("kubeconfig", {"": place.box.url, "other": place.box.url})
    return Way("", ("--context", "other"), 'contexts: {"": {production: true}}\n')


def _as_plugin(place: Place) -> Way:
    place.monkeypatch.setattr("sys.argv", ["/usr/local/bin/kubectl-foretop"])
    return Way(arguments=("--context", "dev", "--cluster", "prod"))


_STRANGE_UID = "7d1b0e52-3f5a-4e0e-8c93-0d2f5b7c9e11"
_WRONG = {
    "a login page": "<html>sign in</html>",
    "nothing": "",
    "an object without a uid": '{"kind": "Namespace", "metadata": {"name": "kube-system"}}',
    "a uid that is none": '{"kind": "Namespace", "metadata": {"name": "kube-system", "uid": "a\\nb"}}',
    "another namespace": f'{{"kind": "Namespace", "metadata": {{"name": "default", "uid": "{_STRANGE_UID}"}}}}',
    "another kind": f'{{"kind": "Pod", "metadata": {{"name": "kube-system", "uid": "{_STRANGE_UID}"}}}}',
    "a list": "[1]",
    "deep JSON": "[" * 9_000,
}

WAYS: dict[str, Callable[[Place], Way]] = {
    "its own name": lambda place: Way(arguments=("--context", "prod")),
    "the current context": lambda place: Way(),
    "--cluster": lambda place: Way(arguments=("--context", "dev", "--cluster", "prod")),
    "--cluster, read-only": lambda place: Way("", ("--context", "dev", "--cluster", "prod"), READ_ONLY),
    "--server": lambda place: Way(arguments=("--context", "dev", "--server", place.box.url)),
    "--server alone": lambda place: Way(
        arguments=("--server", place.box.url, "--token", place.box.token()),
        environ={"KUBECONFIG": str(place.folder / "none"), "HOME": str(place.folder)},
        name=f"127.0.0.1:{place.port}",
    ),
    "another context of the same address": lambda place: place.beside(place.box.url),
    "another context, read-only": lambda place: place.beside(place.box.url, name="", config=READ_ONLY),
    "localhost": lambda place: place.beside(f"http://localhost:{place.port}"),
    "another case": lambda place: place.beside(f"http://LocalHost:{place.port}"),
    "an IPv6 address": lambda place: place.beside(f"http://[::ffff:127.0.0.1]:{place.port}"),
    "a trailing slash": lambda place: place.beside(f"{place.box.url}/"),
    "a token in the path": _token_in_path,
    "a proxy": _by_proxy,
    "a proxy, and the uid in the file": _by_proxy_with_uid,
    "any name, and the uid in the file": _read_only_by_uid,
    "the uid cannot be read": _uid_not_readable,
    "rotated, and no right to read the uid": _rotated_and_blind,
    **{f"rotated, and the uid is answered {code}": _rotated_and(code) for code in ("403", "404", "429", "500", "503")},
    "rotated, and the uid is never answered": _rotated_and("never"),
    "rotated, and the answer is cut": _rotated_and("before"),
    **{f"rotated, and the uid is in {what}": _rotated_and_answers(text) for what, text in _WRONG.items()},
    "rotated, and read-only": _rotated_read_only,
    "tls-server-name": _by_tls_name,
    "a tunnel without TLS": _by_tunnel,
    "--insecure-skip-tls-verify": _by_other_trust,
    "the pod's service account": _in_cluster,
    "a copied kubeconfig": _renamed,
    "a copied kubeconfig alone": _renamed_alone,
    "a renamed context": _renamed_in_place,
    "two files in KUBECONFIG": _second_file,
    "the name given to another cluster": _shadowed,
    "a kubectl plugin": _as_plugin,
    "FORETOP_CONTEXT": lambda place: Way(environ={"FORETOP_CONTEXT": "prod"}),
    "FORETOP_READ_ONLY=0": lambda place: Way("", config="readOnly: true\n", environ={"FORETOP_READ_ONLY": "0"}),
    "an empty file": lambda place: Way("", config=""),
    "a dangling link": _dangling,
    "a folder for the file": _folder_for_file,
    "a key given twice": lambda place: Way("", config="readOnly: true\nreadOnly: false\n"),
    "a context given twice": lambda place: Way("", config="contexts: {prod: {production: true}, prod: {}}\n"),
    "a misspelled key": lambda place: Way("", config="contexts: {prod: {prodution: true}}\n"),
    "an unknown key": lambda place: Way("", config="protected: [prod]\n"),
    "not YAML": lambda place: Way("", config="contexts: {prod: {production: true}"),
    "not text": lambda place: Way("", config=b"\xff\xfe\x00"),
    "a context without a name": _without_a_name,
    "a protected context without a name": _marked_without_a_name,
    "production without a value": lambda place: Way("", config="contexts: {prod: {production}}\n"),
    "readOnly without a value": lambda place: Way("", config="readOnly:\n"),
    "clusterUid without a value": _rotated_without_uid,
    "insecure-skip-tls-verify in the file": _verified_by_nothing,
    "a proxy of the environment": _by_proxy_of_the_environment,
    "a huge file": lambda place: Way("", config=PRODUCTION + "#" * 300_000),
}


@contextmanager
def tls_before(box: LocalApiServer) -> Iterator[str]:
    """The box behind TLS, as 127.0.0.1 and as api.prod.example."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    AUTHORITY.issue_cert("127.0.0.1", "api.prod.example").configure_cert(context)
    server = socket.create_server(("127.0.0.1", 0))
    inner = "127.0.0.1", urlsplit(box.url).port

    def pump(source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
        for one in (source, sink):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def connect(raw: socket.socket) -> None:
        with (
            suppress(OSError),
            context.wrap_socket(raw, server_side=True) as outer,
            socket.create_connection(inner) as onward,
        ):
            back = threading.Thread(target=pump, args=(onward, outer), daemon=True)
            back.start()
            pump(outer, onward)
            back.join()

    def serve() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=connect, args=(server.accept()[0],), daemon=True).start()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"https://127.0.0.1:{server.getsockname()[1]}"
    finally:
        with suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)
        server.close()
        thread.join(10)


@pytest.fixture
def place(box: LocalApiServer, wire: Wire, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.setenv("HOME", str(tmp_path))
    with tls_before(box) as secure:
        yield Place(box, wire, tmp_path, secure, monkeypatch)


def taken(place: Place, way: str | Way) -> Way:
    way = WAYS[way](place) if isinstance(way, str) else way
    for variable, value in way.environ.items():
        place.monkeypatch.setenv(variable, value)
    if way.config is not None:
        place.config.parent.mkdir(parents=True, exist_ok=True)
        place.config.write_bytes(way.config if isinstance(way.config, bytes) else way.config.encode())
    return way


_EACH_TIME = (
    *("its own name", "--cluster", "--server", "--server alone", "another context of the same address", "localhost"),
    *("an IPv6 address", "a token in the path", "a proxy", "a proxy, and the uid in the file"),
    *("any name, and the uid in the file", "the uid cannot be read"),
    *("rotated, and no right to read the uid", "rotated, and the uid is answered 500"),
    *("rotated, and the uid is never answered", "rotated, and the uid is in another namespace"),
    *("rotated, and the answer is cut", "rotated, and the uid is in a login page", "rotated, and read-only"),
    *("tls-server-name", "a tunnel without TLS", "--insecure-skip-tls-verify", "the pod's service account"),
    *("a copied kubeconfig", "a renamed context", "two files in KUBECONFIG", "the name given to another cluster"),
    *("FORETOP_READ_ONLY=0", "a dangling link", "clusterUid without a value", "a misspelled key"),
    "a protected context without a name",
)
"""Thirty-two of all sorts; the others run in the sweeps."""


@pytest.mark.parametrize("name", sampled(WAYS, *_EACH_TIME))
def test_no_way_to_a_protected_cluster_writes_without_its_name(
    name: str, place: Place, wire: Wire, capsys: pytest.CaptureFixture[str]
) -> None:
    way = taken(place, name)
    # Each way with a command of its own as well, so that all of them are taken.
    another = (*WRITES[list(WAYS).index(name) % len(WRITES)], "--yes")
    for command, more in product((PAUSE, another), ((), ("--confirm-context", "dev"))):
        assert run([*command, *more, *way.arguments]) == 3, capsys.readouterr().err
        assert ("--confirm-context" in capsys.readouterr().err) is bool(way.name), command
    assert changed_by(wire) == []
    assert not held(place.box, "nightly").spec.paused
    code = run([*PAUSE, "--confirm-context", way.name, *way.arguments])
    assert code == (0 if way.name else 3), capsys.readouterr().err
    assert held(place.box, "nightly").spec.paused is bool(way.name)


@pytest.mark.parametrize("command", [*WRITES, *(command for commands in samples("COMMANDS") for command in commands)])
def test_no_command_writes_to_production_without_its_name(command: tuple[str, ...], place: Place, wire: Wire) -> None:
    taken(place, "--cluster")
    before = place.box.storage.version
    assert run([*command, "--yes", "--context", "dev", "--cluster", "prod"]) in (2, 3)
    assert changed_by(wire) == []
    assert place.box.storage.version == before


@pytest.mark.parametrize("command", [command for commands in samples("FETCHING") for command in commands])
def test_what_is_fetched_by_a_request_wants_the_name_too(command: tuple[str, ...], place: Place, wire: Wire) -> None:
    taken(place, "its own name")
    run([*command])
    assert changed_by(wire) == []


def test_a_cluster_that_was_rotated_is_known_by_its_uid(place: Place, wire: Wire) -> None:
    way = taken(place, _rotated(place))
    assert run([*PAUSE, *way.arguments]) == 3
    assert run([*PAUSE, "--confirm-context", "prod", *way.arguments]) == 0
    assert held(place.box, "nightly").spec.paused


@pytest.mark.sweep
def test_two_clusters_are_told_apart_by_their_authorities(place: Place, wire: Wire) -> None:
    """What is surely not the protected cluster is written to as ever."""
    place.write(
        "kubeconfig", {"prod": place.trusted("https://api.prod.example", OTHER), "dev": place.trusted(place.secure)}
    )
    taken(place, "its own name")
    assert run([*PAUSE, "--context", "dev"]) == 0
    assert held(place.box, "nightly").spec.paused


def test_two_clusters_are_told_apart_by_their_uids(place: Place) -> None:
    place.write("kubeconfig", {"prod": "http://127.0.0.1:1", "dev": place.box.url})
    place.config.parent.mkdir(parents=True)
    place.config.write_text(f"contexts: {{prod: {{production: true, clusterUid: {place.uid[:-1]}x}}}}\n")
    assert run([*PAUSE, "--context", "dev"]) == 3
    other = "0b6c1f1e-7f0e-4c5d-9a51-6f4f2f6d2a10"
    place.config.write_text(f"contexts: {{prod: {{production: true, clusterUid: {other}}}}}\n")
    assert run([*PAUSE, "--context", "dev"]) == 0


def test_a_cluster_that_nothing_protects_is_asked_for_no_uid(place: Place, wire: Wire) -> None:
    assert run([*PAUSE]) == 0
    assert ("GET", "/api/v1/namespaces/kube-system") not in wire.asked


async def test_a_context_that_becomes_production_before_it_is_sent_is_not_written_to(
    box: LocalApiServer, wire: Wire, tmp_path: Path
) -> None:
    config = tmp_path / "config" / "foretop" / "config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text("contexts: {}\n")
    async with hand_in(box, tmp_path, environ={"XDG_CONFIG_HOME": str(tmp_path / "config")}) as executor:
        plan = planned(box, pausing)
        await executor.guard(plan)
        config.write_text("contexts: {minicluster: {production: true}}\n")
        results = await done(executor, plan, pausing)
        assert {one.outcome for one in results} == {Outcome.NOT_SENT}
        assert "minicluster is marked production" in results[0].error
        config.write_text("contexts: {minicluster: {readOnly: true}} # longer\n")
        results = await done(executor, plan, pausing)
        assert "minicluster is marked readOnly" in results[0].error
    assert changed_by(wire) == []


async def test_a_kubeconfig_that_leads_to_production_while_a_connection_is_made_is_not_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another request may read it again meanwhile, after a 401; both clusters take the same token, as with OIDC."""
    monkeypatch.setattr("foretop_demo.local_api_server.secrets.token_urlsafe", lambda _: "the-same-token")
    with box_in_thread(OBJECTS) as box, box_in_thread(OBJECTS) as other:
        uid = box.storage.get(box.storage.kind("Namespace"), "", "kube-system")["metadata"]["uid"]
        config = tmp_path / "config" / "foretop" / "config.yaml"
        config.parent.mkdir(parents=True)
        config.write_text(f"contexts: {{prod: {{production: true, clusterUid: {uid}}}}}\n")
        async with hand_in(other, tmp_path, environ={"XDG_CONFIG_HOME": str(tmp_path / "config")}) as executor:
            client, plan = executor.client, planned(other, pausing)
            permit, step = await executor.permit(plan), plan.steps[0]

            async def make_slowly(*arguments: Any) -> Any:
                box.kubeconfig(tmp_path / "kubeconfig-admin", "admin")
                await client._auth._read_config_again()
                return await make_pool(*arguments)

            await client.close()
            monkeypatch.setattr("foretop_core.kube.connection.client.make_pool", make_slowly)
            with pytest.raises(WriteRefused, match="its name was not given"):
                await client.write(permit, "PATCH", write_path(step), {}, step.write.body, MERGE_PATCH)
        assert not held(box, "nightly").spec.paused


async def test_a_configuration_on_a_disk_that_does_not_answer_holds_up_neither_the_write_nor_the_exit(
    box: LocalApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = threading.Event()
    environ = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    async with hand_in(box, tmp_path, environ=environ) as executor:
        before = threading.enumerate()
        monkeypatch.setattr("foretop_core.kube.connection.client._FILE_LIMIT", 0.01)
        monkeypatch.setattr("foretop_core.kube.connection.cluster_protection.file_stamp", lambda _: answers.wait())
        try:
            with pytest.raises(WriteRefused, match="the configuration file cannot be looked at"):
                await executor.guard(planned(box, pausing))
            # Python waits at its exit for every thread that is not a daemon.
            assert [one for one in threading.enumerate() if one not in before and not one.daemon] == []
        finally:
            answers.set()


def test_a_context_that_becomes_production_while_a_command_asks_is_not_written_to(
    place: Place, wire: Wire, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)

    def agree(*_arguments: Any, **_options: Any) -> bool:
        taken(place, "its own name")
        return True

    monkeypatch.setattr(click, "confirm", agree)
    assert run(["schedule", "pause", "nightly"]) == 1
    assert "prod is marked production" in capsys.readouterr().out
    assert changed_by(wire) == []


def test_doctor_prints_the_uid_and_what_protects_the_cluster(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    taken(place, "--cluster")
    run(["doctor", "--context", "dev", "--cluster", "prod"])
    printed = capsys.readouterr().out
    assert f"cluster: clusterUid: {place.uid}" in printed
    assert "protection: dev is the cluster of prod, which is marked production; prod is to be typed" in printed
    assert "set contexts.dev" not in printed
    run(["doctor", "--context", "prod"])
    assert f"set contexts.prod.clusterUid: {place.uid}" in capsys.readouterr().out
    place.config.write_text("contexts: {elsewhere: {production: true}}\n")
    run(["doctor"])
    printed = capsys.readouterr().out
    assert "prod may be the same cluster as elsewhere: contexts.elsewhere.clusterUid is not set" in printed
    assert "run foretop doctor in the protected context, and set its clusterUid" in printed


@pytest.mark.parametrize("name", ["the uid cannot be read", "rotated, and no right to read the uid"])
def test_doctor_names_the_right_that_ends_a_doubt(name: str, place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    way = taken(place, name)
    run(["doctor", *way.arguments])
    told = [line.strip() for line in capsys.readouterr().out.splitlines()]
    after = {line: told[at + 1] for at, line in enumerate(told[:-1])}
    (doubt,) = [line for line in told if "protection: other may be the same cluster as prod" in line]
    (unread,) = [line for line in told if "cluster: the uid of the namespace kube-system cannot be read" in line]
    assert after[doubt] == after[unread] == "ask for a role with get on the namespace kube-system"


def test_the_effective_settings_say_what_protects_each_context(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    place.write(
        "kubeconfig",
        {"prod": place.box.url, "other": f"{place.box.url}/", "dev": "http://127.0.0.1:1", "us": "https://us"},
    )
    place.config.parent.mkdir(parents=True)
    place.config.write_text("contexts: {prod: {production: true}, us: {readOnly: true}}\n")
    assert run(["config", "show"]) == 0
    lines = [line.split(maxsplit=1) for line in capsys.readouterr().out.partition("CONTEXT ")[2].splitlines()]
    found = {name: " ".join(rest.split()) for name, rest in lines[1:]}
    assert found == {
        "prod": "after typing prod prod is marked production",
        "other": "after typing prod other is the cluster of prod, which is marked production",
        "dev": "after typing dev dev may be the same cluster as prod: contexts.prod.clusterUid is not set",
        "us": "refused us is marked readOnly",
    }
    assert run(["config", "show", "-o", "json"]) == 0
    shown = {one["context"]: one for one in json.loads(capsys.readouterr().out)["protection"]}
    assert shown["other"]["confirm"] == "prod"
    assert shown["us"]["readOnly"] == "us is marked readOnly"


def test_only_the_guard_makes_permits() -> None:
    """A permit that somebody else makes is a way around the guard."""
    made = []
    for package in ("core/foretop_core", "tui/foretop"):
        for path in Path(package).rglob("*.py"):
            if "WritePermit" not in (text := path.read_text()):
                continue
            calls = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
            made += [path.name for call in calls if isinstance(call.func, ast.Name) and call.func.id == "WritePermit"]
    assert made == ["guard.py"]
