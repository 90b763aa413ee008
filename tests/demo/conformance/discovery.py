"""Discovery: version, groups and resources of the server."""

from __future__ import annotations

from email.utils import parsedate_to_datetime

import pytest

from tests.demo.conformance.client import Api


class Discovery:
    """Versions, groups, resources and paths that do not exist."""

    @pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz"])
    async def test_health_endpoints_answer_ok(self, api: Api, path: str) -> None:
        answer = await api.get(path)
        assert (answer.code, answer.body) == (200, "ok")

    async def test_the_version_is_a_kubernetes_version(self, api: Api) -> None:
        body = (await api.get("/version")).expect(200)
        assert (body["major"], body["minor"]) == ("1", "36")
        assert body["gitVersion"].startswith("v1.36.")

    async def test_the_groups_name_their_versions(self, api: Api) -> None:
        groups = (await api.get("/apis")).expect(200)
        assert groups["kind"] == "APIGroupList"
        found = {group["name"]: {each["version"] for each in group["versions"]} for group in groups["groups"]}
        assert found["velero.io"] == {"v1", "v2alpha1"}
        assert found["oadp.openshift.io"] == {"v1alpha1"}
        assert {"apps", "batch", "authorization.k8s.io"} <= set(found)
        group = (await api.get("/apis/velero.io")).expect(200)
        assert (group["kind"], group["preferredVersion"]["groupVersion"]) == ("APIGroup", "velero.io/v1")

    async def test_the_resources_name_their_kinds_and_verbs(self, api: Api) -> None:
        body = (await api.get("/apis/oadp.openshift.io/v1alpha1")).expect(200)
        assert (body["kind"], body["groupVersion"]) == ("APIResourceList", "oadp.openshift.io/v1alpha1")
        found = {resource["name"]: resource for resource in body["resources"]}
        nabs = found["nonadminbackups"]
        assert (nabs["kind"], nabs["singularName"], nabs["namespaced"]) == ("NonAdminBackup", "nonadminbackup", True)
        assert nabs["shortNames"] == ["nab"]
        assert {"create", "delete", "get", "list", "patch", "update", "watch"} <= set(nabs["verbs"])
        assert set(found["nonadminbackups/status"]["verbs"]) == {"get", "patch", "update"}
        velero = (await api.get("/apis/velero.io/v1")).expect(200)
        names = {resource["name"] for resource in velero["resources"]}
        assert {"schedules", "backups", "restores", "backupstoragelocations"} <= names
        assert not any(name.endswith("/status") for name in names)

    async def test_a_custom_kind_that_is_not_installed_is_a_plain_404(self, api: Api) -> None:
        for path in ("/apis/velero.io/v1/sails", "/apis/velero.io/v9/schedules", "/apis/nope.example.com/v1/things"):
            answer = await api.get(path)
            assert (answer.code, answer.body) == (404, "404 page not found\n")

    async def test_a_built_in_kind_that_does_not_exist_is_a_404_status(self, api: Api) -> None:
        answer = await api.get("/api/v1/things")
        assert answer.refused(404, "NotFound") == "the server could not find the requested resource"

    async def test_every_answer_has_a_date_header(self, api: Api) -> None:
        answer = await api.get("/version")
        assert parsedate_to_datetime(answer.headers["Date"]).tzinfo is not None

    async def test_openapi_says_how_a_kind_is_validated(self, api: Api) -> None:
        index = (await api.get("/openapi/v3")).expect(200)["paths"]
        url = index["apis/velero.io/v1"]["serverRelativeURL"]
        document = (await api.get(url.partition("?")[0])).expect(200)
        path = "/apis/velero.io/v1/namespaces/{namespace}/schedules/{name}"
        parameters = {each["name"] for each in document["paths"][path]["patch"]["parameters"] if "name" in each}
        assert "fieldValidation" in parameters
