"""An object as YAML, with what is long and seldom wanted folded into one line each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import yaml
from msgspec import to_builtins

from foretop.widgets.paragraphs import Paragraph, paragraph, span
from foretop_core.models.kinds import by_name
from foretop_core.models.wire import LAST_APPLIED, ObjectRef, Resource
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.text.terminal_text import LONGEST


def read_part(key: ObjectRef, resource: Resource) -> Mapping[str, Any]:
    """The part of the object that foretop has read."""
    kind = by_name(key.kind)
    head = {"apiVersion": kind.api_version, "kind": kind.name} if kind else {}
    return {**head, **to_builtins(resource)}


def as_yaml(plain: Mapping[str, Any], *, whole: bool, folded: bool) -> Sequence[Paragraph]:
    parts = "The whole object" if whole else "The fields that foretop reads"
    how = "status and managedFields are folded, space unfolds them" if folded else "space folds it"
    lines = [line for name, value in _without_manifest(plain).items() for line in _field(name, value, folded)]
    return [paragraph(f"{parts}; {how}.", Tone.DIM), *(_line(line) for line in lines)]


def _without_manifest(plain: Mapping[str, Any]) -> Mapping[str, Any]:
    """The object without the text of kubectl's copy of its manifest, which may hold what its author took out since."""
    meta = plain.get("metadata")
    notes = meta.get("annotations") if isinstance(meta, Mapping) else None
    if not isinstance(meta, Mapping) or not isinstance(notes, Mapping) or LAST_APPLIED not in notes:
        return plain
    told = f"… {len(str(notes[LAST_APPLIED])):,} characters, not shown"
    return {**plain, "metadata": {**meta, "annotations": {**notes, LAST_APPLIED: told}}}


def _field(name: str, value: Any, folded: bool) -> list[str]:
    if folded and name == "status":
        return _folded(name, value, "")
    if folded and name == "metadata" and isinstance(value, Mapping) and "managedFields" in value:
        rest = {key: held for key, held in value.items() if key != "managedFields"}
        return [*_dumped({name: rest}), *_folded("managedFields", value["managedFields"], "  ")]
    return _dumped({name: value})


def _folded(name: str, value: Any, indent: str) -> list[str]:
    return [f"{indent}{name}: … {len(_dumped(value))} lines"] if value else []


def _dumped(value: Any) -> list[str]:
    return yaml.safe_dump(_bounded(value), sort_keys=False, allow_unicode=True, width=1000).splitlines()


def _bounded(value: Any) -> Any:
    """With no more of a long text than is shown, for writing it as YAML takes time."""
    match value:
        case str() if len(value) > LONGEST:
            return f"{value[:LONGEST]}… ({len(value) - LONGEST:,} more characters)"
        case Mapping():
            return {key: _bounded(held) for key, held in value.items()}
        case list() | tuple():
            return [_bounded(held) for held in value]
        case _:
            return value


def _line(text: str) -> Paragraph:
    return Paragraph((span(text),), indent=len(text) - len(text.lstrip(" ")) + 2)
