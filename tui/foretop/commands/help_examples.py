"""An example for every command, shown at the end of its help and in the manual page.

That of a command that writes is in the record of its action.
"""

from __future__ import annotations

import click

START_EXAMPLES = {
    "The dashboard on the current context": "foretop",
    "Two clusters side by side": "foretop --context prod-eu --context prod-us",
    "One team, and its Velero": "foretop -n team-pay",
    "What is wrong, for a script": "foretop get findings -o json",
    "The next runs of an expression": "foretop next '30 2 * * 1-5'",
    "Try it without a cluster": "foretop demo",
}
EXAMPLES = {
    "demo": "foretop demo --scene outage",
    "next": "foretop next '30 2 * * 1-5' --tz Europe/Berlin",
    "forecast": "foretop forecast --window 06:00-07:30",
    "whatif": "foretop whatif --move daily='30 2 * * *' --concurrent-backups 3",
    "spread": "foretop spread --window 01:00-05:00 --keep daily -o yaml",
    "primer": "foretop primer '0 0 1 * *' --warmup 10",
    "get": "foretop get backups --field-selector phase=Failed -o custom-columns=NAME:.name,WHY:.failureReason",
    "describe": "foretop describe schedule velero/daily",
    "watch": "foretop watch --severity error --exec 'logger -t foretop \"$FORETOP_EVENT $FORETOP_NAME $FORETOP_WHAT\"'",
    "doctor": "foretop doctor --roles velero-admin --velero-namespace openshift-adp",
    "upgrade-check": "foretop upgrade-check --to 1.18.3",
    "handover": "foretop handover -o markdown > handover.md",
    "journal": "foretop journal -o json",
    "config show": "foretop config show",
    "config path": "foretop config path",
    "config init": "foretop config init",
    "config schema": "foretop config schema > foretop.schema.json",
    "completion": "source <(foretop completion bash)",
    "explain": "foretop explain due",
    "report": "foretop report --prometheus > /var/lib/node_exporter/foretop.prom",
    "backup logs": "foretop backup logs nightly-20261115010012 --search error",
    "backup results": "foretop backup results nightly-20261115010012",
    "restore logs": "foretop restore logs shop-again",
    "restore results": "foretop restore results shop-again -o json",
    "nab logs": "foretop nab logs team-pay/ledger",
    "nab results": "foretop nab results team-pay/ledger",
    "nar results": "foretop nar results team-pay/ledger-back",
}
"""By the words that are typed after foretop."""


def example_of(name: str, command: click.Command) -> str:
    return getattr(command, "example", "") or EXAMPLES.get(name, "")
