"""Deletion: finalizers, preconditions, and the answers of a delete."""

from __future__ import annotations

from tests.demo.conformance.client import Api, backup, brief, nab, schedule

FINALIZER = "nonadminbackup.oadp.openshift.io/finalizer"


class Deleting:
    """Objects that are being deleted."""

    async def test_a_deleted_object_is_gone_at_once(self, api: Api) -> None:
        made = (await api.create(api.schedules, schedule("daily"))).expect(201)
        answer = (await api.delete(f"{api.schedules}/daily", {"propagationPolicy": "Background"})).expect(200)
        assert (answer["kind"], answer["status"]) == ("Status", "Success")
        uid = made["metadata"]["uid"]
        assert answer["details"] == {"name": "daily", "group": "velero.io", "kind": "schedules", "uid": uid}
        assert (await api.delete(f"{api.schedules}/daily")).refused(404, "NotFound")

    async def test_a_finalizer_holds_an_object_until_it_is_removed(self, api: Api) -> None:
        sent = nab("n")
        sent["metadata"]["finalizers"] = [FINALIZER]
        await api.create(api.nabs, sent)
        version = await api.version_of(api.nabs)
        async with api.watching(api.nabs, resourceVersion=version) as watch:
            marked = (await api.delete(f"{api.nabs}/n")).expect(200)
            assert marked["kind"] == "NonAdminBackup"
            assert marked["metadata"]["deletionTimestamp"].endswith("Z")
            assert (marked["metadata"]["deletionGracePeriodSeconds"], marked["metadata"]["generation"]) == (0, 2)
            assert (await api.delete(f"{api.nabs}/n")).expect(200) == marked
            freed = (await api.merge(f"{api.nabs}/n", {"metadata": {"finalizers": None}})).expect(200)
            assert "finalizers" not in freed["metadata"]
            events = [await watch.next(), await watch.next()]
        assert brief(events) == [("MODIFIED", "n"), ("DELETED", "n")]
        assert events[1]["object"]["metadata"]["finalizers"] == [FINALIZER]
        assert (await api.get(f"{api.nabs}/n")).code == 404

    async def test_no_finalizer_can_be_added_during_deletion(self, api: Api) -> None:
        sent = nab("n")
        sent["metadata"]["finalizers"] = [FINALIZER]
        await api.create(api.nabs, sent)
        await api.delete(f"{api.nabs}/n")
        answer = await api.merge(f"{api.nabs}/n", {"metadata": {"finalizers": [FINALIZER, "example.com/late"]}})
        assert answer.refused(422, "Invalid").endswith(
            "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, "
            'found new finalizers []string{"example.com/late"}'
        )
        assert (await api.merge(f"{api.nabs}/n", {"metadata": {"finalizers": None}})).code == 200

    async def test_a_delete_can_have_a_uid_or_version_precondition(self, api: Api) -> None:
        made = (await api.create(api.schedules, schedule("daily"))).expect(201)["metadata"]
        path = f"{api.schedules}/daily"
        other = await api.delete(path, {"preconditions": {"uid": "00000000-0000-4000-8000-000000000000"}})
        assert "does not match the UID in record" in other.refused(409, "Conflict")
        stale = await api.delete(path, {"preconditions": {"resourceVersion": "1"}})
        assert "the ResourceVersion in the precondition (1) does not match" in stale.refused(409, "Conflict")
        right = {"uid": made["uid"], "resourceVersion": made["resourceVersion"]}
        assert (await api.delete(path, {"preconditions": right})).code == 200

    async def test_a_dry_run_deletes_nothing(self, api: Api) -> None:
        await api.create(api.schedules, schedule("daily"))
        assert (await api.delete(f"{api.schedules}/daily", dryRun="All")).expect(200)["status"] == "Success"
        assert (await api.get(f"{api.schedules}/daily")).code == 200

    async def test_a_collection_can_be_deleted_by_selector(self, api: Api) -> None:
        for number in range(4):
            await api.create(api.backups, backup(f"b{number}", parity="odd" if number % 2 else "even"))
        gone = await api.delete(api.backups, labelSelector="parity=odd")
        assert (gone.expect(200)["kind"], gone.names) == ("BackupList", ["b1", "b3"])
        assert (await api.get(api.backups)).names == ["b0", "b2"]

    async def test_an_unknown_propagation_policy_is_refused(self, api: Api) -> None:
        await api.create(api.schedules, schedule("daily"))
        answer = await api.delete(f"{api.schedules}/daily", propagationPolicy="Later")
        assert answer.refused(422, "Invalid").startswith(
            'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Later"'
        )

    async def test_a_status_cannot_be_deleted(self, api: Api) -> None:
        await api.create(api.nabs, nab("n"))
        assert (await api.delete(f"{api.nabs}/n/status")).refused(405, "MethodNotAllowed")
