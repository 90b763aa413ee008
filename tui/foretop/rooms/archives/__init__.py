"""Archives in the dashboard: what people send when something is wrong."""

from __future__ import annotations

from foretop.commands.exit_codes import ALWAYS, NOT_JUDGED, ExitCodes

COMMANDS = {
    "open": ("foretop.rooms.archives.open_command", "Show a debug bundle, a must-gather or kubectl's YAML."),
    "gather": ("foretop.rooms.archives.gather_command", "Write what foretop reads of a cluster to an archive."),
    "record": ("foretop.rooms.archives.record_command", "Record what happens in a cluster, to be opened later."),
}
GET = {"changes": "foretop.rooms.archives.change_rows:ChangeRows"}
EXIT_CODES = (
    ExitCodes(("record",), {0: "ended", **ALWAYS}),
    ExitCodes(("gather",), {0: "written", 1: "written, but not everything could be read", **ALWAYS}),
    ExitCodes(
        ("open",),
        {0: "shown; without a terminal as for report", 1: "errors", **ALWAYS, NOT_JUDGED: "not all was there"},
    ),
)
