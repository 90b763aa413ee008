"""What the definitions of the kinds refuse, prune and default."""

from __future__ import annotations

from typing import Any

import pytest

from tests.demo.conformance.client import Api, Body, nab, schedule


class Validation:
    """Objects that violate their schema."""

    @pytest.mark.parametrize(
        ("change", "field", "reason", "message"),
        [
            ({"spec": {"template": {}}}, "spec.schedule", "FieldValueRequired", "Required value"),
            (
                {"spec": {"schedule": "x", "template": {}, "paused": "yes"}},
                "spec.paused",
                "FieldValueTypeInvalid",
                'Invalid value: "string": spec.paused in body must be of type boolean: "string"',
            ),
            (
                {"spec": {"schedule": 5, "template": {}}},
                "spec.schedule",
                "FieldValueTypeInvalid",
                'Invalid value: "integer": spec.schedule in body must be of type string: "integer"',
            ),
            (
                {"status": {"phase": "Bogus"}},
                "status.phase",
                "FieldValueNotSupported",
                'Unsupported value: "Bogus": supported values: "New", "Enabled", "FailedValidation"',
            ),
            (
                {"status": {"lastBackup": "yesterday"}},
                "status.lastBackup",
                "FieldValueTypeInvalid",
                'Invalid value: "yesterday": status.lastBackup in body must be of type date-time: "yesterday"',
            ),
        ],
    )
    async def test_an_invalid_field_is_named_in_the_error(
        self, api: Api, change: Body, field: str, reason: str, message: str
    ) -> None:
        answer = await api.create(api.schedules, {**schedule("x"), **change})
        assert answer.refused(422, "Invalid") == f'Schedule.velero.io "x" is invalid: {field}: {message}'
        cause = {"reason": reason, "message": message, "field": field}
        assert answer.body["details"] == {
            "name": "x",
            "group": "velero.io",
            "kind": "Schedule",
            "causes": [cause],
        }

    async def test_a_patch_is_validated_by_its_result(self, api: Api) -> None:
        await api.create(api.schedules, schedule("daily"))
        answer = await api.merge(f"{api.schedules}/daily", {"spec": {"schedule": None}})
        assert answer.refused(422, "Invalid").endswith("spec.schedule: Required value")
        assert (await api.get(f"{api.schedules}/daily")).body["spec"]["schedule"] == "0 1 * * *"

    @pytest.mark.parametrize("phase", ["Queued", "ReadyToStart"])
    async def test_the_copied_phase_of_a_nab_excludes_the_queue_phases(self, api: Api, phase: str) -> None:
        await api.create(api.nabs, nab("n"))
        copied: Any = {"status": {"veleroBackup": {"status": {"phase": phase}}}}
        answer = await api.merge(f"{api.nabs}/n/status", copied)
        message = answer.refused(422, "Invalid")
        field = "status.veleroBackup.status.phase"
        assert message.startswith(f'NonAdminBackup.oadp.openshift.io "n" is invalid: {field}: Unsupported value')
        assert (await api.merge(f"{api.nabs}/n/status", {"status": {"veleroBackup": {"name": "v"}}})).code == 200

    async def test_a_condition_needs_all_its_fields(self, api: Api) -> None:
        await api.create(api.nabs, nab("n"))
        broken = {"type": "Accepted", "status": "Maybe", "reason": "", "message": ""}
        answer = await api.merge(f"{api.nabs}/n/status", {"status": {"conditions": [broken]}})
        assert answer.refused(422, "Invalid")
        found = {(cause["field"], cause["reason"]) for cause in answer.body["details"]["causes"]}
        assert found == {
            ("status.conditions[0].lastTransitionTime", "FieldValueRequired"),
            ("status.conditions[0].reason", "FieldValueInvalid"),
            ("status.conditions[0].status", "FieldValueNotSupported"),
        }

    @pytest.mark.parametrize("name", ["Bad_Name", "-x", "x" * 254])
    async def test_an_invalid_name_is_refused(self, api: Api, name: str) -> None:
        answer = await api.create(api.schedules, schedule(name))
        assert answer.refused(422, "Invalid")
        assert {cause["field"] for cause in answer.body["details"]["causes"]} == {"metadata.name"}

    @pytest.mark.parametrize(
        ("meta", "field"),
        [
            ({"labels": {"a b": "c"}}, "metadata.labels"),
            ({"labels": {"a": "-c-"}}, "metadata.labels"),
            ({"annotations": {"a b": "c"}}, "metadata.annotations"),
            ({"finalizers": ["a b"]}, "metadata.finalizers"),
        ],
    )
    async def test_labels_annotations_and_finalizers_must_be_well_formed(
        self, api: Api, meta: Body, field: str
    ) -> None:
        answer = await api.create(api.schedules, {**schedule("x"), "metadata": {"name": "x", **meta}})
        assert answer.refused(422, "Invalid")
        assert {cause["field"] for cause in answer.body["details"]["causes"]} == {field}

    async def test_label_values_must_be_strings(self, api: Api) -> None:
        answer = await api.create(api.schedules, {**schedule("x"), "metadata": {"name": "x", "labels": {"a": 5}}})
        assert answer.refused(400, "BadRequest")


class Pruning:
    """Fields that the definition does not have."""

    async def test_unknown_fields_are_dropped_with_a_warning(self, api: Api) -> None:
        sent = schedule("daily", colour="red", template={"hooks": {"resources": [{"name": "a", "zip": 1}]}})
        answer = await api.create(api.schedules, sent)
        body = answer.expect(201)
        assert body["spec"] == {"schedule": "0 1 * * *", "template": {"hooks": {"resources": [{"name": "a"}]}}}
        assert sorted(answer.warnings) == [
            '299 - "unknown field \\"spec.colour\\""',
            '299 - "unknown field \\"spec.template.hooks.resources[0].zip\\""',
        ]

    async def test_unknown_fields_are_refused_with_strict_validation(self, api: Api) -> None:
        sent = schedule("daily", colour="red")
        answer = await api.create(api.schedules, sent, fieldValidation="Strict")
        assert answer.refused(400, "BadRequest") == (
            'Schedule in version "v1" cannot be handled as a Schedule: '
            'strict decoding error: unknown field "spec.colour"'
        )
        quiet = await api.create(api.schedules, sent, fieldValidation="Ignore")
        assert (quiet.code, quiet.warnings) == (201, [])
        patched = await api.merge(f"{api.schedules}/daily", {"spec": {"colour": "red"}}, fieldValidation="Strict")
        assert 'unknown field "spec.colour"' in patched.refused(422, "Invalid")

    async def test_a_null_is_kept_in_a_nullable_field(self, api: Api) -> None:
        sent = schedule("daily", paused=None, useOwnerReferencesInBackup=None)
        spec = (await api.create(api.schedules, sent)).expect(201)["spec"]
        assert spec == {"schedule": "0 1 * * *", "template": {}, "useOwnerReferencesInBackup": None}

    async def test_defaults_of_the_definition_are_filled_in(self, api: Api) -> None:
        path = f"/apis/velero.io/v1/namespaces/{api.namespace}/backupstoragelocations"
        storage = {"apiVersion": "velero.io/v1", "kind": "BackupStorageLocation", "metadata": {"name": "default"}}
        spec = {"provider": "aws", "objectStorage": {"bucket": "b"}, "credential": {"key": "cloud"}}
        body = (await api.create(path, {**storage, "spec": spec})).expect(201)
        assert body["spec"]["credential"] == {"key": "cloud", "name": ""}
