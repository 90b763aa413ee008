"""Backups that take the same of the same namespaces: one look at their spec is enough for all of them."""

from __future__ import annotations

from collections.abc import Hashable

import msgspec
from msgspec.structs import replace

from foretop_core.models import Backup, BackupSpec
from foretop_core.rules.protection.copies import NO_COPIES, CopySummary, merged, summarized
from foretop_core.rules.protection.coverage import Coverage, NamespaceFilter


class CopyGroup(msgspec.Struct):
    """Backups of one server that take the same of the same namespaces."""

    filter: NamespaceFilter
    coverage: Coverage
    backups: dict[str, Backup] = msgspec.field(default_factory=dict)
    _summary: CopySummary | None = None
    """None until it is asked for; a new or renewed backup costs no look at the others."""

    @property
    def summary(self) -> CopySummary:
        if self._summary is None:
            self._summary = summarized(self.backups.values(), self.coverage) if self.backups else NO_COPIES
        return self._summary

    def add(self, backup: Backup) -> None:
        self.backups[backup.name] = backup
        if self._summary is not None:
            more = merged((self._summary, summarized((backup,), self.coverage)))
            self._summary = replace(more, coverage=self.coverage)

    def renew(self, before: Backup, after: Backup) -> None:
        """Another version of one that it has."""
        self.backups[after.name] = after
        held = self._summary
        if held is None or _facts(before) != _facts(after):
            self._summary = None
        elif held.newest is not None and held.newest.name == after.name:
            self._summary = replace(held, newest=after)
        elif held.newest_partial is not None and held.newest_partial.name == after.name:
            self._summary = replace(held, newest_partial=after)

    def remove(self, backup: Backup) -> None:
        self.backups.pop(backup.name, None)
        self._summary = None


def group_key(backup: Backup) -> Hashable:
    return backup.namespace, _content_key(backup.spec)


def _facts(backup: Backup) -> Hashable:
    """All of a copy that a summary of many is made from."""
    status, spec = backup.status, backup.spec
    return status.phase, backup.started, backup.created, status.expiration, spec.storage_location


def _content_key(spec: BackupSpec) -> Hashable:
    """What decides about the resources that are taken; most templates have none of it."""
    selectors = (
        msgspec.json.encode((spec.label_selector, spec.or_label_selectors))
        if spec.label_selector is not None or spec.or_label_selectors
        else b""
    )
    return (
        spec.included_namespaces,
        spec.excluded_namespaces,
        spec.included_resources,
        spec.excluded_resources,
        spec.included_namespace_scoped_resources,
        spec.excluded_namespace_scoped_resources,
        spec.included_cluster_scoped_resources,
        spec.excluded_cluster_scoped_resources,
        spec.include_cluster_resources,
        selectors,
    )
