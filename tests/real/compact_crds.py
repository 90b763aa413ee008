"""Turns a folder of CustomResourceDefinitions into the minicluster's compact table of kinds.

Run as: python -m tests.real.compact_crds FOLDER > core/foretop_core/minicluster/data/crds.json
Descriptions are left out; what affects validation (types, enums, patterns, defaults, printer columns) is kept.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import yaml

PROSE = {"description", "example", "externalDocs", "title"}


def compact_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """One node of an OpenAPI schema without its descriptions."""
    small: dict[str, Any] = {}
    for key, value in schema.items():
        if key in PROSE:
            continue
        if key == "properties":
            small[key] = {name: compact_schema(child) for name, child in value.items()}
        elif key in ("items", "additionalProperties") and isinstance(value, dict):
            small[key] = compact_schema(value)
        else:
            small[key] = value
    return small


def compact_crd(crd: dict[str, Any]) -> dict[str, Any]:
    """The table's entry for one definition, from its storage version."""
    spec = crd["spec"]
    version = next(each for each in spec["versions"] if each["storage"])
    columns = version.get("additionalPrinterColumns", [])
    return {
        "group": spec["group"],
        "version": version["name"],
        "kind": spec["names"]["kind"],
        "plural": spec["names"]["plural"],
        "singular": spec["names"]["singular"],
        "short_names": spec["names"].get("shortNames", []),
        "status_subresource": "status" in (version.get("subresources") or {}),
        "columns": [{key: column[key] for key in column if key != "description"} for column in columns],
        "schema": compact_schema(version["schema"]["openAPIV3Schema"]),
    }


def main(folder: str) -> None:
    entries = [compact_crd(yaml.safe_load(path.read_text())) for path in sorted(Path(folder).glob("*.yaml"))]
    lines = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in entries)
    sys.stdout.write(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main(sys.argv[1])
