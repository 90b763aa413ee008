"""The names that a configuration file may use for pages, actions and tones.

They are made from the records of the pages and of the actions. The screen has the actions, and the core does not know
it: `python -m tests.write_tables` writes their names to a file.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

from foretop_core.pages import PAGES

ACTION_NAMES_FILE = Path(__file__).with_name("action_names.json")
PAGE_NAMES: tuple[str, ...] = tuple(PAGES)
ThemeTone = Literal[
    "foreground",
    "background",
    "border",
    "dim",
    "bright",
    "faint",
    "raised",
    "good",
    "running",
    "waiting",
    "paused",
    "warn",
    "bad",
]
"""What a theme gives colours to: the screen, and the tones of what stands on it."""
GONE_ACTION = "edit-beside-runs"
"""An action of earlier builds: a file that gives it a key is valid, and the key does nothing."""
BUILT_IN_THEMES = ("terminal", "dark", "light", "high-contrast", "colour-blind")

if TYPE_CHECKING:
    PageName: TypeAlias = str
    ActionName: TypeAlias = str
else:
    PageName = Literal[PAGE_NAMES]
    """A page to start on, to have a tab, or whose columns are chosen."""
    ActionName = Literal[(*msgspec.json.decode(ACTION_NAMES_FILE.read_bytes()), GONE_ACTION)]
    """What a key can be given to, as the palette names it; esc, ctrl+c and the keys of fields stay as they are."""
