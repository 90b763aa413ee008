"""The certificates, tokens and kubeconfigs of a test cluster."""

from __future__ import annotations

import csv
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import trustme
import yaml

GROUPS: Mapping[str, str] = {
    "admin": "system:masters",
    "operator": "",
    "viewer": "",
    "tenant": "",
    "nobody": "",
}


@dataclass(frozen=True, slots=True)
class Signed:
    """A certificate and its key, in files."""

    certificate: Path
    key: Path


class Authority:
    """The cluster's own certificate authority."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ca = trustme.CA(organization_name="foretop tests")
        self.path = folder / "ca.crt"
        self._ca.cert_pem.write_to_path(str(self.path))

    def for_server(self, name: str = "apiserver") -> Signed:
        return self._write(name, self._ca.issue_cert("127.0.0.1", "localhost"))

    def for_user(self, user: str) -> Signed:
        """A client certificate; the API server reads its common name as the user and its organisation as a group."""
        group = GROUPS[user] or "foretop tests"
        # The address is needed because Go refuses a certificate with an empty list of alternative names.
        issued = self._ca.issue_cert(f"{user}@foretop.test", common_name=user, organization_name=group)
        return self._write(f"user-{user}", issued)

    def _write(self, name: str, issued: trustme.LeafCert) -> Signed:
        signed = Signed(self._folder / f"{name}.crt", self._folder / f"{name}.key")
        signed.certificate.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
        write_private(signed.key, issued.private_key_pem.bytes())
        return signed


class TokenFile:
    """The API server's static tokens. It reads them at start, so a change needs a restart."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tokens: dict[str, str] = {}
        for user in GROUPS:
            self.renew(user)

    def renew(self, user: str) -> None:
        self.tokens[user] = secrets.token_urlsafe(24)
        self._write()

    def remove(self, user: str) -> None:
        self.tokens.pop(user, None)
        self._write()

    def _write(self) -> None:
        write_private(self.path, b"")
        with self.path.open("w", newline="") as file:
            csv.writer(file).writerows([token, user, user, GROUPS[user]] for user, token in self.tokens.items())


def kubeconfig(url: str, ca: Path, user: str, namespace: str, credentials: Mapping[str, str]) -> bytes:
    """A kubeconfig with one context, named after its user."""
    context = {"cluster": "real", "user": user, "namespace": namespace}
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "real", "cluster": {"server": url, "certificate-authority": str(ca)}}],
            "users": [{"name": user, "user": dict(credentials)}],
            "contexts": [{"name": user, "context": context}],
            "current-context": user,
        }
    ).encode()


def write_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read, from the first byte on."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)
