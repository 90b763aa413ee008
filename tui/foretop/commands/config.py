"""`foretop config`: the configuration file, and what is in effect."""

from __future__ import annotations

import json
import os
import textwrap
from collections.abc import Collection, Iterator
from datetime import timedelta
from typing import Any

import click
import msgspec
from click.core import ParameterSource

from foretop.commands.connection import config_of, session_options_of
from foretop.commands.help_examples import CommandGroup, example, exit_codes_text
from foretop.commands.output import emit, output_option, say, table
from foretop.commands.start_dashboard import display_flags_of
from foretop_core.config.config_file import ConfigFile, config_path
from foretop_core.config.live_config import with_flags
from foretop_core.config.protection import NO_PROTECTION, Protection
from foretop_core.config.settings import VARIABLES, Settings
from foretop_core.config.thresholds_from_settings import duration_text, thresholds_of
from foretop_core.errors import ForetopError
from foretop_core.kube.connection.client_factory import known_protections
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.own_files import create_file
from foretop_core.pages import PAGES, TABS

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


@click.group("config", cls=CommandGroup, epilog=exit_codes_text("config"))
def command() -> None:
    """Show, write and explain the configuration file."""


@command.command("path", epilog=example("foretop config path"))
def path() -> int:
    """Print where the configuration file is, or would be."""
    say(str(config_path(os.environ)))
    return 0


@command.command("init", epilog=example("foretop config init"))
def init() -> int:
    """Write a commented configuration file; an existing one is never changed."""
    where = config_path(os.environ)
    try:
        where.parent.mkdir(parents=True, exist_ok=True)
        with create_file(where) as file:
            file.write(TEMPLATE)
    except FileExistsError:
        raise ForetopError(f"{where} exists already", hint="foretop config show prints what is in effect") from None
    except OSError as problem:
        raise ForetopError(f"{where} cannot be written", (problem.strerror or "").lower()) from None
    say(f"Written: {where}")
    return 0


@command.command("schema", epilog=example("foretop config schema > foretop.schema.json"))
def schema() -> int:
    """Print the JSON schema of the configuration file, for editors."""
    click.echo(json.dumps(msgspec.json.schema(Settings), indent=2))
    return 0


@command.command("show", epilog=example("foretop config show"))
@output_option
@click.pass_context
def show(ctx: click.Context, form: str) -> int:
    """Print every setting in effect, and where it comes from."""
    config = config_of(ctx)
    flags = dict(_given(ctx.find_root()))
    settings = with_flags(config.settings, flags)
    names = {field.name: field.encode_name for field in msgspec.structs.fields(Settings)}
    effective = list(effective_settings(config, settings, {names.get(name, name) for name in flags}))
    protected = _protected(ctx)
    if form == "text":
        say(f"# {config.path}{'' if config.exists else ' (does not exist)'}")
        rows = [[setting.name, _text(setting.value), setting.origin] for setting in effective]
        table(["SETTING", "VALUE", "FROM"], rows, "")
        if protected:
            say()
            rows = [
                [
                    name,
                    "refused" if protection.read_only else f"after typing {protection.name}",
                    protection.read_only or protection.production,
                ]
                for name, protection in protected.items()
            ]
            table(["CONTEXT", "WRITES", "BECAUSE"], rows, "")
    else:
        settings_found = [
            {"name": setting.name, "value": setting.value, "from": setting.origin} for setting in effective
        ]
        contexts = [
            {
                "context": name,
                "readOnly": protection.read_only or None,
                "production": protection.production or None,
                "confirm": protection.name or None,
            }
            for name, protection in protected.items()
        ]
        emit({"path": str(config.path), "settings": settings_found, "protection": contexts}, form)
    return 1 if config.mistakes else 0


def _protected(ctx: click.Context) -> dict[str, Protection]:
    """The contexts of the kubeconfig that may not be written to, or not without a name; no cluster is asked."""
    options = session_options_of(ctx)
    try:
        protections = known_protections(options.connect, os.environ, options.read_only)
    except ForetopError:
        return {}
    return {name: protection for name, protection in protections.items() if protection != NO_PROTECTION}


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
        return ", ".join(f"{name}={_text(entry)}" for name, entry in value.items()) or "-"
    return str(value) or "-"


class EffectiveSetting(msgspec.Struct, frozen=True):
    """`origin` is a flag, a variable of the environment, a line of the file, or the default."""

    name: str
    value: Any
    origin: str


def effective_settings(config: ConfigFile, settings: Settings, flags: Collection[str]) -> Iterator[EffectiveSetting]:
    """`settings` are those of the config with the flags over them; `flags` names the settings that flags give."""
    for field in msgspec.structs.fields(Settings):
        value = getattr(settings, field.name)
        if field.name == "thresholds":
            limits = thresholds_of(value)
            names = {part.name: part.encode_name for part in msgspec.structs.fields(value)}
            for name, key in names.items():
                limit = getattr(limits, name)
                yield _setting(config, flags, (field.encode_name, key), _shown(limit))
        elif isinstance(value, msgspec.Struct):
            for part in msgspec.structs.fields(value):
                yield _setting(config, flags, (field.encode_name, part.encode_name), _shown(getattr(value, part.name)))
        elif isinstance(value, dict):
            for name, inner in value.items():
                yield _setting(config, flags, (field.encode_name, name), _shown(inner))
        else:
            yield _setting(config, flags, (field.encode_name,), _shown(value))


def _setting(config: ConfigFile, flags: Collection[str], path: tuple[str, ...], value: Any) -> EffectiveSetting:
    return EffectiveSetting(".".join(path), value, _origin(config, flags, path))


def _origin(config: ConfigFile, flags: Collection[str], path: tuple[str, ...]) -> str:
    if path[0] in flags or ".".join(path) in flags:
        return "flag"
    if path[0] in config.from_environment:
        return VARIABLES[path[0]]
    return f"line {config.lines[path]}" if path in config.lines else "default"


def _shown(value: Any) -> Any:
    return duration_text(value) if isinstance(value, timedelta) else msgspec.to_builtins(value)


_PAGES = textwrap.fill(f"The page to start on: {', '.join(PAGES)}.", 118, initial_indent="# ", subsequent_indent="# ")
_TABS = ", ".join(tab.id for tab in TABS)
TEMPLATE = f"""\
# Configuration of foretop. Remove the # before a setting to use it.
# Flags go over the environment, which goes over this file; neither allows a write that this file refuses.
# A running dashboard takes changes up by itself. With a mistake in this file every context is read-only.
# foretop config show   prints what is in effect and where it comes from.

{_PAGES}
#page: triage

# The pages that have a tab, up to nine, in the order of their digits; all others are reached by a command (:storage).
#tabs: [{_TABS}]

# What to connect to when no --context is given: names of contexts or groups.
#defaultContexts: [prod]

# Names for several contexts: foretop --context prod opens both.
#groups:
#  prod: [prod-eu, prod-us]

# By context: readOnly refuses every write; production asks for the name of the context before a write. Both protect
# the cluster, by whatever name it is reached; clusterUid tells it for certain, and foretop doctor prints it.
# veleroVersion is the release to assume where it cannot be detected.
#contexts:
#  prod-eu: {{production: true, clusterUid: 0b6c1f1e-7f0e-4c5d-9a51-6f4f2f6d2a10}}
#  prod-us: {{readOnly: true, veleroVersion: 1.16.2}}

# Refuse every write in every context.
#readOnly: false

# Only these namespaces, as -n does.
#namespaces: [team-pay]

# Velero: its namespace and release, instead of searching for them.
#veleroNamespace: velero
#veleroVersion: 1.18.3

# UTC, local, expression (that of each cron expression), or a name such as Europe/Berlin.
#timeZone: UTC

# When shifts end, in this time zone: a finding can be acknowledged until then.
#shiftEnds: ['06:00', '14:00', '22:00']

# A stretch of the day that backups should keep free, in this time zone: triage, the calendar and foretop forecast
# tell what would be at work in it.
#window: 06:00-07:30

# How many minutes before a run it warms up, where nobody has typed another number.
#warmUpMinutes: 10

# A Prometheus, Thanos or Mimir with the metrics of foretop exporter: the page fleet shows its clusters too.
#prometheus: {{url: https://thanos.example, tokenFile: /etc/foretop/token, caFile: /etc/foretop/ca.pem}}

# The mouse; it disables the terminal's own selection.
#mouse: false

# What changed in the last hour is kept in memory: up to 5000 changes, which :changes shows.
#keepLastHour: true

# terminal (its own sixteen colours), dark, light, high-contrast, colour-blind, or a skin from below.
#theme: terminal

# Your own themes: colours for foreground, background, border, dim, bright, faint, raised, good, running, waiting,
# paused, warn, bad. What a skin leaves out is taken from dark; bright (focus), faint (tracks of bars) and raised (the
# row under the cursor) are derived from its foreground and background.
#skins:
#  midnight: {{background: '#10141c', foreground: '#d0d0d0', bad: '#ff5f5f', warn: '#ffd75f'}}

# When triage reports something; these are the defaults.
#thresholds:
#  overdue: 2m
#  forgottenPause: 1d
#  nothingMoved: 15m
#  movementWaiting: 15m
#  readyToStart: 2m
#  queueIdle: 2m
#  deleting: 10m
#  expired: 2h
#  notSyncedPeriods: 5
#  recentFailure: 1d
#  recentRestart: 1h
#  storageRequest: 10m
#  positionOff: 10s
#  expiringSoon: 1d
#  gap: 30m
#  mostCollisions: 5
#  fewestPaused: 3
#  ignoredNamespaces: []   # patterns of namespaces that need no backup, as kube-* and openshift-* do not
#  everyVolume: false      # true: a volume that a policy, a label or an annotation leaves out is missed too
#  comesAfter: 5s
#  goesAfter: 20s

# By page: the columns in their order, and the column to sort by.
#pages:
#  backups: {{columns: [name, phase, started, took], sort: started, reverse: true}}

# By action: another key. The palette (:) lists the names of the actions.
#keys:
#  copy-name: ctrl+y

# How the terminal reports a new finding of at least this severity (error, warning or note):
# the bell, a desktop notification (osc9 or osc777), and the number of findings in the window title.
#notify:
#  severity: error
#  bell: false
#  desktop: osc777
#  title: false
"""
