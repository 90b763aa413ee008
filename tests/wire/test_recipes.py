"""The recipes of CONTRIBUTING.md, followed in a copy of the tree: what each leads to is where a user would see it."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from foretop.bindings import ACTIONS
from tests.generated_tables import free_keys
from tests.wire.boxes import box_in_thread, kubeconfig
from tests.wire.command_fixtures import OBJECTS

# Each step is a process of its own in a copy of the tree.
pytestmark = pytest.mark.sweep
_ROOT = Path(__file__).parents[2]
_RECIPES = (_ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
_LOCATION = {
    "apiVersion": "velero.io/v1",
    "kind": "BackupStorageLocation",
    "metadata": {"name": "offsite", "namespace": "velero"},
    "spec": {"provider": "aws", "objectStorage": {"bucket": "far-away"}},
    "status": {"phase": "Available"},
}
_TIMED = re.search(r'`(sentence\("Due at .*?\))`', _RECIPES)
assert _TIMED, "the recipe of a finding shows how times are written"

_FINDING = f'''"""A finding made by the recipe."""

from foretop_core.rules.sentences import sentence
from foretop_core.rules.triage.finding import Finding, Severity


def by_recipe(snapshot, now, limits):
    for schedule in snapshot.schedules:
        run = schedule.metadata.creation_timestamp
        evidence = {_TIMED[1]}
        where, what = snapshot.ref(schedule), "made by the recipe"
        yield Finding("by-recipe", Severity.WARNING, where, run, what, evidence, "Look.")
'''
_ACTION = '''"""An action made by the recipe."""

from foretop_core.actions.action_record import ActionRecord, CommandLine, DialogSpec
from foretop_core.actions.plans import Plan
from foretop_core.actions.step_builders import patch_step
from foretop_core.models.kinds import BACKUP, RequiredPermission


def plan_label(snapshot, backups, now):
    patch = {"metadata": {"labels": {"by": "recipe"}}}
    steps = [patch_step(snapshot.ref(one), one, patch, {}, "It has the label.") for one in backups]
    return Plan(LABEL, now, tuple(steps), ())


LABEL = ActionRecord(
    999,
    "label-backup",
    "Label it by recipe",
    "f9",
    (BACKUP,),
    (RequiredPermission("patch", BACKUP),),
    plan_label,
    dialog=DialogSpec("Label {}", "Label"),
    commands=(CommandLine("backup label", "foretop backup label ended", "Label backups by recipe."),),
)
'''
_VIEW = '''"""A page made by the recipe: its table."""

from foretop_core.models import BackupStorageLocation
from foretop_core.models.kinds import STORAGE
from foretop_core.tables.engine.status_glyphs import StatusGlyph
from foretop_core.tables.engine.view import View, plain
from foretop_core.tables.engine.json_items import identity


class BucketsView(View[BackupStorageLocation]):
    name = "buckets"
    kinds = watched = frozenset({STORAGE.name})
    order = "name"
    rank = ("name", "bucket")

    def __init__(self):
        self.columns = (
            plain("name", "LOCATION", lambda one: one.name),
            plain("bucket", "BUCKET", lambda one: one.spec.object_storage.bucket),
        )

    def entry(self, store, key, resource):
        return resource

    def resource(self, entry):
        return entry

    def phase(self, entry):
        return entry.phase

    def mark(self, entry, render):
        return StatusGlyph.HEALTHY

    def item(self, entry, render):
        return {**identity(render.snapshot.context, entry), "bucket": entry.spec.object_storage.bucket}
'''
_PAGE = """_RECORDS = (
    PageRecord(
        id="buckets",
        title="Buckets by recipe",
        name="Buckets",
        short="Bucket",
        commands=("buckets",),
        view="buckets:BucketsView",
        get=(("buckets", ""),),
    ),
"""
_PANE = '''"""A page made by the recipe: its pane."""

from foretop.widgets.paragraphs import paragraph


def bucket_pane(entry, render):
    return (paragraph(f"bucket {entry.spec.object_storage.bucket}"),)
'''
_ROOM_FINDING = '''"""What a room made by the recipe finds."""

from foretop_core.rules.triage.finding import Finding, Severity


def by_room(snapshot, now, limits):
    for place in snapshot.storage:
        where, what = snapshot.ref(place), "found by a room"
        yield Finding("by-room", Severity.WARNING, where, None, what, "It is there.", "Look.")


RULES = (by_room,)
'''
_ROOM_COMMANDS = '''"""The commands of a room made by the recipe."""

from foretop.commands.exit_codes import BAD_INPUT, ExitCodes

COMMANDS = {"letters": ("foretop.rooms.letters.command", "Count the letters of a word.")}
EXIT_CODES = (ExitCodes(("letters",), {0: "counted", **BAD_INPUT}),)
'''
_ROOM_COMMAND = '''"""A command of a room made by the recipe."""

import click


@click.command("letters")
@click.argument("word")
def command(word):
    """Count the letters of a word."""
    click.echo(f"{len(word)} letters")
'''
_NEW_FILES = {
    "core/foretop_core/rooms/letters/__init__.py": '"""A room made by the recipe."""\n',
    "core/foretop_core/rooms/letters/findings.py": _ROOM_FINDING,
    "tui/foretop/rooms/letters/__init__.py": _ROOM_COMMANDS,
    "tui/foretop/rooms/letters/command.py": _ROOM_COMMAND,
    "core/foretop_core/rules/triage/by_recipe.py": _FINDING,
    "core/foretop_core/actions/planners/labels.py": _ACTION,
    "core/foretop_core/tables/resources/buckets.py": _VIEW,
    "tui/foretop/panes/bucket_pane.py": _PANE,
}
_EDITS = (
    (
        "core/foretop_core/tables/resources/storage.py",
        "_COLUMNS: tuple[Column[StorageRow], ...] = (\n",
        '{}    plain("letters", "LETTERS", lambda place: str(len(place.resource.name))),\n',
    ),
    (
        "core/foretop_core/rules/facts/storage_facts.py",
        "    @property\n    def running(self) -> int:\n",
        "    @property\n    def letters(self) -> int:\n        return len(self.place.name)\n\n{}",
    ),
    (
        "core/foretop_core/tables/resources/storage.py",
        '        "runningBackups": facts.running,\n',
        '{}        "letters": facts.letters,\n',
    ),
    (
        "tui/foretop/panes/storage_pane.py",
        '    running = f", {facts.running:,} being written" if facts.running else ""\n',
        '    lines.append(paragraph(f"{facts.letters} in its name", label="Letters"))\n{}',
    ),
    ("core/foretop_core/rules/triage/rules.py", "    cron_dialects,\n", "    by_recipe,\n{}"),
    ("core/foretop_core/rules/triage/rules.py", "RULES: tuple[Rule, ...] = (\n", "{}    by_recipe.by_recipe,\n"),
    ("core/foretop_core/pages.py", "_RECORDS = (\n", _PAGE),
    (
        "tui/foretop/panes/page_records.py",
        '    ScreenPage(\n        id="repositories",\n',
        '    ScreenPage(id="buckets", tells=_pane("bucket_pane:bucket_pane"), signs=signs_of(healthy="there")),\n{}',
    ),
    (
        "core/foretop_core/cron/dialect_rules.py",
        "class CronError(",
        '    NEXT = "next/cron v1"\n\n\n{}',
    ),
    ("core/foretop_core/cron/dialect_rules.py", "GRAMMARS = {", "{}Dialect.NEXT: _ROBFIG1, "),
    ("core/foretop_core/rules/cron_dialects/releases.py", "RELEASES = {\n", '{}    Dialect.NEXT: "1.19 and later",\n'),
    (
        "core/foretop_core/rules/cron_dialects/releases.py",
        "        if line > (1, 18):\n            return (Dialect.NETRESEARCH,)\n",
        "        if line > (1, 18):\n            return (Dialect.NEXT,)\n",
    ),
    ("core/foretop_core/rules/cron_dialects/readings.py", "_SKIPPED = {\n", '{}    Dialect.NEXT: "",\n'),
)
_ASKED = {
    "field": ("get", "storage", "-o", "json"),
    "field in words": ("describe", "bsl", "offsite"),
    "column": ("get", "storage", "-o", "wide"),
    "finding": ("report",),
    "action": ("backup", "label", "ended", "--yes"),
    "action in the list": ("backup", "--help"),
    "page": ("get", "buckets"),
    "room": ("letters", "offsite"),
    "room in the list": ("--help",),
    "dialect": ("next", "CRON_TZ=Europe/Berlin 0 2 * * *", "--velero-version", "1.19"),
    "dialect before": ("next", "CRON_TZ=Europe/Berlin 0 2 * * *", "--velero-version", "1.18.3"),
}
_ASKS = """
import contextlib, io, json, sys
from foretop.bindings import ACTIONS
from foretop.cli import run
from foretop.panes.page_records import SCREEN_PAGES
told = {"keys": [0, " ".join(key for one in ACTIONS if one.id == "label-backup" for key in one.keys)]}
told["pane"] = [0, " ".join(SCREEN_PAGES)]
for name, words in json.loads(sys.argv[1]).items():
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
        code = run(words)
    told[name] = [code, out.getvalue()]
print(json.dumps(told))
"""
Told = Mapping[str, tuple[int, str]]


class Copy(NamedTuple):
    """A copy of the tree, and the environment in which it is run."""

    tree: Path
    environ: dict[str, str]

    def write_tables(self) -> subprocess.CompletedProcess[str]:
        ask = [sys.executable, "-m", "tests.write_tables"]
        return subprocess.run(ask, cwd=self.tree, env=self.environ, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """A copy in which all recipes were followed."""
    tree = tmp_path_factory.mktemp("recipes")
    for folder in ("core", "tui"):
        shutil.copytree(_ROOT / folder, tree / folder)
    for path, text in _NEW_FILES.items():
        (tree / path).parent.mkdir(exist_ok=True)
        (tree / path).write_text(text, encoding="utf-8")
    for path, place, text in _EDITS:
        source = (tree / path).read_text(encoding="utf-8")
        assert source.count(place) == 1, f"{path} has no single {place!r}"
        (tree / path).write_text(source.replace(place, text.replace("{}", place, 1)), encoding="utf-8")
    code = os.pathsep.join(map(str, (tree / "core", tree / "tui", _ROOT)))
    return Copy(tree, {**os.environ, "PYTHONPATH": code, "XDG_STATE_HOME": str(tree), "XDG_CONFIG_HOME": str(tree)})


@pytest.fixture(scope="module")
def told(copy: Copy) -> Told:
    """The exit code and the words of each command."""
    tree, environ = copy
    written = copy.write_tables()
    assert written.returncode == 0, written.stderr
    with box_in_thread([*OBJECTS, _LOCATION]) as box:
        there = {**environ, "KUBECONFIG": kubeconfig(box, tree)}
        ask = [sys.executable, "-c", _ASKS, json.dumps(_ASKED)]
        done = subprocess.run(ask, cwd=tree, env=there, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        labelled = box.storage.get(box.storage.kind("Backup"), "velero", "ended")["metadata"].get("labels", {})
    return {**msgspec.json.decode(done.stdout, type=dict[str, tuple[int, str]]), "labels": (0, str(labelled))}


def test_a_field_is_a_property_of_the_facts_that_item_and_pane_read(told: Told) -> None:
    assert '"letters": 7' in told["field"][1], told["field"][1]
    assert re.search(r"Letters +7 in its name", told["field in words"][1]), told["field in words"][1]


def test_a_column_is_an_entry_among_the_columns(told: Told) -> None:
    code, out = told["column"]
    assert code == 0, out
    assert re.match(r"LETTERS .*\n7 .*offsite", out), out


def test_a_finding_is_a_function_named_among_the_rules(told: Told) -> None:
    _, out = told["finding"]
    assert "made by the recipe" in out, out


def test_an_action_is_its_record_beside_its_planner(told: Told) -> None:
    assert told["action"][0] == 0, told["action"][1]
    assert told["labels"][1] == "{'by': 'recipe'}"
    assert "Label backups by recipe." in told["action in the list"][1]
    assert told["keys"][1] == "f9"


def test_a_page_is_a_view_a_record_a_pane_and_its_half_for_the_screen(told: Told) -> None:
    code, out = told["page"]
    assert code == 0, out
    assert re.search(r"LOCATION +BUCKET", out), out
    assert re.search(r"offsite +far-away", out), out
    assert "buckets" in told["pane"][1].split()


def test_a_room_is_a_folder_that_is_found(told: Told) -> None:
    assert told["room"] == (0, "7 letters\n")
    assert "Count the letters of a word." in told["room in the list"][1]
    assert "found by a room" in told["finding"][1]


def test_a_dialect_is_a_grammar_and_the_releases_that_have_it(told: Told) -> None:
    assert told["dialect before"][0] == 0, told["dialect before"][1]
    assert told["dialect"][0] == 2, told["dialect"][1]


@pytest.mark.parametrize(
    ("given", "wrong", "why"),
    [
        (
            '    dialog=DialogSpec("Label {}", "Label"),\n',
            "",
            "action label-backup has no dialog",
        ),
        ("    999,\n", "    10,\n", "actions label-backup and pause both have the place 10"),
        ('"f9"', '"r"', f"restore and label-backup are both on r; no action has {', '.join(free_keys(ACTIONS))}"),
    ],
)
def test_a_record_that_is_not_whole_is_one_line(told: Told, copy: Copy, given: str, wrong: str, why: str) -> None:
    assert told
    path = copy.tree / "core/foretop_core/actions/planners/labels.py"
    path.write_text(_ACTION.replace(given, wrong), encoding="utf-8")
    # Two of these texts are equally long: written within one second, the compiled form of one passes for the other's.
    Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)
    done = copy.write_tables()
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"Nothing was written: {why}\n"
