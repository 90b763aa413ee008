"""What the manual says about the configuration is so."""

from __future__ import annotations

import re
from pathlib import Path

from foretop_core.config.config_reader import check_settings, read_settings
from foretop_core.config.settings import VARIABLES, Settings

_MANUAL = (Path(__file__).parents[3] / "docs" / "manual.md").read_text()
_SECTION = _MANUAL.partition("\n## Configuration\n")[2].partition("\n## ")[0]


def test_the_example_file_of_the_manual_is_read_without_a_complaint() -> None:
    (example,) = re.findall(r"```yaml\n(.*?)```", _SECTION, re.DOTALL)
    found = read_settings(example)
    check_settings(found)
    assert found.mistakes == []
    assert found.settings != Settings()
    assert found.settings.contexts["prod-eu"].production


def test_the_variables_of_the_manual_are_those_that_are_read() -> None:
    assert set(re.findall(r"`(FORETOP_\w+)`", _SECTION)) == set(VARIABLES.values())
