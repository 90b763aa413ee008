"""The releases of Velero that a person names, for all clusters or for one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from foretop_core.errors import BadInput
from foretop_core.rules.dialects.releases import read_release


@dataclass(frozen=True, slots=True)
class GivenVersions:
    """`--velero-version 1.18.2` or `--velero-version CONTEXT[/NAMESPACE]=1.18.2`, as often as needed.

    `versions` is keyed by what stood before the `=`; names of contexts may hold slashes, so only a session that knows
    its contexts can tell a namespace from a part of a name.
    """

    versions: Mapping[str, str]

    @classmethod
    def read(cls, texts: Iterable[str]) -> GivenVersions:
        """Raises BadInput in one line for what is not a version."""
        found: dict[str, str] = {}
        for text in texts:
            target, _, version = text.rpartition("=")
            found[target] = str(read_release(version))
        return cls(found)

    def check(self, contexts: Iterable[str]) -> None:
        """Raises BadInput in one line where a version is for none of these contexts."""
        known = tuple(contexts)
        for target in self.versions:
            if target and not any(target == name or target.startswith(f"{name}/") for name in known):
                there = f"there are {', '.join(known[:5])}" if known else "a file has no context: give only the version"
                raise BadInput(f"--velero-version {target}=… does not name a context in use", there)

    def of(self, context: str) -> dict[str, str]:
        """By namespace, "" for all others: the version given for a cluster counts before the one given for all."""
        prefix = f"{context}/"
        found = {
            target.removeprefix(prefix): version
            for target, version in self.versions.items()
            if target.startswith(prefix)
        }
        whole = self.versions.get(context) or self.versions.get("")
        return found | ({"": whole} if whole else {})


NONE_GIVEN = GivenVersions({})
