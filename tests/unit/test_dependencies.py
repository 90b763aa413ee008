"""What foretop is installed with: locked, its licences listed, and private parts used of known releases only."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import metadata, packages_distributions, requires, version
from pathlib import Path
from types import ModuleType

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import foretop
import foretop_core

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LISTED = ROOT / "packaging" / "licenses.md"
SPELLINGS = {
    "Apache 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "MIT License": "MIT",
}
KNOWN = {"Apache-2.0", "Apache-2.0 AND MIT", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MPL-2.0", "PSF-2.0"}
"""Those that Apache-2.0 can be combined with."""


_OF_A_ROOM = {"croniter"}
"""Imported by a room alone, and by nobody where that is deleted."""


def direct() -> list[Requirement]:
    return [Requirement(line) for line in PROJECT["project"]["dependencies"]]


@cache
def locked() -> dict[str, dict[str, str]]:
    """The sections of lock.txt: the release of each package."""
    sections = re.split(r"^# (\w+): .*\n", (ROOT / "lock.txt").read_text(), flags=re.MULTILINE)[1:]
    return {
        name: dict(re.findall(r"^([\w.-]+)==(\S+) \\$", text, re.MULTILINE))
        for name, text in zip(sections[::2], sections[1::2], strict=True)
    }


def test_the_lock_has_what_is_asked_for_and_what_is_installed_here() -> None:
    asked = {
        "foretop": PROJECT["project"]["dependencies"],
        "build": PROJECT["build-system"]["requires"],
        **PROJECT["dependency-groups"],
    }
    assert locked().keys() == asked.keys()
    everything: dict[str, str] = {}
    for name, section in locked().items():
        assert not everything.keys() & section.keys()
        everything |= section
        for wanted in map(Requirement, asked[name]):
            release = everything[canonicalize_name(wanted.name)]
            assert wanted.specifier.contains(release, prereleases=True), wanted
    here = everything.keys() - locked()["go"].keys()
    assert {name: version(name) for name in here} == {name: everything[name] for name in here}


def test_every_release_in_the_lock_has_checksums_and_no_address() -> None:
    text = (ROOT / "lock.txt").read_text()
    body = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#")).replace("\\\n", "")
    entry = re.compile(r"[a-z0-9-]+==[\w.]+(?: +--hash=sha256:[0-9a-f]{64})+")
    assert [line for line in body.splitlines() if line and not entry.fullmatch(line)] == []
    assert "://" not in text


@cache
def installed() -> set[str]:
    """The names of all that foretop is installed with."""
    found: set[tuple[str, str]] = set()
    wanted = direct()
    while wanted:
        one = wanted.pop()
        for extra in {"", *one.extras}:
            key = (canonicalize_name(one.name), extra)
            if key not in found:
                found.add(key)
                needs = [Requirement(line) for line in requires(one.name) or ()]
                wanted += [need for need in needs if need.marker is None or need.marker.evaluate({"extra": extra})]
    return {name for name, _ in found}


def licence_of(name: str) -> str:
    told = metadata(name)
    classified = [line.rpartition(" :: ")[2] for line in told.get_all("Classifier") or () if line.startswith("License")]
    given = {key: told[key] for key in told}
    said = given.get("License-Expression") or given.get("License") or "".join(classified[:1])
    return SPELLINGS.get(said, said)


def listed() -> dict[str, str]:
    rows = re.findall(r"^\| ([\w.-]+) \| ([^|]+) \|", LISTED.read_text(), re.MULTILINE)
    return {name: licence.strip() for name, licence in rows if name != "package"}


def test_every_dependency_is_listed_with_the_licence_that_it_states() -> None:
    assert {name: licence_of(name) for name in installed()} == {
        name: licence for name, licence in listed().items() if name in installed()
    }


def test_the_list_names_only_what_is_installed_with_foretop() -> None:
    assert listed().keys() == locked()["foretop"].keys()
    assert listed().keys() - installed() == set()


def test_every_licence_is_a_known_one() -> None:
    assert set(listed().values()) <= KNOWN


def modules() -> Iterator[ModuleType]:
    for package in (foretop_core, foretop):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not found.name.endswith("__main__"):
                yield importlib.import_module(found.name)


def _is_private_method(name: str, value: object) -> bool:
    return re.match(r"_[a-z]", name) is not None and inspect.isfunction(value)


def private_parts_of() -> set[str]:
    """The packages of others whose private modules are imported, or whose private methods are overridden."""
    found: set[str] = set()
    for module in modules():
        found |= set(re.findall(r"^\s*from (\w+)[\w.]*\._\w+ import", inspect.getsource(module), re.MULTILINE))
        for _, owner in inspect.getmembers(module, inspect.isclass):
            own = {name for name, value in vars(owner).items() if _is_private_method(name, value)}
            if owner.__module__ == module.__name__:
                found |= {base.__module__.partition(".")[0] for base in owner.__mro__[1:] if own & vars(base).keys()}
    return found - {"foretop", "foretop_core"}


def test_a_package_whose_private_parts_are_used_has_an_upper_bound() -> None:
    names = packages_distributions()
    bounds = {canonicalize_name(one.name): one.specifier for one in direct()}
    used = {canonicalize_name(names[top][0]) for top in private_parts_of() if top in names}
    assert {"textual", "aiohttp"} <= used
    assert {name for name in used if not any(one.operator.startswith("<") for one in bounds[name])} == set()


def test_what_is_imported_is_declared() -> None:
    names = packages_distributions()
    sources = "\n".join(inspect.getsource(module) for module in modules())
    imported = set(re.findall(r"^\s*(?:from|import) ([a-z_]\w*)", sources, re.MULTILINE))
    ours = {canonicalize_name(names[top][0]) for top in imported if top in names} - {"foretop"}
    declared = {canonicalize_name(one.name) for one in direct()} - {"tzdata"}
    assert declared - _OF_A_ROOM <= ours <= declared


def test_the_installed_releases_are_within_the_bounds() -> None:
    assert [one for one in direct() if not one.specifier.contains(version(one.name), prereleases=True)] == []
