"""Authentication and authorization of the box: tokens, users, RBAC-like rules, and the self subject reviews."""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from foretop_demo.kinds import Json, Kind
from foretop_demo.status import ApiError, Cause, bad_request, forbidden, invalid_as, unauthorized

_ALL = ("*",)
_OPEN_PATHS = ("/healthz", "/livez", "/readyz", "/version")
_DISCOVERY_PATHS = ("/api", "/apis", "/openapi", *_OPEN_PATHS)
_REVIEWS = ("selfsubjectaccessreviews", "selfsubjectrulesreviews", "selfsubjectreviews")


class Rule(NamedTuple):
    """Verbs allowed on resources; no namespaces means the whole cluster, no names means every name."""

    verbs: tuple[str, ...]
    groups: tuple[str, ...]
    resources: tuple[str, ...]
    namespaces: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


class User(NamedTuple):
    """A user with groups and rules; members of system:masters may do everything."""

    name: str
    rules: tuple[Rule, ...] = ()
    groups: tuple[str, ...] = ()


class RequestAttributes(NamedTuple):
    """The verb and the resource of one request, as authorization sees it."""

    verb: str
    group: str
    resource: str
    namespace: str = ""
    name: str = ""
    subresource: str = ""


ADMIN = User("admin", groups=("system:masters",))
ANONYMOUS = User("system:anonymous", groups=("system:unauthenticated",))


class Access:
    """The users of a box by their tokens, and the check of what they may do."""

    def __init__(self, users: Iterable[tuple[str, User]]) -> None:
        self._users = tuple((token.encode(), user) for token, user in users)

    def authenticate(self, header: str) -> User:
        """The user of an Authorization header: the anonymous user without one, None for a wrong token."""
        if not header:
            return ANONYMOUS
        scheme, _, token = header.partition(" ")
        if scheme.lower() == "bearer":
            for known, user in self._users:
                if hmac.compare_digest(known, token.strip().encode()):
                    return user
        raise unauthorized()

    def check(self, user: User, attributes: RequestAttributes, kind: Kind) -> None:
        if not may(user, attributes):
            raise forbidden(kind, attributes.name, _refusal(user, attributes))

    def check_path(self, user: User, path: str, verb: str) -> None:
        if not _may_read_path(user, path, verb):
            why = f'forbidden: User "{user.name}" cannot {verb} path "{path}"'
            raise ApiError(403, "Forbidden", why, {})


def may(user: User, attributes: RequestAttributes) -> bool:
    if "system:masters" in user.groups:
        return True
    if user is not ANONYMOUS and attributes.verb == "create" and attributes.resource in _REVIEWS:
        return True
    return any(_covers(rule, attributes) for rule in user.rules)


def _covers(rule: Rule, attributes: RequestAttributes) -> bool:
    wanted = f"{attributes.resource}/{attributes.subresource}" if attributes.subresource else attributes.resource
    return (
        _listed(attributes.verb, rule.verbs)
        and _listed(attributes.group, rule.groups)
        and (_listed(wanted, rule.resources) or f"*/{attributes.subresource}" in rule.resources)
        and (not rule.namespaces or attributes.namespace in rule.namespaces)
        and (not rule.names or attributes.name in rule.names)
    )


def _listed(wanted: str, known: tuple[str, ...]) -> bool:
    return wanted in known or "*" in known


def _may_read_path(user: User, path: str, verb: str) -> bool:
    if "system:masters" in user.groups:
        return True
    roots = _OPEN_PATHS if user is ANONYMOUS else _DISCOVERY_PATHS
    return verb == "get" and any(path == root or path.startswith(f"{root}/") for root in roots)


def _refusal(user: User, attributes: RequestAttributes) -> str:
    wanted = f"{attributes.resource}/{attributes.subresource}" if attributes.subresource else attributes.resource
    where = f'in the namespace "{attributes.namespace}"' if attributes.namespace else "at the cluster scope"
    group = f'in API group "{attributes.group}"'
    return f'User "{user.name}" cannot {attributes.verb} resource "{wanted}" {group} {where}'


class _ResourceAttributes(msgspec.Struct):
    verb: str = ""
    group: str = ""
    resource: str = ""
    namespace: str = ""
    name: str = ""
    subresource: str = ""


class _PathAttributes(msgspec.Struct):
    verb: str = ""
    path: str = ""


class _ReviewSpec(msgspec.Struct):
    resource: _ResourceAttributes | None = msgspec.field(name="resourceAttributes", default=None)
    path: _PathAttributes | None = msgspec.field(name="nonResourceAttributes", default=None)
    namespace: str = ""


def _spec(body: Json) -> _ReviewSpec:
    try:
        return msgspec.convert(body.get("spec") or {}, _ReviewSpec)
    except msgspec.ValidationError as error:
        raise bad_request(f"the review cannot be read: {error}") from None


def access_review(user: User, body: Json) -> Json:
    """The status of a SelfSubjectAccessReview."""
    spec = _spec(body)
    wanted = spec.resource
    if wanted is not None and spec.path is None:
        where = (wanted.namespace, wanted.name, wanted.subresource)
        return {"allowed": may(user, RequestAttributes(wanted.verb, wanted.group, wanted.resource, *where))}
    if spec.path is not None and wanted is None:
        return {"allowed": _may_read_path(user, spec.path.path, spec.path.verb)}
    message = "Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified"
    cause = Cause("FieldValueInvalid", "spec.resourceAttributes", message)
    raise invalid_as(".authorization.k8s.io", {"group": "authorization.k8s.io"}, "", [cause])


def rules_review(user: User, body: Json) -> Json:
    """The status of a SelfSubjectRulesReview: what the user may do in one namespace."""
    namespace = _spec(body).namespace
    if not namespace:
        raise bad_request("no namespace on request")
    found = [
        _rule_json(Rule(("create",), ("authorization.k8s.io",), _REVIEWS[:2])),
        _rule_json(Rule(("create",), ("authentication.k8s.io",), _REVIEWS[2:])),
    ]
    if "system:masters" in user.groups:
        found.append(_rule_json(Rule(_ALL, _ALL, _ALL)))
    for rule in user.rules:
        if not rule.namespaces or namespace in rule.namespaces:
            found.append(_rule_json(rule))
    paths = [{"verbs": ["get"], "nonResourceURLs": [*_DISCOVERY_PATHS, *(f"{path}/*" for path in _DISCOVERY_PATHS)]}]
    return {"resourceRules": found, "nonResourceRules": paths, "incomplete": False}


def _rule_json(rule: Rule) -> Json:
    shown: Json = {
        "verbs": list(rule.verbs),
        "apiGroups": list(rule.groups),
        "resources": list(rule.resources),
    }
    if rule.names:
        shown["resourceNames"] = list(rule.names)
    return shown
