"""What the primer adds to the comparisons of writes, commands, keys and findings."""

from __future__ import annotations

from foretop_core.rooms.primer.planners import plan_prime, plan_warm_up

WRITES = {
    "set-warm-up": (lambda snapshot: [one for one in snapshot.prescaled if one.name == "friday"], plan_prime),
    "create-warm-up": (lambda snapshot: [one for one in snapshot.schedules if one.name == "gold-1"], plan_warm_up),
}
"""By action, what is chosen in the samples of plans, and its planner."""
PREVIEWED = [
    ("prescaled", "prime", "friday"),
    ("prescaled", "create", "schedule/nightly", "--warmup", "20", "--pods", "2", "--request", "cpu=2,memory=4Gi"),
]
"""Commands that write, whose preview is compared with what is sent."""
MEANINGS = {
    **dict.fromkeys(("set-warm-up", "create-warm-up"), "write a warm-up"),
    **dict.fromkeys(("prime", "take"), "primer"),
    "copy_primed": "copy",
}
"""By action, what its key means to a person where another action has it too."""
TWO_MEANINGS = {"p": ({"primer", "previous"}, "the previous run of a container, as in k9s")}
"""By letter, what it means on different pages, and why."""
BOX_FINDINGS = [("warning", "warmup-wrong")]
"""Findings about the cluster of the commands."""
PICTURES = [("primer", ("2", "p"), "taken from")]
"""Pictures of the default scene: name, keys, and what is awaited."""
DIALOGS = [
    ("create a warm-up", ("6", "p", *"etcd", "enter"), "P", frozenset({"copy"})),
    ("set the warm-up schedule", ("1", "slash", *"friday", "enter"), "P", frozenset()),
]
"""Name, the keys that lead to the place, the key of the dialog, and keys that do nothing there."""
READS = ("primer",)
"""Commands of the pages that read, print and end."""
