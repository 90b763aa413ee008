"""Which cluster a connection leads to, and how that is protected: the table of the module, row by row."""

from __future__ import annotations

from pathlib import Path

import pytest

from foretop_core.config.config_file import ConfigFile
from foretop_core.config.protection import (
    ClusterIdentity,
    Comparison,
    Protection,
    authorities_of,
    compare,
    protection_of,
    server_address,
)
from foretop_core.config.settings import ContextSettings, Settings
from foretop_core.kube.connection.cluster_protection import ClusterProtection

PROD_UID, DEV_UID = "0b6c1f1e-7f0e-4c5d-9a51-6f4f2f6d2a10", "7d1b0e52-3f5a-4e0e-8c93-0d2f5b7c9e11"
PROD_CA, DEV_CA = frozenset({"prod"}), frozenset({"dev"})
PROD = ClusterIdentity("prod:6443", PROD_CA, PROD_UID)
SAME, ANOTHER, DOUBT = Comparison.SAME, Comparison.ANOTHER, Comparison.IN_DOUBT
NONE: frozenset[str] = frozenset()


@pytest.mark.parametrize(
    ("uid", "address", "authorities", "found"),
    [
        (PROD_UID, "dev:6443", DEV_CA, SAME),
        (PROD_UID.upper(), "", NONE, SAME),
        (DEV_UID, "prod:6443", DEV_CA, ANOTHER),
        (DEV_UID, "prod:6443", PROD_CA, SAME),
        (DEV_UID, "prod:6443", PROD_CA | DEV_CA, SAME),
        (DEV_UID, "prod:6443", NONE, SAME),
        (DEV_UID, "dev:6443", PROD_CA, ANOTHER),
        (DEV_UID, "", NONE, ANOTHER),
        ("", "prod:6443", PROD_CA, SAME),
        ("", "prod:6443", DEV_CA, SAME),
        ("", "prod:6443", NONE, SAME),
        ("", "dev:6443", DEV_CA, ANOTHER),
        ("", "dev:6443", PROD_CA, DOUBT),
        ("", "dev:6443", PROD_CA | DEV_CA, DOUBT),
        ("", "dev:6443", NONE, DOUBT),
        ("", "", DEV_CA, DOUBT),
        ("", "", NONE, DOUBT),
    ],
)
def test_the_table_row_by_row(uid: str, address: str, authorities: frozenset[str], found: Comparison) -> None:
    mine = ClusterIdentity(address, authorities, uid)
    assert compare(mine, PROD) is found
    assert compare(PROD, mine) is found


@pytest.mark.parametrize(
    "other", [ClusterIdentity("prod:6443", PROD_CA), ClusterIdentity("", PROD_CA), ClusterIdentity("prod:6443")]
)
def test_without_the_uid_of_the_protected_one_only_another_authority_tells_another_cluster(
    other: ClusterIdentity,
) -> None:
    dev = ClusterIdentity("dev:6443", DEV_CA, DEV_UID)
    known = bool(other.address and other.authorities)
    assert compare(dev, other) is (ANOTHER if known else DOUBT)


@pytest.mark.parametrize(
    "server",
    [
        *(
            "https://prod:443",
            "https://PROD",
            "https://prod/",
            "https://prod.",
            "https://prod.:443//",
            "http://prod:443",
        ),
        *("prod", "prod:443", "https://me:secret@prod", "https://prod/.", "https://prod?x=1"),
    ],
)
def test_all_ways_to_write_one_address_are_one(server: str) -> None:
    assert server_address(server) == "prod:443"


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "LOCALHOST.", "127.1", "0x7f.1", "2130706433", "[::1]", "127.0.0.2", "0.0.0.0",
             "[::ffff:127.0.0.1]", "kind.localhost"],
)  # fmt: skip
def test_this_machine_has_one_name(host: str) -> None:
    assert server_address(f"https://{host}:6443") == "localhost:6443"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://prod:6443", "https://prod:6444"),
        ("https://rancher/k8s/clusters/c-1", "https://rancher/k8s/clusters/c-2"),
        ("https://10.0.0.1", "https://10.0.0.2"),
        ("https://prod", "http://prod"),
    ],
)
def test_other_addresses_are_others(one: str, other: str) -> None:
    assert server_address(one) != server_address(other)
    assert server_address(one)


@pytest.mark.parametrize("server", ["", "https://", "https://[::", "https://prod:99999", "https:///x"])
def test_what_is_not_an_address_is_no_address(server: str) -> None:
    assert server_address(server) == ""


def test_a_bundle_is_its_certificates() -> None:
    first = "-----BEGIN CERTIFICATE-----\nMIIB\nAAAA\n-----END CERTIFICATE-----\n"
    second = "-----BEGIN CERTIFICATE-----\nMIIC\n-----END CERTIFICATE-----\n"
    assert authorities_of(f"# of prod\n{first}\r\n{second}") == authorities_of(second) | authorities_of(first)
    assert authorities_of(first.replace("\n", "\r\n")) == authorities_of(first)
    assert len(authorities_of(first + second + first)) == 2
    assert authorities_of(first.replace(" CERT", " X509 CERT")) == authorities_of(first), "as OpenSSL reads it too"
    assert authorities_of(" \n") == frozenset()
    assert authorities_of("odd") != authorities_of("other")


def config(read_only: bool = False, **contexts: ContextSettings) -> ConfigFile:
    return ConfigFile(Path("config.yaml"), Settings(contexts=contexts, read_only=read_only))


PRODUCTION, READ_ONLY = ContextSettings(production=True), ContextSettings(read_only=True)
KNOWN = {"prod": (ClusterIdentity("prod:6443", PROD_CA),)}
HERE = ClusterIdentity("prod:6443", PROD_CA)
ELSEWHERE = ClusterIdentity("dev:6443", DEV_CA)
UNSURE = ClusterIdentity("10.0.0.7:6443", NONE)


def test_a_context_is_protected_by_its_name() -> None:
    found = protection_of("prod", ELSEWHERE, config(prod=PRODUCTION), {})
    assert found == Protection("", "prod is marked production", "prod")
    found = protection_of("prod", ELSEWHERE, config(prod=READ_ONLY), {})
    assert found == Protection("prod is marked readOnly")


def test_another_name_of_the_cluster_is_protected_by_the_name_that_the_file_has() -> None:
    found = protection_of("dev", HERE, config(prod=PRODUCTION), KNOWN)
    assert found == Protection("", "dev is the cluster of prod, which is marked production", "prod")
    found = protection_of("dev", HERE, config(prod=READ_ONLY), KNOWN)
    assert found == Protection("dev is the cluster of prod, which is marked readOnly")


def test_a_connection_in_doubt_asks_for_its_own_name() -> None:
    for settings in (PRODUCTION, READ_ONLY):
        found = protection_of("dev", UNSURE, config(prod=settings), KNOWN)
        why = "dev may be the same cluster as prod: contexts.prod.clusterUid is not set"
        assert found == Protection("", why, "dev", in_doubt=True)
    assert protection_of("dev", ELSEWHERE, config(prod=PRODUCTION), {}).name == "dev"


def test_a_uid_in_the_file_ends_the_doubt() -> None:
    marked = config(prod=ContextSettings(production=True, cluster_uid=PROD_UID))
    other = ClusterIdentity("10.0.0.7:6443", NONE, DEV_UID)
    assert protection_of("dev", other, marked, KNOWN) == Protection()
    assert protection_of("dev", ClusterIdentity(uid=PROD_UID), marked, {}).name == "prod"
    why = "dev may be the same cluster as prod: its own uid cannot be read"
    for unread in (UNSURE, ELSEWHERE):
        found = protection_of("dev", unread, marked, KNOWN)
        assert found == Protection("", why, "dev", in_doubt=True, lacks_own_uid=True)
    assert protection_of("dev", HERE, marked, KNOWN).name == "prod"


def test_another_cluster_is_not_protected() -> None:
    assert protection_of("dev", ELSEWHERE, config(prod=PRODUCTION), KNOWN) == Protection()


def test_a_context_that_is_not_protected_protects_nothing() -> None:
    marked = config(prod=ContextSettings(velero_version="1.17", cluster_uid=PROD_UID))
    assert protection_of("prod", HERE, marked, KNOWN) == Protection()


def test_the_strictest_of_all_that_apply_wins() -> None:
    both = config(prod=PRODUCTION, admin=READ_ONLY, dev=ContextSettings())
    known = {"prod": KNOWN["prod"], "admin": KNOWN["prod"]}
    for name in ("prod", "admin", "dev"):
        found = protection_of(name, HERE, both, known)
        assert found.read_only.endswith("is marked readOnly")
        assert found.name == "prod"
    assert protection_of("dev", HERE, config(dev=PRODUCTION, prod=PRODUCTION), KNOWN).name == "dev"
    doubted = config(other=PRODUCTION, prod=PRODUCTION)
    assert protection_of("dev", HERE, doubted, KNOWN).name == "prod"


def test_of_several_clusters_under_one_name_any_counts() -> None:
    known = {"prod": (ClusterIdentity("old:6443", DEV_CA), ClusterIdentity("prod:6443", PROD_CA))}
    assert protection_of("dev", HERE, config(prod=PRODUCTION), known).name == "prod"
    assert protection_of("dev", ClusterIdentity("x:1", DEV_CA), config(prod=PRODUCTION), known).name == "dev"


def test_read_only_has_its_reason() -> None:
    assert "config.yaml" in protection_of("a", HERE, config(read_only=True), {}).read_only
    assert protection_of("a", HERE, config(), {}, read_only=True).read_only == "it was on when foretop was started"
    mistaken = ConfigFile(Path("config.yaml"), protects_all=True)
    assert protection_of("a", HERE, mistaken, {}).read_only == "config.yaml has mistakes"
    heard = ConfigFile(Path("c"), Settings(read_only=True), from_environment=frozenset({"readOnly"}))
    assert protection_of("a", HERE, heard, {}).read_only == "FORETOP_READ_ONLY is set"


def test_a_configuration_is_read_again_where_its_file_has_changed_and_only_then(tmp_path: Path) -> None:
    file = tmp_path / "foretop" / "config.yaml"
    file.parent.mkdir()
    file.write_text("contexts: {}\n")
    rules = ClusterProtection(environ={"XDG_CONFIG_HOME": str(tmp_path)})
    assert rules.changed() is None
    file.write_text("contexts: {prod: {production: true}}\n")
    changed = rules.changed()
    assert changed is not None
    assert not rules.protects_clusters, "to look changes nothing"
    rules.use(changed)
    assert rules.protects_clusters
    assert rules.changed() is None
