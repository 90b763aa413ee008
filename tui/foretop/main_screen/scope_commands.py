"""`:ns` and `:ctx`: one namespace or one cluster on every page, until `0` shows all again."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from foretop.dialogs.choice_list import Choose
from foretop.main_screen.action_host import ActionHost
from foretop_core.dashboard.object_access import set_scope
from foretop_core.dashboard.state import DashboardState
from foretop_core.models.kinds import BESIDE_VELERO, KINDS, ON_DEMAND
from foretop_core.rules import humanize

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_TENANTS = tuple(kind.name for kind in KINDS if kind not in BESIDE_VELERO and kind not in ON_DEMAND)


class ScopeCommands:
    """What a person says after the colon, and the lists for one who does not know the names."""

    def __init__(self, host: ActionHost, state: DashboardState) -> None:
        self._host = host
        self._state = state

    def obey(self, verb: str, name: str) -> None:
        if verb == "ns":
            self._namespace(name)
        else:
            self._context(name)

    def look_at(self, namespace: str = "", context: str = "") -> None:
        set_scope(self._state, namespace, context)
        if self._host.page is not None:
            self._host.page.refocus()
        self._host.pulse()

    def _namespace(self, name: str) -> None:
        context = self._state.focus.context
        if not name:
            self._offer("Which namespace", "all namespaces", self._namespaces(), lambda one: self.look_at(one, context))
        elif _NAME.fullmatch(name):
            self.look_at(name, context)
        else:
            self._host.app.notify(f"{name!r} is not a valid namespace name", severity="warning")

    def _context(self, name: str) -> None:
        names, namespace = self._state.contexts, self._state.focus.namespace
        found = [one for one in names if one == name] or [one for one in names if name and name in one]
        if len(names) < 2:
            only = humanize.join(names) or "nothing"
            said = f"foretop is connected to {only} only; start it with more --context NAME"
            self._host.app.notify(said)
        elif len(found) == 1:
            self.look_at(namespace, found[0])
        elif found or not name:
            self._offer("Which context", "all contexts", found or names, lambda one: self.look_at(namespace, one))
        else:
            listed = humanize.join(names, 5)
            self._host.app.notify(f"Unknown context {name!r}: {listed}", severity="warning")

    def _offer(self, title: str, everything: str, names: Sequence[str], take: Callable[[str], None]) -> None:
        def chosen(place: int | None) -> None:
            if place is not None:
                take(("", *names)[place])

        labels = [everything, *names]
        self._host.app.push_screen(Choose(title, labels, self._host.display_options.ascii), chosen)

    def _namespaces(self) -> list[str]:
        """Those that something was seen in."""
        store = self._state.store
        found = {
            key.namespace
            for context in self._state.contexts
            for kind in _TENANTS
            for key, _ in store.items(context, kind)
        }
        return sorted(found.union(*(store.snapshot(context).velero_namespaces for context in self._state.contexts)))
