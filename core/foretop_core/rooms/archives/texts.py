"""The logs and descriptions of an archive: which one is of which run, and what a description tells."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

import msgspec

from foretop_core.actions.planners.downloads import RunFile
from foretop_core.models.kinds import VELERO_DEPLOYMENT

_RESULTS = {"Errors": "errors", "Warnings": "warnings"}
_HEAD = re.compile(r"(  |    )(\S[^:]*):\s*(.*)")
_OUTER = 2
_LIST = "Resource List"
_NONE = "<none>"


def log_name(texts: Sequence[str], kind: str, name: str, *, is_log: bool) -> str:
    """The log or description of a backup or restore, as velero debug and a must-gather name them; "" for none."""
    usual = (f"{kind}_{name}.log",) if is_log else (f"{kind}_describe_{name}.txt",)
    beside = f"{name}.log" if is_log else f"describe-{name}.txt"
    for text in texts:
        folder, _, last = text.rpartition("/")
        if last in usual or (last == beside and folder.endswith(f"{kind}s")):
            return text
    return ""


def pod_log_name(texts: Sequence[str], namespace: str, pod: str, container: str, *, previous: bool) -> str:
    """The log of a container, as velero debug and a must-gather name them; "" for none."""
    ends = ("/logs/previous.log",) if previous else ("/logs/current.log", f"/{container}.log" if container else ".log")
    for text in texts:
        parts = text.split("/")
        is_mine = namespace in parts and pod in parts and (not container or container in parts)
        if is_mine and text.endswith(ends) and (previous or not text.endswith("/logs/previous.log")):
            return text
    return ""


def velero_pods(texts: Sequence[str], namespace: str) -> list[str]:
    """The pods of a server by their logs: velero debug sends those, and not the pods."""
    parted = [text.split("/") for text in texts]
    places = [(parts, parts.index(namespace)) for parts in parted if namespace in parts and VELERO_DEPLOYMENT in parts]
    pods = {parts[at + 1 + (parts[at + 1 : at + 2] == ["pods"])] for parts, at in places if len(parts) > at + 3}
    return sorted(pods)


def described_file(text: bytes, file: RunFile) -> bytes | None:
    """Results or resource list in the shape of Velero's own file, from `velero describe --details`; None without it."""
    lines = text.decode("utf-8", "replace").splitlines()
    if file is RunFile.RESOURCES:
        return _resources(lines)
    return _results(lines) if file is RunFile.RESULTS else None


def _section(lines: Sequence[str], title: str) -> tuple[str, list[str]] | None:
    """The text behind the title on its line, and the indented lines below it; None where there is no such title."""
    for place, line in enumerate(lines):
        if line.startswith(f"{title}:"):
            below = []
            for other in lines[place + 1 :]:
                if other.strip() and not other.startswith(" "):
                    break
                below.append(other)
            return line.partition(":")[2].strip(), [one for one in below if one.strip()]
    return None


def _resources(lines: Sequence[str]) -> bytes | None:
    section = _section(lines, _LIST)
    if section is None or section[0]:
        return None
    kinds: defaultdict[str, list[str]] = defaultdict(list)
    kind = ""
    for line in section[1]:
        words = line.strip()
        if words.startswith("- "):
            kinds[kind].append(words[2:].partition(" ")[0])
        else:
            kind = words.rstrip(":")
    return msgspec.json.encode(kinds)


def _results(lines: Sequence[str]) -> bytes | None:
    """Sentences under Velero, Cluster and Namespaces; a number alone tells of none of them."""
    parts: dict[str, dict[str, object]] = {}
    for title, name in _RESULTS.items():
        section = _section(lines, title)
        if section is None or (section[0] and not section[0].isdigit()):
            continue
        if section[0].isdigit() and int(section[0]):
            return None
        sentences: defaultdict[str, list[str]] = defaultdict(list)
        for where, sentence in _sentences(section[1]):
            sentences[where].append(sentence)
        spaces = {where.partition("/")[2]: said for where, said in sentences.items() if "/" in where}
        parts[name] = {"velero": sentences["Velero"], "cluster": sentences["Cluster"], "namespaces": spaces}
    return msgspec.json.encode(parts) if parts else None


def _sentences(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each with `Velero`, `Cluster` or `Namespaces/NAME`; what is indented further goes on with the same."""
    where = ""
    for line in lines:
        head = _HEAD.fullmatch(line)
        if head is not None and (len(head[1]) == _OUTER or where.startswith("Namespaces")):
            where = head[2] if len(head[1]) == _OUTER else f"Namespaces/{head[2]}"
        sentence = (head[3] if head is not None else line).strip()
        if sentence and sentence != _NONE:
            yield where, sentence
