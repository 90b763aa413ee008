"""The activity of tenants: teams that create backups and restores, and delete old ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from itertools import count

from foretop_core.models import Backup, NonAdminBackup, NonAdminRestore
from foretop_core.models.kinds import BACKUP, NAB, NAR
from foretop_core.models.nonadmin import NAB_UUID_LABEL
from foretop_core.rules.phases import USABLE
from foretop_demo.controllers.engine import Process
from foretop_demo.scenarios.scenario_builder import HOME, ScenarioBuilder

_APPS = (
    "ledger",
    "orders",
    "catalog",
    "sessions",
    "invoices",
    "features",
    "models",
    "search",
    "profiles",
    "reports",
    "carts",
    "tickets",
    "metrics",
    "wiki",
)


_KEPT = 3
_RECENT = 15


def app_name(number: int) -> str:
    return _APPS[number % len(_APPS)]


def teams_create_backups(
    builder: ScenarioBuilder,
    teams: Sequence[str],
    waiting: int,
    at_most: int | None,
    until: datetime | None = None,
) -> Process:
    """Keep some backups waiting in the queue; delete old ones permanently once there are too many."""
    numbers = count(1)
    for name in teams[:waiting]:
        _create_nab(builder, name, next(numbers))
    while until is None or builder.now < until:
        yield timedelta(seconds=15)
        if _waiting_nabs(builder) < waiting:
            number = next(numbers)
            free = _least_busy(builder, teams)
            _create_nab(builder, free, number)
            if at_most is not None:
                _tidy(builder, at_most)


Rate = Callable[[datetime], float]
"""How often tenants ask, in an hour like that of a moment."""
_BATCH, _BATCHES = 4, 8
"""Every so often several of them ask at once: these wait for each other."""


def past_requests(builder: ScenarioBuilder, teams: Sequence[str], rate: Rate, length: timedelta, slots: int) -> None:
    """Finished backups that tenants asked for before the scene begins, and how long each waited for a slot."""
    asked, free = builder.now - length, [builder.now - length] * slots
    for number in count(1):
        asked += _gap(builder, rate, asked)
        for team in _who_asks(builder, teams):
            name = f"{app_name(builder.random.randrange(len(_APPS)))}-{asked:%d%H%M}-{number}"
            started = max(asked, min(free))
            ended = started + builder.nab_length(team, name)
            if ended >= builder.now:
                return
            free[free.index(min(free))] = ended
            builder.past_nab(team, name, started, asked=asked)


def teams_ask_now_and_then(builder: ScenarioBuilder, teams: Sequence[str], rate: Rate, kept: timedelta) -> Process:
    """Ask by chance, more often in some hours than in others; delete permanently what is older than it is kept."""
    for number in count(1):
        yield _gap(builder, rate, builder.now)
        for team in _who_asks(builder, teams):
            _create_nab(builder, team, number)
        old = [
            nab
            for nab in builder.engine.cache.all(NAB, NonAdminBackup)
            if _restorable(nab) and nab.created is not None and builder.now - nab.created > kept
        ]
        for nab in old:
            builder.patch("NonAdminBackup", nab.namespace, nab.name, {"spec": {"deleteBackup": True}})


def _gap(builder: ScenarioBuilder, rate: Rate, at: datetime) -> timedelta:
    asks = 1 + (_BATCH - 1) / _BATCHES
    return timedelta(hours=builder.random.expovariate(rate(at) / asks))


def _who_asks(builder: ScenarioBuilder, teams: Sequence[str]) -> Sequence[str]:
    return builder.random.sample(teams, _BATCH if builder.random.randrange(_BATCHES) == 0 else 1)


def teams_restore(builder: ScenarioBuilder, every: timedelta, at_most: int) -> Process:
    """Restore from a finished backup at regular intervals."""
    for number in count(1):
        good = [nab for nab in builder.engine.cache.all(NAB, NonAdminBackup) if _restorable(nab)]
        if good:
            newest = sorted(good, key=lambda nab: (str(nab.created), nab.name))[-_RECENT:]
            chosen = builder.random.choice(newest)
            name = f"{chosen.name}-again-{number}"
            builder.create("NonAdminRestore", chosen.namespace, name, {"restoreSpec": {"backupName": chosen.name}})
            _tidy_restores(builder, at_most)
        yield every


def _create_nab(builder: ScenarioBuilder, namespace: str, number: int) -> None:
    name = f"{app_name(builder.random.randrange(len(_APPS)))}-{builder.now:%H%M}-{number}"
    builder.create("NonAdminBackup", namespace, name, {"backupSpec": {}})


def _waiting_nabs(builder: ScenarioBuilder) -> int:
    line = builder.engine.cache.under(BACKUP, "line", HOME, Backup)
    return sum(1 for backup in line if backup.phase in ("", "New", "Queued") and backup.label(NAB_UUID_LABEL))


def _least_busy(builder: ScenarioBuilder, teams: Sequence[str]) -> str:
    """The first team, from a random one on, with nothing in the queue, so that no team waits for itself."""
    line = builder.engine.cache.under(BACKUP, "line", HOME, Backup)
    busy = {name for backup in line for name in backup.spec.included_namespaces}
    at = builder.random.randrange(len(teams))
    rotated = [*teams[at:], *teams[:at]]
    return next((team for team in rotated if team not in busy), rotated[0])


def _restorable(nab: NonAdminBackup) -> bool:
    status = nab.velero.status
    return nab.phase == "Created" and status is not None and status.phase in USABLE


def _tidy(builder: ScenarioBuilder, at_most: int) -> None:
    """Delete the oldest, but keep a few for every team."""
    nabs = builder.engine.cache.all(NAB, NonAdminBackup)
    if len(nabs) <= at_most:
        return
    ended = sorted((nab for nab in nabs if _restorable(nab)), key=lambda nab: (str(nab.created), nab.name))
    left = Counter(nab.namespace for nab in ended)
    spare = [nab for nab in ended if left[nab.namespace] > _KEPT]
    for nab in spare[: min(2, len(nabs) - at_most)]:
        builder.patch("NonAdminBackup", nab.namespace, nab.name, {"spec": {"deleteBackup": True}})


def _tidy_restores(builder: ScenarioBuilder, at_most: int) -> None:
    nars = builder.engine.cache.all(NAR, NonAdminRestore)
    ended = [nar for nar in nars if nar.velero.status and nar.velero.status.completion_timestamp]
    for nar in sorted(ended, key=lambda nar: (str(nar.created), nar.name))[: max(0, len(nars) - at_most)]:
        builder.delete("NonAdminRestore", nar.namespace, nar.name)
