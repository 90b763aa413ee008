"""Create, update and patch: what the server fills in, keeps, counts and refuses."""

from __future__ import annotations

from typing import Any

import pytest

from tests.demo.conformance.client import JSON, JSON_PATCH, STRATEGIC, Api, Body, nab, schedule


class Creating:
    """New objects."""

    async def test_the_server_fills_in_identity_and_creation_time(self, api: Api) -> None:
        sent = schedule("daily")
        sent["metadata"] |= {"uid": "mine", "creationTimestamp": "2001-01-01T00:00:00Z", "generation": 7}
        meta = (await api.create(api.schedules, sent)).expect(201)["metadata"]
        assert (meta["name"], meta["namespace"], meta["generation"]) == ("daily", api.namespace, 1)
        assert (len(meta["uid"]), meta["creationTimestamp"] > "2020") == (36, True)
        assert meta["resourceVersion"].isdecimal()

    async def test_generate_name_adds_a_random_suffix(self, api: Api) -> None:
        sent = {**schedule("x"), "metadata": {"generateName": "daily-"}}
        name = (await api.create(api.schedules, sent)).expect(201)["metadata"]["name"]
        assert (name[:6], len(name)) == ("daily-", 11)

    async def test_a_taken_name_is_refused(self, api: Api) -> None:
        await api.create(api.schedules, schedule("daily"))
        answer = await api.create(api.schedules, schedule("daily"))
        assert answer.refused(409, "AlreadyExists") == 'schedules.velero.io "daily" already exists'
        assert answer.body["details"] == {"name": "daily", "group": "velero.io", "kind": "schedules"}

    async def test_a_dry_run_stores_nothing(self, api: Api) -> None:
        made = (await api.create(api.schedules, schedule("daily"), dryRun="All")).expect(201)
        assert made["metadata"]["uid"]
        assert (await api.get(f"{api.schedules}/daily")).code == 404

    async def test_the_namespace_must_exist(self, api: Api) -> None:
        answer = await api.create("/apis/velero.io/v1/namespaces/no-such-place/schedules", schedule("x"))
        assert answer.refused(404, "NotFound") == 'namespaces "no-such-place" not found'

    @pytest.mark.parametrize(
        ("change", "code", "reason", "message"),
        [
            (
                {"kind": "Backup"},
                422,
                "Invalid",
                'Backup.velero.io "x" is invalid: kind: Invalid value: "Backup": must be Schedule',
            ),
            (
                {"apiVersion": "velero.io/v2"},
                400,
                "BadRequest",
                "the API version in the data (velero.io/v2) does not match the expected API version (velero.io/v1)",
            ),
            (
                {"metadata": {"name": "x", "namespace": "elsewhere"}},
                400,
                "BadRequest",
                "the namespace of the provided object does not match the namespace sent on the request",
            ),
            (
                {"metadata": {"name": "x", "resourceVersion": "5"}},
                500,
                "",
                "resourceVersion should not be set on objects to be created",
            ),
            (
                {"metadata": {}},
                422,
                "Invalid",
                'Schedule.velero.io "" is invalid: metadata.name: Required value: name or generateName is required',
            ),
        ],
    )
    async def test_an_object_of_another_namespace_or_kind_is_refused(
        self, api: Api, change: Body, code: int, reason: str, message: str
    ) -> None:
        answer = await api.create(api.schedules, {**schedule("x"), **change})
        assert answer.refused(code, reason) == message

    @pytest.mark.parametrize("body", [b"", b'{"a":', b"[]", b'"text"', b'{"metadata": {"name": "x"}}'])
    async def test_a_body_that_is_not_an_object_is_refused(self, api: Api, body: bytes) -> None:
        answer = await api.create(api.schedules, body)
        beginning = "the object provided is unrecognized (must be of type Schedule): "
        assert answer.refused(400, "BadRequest").startswith(beginning)

    async def test_an_unsupported_content_type_is_refused(self, api: Api) -> None:
        answer = await api.request("POST", api.schedules, b"name=x", "text/plain")
        message = answer.refused(415, "UnsupportedMediaType")
        assert message.startswith("the body of the request was in an unknown format - accepted media types include: ")


class Updating:
    """Whole objects sent back."""

    async def test_an_update_needs_the_version_it_was_made_from(self, api: Api) -> None:
        await api.create(api.schedules, schedule("daily"))
        answer = await api.put(f"{api.schedules}/daily", schedule("daily"))
        assert answer.refused(422, "Invalid") == (
            'schedules.velero.io "daily" is invalid: '
            "metadata.resourceVersion: Invalid value: 0: must be specified for an update"
        )

    async def test_the_second_of_two_writers_gets_a_conflict(self, api: Api) -> None:
        made = (await api.create(api.schedules, schedule("daily"))).expect(201)
        path = f"{api.schedules}/daily"
        mine = {**made, "spec": {**made["spec"], "paused": True}}
        updated = (await api.put(path, mine)).expect(200)
        assert int(updated["metadata"]["resourceVersion"]) > int(made["metadata"]["resourceVersion"])
        answer = await api.put(path, {**made, "spec": {**made["spec"], "paused": False}})
        assert answer.refused(409, "Conflict") == (
            'Operation cannot be fulfilled on schedules.velero.io "daily": the object has been modified; '
            "please apply your changes to the latest version and try again"
        )
        assert answer.body["details"] == {"name": "daily", "group": "velero.io", "kind": "schedules"}

    async def test_an_unchanged_update_keeps_the_version(self, api: Api) -> None:
        made = (await api.create(api.schedules, schedule("daily"))).expect(201)
        same = (await api.put(f"{api.schedules}/daily", made)).expect(200)
        assert same == made

    async def test_an_update_cannot_change_identity_and_timestamps(self, api: Api) -> None:
        made = (await api.create(api.schedules, schedule("daily"))).expect(201)["metadata"]
        bare = {"name": "daily", "resourceVersion": made["resourceVersion"], "creationTimestamp": None}
        path = f"{api.schedules}/daily"
        kept = (await api.put(path, {**schedule("daily", paused=True), "metadata": bare})).expect(200)["metadata"]
        assert all(kept[key] == made[key] for key in ("uid", "creationTimestamp", "namespace"))
        assert kept["generation"] == 2

    async def test_the_name_in_the_body_must_be_the_one_in_the_path(self, api: Api) -> None:
        made = (await api.create(api.schedules, schedule("daily"))).expect(201)
        renamed = {**made, "metadata": {**made["metadata"], "name": "weekly"}}
        answer = await api.put(f"{api.schedules}/daily", renamed)
        message = "the name of the object (weekly) does not match the name on the URL (daily)"
        assert answer.refused(400, "BadRequest") == message

    async def test_another_objects_uid_is_a_conflict(self, api: Api) -> None:
        made = (await api.create(api.schedules, schedule("daily"))).expect(201)
        other = {**made, "metadata": {**made["metadata"], "uid": "00000000-0000-4000-8000-000000000000"}}
        answer = await api.put(f"{api.schedules}/daily", other)
        assert "UID in precondition" in answer.refused(409, "Conflict")

    async def test_an_update_does_not_create_a_missing_object(self, api: Api) -> None:
        made = schedule("daily")
        made["metadata"]["resourceVersion"] = "5"
        assert (await api.put(f"{api.schedules}/daily", made)).refused(404, "NotFound")

    @pytest.mark.parametrize(
        ("method", "path", "code", "reason"),
        [
            ("PUT", "", 400, "BadRequest"),
            ("PATCH", "", 400, "BadRequest"),
            ("OPTIONS", "", 405, "MethodNotAllowed"),
        ],
    )
    async def test_an_unsupported_method_is_refused(
        self, api: Api, method: str, path: str, code: int, reason: str
    ) -> None:
        answer = await api.request(method, api.schedules + path, schedule("x"), "application/merge-patch+json")
        assert answer.refused(code, reason)


class Patching:
    """Parts of objects sent back."""

    async def test_a_merge_patch_sets_and_removes(self, api: Api) -> None:
        await api.create(api.schedules, schedule("daily"))
        path = f"{api.schedules}/daily"
        assert (await api.merge(path, {"spec": {"paused": True}})).expect(200)["spec"]["paused"] is True
        removed = (await api.merge(path, {"spec": {"paused": None}})).expect(200)
        assert removed["spec"] == {"schedule": "0 1 * * *", "template": {}}
        assert removed["metadata"]["generation"] == 3

    async def test_a_merge_patch_can_have_a_version_precondition(self, api: Api) -> None:
        made = (await api.create(api.schedules, schedule("daily"))).expect(201)
        path, version = f"{api.schedules}/daily", made["metadata"]["resourceVersion"]
        pause = {"metadata": {"resourceVersion": version}, "spec": {"paused": True}}
        assert (await api.merge(path, pause)).code == 200
        answer = await api.merge(path, {**pause, "spec": {"paused": False}})
        assert "the object has been modified" in answer.refused(409, "Conflict")

    async def test_a_merge_patch_cannot_change_the_identity(self, api: Api) -> None:
        await api.create(api.schedules, schedule("daily"))
        path = f"{api.schedules}/daily"
        assert (await api.merge(path, {"metadata": {"name": "weekly"}})).refused(400, "BadRequest")
        uid = await api.merge(path, {"metadata": {"uid": "1"}})
        assert uid.refused(422, "Invalid") == (
            'Schedule.velero.io "daily" is invalid: metadata.uid: Invalid value: "1": field is immutable'
        )

    async def test_a_json_patch_applies_its_operations_in_order(self, api: Api) -> None:
        await api.create(api.schedules, schedule("daily"))
        path = f"{api.schedules}/daily"
        operations: list[Body] = [
            {"op": "test", "path": "/spec/schedule", "value": "0 1 * * *"},
            {"op": "add", "path": "/metadata/labels", "value": {"example.com/team": "a"}},
            {"op": "replace", "path": "/metadata/labels/example.com~1team", "value": "b"},
            {"op": "add", "path": "/spec/template/includedNamespaces", "value": ["x"]},
            {"op": "add", "path": "/spec/template/includedNamespaces/-", "value": "z"},
            {"op": "add", "path": "/spec/template/includedNamespaces/1", "value": "y"},
            {"op": "replace", "path": "/spec/paused", "value": True},
        ]
        body = (await api.request("PATCH", path, operations, JSON_PATCH)).expect(200)
        assert body["metadata"]["labels"] == {"example.com/team": "b"}
        assert body["spec"]["template"] == {"includedNamespaces": ["x", "y", "z"]}
        assert (body["spec"]["paused"], body["metadata"]["generation"]) == (True, 2)

    @pytest.mark.parametrize(
        "operation",
        [
            {"op": "test", "path": "/spec/schedule", "value": "else"},
            {"op": "remove", "path": "/spec/nope"},
            {"op": "add", "path": "/spec/nope/deeper", "value": 1},
        ],
    )
    async def test_a_json_patch_that_does_not_apply_is_refused(self, api: Api, operation: Body) -> None:
        await api.create(api.schedules, schedule("daily"))
        answer = await api.request("PATCH", f"{api.schedules}/daily", [operation], JSON_PATCH)
        message = "the server rejected our request due to an error in our request"
        assert answer.refused(422, "Invalid") == message

    @pytest.mark.parametrize(
        ("body", "kind"), [(b'{"a"', "merge-patch"), (b"[]", "merge-patch"), (b"{}", "json-patch")]
    )
    async def test_an_unreadable_patch_is_refused(self, api: Api, body: bytes, kind: str) -> None:
        await api.create(api.schedules, schedule("daily"))
        answer = await api.request("PATCH", f"{api.schedules}/daily", body, f"application/{kind}+json")
        assert answer.refused(400, "BadRequest").startswith("error decoding patch")

    @pytest.mark.parametrize("kind", [STRATEGIC, JSON])
    async def test_custom_kinds_refuse_strategic_merge_patches(self, api: Api, kind: str) -> None:
        await api.create(api.schedules, schedule("daily"))
        answer = await api.request("PATCH", f"{api.schedules}/daily", {"spec": {"paused": True}}, kind)
        assert answer.refused(415, "UnsupportedMediaType")

    async def test_a_missing_object_cannot_be_patched(self, api: Api) -> None:
        assert (await api.merge(f"{api.schedules}/nope", {})).refused(404, "NotFound")

    async def test_built_in_kinds_merge_containers_by_name(self, api: Api) -> None:
        path = f"/apis/apps/v1/namespaces/{api.namespace}/deployments"
        container: Body = {"name": "velero", "image": "velero:1", "args": ["server"]}
        template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [container]}}
        spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
        (await api.create(path, {"metadata": {"name": "velero"}, "spec": spec})).expect(201)
        change = {"spec": {"template": {"spec": {"containers": [{"name": "velero", "image": "velero:2"}]}}}}
        body = (await api.request("PATCH", f"{path}/velero", change, STRATEGIC)).expect(200)
        kept = body["spec"]["template"]["spec"]["containers"][0]
        assert (kept["image"], kept["args"]) == ("velero:2", ["server"])
        assert body["metadata"]["generation"] == 2


class StatusAndGeneration:
    """Which path writes the status, and what counts as a new generation."""

    async def test_without_a_status_subresource_spec_and_status_are_written_together(self, api: Api) -> None:
        made = {**schedule("daily"), "status": {"phase": "New"}}
        assert (await api.create(api.schedules, made)).expect(201)["status"] == {"phase": "New"}
        path = f"{api.schedules}/daily"
        body = (await api.merge(path, {"status": {"phase": "Enabled"}})).expect(200)
        assert (body["status"]["phase"], body["metadata"]["generation"]) == ("Enabled", 2)
        labelled = (await api.merge(path, {"metadata": {"labels": {"a": "b"}}})).expect(200)
        assert labelled["metadata"]["generation"] == 2
        answer = await api.get(f"{path}/status")
        assert answer.refused(404, "NotFound") == 'schedules.velero.io "daily" not found'
        assert (await api.merge(f"{path}/status", {"status": {}})).code == 404

    async def test_with_a_status_subresource_spec_and_status_are_written_separately(self, api: Api) -> None:
        made = (await api.create(api.nabs, {**nab("n"), "status": {"phase": "Created"}})).expect(201)
        assert "status" not in made
        path = f"{api.nabs}/n"
        ignored = (await api.merge(path, {"status": {"phase": "Created"}})).expect(200)
        assert ignored == made
        change: dict[str, Any] = {"status": {"phase": "New"}, "spec": {"deleteBackup": True}}
        change["metadata"] = {"labels": {"a": "b"}}
        body = (await api.merge(f"{path}/status", change)).expect(200)
        assert (body["status"], body["spec"], body["metadata"]["generation"]) == (
            {"phase": "New"},
            {"backupSpec": {}},
            1,
        )
        assert "labels" not in body["metadata"]
        spec = (await api.merge(path, {"spec": {"deleteBackup": True}})).expect(200)
        assert (spec["status"], spec["metadata"]["generation"]) == ({"phase": "New"}, 2)
        assert (await api.get(f"{path}/status")).expect(200) == spec

    async def test_the_status_can_be_replaced_by_itself(self, api: Api) -> None:
        made = (await api.create(api.nabs, nab("n"))).expect(201)
        body = (await api.put(f"{api.nabs}/n/status", {**made, "spec": {}, "status": {"phase": "New"}})).expect(200)
        assert (body["spec"], body["status"]) == ({"backupSpec": {}}, {"phase": "New"})
        stale = await api.put(f"{api.nabs}/n/status", {**made, "status": {"phase": "Created"}})
        assert stale.refused(409, "Conflict")

    async def test_managed_fields_show_who_paused_a_schedule(self, api: Api) -> None:
        await api.create(api.schedules, schedule("daily"), fieldManager="maker")
        path = f"{api.schedules}/daily"
        paused = await api.merge(path, {"spec": {"paused": True}}, fieldManager="operator-on-call")
        entries = {entry["manager"]: entry for entry in paused.expect(200)["metadata"]["managedFields"]}
        assert entries["operator-on-call"]["fieldsV1"] == {"f:spec": {"f:paused": {}}}
        assert entries["operator-on-call"]["operation"] == "Update"
        assert entries["operator-on-call"]["time"].endswith("Z")
        assert "f:paused" not in entries["maker"]["fieldsV1"]["f:spec"]
        again = await api.merge(path, {"spec": {"paused": False}})
        owners = {entry["manager"]: entry["fieldsV1"] for entry in again.expect(200)["metadata"]["managedFields"]}
        assert owners["conformance"] == {"f:spec": {"f:paused": {}}}
        assert "operator-on-call" not in owners
