"""The configuration file: what can be used of it is, and any mistake makes every context read-only."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest

from foretop_core.config.allowed_names import ThemeTone
from foretop_core.config.config_file import ConfigFile, config_path, read_config
from foretop_core.config.protection import ClusterIdentity, Protection, protection_of
from foretop_core.config.settings import ContextSettings, Settings, ThresholdSettings
from foretop_core.pages import PAGES
from foretop_core.rules.triage import Thresholds
from foretop_core.tables.engine.status_glyphs import Tone
from tests.examples import sampled

_GOOD = "warmUpMinutes: 15\n"
"""A setting that must be used whatever else is wrong."""
BROKEN = {
    "a misspelled setting": ("them: dark", "2: unknown setting 'them'; did you mean theme?"),
    "an unknown setting": ("colour: red", "2: unknown setting 'colour'"),
    "a misspelled value": ("page: backup", "2: page: 'backup' is not valid; did you mean backups?"),
    "a tab that does not exist": ("tabs: [triage, bakups]", "2: tabs.1: 'bakups' is not valid; did you mean backups?"),
    "a tab that is there twice": ("tabs: [pods, pods]", "2: tabs: pods is there twice; a page has one tab"),
    "more tabs than digits": (
        "tabs: [triage, schedules, nonadmin, queue, calendar, backups, restores, protection, storage, pods, movements]",
        "2: tabs: 11 pages, and there are 9 digits; left out: pods, movements",
    ),
    "a theme that does not exist": ("theme: darc", "2: theme: theme 'darc' does not exist; did you mean dark?"),
    "text for a number": ("thresholds: {mostCollisions: many}", "2: thresholds.mostCollisions: must be a number"),
    "a number below the least": ("thresholds: {mostCollisions: 0}", "2: thresholds.mostCollisions: must be a number"),
    "text for a switch": ("mouse: sometimes", "2: mouse: must be true or false, not 'sometimes'"),
    "a list for a text": ("theme: [dark]", "2: theme: must be a name, not a list"),
    "a text for a list": ("namespaces: team-a", "2: namespaces: must be a list such as [a, b]"),
    "a list for a mapping": ("keys: [pause]", "2: keys: must be a mapping of names to values"),
    "a mapping inside a list": ("namespaces:\n- team-a\n- {name: x}", "4: namespaces.1: must be a name, not a mapping"),
    "a duration without a unit": ("thresholds:\n  overdue: 5", "3: thresholds.overdue: must be a duration such as 90s"),
    "a misspelled threshold": (
        "thresholds:\n  forgotenPause: 2d",
        "3: thresholds: unknown setting 'forgotenPause'; did you mean forgottenPause?",
    ),
    "a misspelled column": (
        "pages:\n  backups:\n    columns: [name, stared]",
        "4: pages.backups.columns.1: column 'stared' does not exist; did you mean started?",
    ),
    "columns of a page without a table": ("pages: {calendar: {sort: name}}", "2: pages.calendar: this page has no"),
    "a misspelled page": (
        "pages: {schedule: {sort: name}}",
        "2: pages: unknown name 'schedule'; did you mean schedules",
    ),
    "a misspelled action": ("keys: {pasue: ctrl+x}", "2: keys: unknown name 'pasue'; did you mean pause?"),
    "a colour that is none": ("skins: {mine: {bad: reddish}}", "2: skins.mine.bad: must be a colour such as"),
    "a tone that is none": ("skins: {mine: {bda: red}}", "2: skins.mine: unknown name 'bda'; did you mean bad?"),
    "a misspelled zone": (
        "timeZone: Europe/Berlim",
        "2: timeZone: zone 'Europe/Berlim' does not exist; did you mean Europe",
    ),
    "a setting given twice": ("theme: dark\ntheme: light", "3: theme is set twice, first on line 2; this one is used"),
    "a name that is no text": ("? [a]\n: b", "2: a name must be text"),
    "a version that is none": ("veleroVersion: newest", "2: veleroVersion: must be a version such as 1.17.1"),
    "a severity that is none": (
        "notify: {severity: bad}",
        "2: notify.severity: 'bad' is not valid; use error, warning",
    ),
}
UNREADABLE = {
    "an open bracket": ("namespaces: [a", "3: not valid YAML: "),
    "a tab": ("thresholds:\n\toverdue: 5m", "3: not valid YAML: found character"),
    "two documents": ("---\npage: queue\n---\npage: backups", "2: not valid YAML: found another document"),
    "an alias to nothing": ("page: *missing", "2: not valid YAML: found undefined alias"),
    "a control character": ("page: \x00", "2: not valid YAML: "),
}


def _read(folder: Path, text: str | bytes) -> ConfigFile:
    path = folder / "foretop" / "config.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_config({"XDG_CONFIG_HOME": str(folder)})


@pytest.mark.parametrize("name", BROKEN)
def test_a_mistake_names_its_line_and_the_rest_is_used(name: str, tmp_path: Path) -> None:
    text, said = BROKEN[name]
    found = _read(tmp_path, _GOOD + text + "\n")
    mistake, protected = found.mistakes
    assert mistake.startswith(f"{found.path}:{said}"), mistake
    assert "\n" not in mistake
    assert protected == f"{found.path}: every context is read-only until this is fixed"
    assert found.settings.warm_up_minutes == 15
    assert found.protects_all


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_file_that_is_not_yaml_names_its_line_and_protects_every_context(name: str, tmp_path: Path) -> None:
    text, said = UNREADABLE[name]
    found = _read(tmp_path, _GOOD + text + "\n")
    assert found.mistakes[0].startswith(f"{found.path}:{said}"), found.mistakes
    assert found.mistakes[1:] == (f"{found.path}: every context is read-only until this is fixed",)
    assert found.settings == Settings()
    assert _protection(found, "any").read_only


@pytest.mark.parametrize("text", [b"\xff\xfe", b"a: " + b"x" * 2_000_000, b"[" * 5_000])
def test_no_bytes_are_too_bad_to_be_explained(text: bytes, tmp_path: Path) -> None:
    found = _read(tmp_path, text)
    assert found.mistakes
    assert found.protects_all


def test_a_folder_in_the_place_of_the_file_is_explained(tmp_path: Path) -> None:
    config_path({"XDG_CONFIG_HOME": str(tmp_path)}).mkdir(parents=True)
    found = read_config({"XDG_CONFIG_HOME": str(tmp_path)})
    assert "is a directory; every context is read-only" in found.mistakes[0]


@pytest.mark.parametrize(
    ("text", "protected"),
    [
        ("contexts: {prod: {readOnly: true}}", {"prod"}),
        ("contexts: {prod: {readonly: true}, dev: {}}", {"prod", "dev"}),
        ("contexts: {prod: {readOnly: maybe}, dev: {production: true}}", {"prod", "dev"}),
        ("contexts: {prod: {clusterUid: prod}}", {"prod", "dev"}),
        ("contexts: {prod: {readOnly: true}, prod: {readOnly: false}}", {"prod", "dev"}),
        ("contexts: {prod: true, dev: {}}", {"prod", "dev"}),
        ("contexts: [prod]", {"prod", "dev"}),
        ("context: {prod: {readOnly: true}}", {"prod", "dev"}),
        ("readonly: true", {"prod", "dev"}),
        ("readOnly: true\nreadOnly: false", {"prod", "dev"}),
        ("clusters: {prod: {readOnly: true}}", {"prod", "dev"}),
        ("", {"prod", "dev"}),
        (" \n\n", {"prod", "dev"}),
        ("# nothing is set yet\n", set()),
        ("theme: dark", set()),
    ],
)
def test_what_may_have_been_meant_to_protect_a_context_protects_it(
    text: str, protected: set[str], tmp_path: Path
) -> None:
    found = _read(tmp_path, text)
    assert {name for name in ("prod", "dev") if _protection(found, name).read_only} == protected
    assert bool(found.mistakes) is (protected == {"prod", "dev"})


def _protection(found: ConfigFile, name: str) -> Protection:
    """By its name alone, of a cluster of which nothing else is known."""
    return protection_of(name, ClusterIdentity(), found, {})


@pytest.mark.parametrize("place", ["foretop/config.yaml", "foretop"])
def test_a_link_that_leads_nowhere_is_a_mistake(place: str, tmp_path: Path) -> None:
    link = tmp_path / place
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(tmp_path / "not-mounted")
    found = read_config({"XDG_CONFIG_HOME": str(tmp_path)})
    assert found.mistakes == (
        f"{found.path}: it is a link that leads nowhere; every context is read-only until this is fixed",
    )
    assert found.protects_all


@pytest.mark.parametrize(("value", "read_only"), [("0", True), ("false", True), ("1", True)])
def test_the_environment_can_only_add_protection(value: str, read_only: bool, tmp_path: Path) -> None:
    _read(tmp_path, "readOnly: true\n")
    environ = {"XDG_CONFIG_HOME": str(tmp_path), "FORETOP_READ_ONLY": value}
    assert read_config(environ).settings.read_only is read_only
    assert ("readOnly" in read_config(environ).from_environment) is (value == "1")
    _read(tmp_path, "readOnly: false\n")
    assert read_config(environ).settings.read_only is (value == "1")


_MISTAKES = ("unknown{}: 1\n", "theme: a{}\n", "keys: {{ x{}: y }}\n", "pages{}:\n  a: [1]\n")


@pytest.mark.parametrize("shape", sampled(_MISTAKES, *_MISTAKES[:2]))
def test_many_mistakes_cost_no_more_than_their_lines(
    shape: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def counted(word: str, *rest: Any) -> list[str]:
        asked.append(word)
        return []

    monkeypatch.setattr("difflib.get_close_matches", counted)
    found = _read(tmp_path, "".join(shape.format(number) for number in range(2_000)))
    assert found.protects_all
    assert len(found.mistakes) <= 22
    assert found.mistakes[-2].endswith("more mistakes")
    assert len(asked) <= 21


def test_aliases_do_not_multiply_the_work(tmp_path: Path) -> None:
    lists = "".join(f"g{n}: &g{n} [{', '.join([f'*g{n - 1}'] * 9 if n else ['a'] * 9)}]\n" for n in range(6))
    found = _read(tmp_path, f"{lists}namespaces: *g5\n")
    assert found.protects_all
    assert len(found.lines) < 60_000


def test_everything_that_can_be_set_is_read(tmp_path: Path) -> None:
    found = _read(
        tmp_path,
        """
page: backups
defaultContexts: [prod, dev]
groups: {prod: [prod-eu, prod-us]}
contexts: {prod-eu: {production: true, veleroVersion: 1.10, clusterUid: 0b6c1f1e-7f0e-4c5d-9a51-6f4f2f6d2a10}}
veleroVersion: 1.10
pages: {backups: {columns: [name, phase, name], sort: started, reverse: yes}}
thresholds: {overdue: 1h30m}
keys: {copy-name: ctrl+y}
skins: {mine: {bad: '#FF0000'}}
theme: mine
timeZone: Europe/Berlin
namespaces:
""",
    )
    assert found.mistakes == ()
    settings = found.settings
    assert settings.velero_version == settings.contexts["prod-eu"].velero_version == "1.10"
    assert settings.expanded(settings.default_contexts) == ("prod-eu", "prod-us", "dev")
    assert settings.pages["backups"].columns == ("name", "phase")
    assert settings.pages["backups"].reverse
    assert settings.contexts["prod-eu"] == ContextSettings(
        production=True, velero_version="1.10", cluster_uid="0b6c1f1e-7f0e-4c5d-9a51-6f4f2f6d2a10"
    )
    assert ("thresholds", "overdue") in found.lines
    assert ("namespaces",) not in found.lines


def test_without_a_file_no_parser_is_loaded() -> None:
    code = (
        "import sys; from foretop_core.config.config_file import read_config\n"
        "found = read_config({'HOME': '/nowhere'}); print(found.exists, 'yaml' in sys.modules)"
    )
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environ)
    assert done.stdout.split() == ["False", "False"]


def test_the_columns_of_every_page_can_be_chosen_also_of_one_without_a_tab(tmp_path: Path) -> None:
    lines = [f"  {page.id}: {{columns: [{', '.join(page.columns)}]}}" for page in PAGES.values() if page.view]
    found = _read(tmp_path, "\n".join(["pages:", *lines]))
    assert found.mistakes == ()
    assert found.settings.pages["protection"].columns == PAGES["protection"].columns
    refused = _read(tmp_path, "pages: {protection: {columns: [colour]}}").mistakes[0]
    assert "pages.protection.columns.0: column 'colour' does not exist" in refused


def test_the_names_are_those_of_the_screen_and_the_rules() -> None:
    assert set(get_args(ThemeTone)) == {tone.value for tone in Tone if tone is not Tone.PLAIN} | {
        "foreground",
        "background",
        "border",
        "raised",
    }
    assert (*ThresholdSettings.__struct_fields__, "window") == Thresholds.__struct_fields__
