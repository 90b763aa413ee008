"""Words for the shell's tab key, from a table that is kept ready: a shell waits for nobody's imports.

The table is written by `python -m tests.write_tables`, and a test holds it to the commands.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from foretop_core.own_files import read_own_file

# Deferred imports: completion answers within 0.3 s, so it loads the least that a word needs.

TABLE = Path(__file__).with_name("completion.json")
REFRESH = "__complete-refresh"
_ANYTHING, _NO_FILES = 0, 4
"""What stands after the words, as kubectl's plugins say it: whether file names fit as well."""
_FRESH, _KEPT = 10.0, 600.0
"""Names are asked for anew after ten seconds, behind the shell's back; those of the last ten minutes still serve."""
_LONGEST_CACHE = 2**24
_NAME = re.compile(r"([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?/)?[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
"""A valid name of Kubernetes, with or without its namespace: a shell reads nothing in it as its own."""
PATIENCE = "FORETOP_COMPLETION_SECONDS"
"""How long a shell waits for the names of a cluster that was not asked yet, 3 unless it is set."""
_CONNECTION = {
    "--kubeconfig",
    "--context",
    "--namespace",
    "-n",
    "--cluster",
    "--user",
    "--server",
    "-s",
    "--token",
    "--as",
}


def complete(words: Sequence[str], environ: Mapping[str, str] = os.environ) -> int:
    """Prints what can stand in the place of the last word; nothing that goes wrong here is told."""
    *before, incomplete = words or ("",)
    directive = _ANYTHING
    with suppress(Exception):
        choices, directive = completions(before, incomplete, environ)
        for word, about in choices:
            print(f"{word}\t{about}" if about else word)
    print(f":{directive}")
    return 0


def completions(
    before: Sequence[str], incomplete: str, environ: Mapping[str, str]
) -> tuple[list[tuple[str, str]], int]:
    table: dict[str, Any] = json.loads(TABLE.read_text(encoding="utf-8"))
    path, values, pending, arguments = _walk(table, before)
    command = table["commands"][path]
    options = {word: table["options"][number] for word, number in command["options"].items()}
    if pending is None and incomplete.startswith("--") and "=" in incomplete:
        name, _, rest = incomplete.partition("=")
        choices, directive = _values(options.get(name, {}).get("value"), rest, values, arguments, environ)
        return [(f"{name}={word}", about) for word, about in choices], directive
    if pending is not None:
        return _values(pending, incomplete, values, arguments, environ)
    if incomplete.startswith("-"):
        return _starting([(word, spec["help"]) for word, spec in options.items()], incomplete), _NO_FILES
    if command["commands"]:
        return _starting(command["commands"].items(), incomplete), _NO_FILES
    kinds = command["arguments"]
    kind = kinds[min(len(arguments), len(kinds) - 1)] if kinds else ""
    if not kinds or (len(arguments) >= len(kinds) and not command["repeats"]):
        return [], _NO_FILES
    return _values(kind, incomplete, values, arguments, environ)


def _walk(table: Mapping[str, Any], words: Sequence[str]) -> tuple[str, dict[str, list[str]], Any, list[str]]:
    """The command reached, the options given, the option that still wants a value, and the arguments."""
    path, pending, pending_name = "", None, ""
    values: dict[str, list[str]] = {}
    arguments: list[str] = []
    for word in words:
        command = table["commands"][path]
        if pending is not None:
            values.setdefault(pending_name, []).append(word)
            pending = None
        elif word.startswith("-") and word != "-":
            name, equals, value = word.partition("=")
            number = command["options"].get(name)
            spec = table["options"][number] if number is not None else {"value": None}
            if equals:
                values.setdefault(name, []).append(value)
            elif spec["value"] is not None:
                pending, pending_name = spec["value"], name
        elif word in command["commands"]:
            path = f"{path} {word}".strip()
        else:
            arguments.append(word)
    return path, values, pending, arguments


def _values(
    kind: Any, incomplete: str, given: Mapping[str, list[str]], arguments: Sequence[str], environ: Mapping[str, str]
) -> tuple[list[tuple[str, str]], int]:
    if isinstance(kind, list):
        return _starting([(word, "") for word in kind], incomplete), _NO_FILES
    if kind == "file":
        return [], _ANYTHING
    if kind in ("context", "cluster", "user"):
        return _starting([(name, "") for name in _entries(kind, given, environ)], incomplete), _NO_FILES
    name = str(kind or "")
    if name == "object:?":
        name = f"object:{arguments[0]}" if arguments else ""
    if name == "namespace" or name.startswith("object:"):
        return _starting([(name, "") for name in _names(name, given, environ)], incomplete), _NO_FILES
    return [], _NO_FILES


def _starting(words: Iterable[tuple[str, str]], incomplete: str) -> list[tuple[str, str]]:
    return [(word, about) for word, about in words if word.startswith(incomplete)]


def _entries(kind: str, given: Mapping[str, list[str]], environ: Mapping[str, str]) -> list[str]:
    from foretop_core.kube.connection.config import ConnectionOptions
    from foretop_core.kube.connection.kubeconfig import read_kubeconfig

    files = read_kubeconfig(ConnectionOptions(kubeconfig=given.get("--kubeconfig", [""])[-1]), environ)
    entries = {"context": files.contexts, "cluster": files.clusters, "user": files.users}[kind]
    # A line break would be another word, and the rest could move the cursor; the shell's script quotes what remains.
    return sorted(name for name in entries if name.isprintable())


def _names(kind: str, given: Mapping[str, list[str]], environ: Mapping[str, str]) -> list[str]:
    """From the cache at once where it is not too old; a cold one is waited for, once."""
    connection = {name: values for name, values in given.items() if name in _CONNECTION}
    if kind == "namespace":
        connection = {name: values for name, values in connection.items() if name not in ("-n", "--namespace")}
    import subprocess  # imported here: words and contexts do not wait for it

    path = _cache_file(kind, connection, environ)
    age = time.time() - path.stat().st_mtime if path.exists() else _KEPT + 1
    # A clock that was ahead when it was written would have it be fresh for ever.
    age = age if age >= 0 else _KEPT + 1
    if age > _FRESH:
        asked = [word for name, values in connection.items() for value in values for word in (name, value)]
        # -P: the current folder may be anybody's, and must not be where foretop is imported from.
        command = [sys.executable, "-P", "-m", "foretop", REFRESH, str(path), kind, *asked]
        nothing = subprocess.DEVNULL
        running = subprocess.Popen(
            command, stdin=nothing, stdout=nothing, stderr=nothing, env=dict(environ), start_new_session=True
        )
        if age > _KEPT:
            with suppress(subprocess.TimeoutExpired):
                running.wait(float(environ.get(PATIENCE, "3")))
    names: list[str] = json.loads(read_own_file(path, _LONGEST_CACHE))
    return [name for name in names if _NAME.fullmatch(name)]


def _cache_file(kind: str, connection: Mapping[str, list[str]], environ: Mapping[str, str]) -> Path:
    """One file for each question; what was asked with is in its name only as a hash."""
    from hashlib import sha256  # imported here for the same reason

    root = environ.get("XDG_CACHE_HOME") or str(Path(environ.get("HOME", "/")) / ".cache")
    asked = json.dumps([kind, sorted(connection.items()), environ.get("KUBECONFIG", "")])
    return Path(root) / "foretop" / "completion" / f"{sha256(asked.encode()).hexdigest()[:24]}.json"
