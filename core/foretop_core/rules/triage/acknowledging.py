"""Findings that are known: whether one is acknowledged, by whom and until when.

Acknowledgements are in one ConfigMap beside each Velero, where no tenant can write. `with_acknowledgements` alone reads
them: the screen, the commands and the notices ask it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from datetime import datetime, timedelta

import msgspec
from msgspec.structs import replace

from foretop_core.models.builtin_kinds import ConfigMap
from foretop_core.models.kinds import ACKNOWLEDGEMENTS, BESIDE_VELERO, CONFIG_MAP
from foretop_core.models.wire import FIRST_YEAR, LAST_YEAR, ObjectRef
from foretop_core.rules import humanize
from foretop_core.rules.sentences import Text, sentence
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.triage.finding import QUEUE, Acknowledgement, Finding, Severity, Thresholds

LONGEST = timedelta(days=30)
"""Nothing is known for longer than this, whatever an entry says."""
MOST_ENTRIES, MOST_BYTES = 500, 512 * 1024
"""Of one ConfigMap; one that has more is not read."""
_CLOCKS = timedelta(minutes=1)
"""The clock of a cluster is known to the second or two: an entry of a colleague may be a little ahead."""
_LONGEST_CODE = 40
_GRAVEST = {severity: place for place, severity in enumerate(Severity)}
_OF_VELERO = frozenset({QUEUE, *(kind.name for kind in BESIDE_VELERO)})


class AcknowledgementList(msgspec.Struct, frozen=True):
    """The entries of one ConfigMap; where it cannot be read as a whole, none of them counts."""

    entries: Mapping[str, Acknowledgement] = msgspec.field(default_factory=dict)
    """By id of the finding."""
    unreadable: tuple[str, ...] = ()
    """The keys of single entries that cannot be read."""
    problem: str = ""


def with_acknowledgements(
    findings: Iterable[Finding],
    snapshot_of: Callable[[str], ClusterSnapshot],
    now_in: Callable[[str], datetime],
) -> Iterator[Finding]:
    """The same findings, each with the acknowledgement that holds for it; `now_in` is the time of a cluster."""
    everyone, lists = list(findings), dict[tuple[str, str], AcknowledgementList]()
    acknowledgements = dict[tuple[str, str], Acknowledgement]()
    for finding in everyone:
        context, snapshot = finding.context, snapshot_of(finding.context)
        if not snapshot.config_maps or not (home := home_of(snapshot, finding.subject)):
            continue
        if (context, home) not in lists:
            lists[context, home] = acknowledgements_in(snapshot, home)
        entry = lists[context, home].entries.get(finding.id)
        if entry is not None and _holds(entry, finding, now_in(context)):
            acknowledgements[context, finding.id] = entry
    causes_of_open = {
        (cause.context, cause.id)
        for finding in (everyone if acknowledgements else ())
        if (finding.context, finding.id) not in acknowledgements
        for cause in _causes(finding)
    }
    return (_marked(finding, acknowledgements, causes_of_open) for finding in everyone)


def home_of(snapshot: ClusterSnapshot, subject: ObjectRef) -> str:
    """The namespace with the acknowledgements of a subject's findings; "" where there is none, or no telling which.

    A tenant's object is at home with the one Velero of its cluster, never in its own namespace: a Deployment named
    velero is not enough to be one.
    """
    homes = snapshot.namespaces_with_velero_objects
    if subject.kind in _OF_VELERO and subject.namespace:
        return subject.namespace if subject.namespace in homes else ""
    servers = homes & snapshot.servers.keys() or homes
    return next(iter(servers)) if len(servers) == 1 else ""


def acknowledgements_in(snapshot: ClusterSnapshot, namespace: str) -> AcknowledgementList:
    """The entries in the ConfigMap of a namespace; an empty list where there is none."""
    config_map = acknowledgement_map(snapshot, namespace)
    return AcknowledgementList() if config_map is None else _read(config_map)


def acknowledgement_map(snapshot: ClusterSnapshot, namespace: str) -> ConfigMap | None:
    """The ConfigMap as it was seen."""
    fitting = (item for item in snapshot.config_maps if item.namespace == namespace and item.name == ACKNOWLEDGEMENTS)
    return next(fitting, None)


def size_of(data: Mapping[str, str]) -> int:
    """How many bytes the entries of a ConfigMap take."""
    return sum(len(key) + len(text.encode(errors="replace")) for key, text in data.items())


def _read(held: ConfigMap) -> AcknowledgementList:
    if len(held.data) > MOST_ENTRIES:
        return AcknowledgementList(problem=f"it has {len(held.data):,} entries, more than {MOST_ENTRIES}")
    if (size := size_of(held.data)) > MOST_BYTES:
        return AcknowledgementList(problem=f"it has {size // 1024:,} KiB, more than {MOST_BYTES // 1024}")
    entries = {key: _entry(key, text) for key, text in held.data.items()}
    return AcknowledgementList(
        {entry.finding: entry for entry in entries.values() if entry is not None},
        tuple(key for key, entry in entries.items() if entry is None),
    )


def _entry(key: str, text: str) -> Acknowledgement | None:
    """None for what foretop would not have written: another key, or times that cannot be."""
    try:
        entry = msgspec.json.decode(text, type=Acknowledgement)
    except (ValueError, RecursionError):
        return None
    until = entry.until or entry.at
    if key != key_of_entry(entry.finding) or not all(
        FIRST_YEAR < moment.year < LAST_YEAR for moment in (entry.at, until)
    ):
        return None
    return entry if until - entry.at <= LONGEST else None


def key_of_entry(finding: str) -> str:
    """The key of a finding in the ConfigMap, from its id: names of objects have signs that no key may have."""
    code = finding.partition(":")[0][:_LONGEST_CODE]
    plain = "".join(sign if sign.isascii() and (sign.isalnum() or sign == "-") else "-" for sign in code)
    return f"{plain}.{hashlib.blake2b(finding.encode(errors='replace'), digest_size=16).hexdigest()}"


def end_of(entry: Acknowledgement) -> datetime:
    """When it ends at the latest."""
    return min(entry.at + LONGEST, entry.until or entry.at + LONGEST)


def _holds(entry: Acknowledgement, finding: Finding, now: datetime) -> bool:
    """True if an acknowledgement still holds: a finding that gets worse is shown again at once."""
    if _GRAVEST[finding.severity] < _GRAVEST[entry.severity] or not _is_made(entry, now) or now >= end_of(entry):
        return False
    return entry.until is not None or entry.statement == statement(finding)


def _is_made(entry: Acknowledgement, now: datetime) -> bool:
    """False for one that says it was made in the future."""
    return entry.at <= now + _CLOCKS


def unreadable_acknowledgements(snapshot: ClusterSnapshot, now: datetime, _: Thresholds) -> Iterator[Finding]:
    """A list, or entries of it, that acknowledge nothing because they cannot be read."""
    for namespace in sorted(snapshot.namespaces_with_velero_objects):
        acknowledgement_list = acknowledgements_in(snapshot, namespace)
        early = [
            key_of_entry(entry.finding) for entry in acknowledgement_list.entries.values() if not _is_made(entry, now)
        ]
        odd = sorted((*acknowledgement_list.unreadable, *early))
        if not odd and not acknowledgement_list.problem:
            continue
        evidence = (
            f"Nothing in it is read: {acknowledgement_list.problem}."
            if acknowledgement_list.problem
            else f"Entries that cannot be read, or have a time that cannot be: {humanize.join(odd, 3)}."
        )
        yield Finding(
            "acknowledgements-unreadable",
            Severity.WARNING,
            ObjectRef(snapshot.context, CONFIG_MAP.name, namespace, ACKNOWLEDGEMENTS),
            None,
            "not all of it can be read",
            f"{evidence} What cannot be read acknowledges no finding.",
            f"Look at it with kubectl -n {namespace} get configmap {ACKNOWLEDGEMENTS} -o yaml, and correct it.",
        )


def _causes(finding: Finding) -> Iterator[Finding]:
    while finding.because is not None:
        finding = finding.because
        yield finding


def _marked(
    finding: Finding,
    known: Mapping[tuple[str, str], Acknowledgement],
    causes_of_open: Container[tuple[str, str]],
) -> Finding:
    """With its causes as they are marked themselves, so that all of them are ranked alike."""
    because = _marked(finding.because, known, causes_of_open) if finding.because is not None else None
    key = (finding.context, finding.id)
    entry = known.get(key)
    if entry is None and because is finding.because:
        return finding
    explains = entry is not None and key in causes_of_open
    return replace(finding, acknowledged=entry, because=because, explains_open=explains)


def statement(finding: Finding) -> str:
    """A digest of what it says: its rule, severity and words; the moments and durations in them pass by themselves."""
    lines = (finding.code, finding.severity.value, *_words(finding.what), *_words(finding.evidence), finding.raw)
    return hashlib.blake2b("\0".join(lines).encode(errors="replace"), digest_size=8).hexdigest()


def acknowledgement_text(entry: Acknowledgement) -> Text:
    """`by maria until 06:00: the bucket is being moved`."""
    until = sentence("until ", entry.until) if entry.until is not None else "until it changes"
    return sentence(f"by {entry.by} ", until, f": {entry.reason}")


def _words(text: Text) -> Iterator[str]:
    if isinstance(text, str):
        yield text
    else:
        yield from (part for part in text.parts if isinstance(part, str))
