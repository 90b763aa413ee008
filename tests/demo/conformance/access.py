"""Authentication, authorization, and access reviews."""

from __future__ import annotations

from typing import Any

from tests.demo.conformance.client import OADP, REVIEWS, VELERO, Api, Body, schedule


def access_review(**wanted: str) -> Body:
    return {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": wanted},
    }


class Access:
    """Users with limited rights."""

    async def test_a_wrong_token_is_unauthorized(self, api: Api) -> None:
        answer = await api.as_user("not-a-token").get(api.schedules)
        assert answer.refused(401, "Unauthorized") == "Unauthorized"

    async def test_a_request_without_a_token_is_anonymous(self, api: Api) -> None:
        answer = await api.as_user("").get(f"{VELERO}/schedules")
        assert answer.refused(403, "Forbidden") == (
            'schedules.velero.io is forbidden: User "system:anonymous" cannot list resource "schedules" '
            'in API group "velero.io" at the cluster scope'
        )

    async def test_a_viewer_can_read_but_not_write(self, api: Api) -> None:
        await api.create(api.schedules, schedule("daily"))
        viewer = api.as_user("viewer")
        path = f"{api.schedules}/daily"
        assert (await viewer.get(path)).code == 200
        assert (await viewer.merge(path, {"spec": {"paused": True}})).refused(403, "Forbidden") == (
            'schedules.velero.io "daily" is forbidden: User "viewer" cannot patch resource "schedules" '
            f'in API group "velero.io" in the namespace "{api.namespace}"'
        )
        created = await viewer.create(api.schedules, schedule("x"))
        assert 'cannot create resource "schedules"' in created.refused(403, "Forbidden")
        assert created.body["details"] == {"group": "velero.io", "kind": "schedules"}
        assert 'cannot delete resource "schedules"' in (await viewer.delete(path)).refused(403, "Forbidden")
        everything = await viewer.delete(api.schedules)
        assert 'cannot deletecollection resource "schedules"' in everything.refused(403, "Forbidden")

    async def test_a_watch_without_permission_is_refused_before_it_starts(self, api: Api) -> None:
        answer = await api.as_user("viewer").get(f"{OADP}/nonadminbackups", watch="1")
        assert answer.refused(403, "Forbidden") == (
            'nonadminbackups.oadp.openshift.io is forbidden: User "viewer" cannot watch resource "nonadminbackups" '
            'in API group "oadp.openshift.io" at the cluster scope'
        )

    async def test_a_tenant_sees_only_its_own_namespace(self, api: Api) -> None:
        tenant = api.as_user("tenant")
        assert (await tenant.get(f"{OADP}/namespaces/team-a/nonadminbackups")).code == 200
        answer = await tenant.get(f"{OADP}/namespaces/team-b/nonadminbackups")
        assert answer.refused(403, "Forbidden").endswith('in the namespace "team-b"')
        assert (await tenant.get(f"{OADP}/nonadminbackups")).refused(403, "Forbidden").endswith("at the cluster scope")

    async def test_discovery_is_open_to_all_authenticated_users(self, api: Api) -> None:
        nobody = api.as_user("nobody")
        for path in ("/api", "/apis", "/apis/velero.io/v1", "/version", "/readyz"):
            assert (await nobody.get(path)).code == 200
        answer = await nobody.get("/elsewhere")
        assert answer.refused(403, "Forbidden") == 'forbidden: User "nobody" cannot get path "/elsewhere"'
        assert (await api.as_user("").get("/version")).code == 200
        assert (await api.as_user("").get("/apis")).refused(403, "Forbidden")

    async def test_an_access_review_answers_what_is_allowed(self, api: Api) -> None:
        viewer = api.as_user("viewer")
        path = f"{REVIEWS}/selfsubjectaccessreviews"

        async def allowed(user: Api, **wanted: str) -> bool:
            review: Any = (await user.create(path, access_review(**wanted))).expect(201)
            assert review["kind"] == "SelfSubjectAccessReview"
            return bool(review["status"]["allowed"])

        schedules = {"group": "velero.io", "resource": "schedules"}
        assert await allowed(viewer, verb="list", **schedules)
        assert not await allowed(viewer, verb="patch", namespace="velero", **schedules)
        assert await allowed(api, verb="patch", namespace="velero", **schedules)
        nabs = {"group": "oadp.openshift.io", "resource": "nonadminbackups"}
        assert await allowed(api.as_user("tenant"), verb="create", namespace="team-a", **nabs)
        assert not await allowed(api.as_user("tenant"), verb="create", namespace="team-b", **nabs)
        assert not await allowed(api.as_user("tenant"), verb="list", **nabs)
        assert (await api.create(path, {"spec": {}})).refused(422, "Invalid")

    async def test_the_rules_of_a_namespace_can_be_read(self, api: Api) -> None:
        path = f"{REVIEWS}/selfsubjectrulesreviews"
        body = (await api.as_user("viewer").create(path, {"spec": {"namespace": "velero"}})).expect(201)
        rules = body["status"]["resourceRules"]
        assert {"verbs": ["get", "list", "watch"], "apiGroups": ["velero.io"], "resources": ["*"]} in rules
        assert body["status"]["incomplete"] is False
        answer = await api.create(path, {"spec": {}})
        assert answer.refused(400, "BadRequest") == "no namespace on request"
