"""Whatever users and Velero do, the NAB controller converges, and the seed's phase never goes back."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from foretop_core.models.kinds import BACKUP, DELETE_REQUEST, NAB, NAR
from foretop_core.rules.facts.nonadmin_facts import NonAdminFacts
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_demo.reconcile import Behaviour
from tests.demo.nonadmin_fixture import NACUUID, NOW, OADP, TEAM, Chart
from tests.nonadmin_chart import transition

ALONE = ClusterSnapshot("prod")


def _velero(phase: str) -> Callable[[Chart], None]:
    def act(chart: Chart) -> None:
        if chart.objects.has(BACKUP, OADP, NACUUID):
            ended = {"completionTimestamp": "2026-11-15T02:50:00Z"} if phase == "Completed" else {}
            chart.set_status(BACKUP, NACUUID, phase=phase, **ended)

    return act


def _lose_backup(chart: Chart) -> None:
    if chart.objects.has(BACKUP, OADP, NACUUID):
        chart.objects.drop(BACKUP, OADP, NACUUID)


def _process_requests(chart: Chart) -> None:
    for request in chart.objects.all(DELETE_REQUEST):
        chart.set_status(DELETE_REQUEST, request.name, phase="Processed")
        _lose_backup(chart)


def _restore(chart: Chart) -> None:
    if not chart.objects.has(NAR, TEAM, "again"):
        chart.add_nar()


ACTIONS: dict[str, Callable[[Chart], None]] = {
    "spoil": lambda chart: chart.edit(backupSpec={"excludedNamespaces": ["velero"]}),
    "fix": lambda chart: chart.edit(backupSpec={"excludedNamespaces": None}),
    "delete": lambda chart: chart.edit(deleteBackup=True),
    "force": lambda chart: chart.edit(forceDeleteBackup=True),
    "plain delete": lambda chart: chart.objects.delete(NAB, TEAM, "ledger", NOW),
    "queued": _velero("Queued"),
    "running": _velero("InProgress"),
    "completed": _velero("Completed"),
    "lose backup": _lose_backup,
    "process": _process_requests,
    "restore": _restore,
    "look once": lambda chart: None,
}


@settings(max_examples=150, deadline=None)
@given(
    behaviour=st.sampled_from(list(Behaviour)),
    doings=st.lists(st.tuples(st.sampled_from(sorted(ACTIONS)), st.booleans()), max_size=12),
)
def test_reconciling_converges_and_every_step_is_known(behaviour: Behaviour, doings: list[tuple[str, bool]]) -> None:
    chart = Chart(behaviour).add_nab()
    for name, to_the_end in [*doings, ("look once", True)]:
        if not chart.objects.has(NAB, TEAM, "ledger"):
            return
        ACTIONS[name](chart)
        for _ in range(25 if to_the_end else 1):
            if not chart.objects.has(NAB, TEAM, "ledger"):
                return
            before = chart.nab
            writes = chart.step().writes
            after = chart.nab if chart.objects.has(NAB, TEAM, "ledger") else None
            step = transition(before, after)
            assert step.known, step
            assert not (step.backwards and behaviour is Behaviour.SEED), step
            if after is not None:
                assert NonAdminFacts(after, None, NOW, ALONE).why
            if not writes:
                break
        else:
            assert not to_the_end, f"no rest after {name}"
