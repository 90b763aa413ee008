"""API errors as Kubernetes words them: Status objects with a code, a reason and details."""

from __future__ import annotations

from typing import NamedTuple

from foretop_demo.kinds import Json, Kind

EXPIRED_TOKEN = (
    "The provided continue parameter is too old to display a consistent list result. Start a new list without it, "
    "or go on with the token in this response and accept that what changed meanwhile may show up or be missing."
)


class Cause(NamedTuple):
    """One reason why an object is invalid."""

    reason: str
    field: str
    message: str


class ApiError(Exception):
    """A refused request; it becomes the body of the answer."""

    def __init__(self, code: int, reason: str, message: str, details: Json | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details
        self.continue_token = ""
        self.headers: dict[str, str] = {}

    def status(self) -> Json:
        meta: Json = {"continue": self.continue_token} if self.continue_token else {}
        body: Json = {"kind": "Status", "apiVersion": "v1", "metadata": meta, "status": "Failure"}
        body["message"] = self.message
        if self.reason:
            body["reason"] = self.reason
        if self.details is not None:
            body["details"] = self.details
        body["code"] = self.code
        return body


def success(kind: Kind, name: str, uid: str) -> Json:
    """The answer of a delete once the object is gone."""
    details = {"name": name, "group": kind.group, "kind": kind.plural, "uid": uid}
    if not kind.group:
        del details["group"]
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}


def _about(kind: Kind, name: str, what: str = "") -> Json:
    details: Json = {"name": name} if name else {}
    if kind.group:
        details["group"] = kind.group
    details["kind"] = what or kind.plural
    return details


def not_found(kind: Kind, name: str) -> ApiError:
    return ApiError(404, "NotFound", f'{kind.resource} "{name}" not found', _about(kind, name))


def no_such_resource() -> ApiError:
    return ApiError(404, "NotFound", "the server could not find the requested resource", {})


def already_exists(kind: Kind, name: str) -> ApiError:
    return ApiError(409, "AlreadyExists", f'{kind.resource} "{name}" already exists', _about(kind, name))


def conflict(kind: Kind, name: str, why: str = "") -> ApiError:
    modified = "the object has been modified; please apply your changes to the latest version and try again"
    message = f'Operation cannot be fulfilled on {kind.resource} "{name}": {why or modified}'
    return ApiError(409, "Conflict", message, _about(kind, name))


def precondition_failed(kind: Kind, name: str, why: str) -> ApiError:
    message = f'Operation cannot be fulfilled on {kind.qualified_kind} "{name}": {why}'
    return ApiError(409, "Conflict", message, _about(kind, name, kind.kind))


def invalid(kind: Kind, name: str, causes: list[Cause]) -> ApiError:
    return invalid_as(kind.qualified_kind, _about(kind, name, kind.kind), name, causes)


def invalid_as(title: str, details: Json, name: str, causes: list[Cause]) -> ApiError:
    parts = [f"{cause.field}: {cause.message}" for cause in causes]
    text = parts[0] if len(parts) == 1 else f"[{', '.join(parts)}]"
    details["causes"] = [{"reason": each.reason, "message": each.message, "field": each.field} for each in causes]
    return ApiError(422, "Invalid", f'{title} "{name}" is invalid: {text}', details)


def invalid_options(what: str, *causes: Cause) -> ApiError:
    """Query parameters that are meaningless or contradict each other."""
    details: Json = {"group": "meta.k8s.io", "kind": what}
    return invalid_as(f"{what}.meta.k8s.io", details, "", list(causes))


def internal(message: str) -> ApiError:
    """An error that a real server answers with 500 instead of a better refusal."""
    return ApiError(500, "", message)


def bad_request(message: str) -> ApiError:
    return ApiError(400, "BadRequest", message)


def unauthorized() -> ApiError:
    return ApiError(401, "Unauthorized", "Unauthorized")


def forbidden(kind: Kind, name: str, why: str) -> ApiError:
    subject = f'{kind.resource} "{name}"' if name else kind.resource
    return ApiError(403, "Forbidden", f"{subject} is forbidden: {why}", _about(kind, name))


def method_not_allowed() -> ApiError:
    return ApiError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {})


def method_not_supported(kind: Kind, verb: str) -> ApiError:
    message = f'{verb} is not supported on resources of kind "{kind.resource}"'
    return ApiError(405, "MethodNotAllowed", message, _about(kind, ""))


def not_acceptable(offered: str) -> ApiError:
    return ApiError(406, "NotAcceptable", f"only the following media types are accepted: {offered}")


def unsupported_media(accepted: str) -> ApiError:
    message = f"the body of the request was in an unknown format - accepted media types include: {accepted}"
    return ApiError(415, "UnsupportedMediaType", message)


def patch_refused() -> ApiError:
    return ApiError(422, "Invalid", "the server rejected our request due to an error in our request", {})


def expired(message: str) -> ApiError:
    return ApiError(410, "Expired", message)


def too_large_version(asked: int, current: int, retry: bool) -> ApiError:
    details: Json = {"causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]}
    error = ApiError(504, "Timeout", f"Timeout: Too large resource version: {asked}, current: {current}", details)
    if retry:
        details["retryAfterSeconds"] = 1
        error.headers["Retry-After"] = "1"
    return error
