"""The feed of changes: each subscriber drains at its own pace, one entry for each key."""

from __future__ import annotations

from collections.abc import Callable, Collection

import msgspec

from foretop_core.models.wire import ObjectRef, Resource


class Change(msgspec.Struct, frozen=True):
    """An object before and after everything that happened to it between two drains."""

    before: Resource | None
    after: Resource | None


class Subscription:
    """The pending changes of one subscriber, at most one for each key."""

    def __init__(self, kinds: Collection[str] | None, wake: Callable[[], None] | None) -> None:
        self._kinds = None if kinds is None else frozenset(kinds)
        self._wake = wake
        self._pending: dict[ObjectRef, Change] = {}

    def __len__(self) -> int:
        return len(self._pending)

    def drain(self) -> dict[ObjectRef, Change]:
        """Everything since the last call, in the order in which the keys first changed."""
        drained, self._pending = self._pending, {}
        return drained

    def push(self, key: ObjectRef, before: Resource | None, after: Resource | None) -> None:
        if self._kinds is not None and key.kind not in self._kinds:
            return
        earlier = self._pending.pop(key, None)
        first = before if earlier is None else earlier.before
        if first is None and after is None:
            return
        self._pending[key] = Change(first, after)
        if self._wake is not None and len(self._pending) == 1 and earlier is None:
            self._wake()


class Feed:
    """Delivers every change to every subscriber."""

    def __init__(self) -> None:
        self._subscriptions: list[Subscription] = []

    def subscribe(self, kinds: Collection[str] | None = None, wake: Callable[[], None] | None = None) -> Subscription:
        """Changes of these kinds from now on; `wake` is called when the first one arrives."""
        subscription = Subscription(kinds, wake)
        self._subscriptions.append(subscription)
        return subscription

    def unsubscribe(self, subscription: Subscription) -> None:
        self._subscriptions.remove(subscription)

    def publish(self, key: ObjectRef, before: Resource | None, after: Resource | None) -> None:
        for subscription in self._subscriptions:
            subscription.push(key, before, after)
