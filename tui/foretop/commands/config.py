"""`foretop config`: the configuration file, and what is in effect."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import click
import msgspec
from click.core import ParameterSource

from foretop.commands.connection import config_of
from foretop.commands.display_flags import display_flags_of
from foretop.commands.output import emit, output_option, say, table
from foretop_core.config.config_file import config_path
from foretop_core.config.effective import EffectiveSetting, effective_settings
from foretop_core.config.live_config import with_flags
from foretop_core.config.settings import Settings
from foretop_core.config.template import TEMPLATE
from foretop_core.errors import ForetopError
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
    if form == "text":
        say(f"# {config.path}{'' if config.exists else ' (does not exist)'}")
        table(["SETTING", "VALUE", "FROM"], [[one.name, _text(one.value), one.origin] for one in found], "")
    else:
        emit({"path": str(config.path), "settings": [_item(one) for one in found]}, form)
    return 1 if config.mistakes else 0


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
