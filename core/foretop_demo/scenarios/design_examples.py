"""The examples of the three design documents, one scenario each."""

from __future__ import annotations

from datetime import timedelta

from foretop_demo.controllers.simulated_runs import SimulatedRun
from foretop_demo.kinds import Json
from foretop_demo.scenarios.scenario_builder import HOME, ScenarioBuilder

_CHOICES: tuple[tuple[str, Json], ...] = (
    ("absent", {}),
    ("false", {"skipImmediately": False}),
    ("true", {"skipImmediately": True}),
)
_PRIMED = (
    ("half-past", "30 * * * *", 10),
    ("on-the-hour", "0 * * * *", 10),
    ("midnight", "0 0 * * *", 10),
    ("every-half-hour", "0/30 * * * *", 10),
    ("first-minutes", "0-5 * * * *", 10),
    ("office-hours", "0 14-16 * * *", 10),
    ("range-at-night", "0-15 0 * * *", 10),
    ("fridays", "0 0 * * 5", 10),
    ("every-minute", "* * * * *", 5),
)


def skip_immediately(builder: ScenarioBuilder) -> None:
    """Schedules created, paused and blocked, with skipImmediately absent, false and true, and their results."""
    builder.namespace(HOME)
    builder.location()
    for name, _ in _CHOICES:
        for kind in ("new", "made-paused", "held", "waiting"):
            builder.work[f"{kind}-{name}"] = SimulatedRun(timedelta(seconds=12), 40)
    server = builder.velero()
    server.start()
    unpause = builder.start - timedelta(minutes=2)
    for name, skip in _CHOICES:
        for kind, paused in (("new", {}), ("made-paused", {"paused": True})):
            builder.namespace(f"{kind}-{name}")
            template = {"includedNamespaces": [f"{kind}-{name}"]}
            spec: Json = {"schedule": "*/3 * * * *", "template": template, **skip, **paused}
            builder.create("Schedule", HOME, f"{kind}-{name}", spec)
        builder.schedule(
            f"held-{name}", "*/3 * * * *", [f"held-{name}"], paused_since=builder.start - timedelta(hours=1)
        )
        wanted = {"paused": False, "skipImmediately": skip.get("skipImmediately")}
        builder.patch_at(unpause, "Schedule", HOME, f"held-{name}", {"spec": wanted})
        builder.schedule(
            f"waiting-{name}", "*/3 * * * *", [name], paused_since=builder.start - timedelta(hours=1), **skip
        )


def nonadmin_status(builder: ScenarioBuilder) -> None:
    """NABs and NARs in every state of the chart: new, refused, waiting, running, done, lost, being deleted."""
    teams = ("team-a", "team-b", "team-c")
    builder.namespace(HOME, *teams)
    builder.location()
    for team in teams:
        builder.work[team] = SimulatedRun(timedelta(minutes=4), 600)
    server = builder.velero()
    for number, team in enumerate(teams):
        for name in ("done", "to-delete", "to-drop", "to-lose"):
            builder.past_nab(team, name, builder.now - timedelta(hours=1 + number, minutes=len(name)))
    server.start()
    builder.non_admin().start()
    late = builder.start - timedelta(seconds=40)
    builder.create("NonAdminBackup", "team-a", "refused", {"backupSpec": {"excludedNamespaces": ["default"]}})
    for number, team in enumerate(teams):
        asked = builder.start - timedelta(seconds=150 - 20 * number)
        builder.create_at(asked, "NonAdminBackup", team, "in-the-queue", {"backupSpec": {}})
    builder.create("NonAdminRestore", "team-b", "back-again", {"restoreSpec": {"backupName": "done"}})
    builder.create("NonAdminRestore", "team-b", "of-nothing", {"restoreSpec": {"backupName": "nowhere"}})
    builder.buckets.removal_takes = timedelta(hours=1)
    builder.patch_at(late, "NonAdminBackup", "team-a", "to-delete", {"spec": {"deleteBackup": True}})
    builder.delete_at(late, "NonAdminBackup", "team-b", "to-drop")
    builder.lose_backup_at(late, "team-c", "to-lose")


def primed_cron(builder: ScenarioBuilder) -> None:
    """The examples of the document on primed schedules, including those that it calls unsupported."""
    builder.namespace(HOME, "batch")
    builder.location()
    builder.velero().start()
    builder.prescaler().start()
    for name, cron, minutes in _PRIMED:
        spec = {"warmUpTimeMins": minutes, "cronJob": {"spec": {"schedule": cron}}}
        builder.create("PreScaledCronJob", "batch", name, spec)
