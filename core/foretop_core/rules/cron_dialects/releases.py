"""Releases of Velero and OADP, their possible cron dialects, and the releases that a person named."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import msgspec

from foretop_core.cron import Dialect
from foretop_core.errors import BadInput

ALL_DIALECTS = tuple(Dialect)
"""Oldest first."""
NEWEST_KNOWN = "1.18.3"
"""Later releases are treated as this one until one is known to differ."""
RELEASES = {
    Dialect.ROBFIG1: "up to 1.14",
    Dialect.ROBFIG: "1.15 to 1.18.2",
    Dialect.NETRESEARCH: "1.18.3 and later",
}
_VELERO_IN_OADP = {(1, 0): "1.7", (1, 1): "1.9", (1, 2): "1.11", (1, 3): "1.12", (1, 4): "1.14", (1, 5): "1.16"}
_NEXT_OADP_VELERO = "1.18"
_RELEASE = re.compile(r"v?(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?(?![\d.])(?:[-+_].*)?", re.IGNORECASE)


class Release(msgspec.Struct, frozen=True, order=True):
    """A release of Velero; `patch` is None if only the release line is known."""

    major: int
    minor: int
    patch: int | None = None

    def __str__(self) -> str:
        line = f"{self.major}.{self.minor}"
        return line if self.patch is None else f"{line}.{self.patch}"

    @property
    def dialects(self) -> tuple[Dialect, ...]:
        """The possible dialects of a server of this release: more than one if it depends on the patch."""
        line = (self.major, self.minor)
        if line <= (1, 14):
            return (Dialect.ROBFIG1,)
        if line < (1, 18):
            return (Dialect.ROBFIG,)
        if line > (1, 18):
            return (Dialect.NETRESEARCH,)
        if self.patch is None:
            return (Dialect.ROBFIG, Dialect.NETRESEARCH)
        return (Dialect.ROBFIG,) if self.patch <= 2 else (Dialect.NETRESEARCH,)


def find_release(text: str) -> Release | None:
    """The release of a version or an image tag; candidates and suffixes count as their release."""
    match = _RELEASE.fullmatch(text)
    if match is None:
        return None
    major, minor, patch = match.groups()
    return Release(int(major), int(minor), None if patch is None else int(patch))


def read_release(text: str) -> Release:
    """The release that the user gave; raises BadInput with one line."""
    release = find_release(text.strip())
    if release is None:
        raise BadInput(f"{text!r} is not a valid Velero version", hint="give one such as 1.18.2 or 1.18")
    return release


def velero_of_oadp(text: str) -> Release | None:
    """The Velero release in a release of OADP."""
    oadp = find_release(text)
    if oadp is None:
        return None
    line = (oadp.major, oadp.minor)
    return find_release(_VELERO_IN_OADP.get(line, _NEXT_OADP_VELERO if line > max(_VELERO_IN_OADP) else ""))


def releases_of(dialects: tuple[Dialect, ...]) -> str:
    """`Velero 1.15 to 1.18.2`, `Velero up to 1.18.2`: a text that fits before a colon."""
    match tuple(dialect for dialect in ALL_DIALECTS if dialect in dialects):
        case (Dialect.ROBFIG1, Dialect.ROBFIG):
            return "Velero up to 1.18.2"
        case (Dialect.ROBFIG, Dialect.NETRESEARCH):
            return "Velero 1.15 and later"
        case (Dialect.ROBFIG1, Dialect.ROBFIG, Dialect.NETRESEARCH):
            return "every release of Velero"
        case chosen:
            return "Velero " + ", ".join(RELEASES[dialect] for dialect in chosen)


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
        versions: dict[str, str] = {}
        for text in texts:
            target, _, version = text.rpartition("=")
            versions[target] = str(read_release(version))
        return cls(versions)

    def check(self, contexts: Iterable[str]) -> None:
        """Raises BadInput with one line if a version names none of these contexts."""
        names = tuple(contexts)
        for target in self.versions:
            if target and not any(target == name or target.startswith(f"{name}/") for name in names):
                hint = f"there are {', '.join(names[:5])}" if names else "a file has no context: give only the version"
                raise BadInput(f"--velero-version {target}=… does not name a context in use", hint)

    def of(self, context: str) -> dict[str, str]:
        """The versions by namespace, "" for all others; a version given for a cluster wins over one for all."""
        versions = _by_namespace(self.versions, context)
        return versions if "" in versions else _by_namespace(self.defaults, context) | versions


def _by_namespace(versions: Mapping[str, str], context: str) -> dict[str, str]:
    prefix = f"{context}/"
    own = {target.removeprefix(prefix): version for target, version in versions.items() if target.startswith(prefix)}
    whole = versions.get(context) or versions.get("")
    return own | ({"": whole} if whole else {})


NONE_GIVEN = GivenVersions({})
