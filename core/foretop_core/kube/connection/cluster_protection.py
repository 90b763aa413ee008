"""The protection of all connections of one run, judged again with every change of what it depends on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from msgspec.structs import replace

from foretop_core.config.config_file import ConfigFile, file_stamp, read_config
from foretop_core.config.protection import ClusterIdentity, Protection, protection_of

ClusterIdentities = Mapping[str, tuple[ClusterIdentity, ...]]
"""By context, the clusters that the kubeconfigs have under that name."""
FindIdentities = Callable[[Iterable[str]], ClusterIdentities]


def _none_known(_names: Iterable[str]) -> ClusterIdentities:
    return {}


class ClusterProtection:
    """`environ` leads to the file, which is read again when it changes; without it, flags alone protect."""

    def __init__(
        self,
        read_only: bool = False,
        environ: Mapping[str, str] | None = None,
        identities: FindIdentities = _none_known,
        trusts_authorities: bool = True,
    ) -> None:
        self.trusts_authorities = trusts_authorities
        """Whether the authority of a connection tells its cluster: one that a flag gives does not."""
        self._read_only = read_only
        self._environ = environ
        self._config = ConfigFile(Path()) if environ is None else read_config(environ)
        self._identities = identities
        self._known: ClusterIdentities | None = None
        self._uids: dict[tuple[str, frozenset[str]], str] = {}
        self._judged: dict[tuple[str, ClusterIdentity], Protection] = {}

    @property
    def protects_clusters(self) -> bool:
        """True if the file protects a cluster: then the uid of each connection is needed."""
        return any(settings.read_only or settings.production for settings in self._config.settings.contexts.values())

    def of(self, name: str, identity: ClusterIdentity) -> Protection:
        """The protection of a connection by the configuration as it was last read."""
        protection = self._judged.get((name, identity))
        if protection is None:
            identities = {
                context: tuple(self._with_uid(cluster_identity) for cluster_identity in some)
                for context, some in self._all_known().items()
            }
            protection = protection_of(name, identity, self._config, identities, self._read_only)
            self._judged[name, identity] = protection
        return protection

    def learn(self, identity: ClusterIdentity) -> None:
        """A connection has told its uid: the contexts that lead to the same address are that cluster."""
        known_by = identity.address, identity.authorities
        if self._uids.get(known_by, "") != identity.uid:
            self._uids[known_by] = identity.uid
            self._judged.clear()

    def changed(self) -> ConfigFile | None:
        """The configuration file where it has changed since it was read; waits for the disk, and changes nothing."""
        if self._environ is None or file_stamp(self._config.path) == self._config.stamp:
            return None
        return read_config(self._environ)

    def use(self, config: ConfigFile) -> None:
        """Judges by this configuration from now on."""
        self._config, self._known = config, None
        self._judged.clear()

    def _all_known(self) -> ClusterIdentities:
        if self._known is None:
            marked = (
                name
                for name, settings in self._config.settings.contexts.items()
                if settings.read_only or settings.production
            )
            self._known = self._identities(tuple(marked)) if self.protects_clusters else {}
        return self._known

    def _with_uid(self, identity: ClusterIdentity) -> ClusterIdentity:
        return replace(identity, uid=self._uids.get((identity.address, identity.authorities), ""))
