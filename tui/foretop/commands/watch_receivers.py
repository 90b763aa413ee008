"""The addresses that `foretop watch` sends findings to: a webhook, and Alertmanager."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from aiohttp import ClientError, ClientSession, ClientTimeout

from foretop.commands.finding_sentences import UNTOLD
from foretop.commands.output import warn
from foretop.commands.view_rows import RowChange
from foretop_core.errors import ForetopError
from foretop_core.foreign_text import redacted, redacted_values
from foretop_core.http_address import check_http_address, why_no_answer
from foretop_core.models.kinds import NAMESPACE, SCHEDULE, STORAGE
from foretop_core.rules.humanize import rfc3339
from foretop_core.tables.engine.json_items import Item

EVENTS = {"ADDED": "new", "MODIFIED": "changed", "DELETED": "resolved", UNTOLD: "untold"}
_LIMIT = 10.0
_FIRST_DELAY, _LONGEST_DELAY = 1.0, 60.0
_MOST_WAITING = 1000
"""Changes that wait for a webhook; the oldest go then, and that is told."""
_REFUSED = (400, 413, 422)
"""Answers to what is sent, and not to who sends it: it would be refused again, and the others wait behind it."""
_AGAIN = 60.0
"""Alertmanager takes an alert for resolved that is not sent again within five minutes."""
_SOON = 5.0
"""After no answer."""
_RESOLVED_FOR = timedelta(minutes=15)
"""For so long an alert is sent as resolved: one answer may have been lost."""
_LONGEST = 2000
_SEVERITIES = {"error": "critical", "warning": "warning", "note": "info"}
ALERTS = {
    "velero-no-pulse": "VeleroSilent",
    "storage-unavailable": "StorageUnavailable",
    "namespace-expiring": "LastGoodCopyExpires",
    "namespace-late": "NewestCopyOlderThanPromised",
    "copy-lacks-volumes": "VolumesMissingInNewestCopy",
    "runs-will-be-lost": "RunExpectedLost",
    "run-not-done-in-time": "NightNotDoneBySix",
    "queue-stalled": "QueueStalled",
    "backup-stuck": "QueueStalled",
    "backup-not-starting": "QueueStalled",
    "velero-paused-overdue": "PauseOverdue",
    "window-overrun": "PauseOverdue",
    "nonadmin-refused": "NonAdminRefused",
}
"""The findings that rules in packaging/mixin tell too, by the name of their alert."""
_LABELS = {
    SCHEDULE.name: ("velero_namespace", "schedule"),
    STORAGE.name: ("velero_namespace", "storage"),
    NAMESPACE.name: ("", "target"),
}
"""By the kind of a finding's subject, the labels that its namespace and name have in the rules of packaging/mixin."""


class Receiver(ABC):
    """An address that is told of findings while its task runs; a failure is told once, until it works again."""

    def __init__(self, url: str, token: str) -> None:
        check_http_address(url, "a receiver", token)
        self._url = url
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._failed = ""

    @abstractmethod
    def take(self, change: RowChange) -> None:
        """Notes a change; it is sent by the task."""

    @abstractmethod
    async def run(self, session: ClientSession) -> None:
        """Sends until it is cancelled."""

    async def deliver(self) -> None:
        async with ClientSession(headers=self._headers, timeout=ClientTimeout(_LIMIT)) as session:
            await self.run(session)

    async def post(self, session: ClientSession, url: str, body: object) -> int:
        """The status of the answer; 0 for none."""
        try:
            # A redirect may lead to another host, and with it the token.
            async with session.post(url, json=body, allow_redirects=False) as answer:
                status, why = answer.status, f"HTTP {answer.status}"
        except (ClientError, OSError) as problem:
            status, why = 0, why_no_answer(problem)
        failed = "" if 200 <= status < 300 else why
        if failed and failed != self._failed:
            warn([ForetopError(f"Cannot send to {redacted(self._url)}", failed)])
        self._failed = failed
        return status


class Webhook(Receiver):
    """Gets each change as JSON, in their order, each until it is taken."""

    def __init__(self, url: str, token: str, heartbeat: float) -> None:
        super().__init__(url, token)
        self._heartbeat = heartbeat
        """Seconds; 0 for none."""
        self._waiting: deque[object] = deque()
        self._has_come = asyncio.Event()

    def take(self, change: RowChange) -> None:
        if len(self._waiting) == _MOST_WAITING:
            self._waiting.popleft()
            warn([ForetopError(f"The oldest change was not sent to {redacted(self._url)}", "too many wait")])
        self._waiting.append({"event": EVENTS[change.type], "finding": redacted_values(change.item)})
        self._has_come.set()

    async def run(self, session: ClientSession) -> None:
        delay = _FIRST_DELAY
        while True:
            if not self._waiting:
                await self._rest(session)
                continue
            body = self._waiting[0]
            status = await self.post(session, self._url, body)
            if 200 <= status < 300 or status in _REFUSED:
                if self._waiting and self._waiting[0] is body:
                    self._waiting.popleft()
                delay = _FIRST_DELAY
            else:
                await asyncio.sleep(delay)
                delay = min(2 * delay, _LONGEST_DELAY)

    async def _rest(self, session: ClientSession) -> None:
        self._has_come.clear()
        try:
            async with asyncio.timeout(self._heartbeat or None):
                await self._has_come.wait()
        except TimeoutError:
            await self.post(session, self._url, {"event": "alive", "at": rfc3339(datetime.now(UTC))})


class _Alert(msgspec.Struct, frozen=True):
    body: Mapping[str, Any]
    ended: datetime | None = None


class Alertmanager(Receiver):
    """Gets all that stands, again and again, as Prometheus does, and a heartbeat that never resolves."""

    def __init__(self, url: str, token: str) -> None:
        super().__init__(url, token)
        self._alerts: dict[str, _Alert] = {}
        self._has_come = asyncio.Event()

    def take(self, change: RowChange) -> None:
        key, now = str(change.item["id"]), datetime.now(UTC)
        is_over = change.type in ("DELETED", UNTOLD) or change.item["acknowledged"] is not None
        if is_over and key not in self._alerts:
            return
        self._alerts[key] = _Alert(_alert(redacted_values(change.item)), now if is_over else None)
        self._has_come.set()

    async def run(self, session: ClientSession) -> None:
        while True:
            self._has_come.clear()
            now = datetime.now(UTC)
            self._alerts = {
                key: alert
                for key, alert in self._alerts.items()
                if alert.ended is None or now - alert.ended < _RESOLVED_FOR
            }
            beat = {"labels": {"alertname": "ForetopWatching", "severity": "none"}}
            ended = [
                {**one.body, **({"endsAt": rfc3339(one.ended)} if one.ended else {})} for one in self._alerts.values()
            ]
            status = await self.post(session, f"{self._url.rstrip('/')}/api/v2/alerts", [beat, *ended])
            with_delay = _AGAIN if 200 <= status < 300 else _FIRST_DELAY * 5
            try:
                async with asyncio.timeout(with_delay):
                    await self._has_come.wait()
            except TimeoutError:
                continue


def _alert(item: Item) -> dict[str, Any]:
    code, since = str(item["code"]), item["since"]
    name = ALERTS.get(code) or "".join(word.capitalize() for word in code.split("-"))
    labels = {
        "alertname": f"Foretop{name}",
        "severity": _SEVERITIES[item["severity"]],
        "cluster": item["context"],
        **{field: item[field] for field in ("code", "kind", "namespace", "name")},
        **dict(zip(_LABELS.get(item["kind"], ()), (item["namespace"], item["name"]), strict=False)),
    }
    labels.pop("", None)
    annotations = {
        "summary": f"{item['subject']}: {item['what']}",
        "description": f"{item['evidence']} {item['remedy']}",
    }
    return {
        "labels": {label: str(text)[:_LONGEST] for label, text in labels.items() if text},
        "annotations": {label: text.strip()[:_LONGEST] for label, text in annotations.items()},
        # By the clock of the cluster, which may be ahead; Alertmanager takes no alert that ends before it starts.
        **({"startsAt": since} if since and since < datetime.now(UTC).isoformat() else {}),
    }
