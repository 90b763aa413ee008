"""What the room of the files of runs adds to the comparisons of all commands and keys."""

from __future__ import annotations

READING = [["taken", "failed", "-o", "json"]]
"""A command that reads, in search of secrets that it prints."""
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
