"""Editing a schedule: exactly the changed fields are sent, with what its runs do before and after."""

from __future__ import annotations

from typing import Any

import pytest

from foretop_core.actions.planners.schedule_edits import (
    ScheduleEdit,
    follow_edit,
    merge_patch,
    merged,
    patch_from,
    plan_edit_schedule,
    texts_of,
)
from foretop_core.actions.plans import PlanStep
from foretop_core.actions.spec_editing import spec_as_text
from foretop_core.errors import ForetopError
from foretop_core.models import Schedule
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.snapshot import ClusterSnapshot, VeleroInfo
from tests.objects import NOW, at, backup, location, schedule

DAILY = schedule(last="02:00:03", skip=False, uid="u1", template={"ttl": "24h0m0s", "includedNamespaces": ["shop"]})
SERVERS = {"velero": VeleroInfo(version="v1.18.0")}


def snapshot_of(item: Schedule, *backups: Any) -> ClusterSnapshot:
    return ClusterSnapshot("prod", schedules=(item,), backups=backups, storage=(location(),), servers=SERVERS)


def step_of(edit: ScheduleEdit, item: Schedule = DAILY, *backups: Any) -> PlanStep:
    (step,) = plan_edit_schedule(snapshot_of(item, *backups), [item], edit, NOW).steps
    return step


def test_only_the_changed_fields_are_sent_with_the_uid_of_the_schedule() -> None:
    texts = {**texts_of({"schedule": "0 2 * * *"}), "schedule": "0 2 * * *", "ttl": "720h", "included": "shop, web"}
    step = step_of(ScheduleEdit(patch_from(texts)))
    assert step.write.body == {
        "spec": {
            "template": {"ttl": "720h", "includedNamespaces": ["shop", "web"]},
            "skipImmediately": None,
        },
        "metadata": {"uid": "u1", "resourceVersion": DAILY.metadata.resource_version},
    }
    assert step.write.before == {
        "spec": {"template": {"ttl": "24h0m0s", "includedNamespaces": ["shop"]}, "skipImmediately": False}
    }
    assert step.changes == (
        "spec.template.ttl 24h0m0s → 720h",
        "spec.template.includedNamespaces shop → shop, web",
        "spec.skipImmediately removed (was false)",
    )


def test_a_spec_turned_into_texts_and_back_changes_nothing() -> None:
    spec = {
        "schedule": "@daily",
        "skipImmediately": True,
        "template": {"ttl": "24h", "includedNamespaces": ["a", "b"], "storageLocation": "default"},
    }
    assert merged(spec, patch_from(texts_of(spec))) == spec
    plan = plan_edit_schedule(snapshot_of(DAILY), [DAILY], ScheduleEdit({"schedule": "0 2 * * *"}), NOW)
    assert (plan.steps, plan.refused) == ((), ())


def test_the_texts_of_a_form_are_what_the_spec_holds() -> None:
    template = {"ttl": "24h", "includedNamespaces": ("a", "b"), "excludedNamespaces": ["c"], "storageLocation": "0"}
    assert texts_of({"schedule": "@daily", "skipImmediately": False, "template": template}) == {
        "schedule": "@daily",
        "ttl": "24h",
        "included": "a, b",
        "excluded": "c",
        "storage": "0",
        "skip": "false",
    }
    assert texts_of({"skipImmediately": True})["skip"] == "true"
    assert set(texts_of({"template": "odd"}).values()) == {""}


def test_texts_are_read_without_the_spaces_around_them() -> None:
    assert patch_from({"schedule": " @daily ", "included": " a ,, b", "excluded": " , ", "skip": "false"}) == {
        "schedule": "@daily",
        "template": {"includedNamespaces": ["a", "b"], "excludedNamespaces": None},
        "skipImmediately": False,
    }
    assert patch_from({"skip": "true", "storage": "true", "ttl": ""}) == {
        "skipImmediately": True,
        "template": {"storageLocation": "true", "ttl": None},
    }


@pytest.mark.parametrize("ttl", ["0s", "", None])
def test_velero_s_default_ttl_is_an_empty_field(ttl: str | None) -> None:
    assert texts_of({"template": {"ttl": ttl}})["ttl"] == ""


def test_a_later_hour_moves_the_next_run() -> None:
    step = step_of(ScheduleEdit({"schedule": "0 4 * * *"}))
    assert step.forecast == (
        "next run 16 Nov 02:00Z → 04:00:00Z; no backup now, none is due; "
        "next run 04:00:00Z, created 04:00:03Z, in 1 hour and 18 minutes"
    )
    assert step.changes[:2] == ("spec.schedule 0 2 * * * → 0 4 * * *", "means at 04:00 every day")
    assert step.changes[2].startswith("next runs 04:00:00Z, 16 Nov 04:00Z")


def test_an_expression_with_a_run_since_the_last_backup_starts_one_at_once() -> None:
    step = step_of(ScheduleEdit({"schedule": "*/10 * * * *"}))
    assert step.forecast.startswith("next run 16 Nov 02:00Z → now; one backup is created at once: due since 02:10:00Z")
    skipping = step_of(ScheduleEdit({"schedule": "*/10 * * * *", "skipImmediately": True}))
    assert "no backup now, skips the run due since 02:10:00Z" in skipping.forecast


@pytest.mark.parametrize(
    ("cron", "wanted", "moved"),
    [
        ("30 2 * * *", "0 4 * * *", "next run now → 04:00:00Z; "),
        ("41 2 * * *", "0 4 * * *", "next run now → 04:00:00Z; "),
        ("0 0 31 2 *", "0 4 * * *", "next run none → 04:00:00Z; "),
        ("0 4 * * *", "0 0 31 2 *", "next run 04:00:00Z → now; a backup at once"),
        ("0 4 * * *", "0 5 * * *", "next run 04:00:00Z → 05:00:00Z; "),
    ],
)
def test_the_next_run_before_and_after(cron: str, wanted: str, moved: str) -> None:
    """NOW is a whole minute in one case, so that a run is due at that very second."""
    item = schedule(cron=cron, last="02:00:03", skip=False)
    now = at("02:41:00")
    (step,) = plan_edit_schedule(snapshot_of(item), [item], ScheduleEdit({"schedule": wanted}), now).steps
    assert step.forecast.startswith(moved)


def test_no_next_run_is_told_where_nobody_can_tell_it() -> None:
    left_to_the_server = step_of(ScheduleEdit({"schedule": "*/10 * * * *"}), schedule(last="02:00:03"))
    assert left_to_the_server.forecast.startswith("one backup is created at once: due since 02:10:00Z")
    silent = ClusterSnapshot("prod", schedules=(DAILY,), storage=(location(checked="02:26:03", synced="02:26:03"),))
    (step,) = plan_edit_schedule(silent, [DAILY], ScheduleEdit({"schedule": "0 4 * * *"}), NOW).steps
    assert step.forecast.startswith("nothing until Velero is back")
    never = schedule(cron="0 0 31 2 *", last="02:00:03", skip=False)
    running = backup("nightly-1", "InProgress", of="nightly")
    assert not step_of(ScheduleEdit({"schedule": "0 0 30 2 *"}), never, running).forecast.startswith("next run")
    assert not step_of(ScheduleEdit({"template": {"ttl": "5h"}})).forecast.startswith("next run")


def test_the_meaning_of_an_expression_follows_its_own_line() -> None:
    edit = ScheduleEdit({"template": {"ttl": "48h"}, "schedule": "0 4 * * *", "skipImmediately": True})
    assert [line.partition(" ")[0] for line in step_of(edit).changes] == [
        "spec.template.ttl",
        "spec.schedule",
        "means",
        "next",
        "spec.skipImmediately",
    ]


def test_a_paused_schedule_stays_paused() -> None:
    paused = schedule(last="02:00:03", skip=False, paused=True)
    step = step_of(ScheduleEdit({"schedule": "*/10 * * * *"}), paused)
    assert step.forecast.startswith("no backup until it is unpaused; unpaused now: one backup is created at once")
    assert "paused" not in step.write.body["spec"]


def test_existing_backups_keep_what_they_have() -> None:
    step = step_of(ScheduleEdit({"template": {"ttl": "48h"}}), DAILY, backup(of="nightly"))
    assert step.forecast.endswith("; 1 existing backup stays unchanged")
    runs = backup("nightly-1", of="nightly"), backup("nightly-2", of="nightly"), backup("weekly-1", of="weekly")
    two = step_of(ScheduleEdit({"template": {"ttl": "48h"}}), DAILY, *runs)
    assert two.forecast.endswith("; 2 existing backups stay unchanged")
    assert "existing" not in step_of(ScheduleEdit({"skipImmediately": True}), DAILY, *runs).forecast


@pytest.mark.parametrize(
    ("patch", "warning"),
    [
        ({"template": {"storageLocation": "gone"}}, "Storage location gone does not exist in velero; it has default."),
        ({"schedule": "@every 6h"}, "@every counts from the actual last run, so it drifts."),
        ({"template": {"excludedNamespaces": ["shop"]}}, "shop is both included and excluded"),
        (
            {"template": {"includedNamespaces": ["a", "b", "c"], "excludedNamespaces": ["b", "a"]}},
            "a and b are both included and excluded",
        ),
        ({"template": {"excludedNamespaces": ["*"]}}, "* cannot be excluded"),
        ({"template": {"includedNamespaces": ["*", "shop"]}}, "* is included beside other namespaces"),
    ],
)
def test_what_the_server_accepts_and_velero_does_not_is_a_warning(patch: dict[str, Any], warning: str) -> None:
    (said,) = step_of(ScheduleEdit(patch)).warnings
    assert warning in said


@pytest.mark.parametrize(
    "patch",
    [
        {"template": {"includedNamespaces": ["*"]}},
        {"template": {"includedNamespaces": ["shop", "web"], "excludedNamespaces": ["crm"]}},
        {"template": {"storageLocation": "default"}},
    ],
)
def test_what_velero_takes_gives_no_warning(patch: dict[str, Any]) -> None:
    assert step_of(ScheduleEdit(patch)).warnings == ()


def test_a_doubt_about_an_expression_that_stays_is_no_news_but_a_missing_location_is() -> None:
    item = schedule(cron="@every 6h", last="02:00:03", skip=False, template={"storageLocation": "gone"})
    assert step_of(ScheduleEdit({"template": {"ttl": "48h"}}), item).warnings == (
        "Storage location gone does not exist in velero; it has default.",
    )


def test_other_readings_of_a_new_expression_are_told() -> None:
    item = schedule(last="02:00:03", skip=False)
    unknown = ClusterSnapshot("prod", schedules=(item,), storage=(location(),))
    (step,) = plan_edit_schedule(unknown, [item], ScheduleEdit({"schedule": "0 2 * * 7"}), NOW).steps
    assert sum(line.startswith("on ") for line in step.changes) > 1
    assert "on " in step.forecast


@pytest.mark.parametrize(
    ("patch", "words"),
    [
        ({"schedule": "0 25 * * *"}, "is not a valid schedule in the field hour"),
        ({"schedule": None}, "A schedule needs a cron expression"),
        ({"template": {"ttl": "30d"}}, "The TTL '30d' is not a valid duration"),
        ({"template": {"ttl": 30}}, "template.ttl"),
        ({"template": {"includedNamespaces": ["Shop"]}}, "'Shop' is not a valid namespace name"),
        ({"paused": True}, "spec.paused is not edited"),
    ],
)
def test_what_cannot_be_is_one_line(patch: dict[str, Any], words: str) -> None:
    with pytest.raises(ForetopError) as problem:
        step_of(ScheduleEdit(patch))
    assert words in str(problem.value)


def test_a_field_that_someone_else_changed_meanwhile_is_named() -> None:
    opened = {"schedule": "0 1 * * *", "template": {"ttl": "72h"}}
    step = step_of(ScheduleEdit({"schedule": "0 4 * * *"}, opened))
    assert step.warnings == ("Someone else changed it while it was being edited: spec.schedule 0 1 * * * → 0 2 * * *.",)
    assert step.changes[0] == "spec.schedule 0 2 * * * → 0 4 * * *"


def test_what_someone_else_changed_is_told_before_the_doubts() -> None:
    edit = ScheduleEdit({"schedule": "@every 6h"}, {"schedule": "0 1 * * *"})
    first, doubt = step_of(edit).warnings
    assert first.startswith("Someone else changed it")
    assert doubt.startswith("@every counts")


def test_what_was_shown_and_is_still_so_is_no_news() -> None:
    opened = {"schedule": "0 2 * * *", "template": {"ttl": "24h0m0s"}}
    assert step_of(ScheduleEdit({"schedule": "0 4 * * *", "template": {"ttl": "5h"}}, opened)).warnings == ()


def test_a_schedule_made_again_meanwhile_is_refused() -> None:
    plan = plan_edit_schedule(snapshot_of(DAILY), [DAILY], ScheduleEdit({"schedule": "@daily"}, {}, "u0"), NOW)
    assert [refusal.why for refusal in plan.refused] == ["it was deleted and created again in the meantime"]
    assert plan.steps == ()


def test_a_schedule_that_is_still_the_same_one_is_edited() -> None:
    assert step_of(ScheduleEdit({"schedule": "@daily"}, {"schedule": "0 2 * * *"}, "u1")).warnings == ()


@pytest.mark.parametrize(
    ("patch", "opened", "news"),
    [
        ({"template": {"ttl": "5h"}}, {"template": {"ttl": "24h"}}, "spec.template.ttl 24h → 24h0m0s"),
        ({"template": {"ttl": "5h"}}, {}, "spec.template.ttl absent → 24h0m0s"),
        ({"template": {"ttl": "5h"}}, {"template": None}, "spec.template.ttl absent → 24h0m0s"),
        ({"skipImmediately": None}, {"skipImmediately": True}, "spec.skipImmediately true → false"),
        ({"template": {"storageLocation": "default"}}, {"template": {"storageLocation": "s3"}}, "removed (was s3)"),
        ({"template": {"hooks": {"a": 1}}}, {"template": {"hooks": {"a": 2}}}, "spec.template.hooks"),
    ],
)
def test_each_field_that_moved_while_it_was_edited_is_named(
    patch: dict[str, Any], opened: dict[str, Any], news: str
) -> None:
    first = step_of(ScheduleEdit(patch, opened)).warnings[0]
    assert first.startswith("Someone else changed it while it was being edited: ")
    assert news in first


def test_an_empty_mapping_is_a_value_of_its_own() -> None:
    step = step_of(ScheduleEdit({"template": {"hooks": {}}}))
    assert step.write.body["spec"] == {"template": {"hooks": {}}}
    assert step.changes == ("spec.template.hooks absent → {}",)


def test_a_field_that_foretop_does_not_know_is_shown_with_its_value() -> None:
    opened = {"schedule": "0 2 * * *", "template": {"newer": "a"}, "spread": 1}
    step = step_of(ScheduleEdit({"template": {"newer": "b"}, "spread": None}, opened))
    assert step.changes == ("spec.template.newer a → b", "spec.spread removed (was 1)")


def test_a_patch_makes_the_one_spec_out_of_the_other() -> None:
    old = {"schedule": "@daily", "template": {"hooks": {"a": 1}, "ttl": "1h", "labels": ["x"]}, "skipImmediately": True}
    new = {"schedule": "@daily", "template": {"hooks": {"a": 2}, "labels": ["x", "y"]}, "extra": {}}
    patch = merge_patch(old, new)
    assert patch == {
        "skipImmediately": None,
        "template": {"ttl": None, "hooks": {"a": 2}, "labels": ["x", "y"]},
        "extra": {},
    }
    assert merged(old, patch) == new
    assert merge_patch(old, old) == {}


@pytest.mark.parametrize(
    ("old", "new", "patch"),
    [
        ({"a": {"b": 1}}, {"a": 2}, {"a": 2}),
        ({"a": 2}, {"a": {"b": 1}}, {"a": {"b": 1}}),
        ({"a": {"b": 1}}, {"a": {"b": 1, "c": 2}}, {"a": {"c": 2}}),
        ({"a": {"b": 1}}, {}, {"a": None}),
        ({"a": 0}, {"a": False, "b": ""}, {"b": ""}),
    ],
)
def test_a_merge_patch_turns_values_into_mappings_and_back(
    old: dict[str, Any], new: dict[str, Any], patch: dict[str, Any]
) -> None:
    assert merge_patch(old, new) == patch
    assert merged(old, patch) == new


def test_what_velero_made_of_an_edit_is_followed() -> None:
    moved = step_of(ScheduleEdit({"schedule": "0 4 * * *"}))
    probe = follow_edit(snapshot_of(DAILY), DAILY, moved, NOW)
    assert probe is not None
    assert not probe(snapshot_of(DAILY)).done
    later = schedule(last="02:00:03", cron="0 4 * * *", skip=False)
    assert probe(snapshot_of(later)).sentence == "Velero uses it from the next run on"
    due = step_of(ScheduleEdit({"schedule": "*/10 * * * *"}))
    probe = follow_edit(snapshot_of(DAILY), DAILY, due, NOW)
    assert probe is not None
    often = schedule(last="02:00:03", cron="*/10 * * * *", skip=False)
    assert probe(snapshot_of(often)).sentence == "it waits for Velero"
    made = probe(snapshot_of(often, backup("new", "New", of="nightly")))
    assert (made.done, made.sentence) == (True, "Velero picked it up, backup new (New)")


def test_an_edit_is_awaited_where_velero_starts_or_skips_a_run() -> None:
    running = backup("nightly-1", "InProgress", of="nightly")

    def followed(patch: dict[str, Any], *backups: Any) -> str:
        step = step_of(ScheduleEdit(patch), DAILY, *backups)
        probe = follow_edit(snapshot_of(DAILY, *backups), DAILY, step, NOW)
        assert probe is not None
        cron, skip = patch.get("schedule", "0 2 * * *"), patch.get("skipImmediately", False)
        return probe(snapshot_of(schedule(last="02:00:03", cron=cron, skip=skip), *backups)).sentence

    waits, later = "it waits for Velero", "Velero uses it from the next run on"
    assert followed({"schedule": "*/10 * * * *"}) == waits
    assert followed({"schedule": "*/10 * * * *"}, running) == later
    assert followed({"schedule": "0 4 * * *"}) == later
    assert followed({"schedule": "0 4 * * *", "skipImmediately": True}) == waits
    assert followed({"skipImmediately": None}) == later


def test_a_schedule_that_velero_refuses_is_not_called_done_before_it_is_read_again() -> None:
    broken = schedule(cron="0 2 * * *", phase="FailedValidation", last="02:00:03", skip=False)
    step = step_of(ScheduleEdit({"schedule": "0 4 * * *"}), broken)
    probe = follow_edit(snapshot_of(broken), broken, step, NOW)
    assert probe is not None
    still = schedule(cron="0 4 * * *", phase="FailedValidation", last="02:00:03", skip=False)
    assert probe(snapshot_of(still)).sentence == "it waits for Velero"
    well = schedule(cron="0 4 * * *", last="02:00:03", skip=False)
    assert probe(snapshot_of(well)).sentence == "Velero picked it up: Enabled"


def test_a_field_of_the_wrong_type_is_named_with_its_schedule() -> None:
    with pytest.raises(ForetopError, match=r"velero/nightly cannot be read: spec\.template\.hooks"):
        step_of(ScheduleEdit({"template": {"hooks": ["x"]}}))


def test_a_long_value_stays_on_one_line_in_the_editor() -> None:
    command = "pg_dump " + "--table=orders " * 200
    text = spec_as_text(ObjectRef("prod", "Schedule", "velero", "daily"), {"template": {"command": command.strip()}})
    assert f"command: {command.strip()}\n" in text


def test_a_later_minute_of_a_day_that_was_run_is_due_and_no_run_of_it_was_missed() -> None:
    """Velero counts from the last backup: by the new expression a run is due, which nobody had promised before."""
    item = schedule("crm", "16 22 * * *", last="2026-11-14T22:16:03Z", skip=True)
    told = step_of(ScheduleEdit({"schedule": "25 22 * * *"}), item).forecast
    assert "no backup now, skips the run due since 14 Nov 22:25Z by the new expression; " in told
    assert "missed" not in told
    late = schedule("crm", "16 * * * *", last="2026-11-14T22:16:03Z", skip=True)
    assert "5 runs missed" in step_of(ScheduleEdit({"schedule": "25 * * * *"}), late).forecast
