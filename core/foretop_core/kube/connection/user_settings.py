"""The person's own configuration: which contexts are never written to."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
import yaml

from foretop_core.errors import BadInput
from foretop_core.yaml_guard import check_yaml


class _Context(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    read_only: bool = False


class _Settings(msgspec.Struct):
    contexts: dict[str, _Context] = msgspec.field(default_factory=dict)


def settings_path(environ: Mapping[str, str]) -> Path:
    given = environ.get("XDG_CONFIG_HOME", "")
    base = Path(given) if given.startswith("/") else Path(environ.get("HOME", "/")) / ".config"
    return base / "foretop" / "config.yaml"


def read_only_contexts(environ: Mapping[str, str]) -> frozenset[str]:
    """A file that cannot be read is an error: somebody wanted to be protected by it."""
    path = settings_path(environ)
    try:
        text = path.read_text(encoding="utf-8")
        check_yaml(text, yaml.SafeLoader)
        value = yaml.safe_load(text)
        known = msgspec.convert(value if value is not None else {}, _Settings)
    except (FileNotFoundError, NotADirectoryError):
        return frozenset()
    except (OSError, UnicodeDecodeError, yaml.YAMLError, msgspec.ValidationError) as problem:
        why = " ".join(str(problem).split())
        raise BadInput(f"{path} cannot be used", why, "it holds contexts: {name: {readOnly: true}}") from None
    return frozenset(name for name, context in known.contexts.items() if context.read_only)
