"""Findings that are known: whether one is acknowledged, by whom and until when.

`acknowledged` alone decides that; the screen, the report and the notices ask it through `with_acknowledgements`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from datetime import datetime, timedelta

import msgspec
from msgspec.structs import replace

from foretop_core.models import Resource
from foretop_core.models.wire import FIRST_YEAR, LAST_YEAR, ObjectRef
from foretop_core.rules.pauses import ANNOTATIONS
from foretop_core.rules.sentences import Text, sentence
from foretop_core.rules.triage.finding import Acknowledgement, Finding, Severity

MARK = f"{ANNOTATIONS}acknowledged-"
"""How the annotations begin that everybody sees; one for each finding of an object."""
LONGEST = timedelta(days=30)
"""Nothing is known for longer than this, whatever it says."""
_LONGEST_CODE = 40
_NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")
_GRAVEST = {severity: place for place, severity in enumerate(Severity)}

OwnAcknowledgements = Mapping[tuple[str, str], Acknowledgement]
"""Those of one person, by context and id of the finding."""
ObjectLookup = Callable[[ObjectRef], Resource | None]


def acknowledged(
    finding: Finding, own: OwnAcknowledgements, item: Resource | None, now: datetime
) -> Acknowledgement | None:
    """The acknowledgement that holds for it now, one's own first; `item` is the object that it is about."""
    mine = own.get((finding.context, finding.id))
    if mine is not None and _holds(mine, finding, now):
        return mine
    shared = _shared(item, finding) if item is not None else None
    return shared if shared is not None and _holds(shared, finding, now) else None


def with_acknowledgements(
    findings: Iterable[Finding],
    own: OwnAcknowledgements,
    object_of: ObjectLookup,
    now_in: Callable[[str], datetime],
) -> Iterator[Finding]:
    """The same findings, each with the acknowledgement that holds for it; `now_in` is the time of a cluster."""
    everyone = list(findings)
    known = {
        (finding.context, finding.id): found
        for finding in everyone
        if (found := acknowledged(finding, own, object_of(finding.subject), now_in(finding.context))) is not None
    }
    causes_of_open = {
        (cause.context, cause.id)
        for finding in (everyone if known else ())
        if (finding.context, finding.id) not in known
        for cause in _causes(finding)
    }
    return (_marked(finding, known, causes_of_open) for finding in everyone)


def _causes(finding: Finding) -> Iterator[Finding]:
    while finding.because is not None:
        finding = finding.because
        yield finding


def _marked(finding: Finding, known: OwnAcknowledgements, causes_of_open: Container[tuple[str, str]]) -> Finding:
    """With its causes as they are marked themselves, so that all of them are ranked alike."""
    because = _marked(finding.because, known, causes_of_open) if finding.because is not None else None
    key = (finding.context, finding.id)
    found = known.get(key)
    if found is None and because is finding.because:
        return finding
    explains = found is not None and key in causes_of_open
    return replace(finding, acknowledged=found, because=because, explains_open=explains)


def statement(finding: Finding) -> str:
    """A digest of what it says: its rule, severity and words; the moments and durations in them pass by themselves."""
    said = (finding.code, finding.severity.value, *_words(finding.what), *_words(finding.evidence), finding.raw)
    return hashlib.blake2b("\0".join(said).encode(errors="replace"), digest_size=8).hexdigest()


def annotation_of(finding: Finding) -> str:
    """The annotation of a finding on its object; what tells two of one rule apart is in the name."""
    name = finding.code[:_LONGEST_CODE]
    if finding.cause:
        name = f"{name}-{hashlib.blake2b(finding.cause.encode(errors='replace'), digest_size=4).hexdigest()}"
    return MARK + _NOT_IN_NAMES.sub("-", name.lower())


def acknowledgement_text(found: Acknowledgement) -> Text:
    """`by maria until 06:00: the bucket is being moved`."""
    until = sentence("until ", found.until) if found.until is not None else "until it changes"
    return sentence(f"by {found.by} ", until, f": {found.reason}")


def _holds(found: Acknowledgement, finding: Finding, now: datetime) -> bool:
    """True if an acknowledgement still holds: a finding that gets worse is shown again at once."""
    if found.finding != finding.id or _GRAVEST[finding.severity] < _GRAVEST[found.severity]:
        return False
    try:
        latest = found.at + LONGEST
    except OverflowError:
        return False
    if now >= min(latest, found.until or latest):
        return False
    return found.until is not None or found.statement == statement(finding)


def _shared(item: Resource, finding: Finding) -> Acknowledgement | None:
    """None for what a person has made of the annotation, and for one that Velero copied from a schedule."""
    # There are thousands of findings, and hardly any object has such a mark: its name is made only where one has.
    if not any(key.startswith(MARK) for key in item.metadata.annotations):
        return None
    text = item.annotation(annotation_of(finding))
    try:
        found = msgspec.json.decode(text, type=Acknowledgement)
    except (ValueError, RecursionError):
        return None
    moments = (found.at, found.until or found.at)
    if not all(FIRST_YEAR <= moment.year <= LAST_YEAR for moment in moments):
        return None
    return msgspec.structs.replace(found, context="")


def _words(text: Text) -> Iterator[str]:
    if isinstance(text, str):
        yield text
    else:
        yield from (part for part in text.parts if isinstance(part, str))
