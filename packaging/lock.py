"""`make lock`: lock.txt, the exact packages that make installs, with the checksums of their wheels and no addresses.

Wheels of Python 3.11 to 3.14 for Linux and macOS are listed. What is pinned stays as it is
while it fits pyproject.toml; `make lock LOCK=--upgrade` takes the newest releases.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import Version
from pip._internal.commands import create_command
from pip._internal.index.collector import parse_links

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "lock.txt"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
PLATFORM = re.compile(r"any|(?:manylinux|musllinux).*_(?:x86_64|aarch64)|macosx_.*")
INTERPRETER = re.compile(r"py3|cp31[1-4]")
SECTIONS = {
    "foretop": "what foretop runs with",
    "build": "what it is built with",
    "dev": "the tools of its developers",
    "go": "Go, where a test needs it and the machine has none",
}
HEAD = """# Written by make lock from pyproject.toml: what make installs, with the checksums of the wheels.
# make installs the sections that it needs with pip install --require-hashes.
"""


def main() -> int:
    parser = argparse.ArgumentParser(prog="make lock", description=__doc__)
    parser.add_argument("--upgrade", action="store_true", help="take the newest releases that fit pyproject.toml")
    keeps = not parser.parse_args().upgrade
    pins = dict(re.findall(r"^([\w.-]+)==(\S+)", LOCK.read_text(), re.MULTILINE)) if keeps and LOCK.exists() else {}
    sections = _resolved(pins)
    hashes = _hashes({name: version for section in sections.values() for name, version in section.items()})
    LOCK.write_text(HEAD + "".join(_written(*one, hashes) for one in sections.items()))
    print(f"{LOCK.name}: {len(hashes)} packages, {sum(map(len, hashes.values()))} wheels")
    return 0


def _written(section: str, packages: Mapping[str, str], hashes: Mapping[str, set[str]]) -> str:
    entries = (
        f"{name}=={version} \\\n" + " \\\n".join(f"    --hash=sha256:{one}" for one in sorted(hashes[name])) + "\n"
        for name, version in sorted(packages.items())
    )
    return f"\n# {section}: {SECTIONS[section]}\n" + "".join(entries)


def _resolved(pins: dict[str, str]) -> dict[str, dict[str, str]]:
    """The packages of each section, without those of the sections before it, for all versions of Python together."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = {
        "foretop": project["project"]["dependencies"],
        "build": project["build-system"]["requires"],
        **project["dependency-groups"],
    }
    sections: dict[str, dict[str, str]] = {}
    roots: list[str] = []
    settled: dict[str, str] = {}
    for section in SECTIONS:
        roots += wanted[section]
        found: dict[str, str] = {}
        # The oldest Python decides on the releases, the others add what they alone need.
        for python in PYTHONS:
            print(f"Resolving {section} for Python {python}", flush=True)
            constraints = [f"{name}=={version}" for name, version in {**pins, **settled, **found}.items()]
            for one in _report(roots, python, constraints):
                found.setdefault(_normal(one["metadata"]["name"]), one["metadata"]["version"])
        sections[section] = {name: version for name, version in found.items() if name not in settled}
        settled |= found
    return sections


def _hashes(pins: Mapping[str, str]) -> dict[str, set[str]]:
    """The checksums of the releases' wheels, from the index that pip is configured with.

    pip has no command that tells them for other machines than this one, so its own parts are used: it is locked too.
    """
    command = create_command("download")
    options, _ = command.parse_args([])
    found: dict[str, set[str]] = {}
    with command._build_session(options) as session:
        collector = command._build_package_finder(options, session)._link_collector
        for name, version in pins.items():
            sources = collector.collect_sources(name, candidates_from_page=lambda _: ())
            pages = (collector.fetch_response(one.link) for one in sources.index_urls if one)
            links = [link for page in pages if page for link in parse_links(page)]
            found[name] = {
                link.as_hashes()._allowed["sha256"][0] for link in links if _is_wanted(link.filename, version)
            }
            if not found[name]:
                raise SystemExit(f"lock: {name} {version} has no wheel for Python {PYTHONS[0]} to {PYTHONS[-1]}")
    return found


def _is_wanted(filename: str, version: str) -> bool:
    """A wheel of the release that one of the versions of Python on Linux or macOS can use."""
    try:
        _, release, _, tags = parse_wheel_filename(filename)
    except InvalidWheelFilename:
        return False
    return release == Version(version) and any(
        (INTERPRETER.fullmatch(tag.interpreter) or tag.abi == "abi3")
        and tag.abi in ("none", "abi3", tag.interpreter)
        and PLATFORM.fullmatch(tag.platform)
        for tag in tags
    )


def _report(wanted: list[str], python: str, constraints: list[str]) -> list[dict[str, Any]]:
    """What pip would install with that Python."""
    with tempfile.TemporaryDirectory() as folder:
        pinned, report = Path(folder, "constraints.txt"), Path(folder, "report.json")
        pinned.write_text("\n".join(constraints))
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--dry-run"]
        command += ["--ignore-installed", "--only-binary=:all:", f"--python-version={python}", f"--target={folder}"]
        subprocess.run([*command, f"--report={report}", f"--constraint={pinned}", *wanted], check=True)
        return list(json.loads(report.read_text())["install"])


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    sys.exit(main())
