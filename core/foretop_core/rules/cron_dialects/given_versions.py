"""The Velero releases given by the user, for all clusters or for one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from foretop_core.errors import BadInput
from foretop_core.rules.cron_dialects.releases import read_release


class GivenVersions(msgspec.Struct, frozen=True):
    """`--velero-version 1.18.2` or `--velero-version CONTEXT[/NAMESPACE]=1.18.2`, repeatable.

    `versions` is keyed by the text before the `=`. Context names may contain slashes, so only a session that knows
    its contexts can separate a namespace from a context name. `defaults` has the same form and comes from the
    configuration file: it may name contexts that are not in use, and any given version wins over it.
    """

    versions: Mapping[str, str]
    defaults: Mapping[str, str] = msgspec.field(default_factory=dict)

    @classmethod
    def read(cls, texts: Iterable[str]) -> GivenVersions:
        """The parsed options; raises BadInput with one line for an invalid version."""
        found: dict[str, str] = {}
        for text in texts:
            target, _, version = text.rpartition("=")
            found[target] = str(read_release(version))
        return cls(found)

    def check(self, contexts: Iterable[str]) -> None:
        """Raises BadInput with one line if a version names none of these contexts."""
        known = tuple(contexts)
        for target in self.versions:
            if target and not any(target == name or target.startswith(f"{name}/") for name in known):
                there = f"there are {', '.join(known[:5])}" if known else "a file has no context: give only the version"
                raise BadInput(f"--velero-version {target}=… does not name a context in use", there)

    def of(self, context: str) -> dict[str, str]:
        """The versions by namespace, "" for all others; a version given for a cluster wins over one for all."""
        given = _by_namespace(self.versions, context)
        return given if "" in given else _by_namespace(self.defaults, context) | given


def _by_namespace(versions: Mapping[str, str], context: str) -> dict[str, str]:
    prefix = f"{context}/"
    found = {target.removeprefix(prefix): version for target, version in versions.items() if target.startswith(prefix)}
    whole = versions.get(context) or versions.get("")
    return found | ({"": whole} if whole else {})


NONE_GIVEN = GivenVersions({})
