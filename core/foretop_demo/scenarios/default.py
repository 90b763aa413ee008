"""A busy night: forty schedules, a dozen teams, a queue that always moves, and a handful of problems."""

from __future__ import annotations

from datetime import timedelta

from foretop_demo.controllers.simulated_runs import SimulatedRun, VolumeTransfer
from foretop_demo.controllers.velero import VeleroServer
from foretop_demo.scenarios.scenario_builder import HOME, ScenarioBuilder
from foretop_demo.scenarios.tenant_activity import app_name, teams_create_backups, teams_restore

TEAMS = (
    "team-pay",
    "team-shop",
    "team-ml",
    "team-search",
    "team-crm",
    "team-hr",
    "team-data",
    "team-web",
    "team-iot",
    "team-ops",
    "team-bi",
    "team-docs",
)
SLOTS = 3
_HOURLY = ("etcd", "sales", "orders", "sessions", "stock", "mail", "queue", "cache")
_SIX_HOURLY = ("postgres", "mysql", "mongo", "redis", "kafka", "vault", "grafana", "gitea")
_NIGHTLY = (
    "warehouse",
    "archive-docs",
    "wiki",
    "registry",
    "billing",
    "ledger",
    "crm",
    "hr",
    "search",
    "reports",
    "cms",
)
_WEEKLY = ("audit", "compliance", "golden-images", "legal", "research")
_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)
_REFUSED = (
    ("team-ml", "features", {"excludedNamespaces": ["kube-system"]}),
    ("team-crm", "everything", {"includedNamespaces": ["team-crm", "team-hr"]}),
    ("team-bi", "cluster-too", {"includeClusterResources": True}),
    ("team-iot", "own-bucket", {"storageLocation": "iot-minio"}),
    ("team-docs", "snapshots", {"volumeSnapshotLocations": ["fast"]}),
)


def set_up(builder: ScenarioBuilder) -> None:
    server = servers_and_schedules(builder)
    _past_of_tenants(builder)
    tenants_with_problems(builder)
    warm_ups(builder)
    server.start()
    builder.non_admin().start()
    builder.start_process(teams_create_backups(builder, TEAMS, waiting=5, at_most=48))
    builder.start_process(teams_restore(builder, timedelta(seconds=100), at_most=15))


def servers_and_schedules(builder: ScenarioBuilder) -> VeleroServer:
    builder.namespace(HOME, "blog", *TEAMS)
    builder.location()
    builder.location("offsite", "offsite-eu-west", there=False)
    server = builder.velero(concurrent=SLOTS)
    _schedules(builder)
    _schedules_with_problems(builder)
    return server


def _schedules(builder: ScenarioBuilder) -> None:
    """Schedules staggered around the start of the scenario, so that something is always about to run."""
    minute, hour = builder.start.minute, builder.start.hour
    for number, name in enumerate(_HOURLY):
        builder.work[f"{name}-hourly"] = SimulatedRun(timedelta(seconds=50 + 17 * number), 240 + 130 * number)
        builder.schedule(f"{name}-hourly", f"{(minute + 2 + 7 * number) % 60} * * * *", [name], ttl=2 * _DAY)
    for number, name in enumerate(_SIX_HOURLY):
        hours = ",".join(str(at) for at in sorted((hour + number + 6 * quarter) % 24 for quarter in range(4)))
        builder.schedule(f"{name}-6h", f"{(minute + 11 * number + 5) % 60} {hours} * * *", [name], ttl=7 * _DAY)
    for number, name in enumerate(_NIGHTLY):
        at = builder.start + timedelta(minutes=4 + 13 * number)
        builder.schedule(f"{name}-nightly", f"{at.minute} {at.hour} * * *", [name])
    for number, name in enumerate(_WEEKLY):
        at = builder.start + timedelta(hours=5 * number, minutes=9)
        builder.schedule(f"{name}-weekly", f"{at.minute} {at.hour} * * {at.isoweekday() % 7}", [name], runs=4)
    builder.work["heartbeat"] = SimulatedRun(timedelta(seconds=20), 12)
    builder.schedule("heartbeat", "*/5 * * * *", ["heartbeat"], ttl=timedelta(hours=3))


def _schedules_with_problems(builder: ScenarioBuilder) -> None:
    minute = builder.start.minute
    builder.schedule("cassandra", "*/30 * * * *", ["cassandra"], paused_since=builder.start - 3 * _DAY)
    builder.schedule("quarterly", "0 6 1 * *", ["finance"], runs=3, paused_since=builder.start - 12 * _DAY)
    builder.work["metrics-hourly"] = SimulatedRun(timedelta(seconds=70), 900, errors=3, warnings=1)
    builder.schedule("metrics-hourly", f"{(minute + 5) % 60} * * * *", ["metrics"], outcomes="PPP", ttl=2 * _DAY)
    builder.schedule("offsite-copy", f"{(minute + 1) % 60} */2 * * *", ["warehouse"], location="offsite", runs=8)
    slow = VolumeTransfer("PodVolumeBackup", "media", 340.0, "worker-3", minutes=25)
    builder.work["videos"] = SimulatedRun(timedelta(minutes=2), 1800, moves=(slow,))
    builder.schedule("videos", f"{(minute + 57) % 60} * * * *", ["videos"], ttl=2 * _DAY)
    builder.create("Schedule", HOME, "broken", {"schedule": "61 2 * * *", "template": {"includedNamespaces": ["blog"]}})
    builder.create("Schedule", HOME, "fresh", {"schedule": "0 4 * * *", "template": {"includedNamespaces": ["blog"]}})


def _past_of_tenants(builder: ScenarioBuilder) -> None:
    for number in range(36):
        started = builder.now - timedelta(minutes=45 + 97 * number)
        name = f"{app_name(number)}-{started:%d%H%M}"
        nab = builder.past_nab(TEAMS[number % len(TEAMS)], name, started, "P" if number == 7 else ".")
        if number < 10:
            work = SimulatedRun(timedelta(seconds=30 + 9 * number), 60 + 25 * number, errors=1 if number == 3 else 0)
            builder.history.nar(HOME, nab, f"{name}-back", started + timedelta(minutes=20), work)


def tenants_with_problems(builder: ScenarioBuilder) -> None:
    builder.tenant_storage().start()
    builder.buckets.make("iot-backups")
    minio = {"provider": "aws", "objectStorage": {"bucket": "iot-backups"}}
    builder.create("NonAdminBackupStorageLocation", "team-iot", "iot-minio", {"backupStorageLocationSpec": minio})
    for namespace, name, spec in _REFUSED:
        builder.create("NonAdminBackup", namespace, name, {"backupSpec": spec})
    builder.create("NonAdminRestore", "team-hr", "lost-one", {"restoreSpec": {"backupName": "no-such-backup"}})
    mapping = {"backupName": "wiki", "namespaceMapping": {"team-docs": "default"}}
    builder.create("NonAdminRestore", "team-docs", "elsewhere", {"restoreSpec": mapping})


def warm_ups(builder: ScenarioBuilder) -> None:
    """Two jobs whose nodes are warmed in time, and one that the prescaler refuses."""
    builder.prescaler().start()
    for name, cron, minutes in (
        ("nightly-batch", "0 3 * * *", 10),
        ("reports", "30 6 * * *", 15),
        ("friday-close", "0 0 * * 5", 20),
    ):
        job = {"spec": {"schedule": cron}}
        builder.create("PreScaledCronJob", "team-data", name, {"warmUpTimeMins": minutes, "cronJob": job})
