"""The names that a configuration file may use for pages, columns, actions and tones.

They are listed here so that a file is read without the tables and the screen; a test compares them with those.
"""

from __future__ import annotations

from typing import Literal, get_args

PageName = Literal["triage", "schedules", "nonadmin", "queue", "calendar", "primer", "backups", "restores", "storage"]
PAGE_NAMES: tuple[str, ...] = get_args(PageName)
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
BUILT_IN_THEMES = ("terminal", "dark", "light", "high-contrast", "colour-blind")
PAGE_COLUMNS: dict[str, tuple[str, ...]] = {
    "triage": ("severity", "since", "subject", "what"),
    "schedules": ("namespace", "name", "cron", "meaning", "next", "last", "runs", "skip", "phase", "outcome"),
    "nonadmin": ("namespace", "name", "phase", "conditions", "velero", "queue", "progress", "age", "object"),
    "queue": ("position", "namespace", "name", "from", "phase", "items", "when", "waits"),
    "backups": (
        *("namespace", "name", "phase", "errors", "warnings", "started"),
        *("took", "expires", "from", "storage", "items"),
    ),
    "restores": (
        *("namespace", "name", "backup", "phase", "errors", "warnings", "started"),
        *("items", "took", "from"),
    ),
    "storage": (
        *("namespace", "name", "kind", "phase", "checked", "synced"),
        *("mode", "default", "what", "bucket", "prefix", "region"),
    ),
    "pods": ("namespace", "name", "role", "ready", "status", "restarts", "node", "age"),
    "movements": ("namespace", "name", "run", "phase", "progress", "left", "rate", "size", "node", "kind"),
    "repositories": ("namespace", "name", "volumes", "storage", "type", "phase", "maintained", "what"),
    "protection": (
        *("name", "state", "newest", "copies", "expires", "next", "by", "covers"),
        *("volumes", "storage", "repository", "tried"),
    ),
}
"""By page, the columns of its table; the other pages have none."""
ActionName = Literal[
    "open",
    "pause",
    "unpause",
    "resume",
    "back-up-now",
    "run-again",
    "restore",
    "logs",
    "nonadmin-logs",
    "fetch-results",
    "fetch-nonadmin-results",
    "resources",
    "cancel-movements",
    "create-schedule",
    "edit-schedule",
    "delete-schedule",
    "delete-backup",
    "extend-backup",
    "delete-restore",
    "delete-nab",
    "delete-nar",
    "decide-storage",
    "server-default",
    "acknowledge",
    "unacknowledge",
    "drill",
    "drill-cleanup",
    "jump",
    "yaml",
    "describe",
    "results",
    "pod-log",
    "copy-finding",
    "acknowledged",
    "copy-name",
    "copy-namespace",
    "prime",
    "horizon",
    "collisions",
    "take",
    "filter",
    "search",
    "mark",
    "mark-range",
    "mark-all",
    "clear-marks",
    "sort-selected",
    "fold",
    "group",
    "faults",
    "all-namespaces",
    "wide",
    "save",
    "palette",
    "windows",
    "handover",
    "previous",
    "next",
    "last",
    "back",
    "help",
    "zone",
    "relist",
    "sign-in",
    "full",
    "messages",
    "mouse",
    "theme",
    "suspend",
]
"""What a key can be given to, as the palette names it; esc, ctrl+c and the keys of fields stay as they are."""
