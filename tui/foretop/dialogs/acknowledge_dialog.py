"""Acknowledging findings: who does it is written, and until when."""

from __future__ import annotations

from foretop.dialogs.plan_screen import PlanScreen
from foretop_core.actions.planners.acknowledging import AcknowledgeRequest, acknowledgement_end, plan_acknowledge
from foretop_core.actions.plans import Planner


class AcknowledgeDialog(PlanScreen):
    actions = ("acknowledge",)

    def on_mount(self) -> None:
        self.learn_users()

    def planner(self) -> Planner:
        findings, service = self.targets.findings, self.service
        reason, length = self.typed("reason"), self.cycler("until").value
        requests = {}
        for context in self.contexts:
            until = acknowledgement_end(length, service.now(context), *service.shifts)
            requests[context] = AcknowledgeRequest(service.user(context), reason, until)
        return lambda snapshot, items, now: plan_acknowledge(snapshot, items, findings, requests[snapshot.context], now)
