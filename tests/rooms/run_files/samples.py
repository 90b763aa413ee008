"""What the room of the files of runs adds to the comparisons of all commands and keys."""

from __future__ import annotations

READING = [["taken", "failed", "-o", "json"], ["backup", "logs", "failed"], ["backup", "results", "failed"]]
"""Commands that read, in search of secrets that they print."""
FETCHING = [("backup", "logs", "ended"), ("restore", "results", "back")]
"""Commands that fetch by a request, which is a write."""
REFUSED = [
    (("backup", "logs", "ended", "--cacert", "/no/such"), "/no/such cannot be used as --cacert"),
    (("backup", "logs", "nosuch"), "Backup nosuch not found"),
    (("restore", "results", "nosuch"), "Restore nosuch not found"),
    (("nar", "results", "nosuch"), "NonAdminRestore nosuch not found"),
]
"""Bad input, and what is said of it."""
TWO_MEANINGS = {"n": ({"copy_namespace", "next"}, "the next match, as in less, vim and k9s")}
"""By letter, what it means on different pages, and why."""
KEYS_OF_FILES = ("x", "l")
"""Of a backup that has ended: each opens a window."""
WINDOWS = {"inside": ("ContentsViewer", "esource list of ", ("escape",))}
"""By action, its window, what that begins with, and the keys that lead back."""
KEY_OF_LOGS = "l"
"""Of a backup and of a NAB: its window asks before it fetches."""
MEANINGS = {
    **dict.fromkeys(("logs", "nonadmin-logs", "pod_log"), "logs"),
    **dict.fromkeys(("results", "fetch-results", "fetch-nonadmin-results"), "results"),
    "errors_only": "only what is wrong",
    "reload": "reload",
}
"""By action, what its key means to a person where another action has it too."""
ELSEWHERE = {
    "pod_log": "wants a pod: test_the_log_of_a_pod_that_has_restarted_is_that_of_the_run_before",
}
"""Actions that no view of the tour's cluster offers, and what presses their keys instead."""
PICTURES = [
    ("results", ("7", "/", *"phase:Part", "enter", "x", "enter"), "Fetched at"),
    ("inside", ("7", "I", "enter"), "Objects:"),
    ("compared", ("7", "I", "enter"), "Objects:", "V", *"now", "enter"),
    ("failed-restore", ("8", "/", *"phase:PartiallyFailed", "enter", "x", "enter"), "persistentvolumeclaims"),
]
"""Pictures of the default scene: name, keys, what is awaited, and the keys after that."""
OF_AN_ARCHIVE = [(("taken", "web-3"), 1, ("The resource list of web-3-20261119022021 is not in the archive", "team-3"))]
"""Commands that read an archive, with exit code and what they print of it."""
