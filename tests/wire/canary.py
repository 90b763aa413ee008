"""A recognisable secret in every place that a secret can come from, and contexts that fail while they hold one."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import yaml

from foretop_demo.change_log import Change, ChangeType
from foretop_demo.local_api_server import LocalApiServer
from tests.wire.action_fixtures import a_schedule
from tests.wire.command_fixtures import ENDED, OBJECTS
from tests.wire.test_commands import VELERO, obj

CANARY = "canary"
PASSWORD = f"{CANARY}-password-0001"
NOT_SHOWN = (CANARY, base64.b64encode(f"anna:{PASSWORD}".encode()).decode(), base64.b64encode(CANARY.encode()).decode())
"""As it is, as a header of basic authentication, and as the data of a kubeconfig."""
APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
GOOD = "minicluster"


def applied(item: dict[str, Any]) -> dict[str, Any]:
    """The object as kubectl apply leaves it, by somebody who wrote a token into it."""
    meta = {**item["metadata"], "annotations": {APPLIED: json.dumps({"spec": {"token": f"{CANARY}-applied-0002"}})}}
    return {**item, "metadata": meta}


def _velero() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(VELERO))
    (container,) = found["spec"]["template"]["spec"]["containers"]
    container["env"] = [{"name": "AWS_SECRET_ACCESS_KEY", "value": f"{CANARY}-environment-0003"}]
    return found


_LOCATION = {
    "provider": "aws",
    "default": True,
    "objectStorage": {"bucket": "b"},
    "credential": {"name": "s", "key": "k"},
}
SECRET_OBJECTS = [
    *(item if item["kind"] == "Namespace" else applied(item) for item in OBJECTS if item is not VELERO),
    applied(_velero()),
    applied(a_schedule("broken", schedule="0 0 * * 8")),
    applied(obj("Backup", "failed", {"storageLocation": "default"}, status={**ENDED, "phase": "Failed"})),
    applied(obj("BackupStorageLocation", "default", _LOCATION, status={"phase": "Available"})),
]


class _Echo(BaseHTTPRequestHandler):
    """Refuses everything and repeats all that it was sent."""

    protocol_version = "HTTP/1.1"

    def _refuse(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        said = f"{self.requestline} {' '.join(self.headers.values())}"
        body = json.dumps({"kind": "Status", "code": 403, "reason": "Forbidden", "message": said}).encode()
        self.send_response(403, said)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def __getattr__(self, name: str) -> Any:
        """Whatever the method is."""
        if name.startswith("do_"):
            return self._refuse
        raise AttributeError(name)

    def log_message(self, format: str, *args: Any) -> None:
        return None


@contextmanager
def echo_server() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Echo)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def sign_addresses(box: LocalApiServer, storage: str) -> None:
    """Velero answers every DownloadRequest with a signed address of this storage."""
    status = {"phase": "Processed", "downloadURL": f"{storage}/one.gz?X-Amz-Signature={CANARY}-signature-0004"}

    def heard(kind: Any, change: Change) -> None:
        if kind.kind == "DownloadRequest" and change.type is ChangeType.ADDED:
            box.storage.patch_status(kind, *change.key, status)

    box.storage.subscribe(heard)


def secret_kubeconfig(box: LocalApiServer, echo: str, folder: Path) -> tuple[str, tuple[str, ...]]:
    """The file, and its contexts that fail: each holds a secret of another sort."""
    data = base64.b64encode(f"-----BEGIN KEY-----\n{CANARY}-key-0005".encode()).decode()
    script = f"echo {CANARY}-plugin-0006; echo 'refused: {CANARY}-plugin-0006' >&2; exit 1"
    plugin = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": "sh",
        "args": ["-c", script],
        "env": [{"name": "LOGIN", "value": f"{CANARY}-login-0007"}],
        "interactiveMode": "Never",
    }
    oidc = {
        "idp-issuer-url": "https://127.0.0.1:1",
        "client-id": "foretop",
        "client-secret": f"{CANARY}-client-0008",
        "id-token": f"{CANARY}.{CANARY}.{CANARY}-0009",
        "refresh-token": f"{CANARY}-refresh-0010",
    }
    token = {"token": f"{CANARY}-token-0011"}
    failing: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "by-token": ({"server": echo}, token),
        "by-password": ({"server": echo}, {"username": "anna", "password": PASSWORD}),
        "by-key": ({"server": "https://127.0.0.1:1"}, {"client-certificate-data": data, "client-key-data": data}),
        "by-plugin": ({"server": echo}, {"exec": plugin}),
        "by-oidc": ({"server": echo}, {"auth-provider": {"name": "oidc", "config": oidc}}),
        "by-proxy": (
            {"server": "http://127.0.0.1:1", "proxy-url": f"http://anna:{CANARY}-proxy-0012@127.0.0.1:1"},
            token,
        ),
        "by-path": ({"server": f"{echo}/k8s/{CANARY}-path-0013"}, token),
        "by-address": ({"server": f"http://anna:{CANARY}-address-0014@127.0.0.1:1"}, token),
    }
    path = box.kubeconfig(folder / "secrets")
    content = yaml.safe_load(path.read_text())
    for name, (cluster, user) in failing.items():
        content["clusters"].append({"name": name, "cluster": cluster})
        content["users"].append({"name": name, "user": user})
        content["contexts"].append({"name": name, "context": {"cluster": name, "user": name}})
    path.write_text(yaml.safe_dump(content))
    return str(path), tuple(failing)


def secrets_in(text: str, box: LocalApiServer) -> list[str]:
    """The lines with a secret, also where the edge of the screen breaks it in two."""
    wanted = (*NOT_SHOWN, box.token())
    found = [line for line in text.splitlines() if any(one in line for one in wanted)]
    joined = "".join(line.strip() for line in text.splitlines())
    return found or [one for one in wanted if one in joined]
