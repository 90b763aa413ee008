"""The options that say which clusters to look at; they are taken before and after the subcommand."""

from __future__ import annotations

import dataclasses
import functools
import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click
import msgspec

from foretop.commands.help_examples import ConnectionOption
from foretop_core.config.config_file import ConfigFile, read_config
from foretop_core.kube.connection.config import ConnectionOptions, SessionOptions

if TYPE_CHECKING:
    from foretop_core.config.settings import Settings
    from foretop_core.rules.cron_dialects.releases import GivenVersions

# Deferred imports: the rules are loaded only where a release is given, and logging only where a log is asked for.

_LOG_LEVEL = "FORETOP_LOG"
_option = functools.partial(click.option, cls=ConnectionOption)
_OPTIONS = (
    _option("--kubeconfig", metavar="FILE", help="The kubeconfig to use instead of KUBECONFIG."),
    _option("--context", "contexts", multiple=True, metavar="NAME", help="A context; may be repeated."),
    _option(
        "-n",
        "--namespace",
        "namespaces",
        multiple=True,
        metavar="NAME",
        help="Only this namespace; repeatable. The dashboard and report also show Velero's own objects.",
    ),
    _option("-A", "--all-namespaces", is_flag=True, help="All namespaces you can access (the default)."),
    _option("--velero-namespace", metavar="NAME", help="Namespace of Velero, instead of searching for it."),
    _option(
        "--velero-version",
        "velero_versions",
        multiple=True,
        metavar="[CONTEXT[/NAMESPACE]=]VERSION",
        help="Velero release, instead of detecting it: it decides how schedules are read; repeatable.",
    ),
    _option("--as", "as_user", metavar="USER", help="Act as this user."),
    _option("--as-group", "as_groups", multiple=True, metavar="GROUP", help="Act as this group; repeatable."),
    _option("--cluster", "kube_cluster", metavar="NAME", help="The cluster entry of the kubeconfig to use."),
    _option("--user", "kube_user", metavar="NAME", help="The user entry of the kubeconfig to use."),
    _option("-s", "--server", "kube_server", metavar="URL", help="The address of the API server."),
    _option("--token", "kube_token", metavar="TOKEN", help="The bearer token for the API server."),
    _option("--certificate-authority", metavar="FILE", help="The certificate authority of the API server."),
    _option("--insecure-skip-tls-verify", is_flag=True, help="Do not verify the server's certificate."),
    _option("--request-timeout", metavar="DURATION", help="The limit for one request, such as 10s; 0 for none."),
    _option("--read-only", is_flag=True, help="Never write to the cluster (also FORETOP_READ_ONLY=1)."),
    _option(
        "--log-file", metavar="PATH", help=f"Log to this file, for support ({_LOG_LEVEL}: debug, info, warning, error)."
    ),
)
_CONNECT = {
    "kubeconfig": "kubeconfig",
    "as_user": "as_user",
    "as_groups": "as_groups",
    "kube_cluster": "cluster",
    "kube_user": "user",
    "kube_server": "server",
    "kube_token": "token",
    "certificate_authority": "certificate_authority",
    "insecure_skip_tls_verify": "insecure_skip_tls_verify",
}
"""By the name of an option, the field of the connection that it gives."""
_NAMES = (
    *_CONNECT,
    "contexts",
    "namespaces",
    "all_namespaces",
    "velero_namespace",
    "velero_versions",
    "request_timeout",
    "read_only",
)
_ELSEWHERE = ("kubeconfig", "kube_cluster", "kube_user", "kube_server")
"""Options that lead to another place than the contexts of the configuration file."""
_CONFIG, _LOG = "foretop.config", "foretop.log"


def connection_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options to a command, which gets `session_options`: those given before it, and its own over them."""

    @functools.wraps(command)
    def with_session_options(*arguments: Any, **options: Any) -> Any:
        session_flags = {name: options.pop(name, None) for name in _NAMES}
        context = click.get_current_context()
        _begin_log(context, options.pop("log_file", None))
        merged = _merge(session_options_of(context), session_flags, config_of(context).settings)
        return command(*arguments, session_options=merged, **options)

    for option in reversed(_OPTIONS):
        with_session_options = option(with_session_options)
    return with_session_options


def from_files(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds -f to a command that reads: archives in the place of clusters. It stands below `connection_options`."""

    @functools.wraps(command)
    def with_files(*arguments: Any, files: tuple[str, ...], session_options: SessionOptions, **options: Any) -> Any:
        files = files or session_options.files
        return command(*arguments, session_options=msgspec.structs.replace(session_options, files=files), **options)

    return click.option(
        "-f",
        "--file",
        "files",
        multiple=True,
        metavar="PATH",
        help="Read this instead of a cluster: a debug bundle, a must-gather, YAML or JSON, as of its time; repeatable.",
    )(with_files)


def _begin_log(context: click.Context, path: str | None) -> None:
    """Once for a command line, where a file or a level is given; a file after the subcommand takes the place."""
    if not path and (_LOG in context.meta or not os.environ.get(_LOG_LEVEL)):
        return
    from foretop.commands.support_log import start_log

    context.meta.pop(_LOG, lambda: None)()
    stop = context.meta[_LOG] = start_log(path, os.environ)
    context.find_root().call_on_close(stop)


def without_option(command: Callable[..., Any], name: str) -> None:
    """Takes an option from a command that has another of the same name; before the subcommand it is still taken."""
    params: list[click.Parameter] = getattr(command, "__click_params__", [])
    params[:] = [param for param in params if param.name != name]


def config_of(context: click.Context) -> ConfigFile:
    """The user's configuration, read once for a command line."""
    file: ConfigFile | None = context.meta.get(_CONFIG)
    if file is None:
        file = context.meta[_CONFIG] = read_config(os.environ)
    return file


def session_options_of(context: click.Context) -> SessionOptions:
    """The options given so far; where there are none, those of the configuration file and the environment."""
    options = context.find_object(SessionOptions)
    if options is not None:
        return options
    settings = config_of(context).settings
    return SessionOptions(
        ConnectionOptions(contexts=settings.expanded(settings.default_contexts)),
        settings.namespaces,
        settings.read_only,
        settings.velero_namespace,
        velero_versions=_configured_versions(settings),
        thresholds=settings.thresholds,
        keeps_last_hour=settings.keep_last_hour,
        window=settings.window,
        time_zone=settings.time_zone,
    )


def _merge(before: SessionOptions, given: dict[str, Any], settings: Settings) -> SessionOptions:
    elsewhere = any(given[name] for name in _ELSEWHERE)
    usual = before.connect.contexts == settings.expanded(settings.default_contexts)
    contexts = settings.expanded(given["contexts"]) or (() if elsewhere and usual else before.connect.contexts)
    flags = {name: given[flag] for flag, name in _CONNECT.items() if given[flag]}
    if (seconds := _seconds(given["request_timeout"])) is not None:
        flags["request_timeout"] = seconds
    connect = dataclasses.replace(before.connect, contexts=contexts, **flags)
    if connect.certificate_authority and connect.insecure_skip_tls_verify:
        raise click.UsageError("give --certificate-authority or --insecure-skip-tls-verify, not both")
    namespaces = () if given["all_namespaces"] else given["namespaces"] or before.namespaces
    velero = given["velero_namespace"] or before.velero_namespace
    versions = _versions(given["velero_versions"], before.velero_versions)
    return msgspec.structs.replace(
        before,
        connect=connect,
        namespaces=namespaces,
        read_only=before.read_only or given["read_only"],
        velero_namespace=velero,
        velero_versions=versions,
    )


def _seconds(text: str | None) -> float | None:
    """As kubectl reads it: a duration, or a number of seconds; 0 leaves the limits as they are."""
    if not text:
        return None
    match = re.fullmatch(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?", text)
    if text.isdigit():
        return float(text) or None
    if match is None:
        raise click.UsageError(f"--request-timeout {text!r} is not a duration such as 10s, 2m or 1h")
    hours, minutes, seconds = (float(part or 0) for part in match.groups())
    return hours * 3600 + minutes * 60 + seconds or None


def _versions(texts: tuple[str, ...], before: GivenVersions | None) -> GivenVersions | None:
    """Loaded with the first one given: what knows of releases brings the whole of cron, for which no screen waits."""
    if not texts:
        return before
    from foretop_core.rules.cron_dialects.releases import GivenVersions

    return msgspec.structs.replace(GivenVersions.read(texts), defaults=before.defaults if before else {})


def _configured_versions(settings: Settings) -> GivenVersions | None:
    versions = {
        name: context_settings.velero_version
        for name, context_settings in settings.contexts.items()
        if context_settings.velero_version
    }
    if settings.velero_version:
        versions[""] = settings.velero_version
    if not versions:
        return None
    # As above: only where a version is configured.
    from foretop_core.rules.cron_dialects.releases import GivenVersions

    return GivenVersions({}, GivenVersions.read(f"{name}={version}" for name, version in versions.items()).versions)
