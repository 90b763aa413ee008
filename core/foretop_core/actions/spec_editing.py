"""The spec of an object as text for an editor, and back."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import yaml

from foretop_core.errors import BadInput
from foretop_core.models.manifest_reader import read_documents
from foretop_core.models.wire import ObjectRef

_NOT_EDITED = ("paused",)
"""Written with notes about who and why, so it has commands of its own."""


def spec_as_text(ref: ObjectRef, spec: Mapping[str, Any]) -> str:
    """YAML with a few comments; what is not edited is left out."""
    shown = {key: value for key, value in spec.items() if key not in _NOT_EDITED}
    body = yaml.safe_dump({"spec": shown}, sort_keys=False, allow_unicode=True, width=sys.maxsize)
    where = " ".join(f"{ref} in {ref.context}".split())
    return (
        f"# {where}\n"
        "# Save and close the editor to see what would change; nothing is sent before you agree.\n"
        "# An unchanged or empty file changes nothing. Pause and unpause are commands of their own.\n"
        f"{body}"
    )


def spec_from_text(text: str, source: str, shown: Mapping[str, Any]) -> dict[str, Any] | None:
    """The edited spec, with what was left out as in `shown`; None for an empty file, BadInput names the `source`."""
    documents = read_documents(text, source)
    if not documents:
        return None
    document = documents[0]
    if len(documents) > 1 or not isinstance(document, Mapping) or set(document) != {"spec"}:
        raise BadInput(f"{source} is not valid", "it must contain spec: and nothing else beside it")
    spec = document["spec"]
    if not isinstance(spec, Mapping):
        raise BadInput(f"{source} is not valid", "spec is empty or not a mapping")
    for key in _NOT_EDITED:
        if key in spec:
            raise BadInput(f"{source} is not valid", f"spec.{key} is not edited", "use pause or unpause")
    left_out = {key: shown[key] for key in _NOT_EDITED if key in shown}
    return {**_plain(spec), **left_out}


def _plain(part: Any) -> Any:
    """JSON values without nulls; the API treats a null as absent."""
    if isinstance(part, Mapping):
        return {str(key): _plain(value) for key, value in part.items() if value is not None}
    return [_plain(value) for value in part] if isinstance(part, list) else part
