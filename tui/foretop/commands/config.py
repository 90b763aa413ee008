"""`foretop config`: the configuration file, and what is in effect."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import click
import msgspec
from click.core import ParameterSource

from foretop.commands.connection import config_of, session_options_of
from foretop.commands.output import emit, output_option, say, table
from foretop.commands.start_dashboard import display_flags_of
from foretop_core.config.config_file import config_path
from foretop_core.config.effective import EffectiveSetting, effective_settings
from foretop_core.config.live_config import with_flags
from foretop_core.config.protection import NO_PROTECTION, Protection
from foretop_core.config.settings import Settings
from foretop_core.config.template import TEMPLATE
from foretop_core.errors import ForetopError
from foretop_core.kube.connection.client_factory import known_protections
from foretop_core.kube.connection.config import SessionOptions

_FLAGS = {
    "contexts": "default_contexts",
    "namespaces": "namespaces",
    "velero_namespace": "velero_namespace",
    "velero_versions": "velero_version",
    "read_only": "read_only",
    "mouse": "mouse",
    "page": "page",
    "theme": "theme",
    "bell": "notify.bell",
    "title": "notify.title",
    "desktop": "notify.desktop",
}
"""By the name of an option, the setting that it goes over."""


@click.group("config")
def command() -> None:
    """Show, write and explain the configuration file."""


@command.command("path")
def path() -> int:
    """Print where the configuration file is, or would be."""
    say(str(config_path(os.environ)))
    return 0


@command.command("init")
def init() -> int:
    """Write a commented configuration file; an existing one is never changed."""
    where = config_path(os.environ)
    try:
        where.parent.mkdir(parents=True, exist_ok=True)
        with where.open("x", encoding="utf-8") as file:
            file.write(TEMPLATE)
    except FileExistsError:
        raise ForetopError(f"{where} exists already", hint="foretop config show prints what is in effect") from None
    except OSError as problem:
        raise ForetopError(f"{where} cannot be written", (problem.strerror or "").lower()) from None
    say(f"Written: {where}")
    return 0


@command.command("schema")
def schema() -> int:
    """Print the JSON schema of the configuration file, for editors."""
    click.echo(json.dumps(msgspec.json.schema(Settings), indent=2))
    return 0


@command.command("show")
@output_option
@click.pass_context
def show(ctx: click.Context, form: str) -> int:
    """Print every setting in effect, and where it comes from."""
    config = config_of(ctx)
    given = dict(_given(ctx.find_root()))
    settings = with_flags(config.settings, given)
    names = {one.name: one.encode_name for one in msgspec.structs.fields(Settings)}
    found = list(effective_settings(config, settings, {names.get(name, name) for name in given}))
    protected = _protected(ctx)
    if form == "text":
        say(f"# {config.path}{'' if config.exists else ' (does not exist)'}")
        table(["SETTING", "VALUE", "FROM"], [[one.name, _text(one.value), one.origin] for one in found], "")
        if protected:
            say()
            rows = [[name, _writes(one), one.read_only or one.production] for name, one in protected.items()]
            table(["CONTEXT", "WRITES", "BECAUSE"], rows, "")
    else:
        settings_found = [_item(one) for one in found]
        contexts = [_protection_item(name, one) for name, one in protected.items()]
        emit({"path": str(config.path), "settings": settings_found, "protection": contexts}, form)
    return 1 if config.mistakes else 0


def _protected(ctx: click.Context) -> dict[str, Protection]:
    """The contexts of the kubeconfig that may not be written to, or not without a name; no cluster is asked."""
    options = session_options_of(ctx)
    try:
        found = known_protections(options.connect, os.environ, options.read_only)
    except ForetopError:
        return {}
    return {name: one for name, one in found.items() if one != NO_PROTECTION}


def _writes(protection: Protection) -> str:
    return "refused" if protection.read_only else f"after typing {protection.name}"


def _protection_item(name: str, protection: Protection) -> dict[str, Any]:
    return {
        "context": name,
        "readOnly": protection.read_only or None,
        "production": protection.production or None,
        "confirm": protection.name or None,
    }


def _given(root: click.Context) -> Iterator[tuple[str, Any]]:
    """The settings that flags give, with their values."""
    options, display = root.find_object(SessionOptions), display_flags_of(root)
    values = {
        "default_contexts": options.connect.contexts if options else (),
        "namespaces": options.namespaces if options else (),
        "velero_namespace": options.velero_namespace if options else "",
        "velero_version": ", ".join(root.params.get("velero_versions") or ()),
        "read_only": True,
        "mouse": True,
        "page": display.page,
        "theme": display.theme,
        "notify.bell": True,
        "notify.title": True,
        "notify.desktop": display.desktop,
    }
    for option, name in _FLAGS.items():
        if root.get_parameter_source(option) is ParameterSource.COMMANDLINE:
            yield name, values[name]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "-"
    if isinstance(value, dict):
        return ", ".join(f"{name}={_text(one)}" for name, one in value.items()) or "-"
    return str(value) or "-"


def _item(setting: EffectiveSetting) -> dict[str, Any]:
    return {"name": setting.name, "value": setting.value, "from": setting.origin}
