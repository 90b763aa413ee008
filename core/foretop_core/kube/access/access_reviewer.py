"""The person's permissions, as the API server reports them. Asked on demand, cached for a minute."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime, timedelta

import msgspec

from foretop_core.clock import Clock
from foretop_core.kube.connection.client import ApiClient, Response
from foretop_core.kube.connection.connection_errors import ApiError
from foretop_core.models.kinds import Kind, RequiredPermission

REMEMBER = timedelta(minutes=1)
REMEMBER_LONGEST = timedelta(hours=1)
BETWEEN_REVIEWS = timedelta(seconds=1)
"""Between two reviews of namespaces that are known already, however many there are."""
REVIEWS_AT_ONCE = 4
"""Of one cluster, whoever asks: the first look at a thousand namespaces must not crowd out others there."""
_ACCESS_REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
_RULES_REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"


class Permission(msgspec.Struct, frozen=True):
    """One thing that may be allowed or not; no namespace means all of them."""

    verb: str
    group: str
    resource: str
    namespace: str = ""
    name: str = ""
    subresource: str = ""


def permission(verb: str, kind: Kind, namespace: str = "", name: str = "", subresource: str = "") -> Permission:
    return Permission(verb, kind.group, kind.plural, namespace, name, subresource)


class AccessVerdict(msgspec.Struct, frozen=True):
    """`known` is false where the API server would not say; then the attempt itself must tell."""

    allowed: bool
    known: bool = True


class _ReviewStatus(msgspec.Struct, rename="camel"):
    allowed: bool = False


class _Review(msgspec.Struct):
    status: _ReviewStatus = msgspec.field(default_factory=_ReviewStatus)


class AccessRule(msgspec.Struct, rename="camel", frozen=True):
    """One line of what may be done in a namespace."""

    verbs: tuple[str, ...] = ()
    api_groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    resource_names: tuple[str, ...] = ()


class _RulesStatus(msgspec.Struct, rename="camel"):
    resource_rules: list[AccessRule] | None = None
    incomplete: bool = False


class _RulesReview(msgspec.Struct):
    status: _RulesStatus = msgspec.field(default_factory=_RulesStatus)


class AccessRules(msgspec.Struct, frozen=True):
    """All that may be done in one namespace; incomplete where an authorizer cannot list its rules."""

    rules: tuple[AccessRule, ...]
    incomplete: bool

    def allow(self, verb: str, group: str, resource: str, names: tuple[str, ...] = ()) -> bool:
        """True if the verb is allowed for these objects; no names means all of them."""
        return any(
            (not rule.resource_names or (names and set(names) <= set(rule.resource_names)))
            and _covers(rule.verbs, verb)
            and _covers(rule.api_groups, group)
            and _covers(rule.resources, resource)
            for rule in self.rules
        )


class _KnownRules(msgspec.Struct, frozen=True):
    asked: datetime
    rules: AccessRules
    held: timedelta


class AccessReviewer:
    """Asks once for each right in a minute, however many places want to know it at the same time."""

    def __init__(self, client: ApiClient, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        self._verdicts: dict[Permission, tuple[datetime, AccessVerdict]] = {}
        self._rules: dict[str, _KnownRules] = {}
        self._last_renewal: datetime | None = None
        self._asking: dict[Permission | str, asyncio.Lock] = {}
        self._turns = asyncio.Semaphore(REVIEWS_AT_ONCE)

    async def verdict(self, wanted: Permission) -> AccessVerdict:
        async with self._asking.setdefault(wanted, asyncio.Lock()):
            answer = self._verdicts.get(wanted)
            if answer is None or not (timedelta() <= self._clock.now() - answer[0] < REMEMBER):
                answer = (self._clock.now(), await self._ask(wanted))
                self._verdicts[wanted] = answer
            return answer[1]

    async def may(self, needed: RequiredPermission, namespace: str = "") -> bool:
        """True if the permission holds for every object that it is needed for."""
        asked = [
            permission(needed.verb, needed.kind, namespace, name, needed.subresource) for name in needed.names or ("",)
        ]
        return all([(await self.verdict(question)).allowed for question in asked])

    async def rules(self, namespace: str) -> AccessRules:
        """The rules of a namespace; known answers are renewed one a second, and ever more rarely while they stay."""
        async with self._asking.setdefault(namespace, asyncio.Lock()):
            known_rules = self._rules.get(namespace)
            if known_rules is None or self._is_due(known_rules):
                rules = await self._ask_rules(namespace)
                length = REMEMBER
                if known_rules is not None and known_rules.rules == rules:
                    length = min(known_rules.held * 2, REMEMBER_LONGEST)
                known_rules = self._rules[namespace] = _KnownRules(self._clock.now(), rules, length)
            return known_rules.rules

    def _is_due(self, known: _KnownRules) -> bool:
        now = self._clock.now()
        if timedelta() <= now - known.asked < known.held:
            return False
        if self._last_renewal is not None and timedelta() <= now - self._last_renewal < BETWEEN_REVIEWS:
            return False
        self._last_renewal = now
        return True

    async def _ask(self, wanted: Permission) -> AccessVerdict:
        attributes = {
            "verb": wanted.verb,
            "group": wanted.group,
            "resource": wanted.resource,
            "namespace": wanted.namespace,
            "name": wanted.name,
            "subresource": wanted.subresource,
        }
        spec = {"resourceAttributes": {key: value for key, value in attributes.items() if value}}
        answer = await self._review(_ACCESS_REVIEWS, "SelfSubjectAccessReview", spec)
        if answer is None:
            return AccessVerdict(allowed=True, known=False)
        return AccessVerdict(answer.read(_Review).status.allowed)

    async def _ask_rules(self, namespace: str) -> AccessRules:
        answer = await self._review(_RULES_REVIEWS, "SelfSubjectRulesReview", {"namespace": namespace})
        if answer is None:
            return AccessRules((), incomplete=True)
        status = answer.read(_RulesReview).status
        return AccessRules(tuple(status.resource_rules or ()), status.incomplete)

    async def _review(self, path: str, kind: str, spec: Mapping[str, object]) -> Response | None:
        body = {"apiVersion": "authorization.k8s.io/v1", "kind": kind, "spec": spec}
        try:
            async with self._turns:
                return await self._client.request("POST", path, body=body)
        except ApiError as problem:
            if problem.status in (403, 404, 405):
                return None
            raise


def _covers(listed: tuple[str, ...], wanted: str) -> bool:
    return "*" in listed or wanted in listed
