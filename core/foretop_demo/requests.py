"""HTTP requests taken apart: the path, the verb, and the typed query."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from foretop_demo.access import RequestAttributes
from foretop_demo.kinds import Catalog, Kind
from foretop_demo.reading import ListOptions
from foretop_demo.selectors import Selection, selection
from foretop_demo.status import Cause, bad_request, invalid_options
from foretop_demo.writes import Options

_ON_ONE = {"GET": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_ON_ALL = {"GET": "list", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "deletecollection"}


class Address(NamedTuple):
    """A path below /api or /apis; `name` is empty for a collection."""

    group: str
    version: str
    namespace: str
    plural: str
    name: str
    subresource: str


class Target(NamedTuple):
    """An address whose kind is known."""

    kind: Kind
    address: Address

    @property
    def key(self) -> tuple[str, str]:
        return (self.address.namespace, self.address.name)


def parse_path(path: str) -> Address | None:
    """The parts of a resource path; None for any other path."""
    parts = path.strip("/").split("/")
    if parts[0] == "api":
        group, version, rest = "", parts[1] if len(parts) > 1 else "", parts[2:]
    elif parts[0] == "apis" and len(parts) > 2:
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        return None
    namespace = ""
    if len(rest) > 2 and rest[0] == "namespaces" and rest[2] not in ("status", "finalize"):
        namespace, rest = rest[1], rest[2:]
    if not rest or len(rest) > 3:
        return None
    plural, name, subresource = (*rest, "", "")[:3]
    return Address(group, version, namespace, plural, name, subresource)


def find_target(catalog: Catalog, address: Address) -> Target | None:
    kind = catalog.at(address.group, address.version, address.plural)
    if kind is None or (address.namespace and not kind.namespaced):
        return None
    return Target(kind, address)


def request_attributes(method: str, address: Address, query: Mapping[str, str]) -> RequestAttributes:
    """The verb and resource of a request, as access rules name them; an unknown method has the verb ""."""
    verb = (_ON_ONE if address.name else _ON_ALL).get(method, "")
    if verb in ("list", "get") and is_watch(query) and not address.name:
        verb = "watch"
    namespace, name = address.namespace, address.name
    if address.plural == "namespaces" and not address.group:
        namespace = name
    return RequestAttributes(verb, address.group, address.plural, namespace, name, address.subresource)


def is_watch(query: Mapping[str, str]) -> bool:
    return query.get("watch", "") in ("1", "true", "True")


def list_options(query: Mapping[str, str]) -> ListOptions:
    if query.get("sendInitialEvents"):
        message = "Forbidden: sendInitialEvents is forbidden for list"
        raise invalid_options("ListOptions", Cause("FieldValueForbidden", "sendInitialEvents", message))
    return ListOptions(
        _number(query, "limit"),
        query.get("continue", ""),
        query.get("resourceVersion", ""),
        query.get("resourceVersionMatch", ""),
    )


def _number(query: Mapping[str, str], name: str) -> int:
    text = query.get(name, "")
    try:
        return max(int(text), 0) if text else 0
    except ValueError:
        raise bad_request(f'strconv.ParseInt: parsing "{text}": invalid syntax') from None


def timeout_seconds(query: Mapping[str, str]) -> int:
    return _number(query, "timeoutSeconds")


def selected(target: Target, query: Mapping[str, str]) -> Selection:
    labels, fields = query.get("labelSelector", ""), query.get("fieldSelector", "")
    return selection(target.kind, target.address.namespace, labels, fields)


def write_options(query: Mapping[str, str], agent: str) -> Options:
    """The options of a write; the field manager is in the query, or else the program in the user agent."""
    validation = query.get("fieldValidation", "")
    if validation not in ("", "Ignore", "Strict", "Warn"):
        message = f'Unsupported value: "{validation}": supported values: "", "Ignore", "Strict", "Warn"'
        raise invalid_options("CreateOptions", Cause("FieldValueNotSupported", "fieldValidation", message))
    manager = query.get("fieldManager") or agent.partition("/")[0] or "unknown"
    return Options(manager, dry_run(query), validation == "Strict")


def dry_run(query: Mapping[str, str]) -> bool:
    value = query.get("dryRun", "")
    if value not in ("", "All"):
        message = f'Unsupported value: ["{value}"]: supported values: "All"'
        raise invalid_options("CreateOptions", Cause("FieldValueNotSupported", "dryRun", message))
    return value == "All"
