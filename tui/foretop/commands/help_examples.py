"""An example for every command, shown at the end of its help and in the manual page."""

from __future__ import annotations

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
    "primer": "foretop primer '0 0 1 * *' --warmup 10",
    "get": "foretop get backups --field-selector phase=Failed -o custom-columns=NAME:.name,WHY:.failureReason",
    "describe": "foretop describe schedule velero/daily",
    "watch": "foretop watch --severity error --exec 'logger -t foretop \"$FORETOP_EVENT $FORETOP_NAME $FORETOP_WHAT\"'",
    "doctor": "foretop doctor --roles velero-admin --velero-namespace openshift-adp",
    "upgrade-check": "foretop upgrade-check --to 1.18.3",
    "journal": "foretop journal -o json",
    "completion": "source <(foretop completion bash)",
    "explain": "foretop explain due",
    "report": "foretop report --prometheus > /var/lib/node_exporter/foretop.prom",
    "schedule pause": "foretop schedule pause -l tier=gold --yes",
    "schedule unpause": "foretop schedule unpause daily --skip-immediately true --dry-run",
    "schedule create": "foretop schedule create nightly --schedule '0 1 * * *' --include-namespaces shop",
    "schedule delete": "foretop schedule delete nightly",
    "backup create": "foretop backup create --from-schedule nightly --wait",
    "backup delete": "foretop backup delete nightly-20261115010012",
    "backup cancel": "foretop backup cancel nightly-20261115010012",
    "backup extend": "foretop backup extend nightly-20261115010012 --ttl 2160h",
    "backup logs": "foretop backup logs nightly-20261115010012 --search error",
    "backup results": "foretop backup results nightly-20261115010012",
    "restore create": "foretop restore create --from-backup nightly-20261115010012",
    "restore logs": "foretop restore logs shop-again",
    "restore delete": "foretop restore delete shop-again",
    "restore results": "foretop restore results shop-again -o json",
    "nab delete": "foretop nab delete team-pay/ledger",
    "nab logs": "foretop nab logs team-pay/ledger",
    "nab results": "foretop nab results team-pay/ledger",
    "nar delete": "foretop nar delete team-pay/ledger-back",
    "nar results": "foretop nar results team-pay/ledger-back",
    "storage-request approve": "foretop storage-request approve team-pay-bucket",
    "server set": "foretop server set --schedule-skip-immediately true --dry-run",
    "storage-request reject": "foretop storage-request reject team-pay-bucket",
}
"""By the words that are typed after foretop."""
