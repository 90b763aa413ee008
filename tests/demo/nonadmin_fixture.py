"""A team's namespace and an OADP namespace, for testing each arrow of the seed's chart."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from foretop_core.models import BackupSpec, NonAdminBackup, NonAdminRestore, RestoreSpec
from foretop_core.models.kinds import BACKUP, DELETE_REQUEST, NAB, NABSL, NAR, RESTORE, STORAGE, Kind
from foretop_demo.reconcile import (
    Behaviour,
    NabContext,
    NarContext,
    Patch,
    PatchStatus,
    Reconciled,
    reconcile_nab,
    reconcile_nar,
)
from tests.demo.apply import Objects

NOW = datetime(2026, 11, 15, 2, 41, 7, 250_000, tzinfo=UTC)
TEAM, OADP, UUID = "team-pay", "openshift-adp", "0d0b7b2c-ee76-412d-a867-2c23b8aa51ab"
NACUUID = f"{TEAM}-ledger-{UUID}"
RESTORE_UUID = f"{TEAM}-again-{UUID}"


class Chart:
    """The objects, one NAB `ledger` and perhaps one NAR `again`, and their controllers."""

    def __init__(self, behaviour: Behaviour = Behaviour.RELEASED) -> None:
        self.behaviour = behaviour
        self.objects = Objects()
        self.enforced = BackupSpec()
        self.enforced_restore = RestoreSpec()

    def add_nab(self, **spec: Any) -> Chart:
        self._add(NAB, "ledger", {"backupSpec": {}, **spec})
        return self

    def add_nar(self, **spec: Any) -> Chart:
        self._add(NAR, "again", {"restoreSpec": {"backupName": "ledger", **spec}})
        return self

    @property
    def nab(self) -> NonAdminBackup:
        found: NonAdminBackup = self.objects.get(NAB, TEAM, "ledger")
        return found

    @property
    def nar(self) -> NonAdminRestore:
        found: NonAdminRestore = self.objects.get(NAR, TEAM, "again")
        return found

    def reconcile(self) -> Reconciled:
        """The writes that the NAB controller would make now."""
        around = NabContext(
            oadp_namespace=OADP,
            fresh_uuid=UUID,
            backups=self.objects.all(BACKUP),
            delete_requests=self.objects.all(DELETE_REQUEST),
            restores=self.objects.all(NAR),
            locations=self.objects.all(NABSL),
            storage=self.objects.all(STORAGE),
            enforced=self.enforced,
        )
        return reconcile_nab(self.nab, around, NOW, self.behaviour)

    def look_at_restore(self) -> Reconciled:
        around = NarContext(
            oadp_namespace=OADP,
            fresh_uuid=UUID,
            restores=self.objects.all(RESTORE),
            backups=self.objects.all(NAB),
            enforced=self.enforced_restore,
        )
        return reconcile_nar(self.nar, around, NOW, self.behaviour)

    def step(self) -> Reconciled:
        answer = self.reconcile()
        self.objects.apply(answer.writes, NOW)
        return answer

    def step_restore(self) -> Reconciled:
        answer = self.look_at_restore()
        self.objects.apply(answer.writes, NOW)
        return answer

    def settle(self, most: int = 20) -> list[Reconciled]:
        """Reconcile and apply until there is nothing to write; the test fails if that never happens."""
        answers: list[Reconciled] = []
        while self.objects.has(NAB, TEAM, "ledger"):
            answers.append(self.step())
            if not answers[-1].writes:
                return answers
            assert len(answers) <= most, answers
        return answers

    def settle_restore(self, most: int = 20) -> list[Reconciled]:
        answers: list[Reconciled] = []
        while self.objects.has(NAR, TEAM, "again"):
            answers.append(self.step_restore())
            if not answers[-1].writes:
                return answers
            assert len(answers) <= most, answers
        return answers

    def edit(self, **spec: Any) -> None:
        self.objects.apply([Patch(NAB, TEAM, "ledger", {"spec": spec})], NOW)

    def set_status(self, kind: Kind, name: str, **status: Any) -> None:
        """A write of another controller; Velero's kinds have no status subresource."""
        namespace = TEAM if kind in (NAB, NAR) else OADP
        write = (
            PatchStatus(kind, namespace, name, status)
            if kind.status_subresource
            else Patch(kind, namespace, name, {"status": status})
        )
        self.objects.apply([write], NOW)

    def condition(self, kind: str) -> tuple[str, str, str] | None:
        return said(self.nab, kind)

    def _add(self, kind: Kind, name: str, spec: dict[str, Any]) -> None:
        meta = {"name": name, "namespace": TEAM, "uid": f"uid-{name}", "creationTimestamp": "2026-11-15T02:38:00Z"}
        self.objects.put(kind, {"metadata": meta, "spec": spec})


def said(obj: NonAdminBackup | NonAdminRestore, kind: str) -> tuple[str, str, str] | None:
    entry = obj.condition(kind)
    return None if entry is None else (entry.status, entry.reason, entry.message)


def phases(answers: Iterable[Reconciled]) -> list[str]:
    """The written phases, in order."""
    return [
        write.patch["phase"]
        for answer in answers
        for write in answer.writes
        if isinstance(write, PatchStatus) and "phase" in write.patch
    ]


def made(behaviour: Behaviour = Behaviour.RELEASED) -> Chart:
    """A NAB whose Velero Backup was just created."""
    chart = Chart(behaviour).add_nab()
    chart.settle()
    assert chart.nab.phase == "Created"
    return chart


def names(answer: Reconciled) -> list[tuple[str, str, str]]:
    return [(type(write).__name__, write.kind.name, write.name) for write in answer.writes]
