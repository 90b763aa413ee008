"""Given the objects of the recording, the non-admin reconcilers make the writes of the real controllers.

The recording has the order in which events arrived, not when a controller reconciled. So a recorded change must be
the answer of the reconciler for the state of the cluster at some time between the object's last change and
this one; the recorder's own jitter of some milliseconds is allowed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest

from foretop_core.models import (
    Backup,
    DeleteBackupRequest,
    NonAdmin,
    NonAdminBackup,
    NonAdminRestore,
    Resource,
    Restore,
    from_builtins,
)
from foretop_core.models.kinds import BACKUP, DELETE_REQUEST, NAB, NAR, RESTORE, Kind
from foretop_core.models.wire import Metadata
from foretop_demo.reconcile import (
    Create,
    Delete,
    NabContext,
    NarContext,
    Patch,
    PatchStatus,
    Reconciled,
    Write,
    reconcile_nab,
    reconcile_nar,
    sync_nabs,
)
from tests import recordings
from tests.demo.apply import Raw, patched
from tests.recordings import VELERO_NAMESPACE, Event

JITTER = timedelta(milliseconds=40)
CLOCK = timedelta(seconds=2)
EVENTS = tuple(recordings.events("nonadmin"))
TEAMS = tuple(f"team-{number}" for number in range(5))


@dataclass(frozen=True)
class Snapshot:
    """All objects after the first `count` events."""

    objects: dict[tuple[str, str, str], Event]

    def all(self, kind: Kind) -> list[Any]:
        return [event.object for event in self.objects.values() if event.kind is kind]


def _snapshots() -> list[Snapshot]:
    held: dict[tuple[str, str, str], Event] = {}
    taken = [Snapshot({})]
    for event in EVENTS:
        if event.type == "DELETED":
            held.pop(event.key, None)
        else:
            held[event.key] = event
        taken.append(Snapshot(dict(held)))
    return taken


SNAPSHOTS = _snapshots()


def _last_change(place: int) -> int | None:
    """The previous event of the same object, if there is one."""
    event = EVENTS[place]
    for earlier in range(place - 1, -1, -1):
        if EVENTS[earlier].key == event.key and EVENTS[earlier].type != "DELETED":
            same = EVENTS[earlier].object.metadata.uid == event.object.metadata.uid
            return earlier if same else None
    return None


def _moments(since: int, place: int) -> Iterator[Snapshot]:
    until = place
    while until + 1 < len(EVENTS) and EVENTS[until + 1].t - EVENTS[place].t <= JITTER:
        until += 1
    yield from SNAPSHOTS[since + 1 : until + 2]


def _ask(obj: Resource, moment: Snapshot, fresh_uuid: str, now: datetime) -> Reconciled:
    if isinstance(obj, NonAdminBackup):
        return reconcile_nab(
            obj,
            NabContext(
                oadp_namespace=VELERO_NAMESPACE,
                fresh_uuid=fresh_uuid,
                backups=moment.all(BACKUP),
                delete_requests=moment.all(DELETE_REQUEST),
                restores=moment.all(NAR),
            ),
            now,
        )
    assert isinstance(obj, NonAdminRestore)
    return reconcile_nar(
        obj,
        NarContext(
            oadp_namespace=VELERO_NAMESPACE,
            fresh_uuid=fresh_uuid,
            restores=moment.all(RESTORE),
            backups=moment.all(NAB),
        ),
        now,
    )


def _uuid_of(obj: NonAdmin) -> str:
    return obj.velero.nacuuid.removeprefix(f"{obj.namespace}-{obj.name}-")


def _essence(obj: NonAdmin) -> NonAdmin:
    """The object without the API server's own fields and the controller's times."""
    meta = obj.metadata
    kept = Metadata(
        name=meta.name,
        namespace=meta.namespace,
        labels=meta.labels,
        finalizers=meta.finalizers,
        deletion_timestamp=EVENTS[0].t if meta.deletion_timestamp else None,
    )
    conditions = tuple(msgspec.structs.replace(entry, last_transition_time=None) for entry in obj.state.conditions)
    state = msgspec.structs.replace(obj.state, conditions=conditions)
    return msgspec.structs.replace(obj, metadata=kept, status=state)


def _times_agree(one: NonAdmin, other: NonAdmin) -> bool:
    for mine, theirs in zip(one.state.conditions, other.state.conditions, strict=True):
        assert mine.last_transition_time is not None
        assert theirs.last_transition_time is not None
        if abs(mine.last_transition_time - theirs.last_transition_time) > CLOCK:
            return False
    return True


def _after_each(raw: Raw, kind: Kind, writes: tuple[Write, ...], obj: Resource) -> Iterator[tuple[NonAdmin, Raw]]:
    """One object after each write."""
    for write in writes:
        if (write.kind, write.namespace, write.name) != (kind, obj.namespace, obj.name):
            continue
        if isinstance(write, Patch | PatchStatus):
            raw = patched(raw, write)
        elif isinstance(write, Delete):
            raw = {**raw, "metadata": {**raw["metadata"], "deletionTimestamp": "2026-11-15T00:00:00Z"}}
        made = from_builtins(kind.model, raw)
        assert isinstance(made, NonAdmin)
        yield made, raw


def _copied_spec(raw: Raw) -> Any:
    """The NAB's copy of its Backup's spec, which the models omit."""
    return raw.get("status", {}).get("veleroBackup", {}).get("spec")


def _made_by_the_user(before: NonAdmin, after: NonAdmin) -> bool:
    """Changes by the recording's user: a corrected spec, deleteBackup, a plain delete."""
    if before.metadata.deletion_timestamp != after.metadata.deletion_timestamp:
        return not (isinstance(before, NonAdminBackup) and before.spec.delete_backup)
    if isinstance(before, NonAdminBackup) and isinstance(after, NonAdminBackup):
        was, now = before.spec, after.spec
        return (
            was.delete_backup != now.delete_backup
            or was.backup_spec.included_namespaces != now.backup_spec.included_namespaces
        )
    return False


def _controller_changes() -> Iterator[tuple[int, int]]:
    for place, event in enumerate(EVENTS):
        if event.kind not in (NAB, NAR) or event.type != "MODIFIED":
            continue
        since = _last_change(place)
        assert since is not None
        before, after = EVENTS[since].object, event.object
        assert isinstance(before, NonAdmin)
        assert isinstance(after, NonAdmin)
        if _essence(before) != _essence(after) and not _made_by_the_user(before, after):
            yield since, place


CHANGES = tuple(_controller_changes())


def _label(change: tuple[int, int]) -> str:
    event = EVENTS[change[1]]
    return f"{event.object.namespace}/{event.object.name}@{event.t:%H:%M:%S.%f}"


@pytest.mark.parametrize("change", CHANGES, ids=_label)
def test_every_change_of_the_real_controller_is_reproduced(change: tuple[int, int]) -> None:
    since, place = change
    before, event = EVENTS[since], EVENTS[place]
    wanted = event.object
    assert isinstance(wanted, NonAdmin)
    answers = []
    for moment in _moments(since, place):
        answer = _ask(before.object, moment, _uuid_of(wanted), event.t)
        answers.append(answer)
        for made, raw in _after_each(before.raw, before.kind, answer.writes, before.object):
            if _essence(made) == _essence(wanted) and _times_agree(made, wanted):
                assert _copied_spec(raw) == _copied_spec(event.raw)
                return
    pytest.fail(f"wanted {wanted}\ngot {answers}")


def _lives(kind: Kind) -> list[int]:
    return [place for place, event in enumerate(EVENTS) if event.kind is kind and event.type == "ADDED"]


def _backups_not_from_the_bucket() -> list[int]:
    """The backups that Velero's own sync did not create; those appear already completed."""
    return [place for place in _lives(BACKUP) if not EVENTS[place].raw["status"].get("completionTimestamp")]


@pytest.mark.parametrize("place", [*_backups_not_from_the_bucket(), *_lives(RESTORE), *_lives(DELETE_REQUEST)])
def test_every_velero_object_equals_the_real_controller_s(place: int) -> None:
    event = EVENTS[place]
    born = event.object
    assert isinstance(born, Backup | Restore | DeleteBackupRequest)
    wanted = (born.metadata.labels, born.metadata.annotations, event.raw["spec"])
    for moment in _moments(max(place - 12, 0), place):
        for owner in [*moment.all(NAB), *moment.all(NAR)]:
            for write in _ask(owner, moment, _uuid_of(owner), event.t).writes:
                if not isinstance(write, Create) or write.kind is not event.kind:
                    continue
                named = born.name.startswith(write.name) if write.generate_name else born.name == write.name
                if named and (write.labels, write.annotations, write.spec) == wanted:
                    return
    pytest.fail(f"nobody makes {born.name}: {wanted}")


@pytest.mark.parametrize(
    "place", [p for p, event in enumerate(EVENTS) if event.kind in (NAB, NAR) and event.type == "DELETED"]
)
def test_an_object_is_deleted_when_the_real_controller_deleted_it(place: int) -> None:
    since = _last_change(place)
    assert since is not None
    before = EVENTS[since]
    released = Patch(before.kind, before.object.namespace, before.object.name, {"metadata": {"finalizers": []}})
    answers = [_ask(before.object, moment, "", EVENTS[place].t).writes for moment in _moments(since, place)]
    assert any(released in writes for writes in answers), answers


def test_the_nab_created_again_equals_the_one_of_the_sync() -> None:
    (place,) = [p for p in _lives(NAB) if EVENTS[p].object.label("openshift.io/oadp-nab-synced-from-nacuuid")]
    event = EVENTS[place]
    moment = SNAPSHOTS[place]
    (write,) = sync_nabs(moment.all(BACKUP), moment.all(NAB), TEAMS).writes
    assert isinstance(write, Create)
    assert (write.namespace, write.name) == ("team-2", "wave-2") == (event.object.namespace, event.object.name)
    assert write.labels == event.object.metadata.labels
    assert write.spec == event.raw["spec"]


def test_nothing_is_left_to_write_when_the_recording_ends() -> None:
    end = SNAPSHOTS[-1]
    owners = [*end.all(NAB), *end.all(NAR)]
    assert len(owners) == 14
    restless = {
        owner.name: answer.writes
        for owner in owners
        if (answer := _ask(owner, end, "", EVENTS[-1].t)).writes or answer.requeue
    }
    assert restless == {}
    assert sync_nabs(end.all(BACKUP), end.all(NAB), TEAMS).writes == ()


def test_released_the_copied_status_does_not_change_while_velero_queues() -> None:
    """Between Created and InProgress the recorded NABs did not change, whatever Velero's queue did."""
    frozen = 0
    for place, event in enumerate(EVENTS):
        if not isinstance(event.object, Backup) or event.object.phase not in {"Queued", "ReadyToStart"}:
            continue
        moment = SNAPSHOTS[place + 1]
        for nab in moment.all(NAB):
            if nab.velero.name == event.object.name and nab.phase == "Created":
                answer = _ask(nab, moment, "", event.t)
                assert answer.writes == ()
                assert answer.requeue
                frozen += 1
    assert frozen > 5
