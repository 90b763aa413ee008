"""`:ns` and `:ctx`: one namespace or one cluster on every page, until `0` shows all again."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from foretop.dialogs.base_modal import ChoicePicker
from foretop.main_screen.action_host import ActionHost
from foretop_core.dashboard.object_fetch import set_scope
from foretop_core.dashboard.state import DashboardState
from foretop_core.errors import ForetopError, nearest
from foretop_core.models.kinds import BESIDE_VELERO, KINDS, ON_DEMAND
from foretop_core.rules import humanize

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_TENANTS = tuple(kind.name for kind in KINDS if kind not in BESIDE_VELERO and kind not in ON_DEMAND)


class ScopeCommands:
    """The handlers of `:ns` and `:ctx`; without a name they open a list."""

    def __init__(self, host: ActionHost, state: DashboardState) -> None:
        self._host = host
        self._state = state

    async def obey(self, verb: str, name: str) -> None:
        if verb == "ns":
            self._namespace(name)
        else:
            await self._context(name)

    def look_at(self, namespace: str = "", context: str = "") -> None:
        set_scope(self._state, namespace, context)
        if self._host.page is not None:
            self._host.page.refocus()
        self._host.pulse()

    def _namespace(self, name: str) -> None:
        context = self._state.focus.context
        if not name:
            self._offer("Which namespace", "all namespaces", self._namespaces(), lambda one: self.look_at(one, context))
        elif not _NAME.fullmatch(name):
            self._host.app.notify(f"{name!r} is not a valid namespace name", severity="warning")
        elif (existing := self._existing()) is not None and name not in existing:
            text = f"Namespace {name!r} does not exist{nearest(name, sorted(existing))}"
            self._host.app.notify(text, severity="warning")
        else:
            self.look_at(name, context)

    def _existing(self) -> set[str] | None:
        """The namespaces that exist or have something in them; None where nobody can tell."""
        contexts = (self._state.focus.context,) if self._state.focus.context else self._state.contexts
        names = set(self._namespaces())
        for context in contexts:
            namespaces = self._state.store.snapshot(context).namespaces
            if namespaces is None:
                return None
            names.update(item.name for item in namespaces)
        return names

    async def _context(self, name: str) -> None:
        """Looks at one context: watched ones come first, and a name that fits one of them alone means that one."""
        watched, others = self._state.contexts, await self._others()
        matches = _fitting(name, watched) or _fitting(name, others)
        if len(matches) == 1:
            self._look_at_context(matches[0])
        elif matches or (not name and (others or len(watched) > 1)):
            names = matches or (*watched, *others)
            labels = [context if context in watched else f"{context}  (not watched yet)" for context in names]
            self._offer("Which context", "all contexts", names, self._look_at_context, labels)
        elif name:
            listed = humanize.join((*watched, *others), 5) or "none"
            close = nearest(name, (*watched, *others))
            text = close if "did you mean" in close else f"; the kubeconfig has {listed}"
            self._host.app.notify(f"Unknown context {name!r}{text}", severity="warning")
        else:
            self._host.app.notify(f"{humanize.join(watched) or 'Nothing'} is the only context of the kubeconfig")

    async def _others(self) -> tuple[str, ...]:
        """A kubeconfig that cannot be read any more is told, and leaves those that are watched."""
        try:
            return await self._state.source.other_contexts()
        except ForetopError as problem:
            self._host.app.notify(str(problem), severity="error")
            return ()

    def _look_at_context(self, name: str) -> None:
        if not name or name in self._state.contexts:
            self.look_at(self._state.focus.namespace, name)
        else:
            self._host.run_worker(self._watch(name))

    async def _watch(self, name: str) -> None:
        self._host.app.notify(f"Connecting to {name}")
        try:
            await self._state.source.add_context(name)
        except (ForetopError, OSError) as problem:
            self._host.app.notify(f"Cannot watch {name}: {problem}", severity="error")
            return
        self._state.take_contexts()
        self._host.attach(self._state)
        self.look_at(self._state.focus.namespace, name)
        self._host.app.notify(f"{name} is watched from now on; 0 shows all contexts")

    def _offer(
        self,
        title: str,
        everything: str,
        names: Sequence[str],
        take: Callable[[str], None],
        labels: Sequence[str] = (),
    ) -> None:
        def chosen(place: int | None) -> None:
            if place is not None:
                take(("", *names)[place])

        shown = [everything, *(labels or names)]
        self._host.app.push_screen(ChoicePicker(title, shown, self._host.display_options.ascii), chosen)

    def _namespaces(self) -> list[str]:
        """The namespaces that something was seen in."""
        store = self._state.store
        names = {
            key.namespace
            for context in self._state.contexts
            for kind in _TENANTS
            for key, _ in store.items(context, kind)
        }
        return sorted(names.union(*(store.snapshot(context).velero_namespaces for context in self._state.contexts)))


def _fitting(name: str, names: Sequence[str]) -> list[str]:
    """The one of that name, else those that contain it; none for no name."""
    return [other for other in names if other == name] or [other for other in names if name and name in other]
