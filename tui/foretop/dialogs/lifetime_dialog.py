"""The dialog that extends a backup: the new lifetime is typed, and the old and new expiry are shown."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.widget import Widget

from foretop.dialogs.action_dialog import ActionDialog
from foretop.dialogs.dialog_parts import DialogField
from foretop.widgets.paragraphs import Paragraph, paragraph
from foretop.widgets.prompt import Prompt
from foretop_core.actions.lifetimes import plan_extend, read_lifetime
from foretop_core.actions.plans import Planner
from foretop_core.models import Backup
from foretop_core.rules import humanize


class ExtendBackupDialog(ActionDialog):
    verb: ClassVar[str] = "Extend"
    headline: ClassVar[str] = "Extend the life of {}"

    def fields(self) -> Iterable[Widget]:
        yield DialogField("Keep", Prompt(placeholder="for 30d from its start, or until 2027-01-31", id="lifetime"))

    def planner(self) -> Planner:
        wanted = read_lifetime(self.query_one("#lifetime", Prompt).value)
        return lambda snapshot, items, now: plan_extend(snapshot, items, wanted, now)

    def more(self) -> list[Paragraph]:
        """Until a plan tells both, when it expires as it is."""
        item = self.service.item(self.keys[0])
        if self.planned is not None or len(self.keys) > 1 or not isinstance(item, Backup):
            return []
        if item.status.expiration is None:
            return [paragraph("It has no expiration.", label="Now")]
        now = self.service.now(self.keys[0].context)
        return [
            paragraph(f"it expires {humanize.time(item.status.expiration, now)} (TTL {item.spec.ttl})", label="Now")
        ]
