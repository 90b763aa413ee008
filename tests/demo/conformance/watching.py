"""Watches: where they start, what they send, how they end."""

from __future__ import annotations

from tests.demo.conformance.client import Api, backup, brief


class Watching:
    """What a reflector depends on."""

    async def test_a_watch_from_a_list_sends_the_later_changes(self, api: Api) -> None:
        await api.create(api.backups, backup("before"))
        version = await api.version_of(api.backups)
        async with api.watching(api.backups, resourceVersion=version) as watch:
            await api.create(api.backups, backup("after"))
            await api.merge(f"{api.backups}/after", {"status": {"phase": "New"}})
            await api.delete(f"{api.backups}/after")
            events = [await watch.next() for _ in range(3)]
        assert brief(events) == [("ADDED", "after"), ("MODIFIED", "after"), ("DELETED", "after")]
        versions = [int(event["object"]["metadata"]["resourceVersion"]) for event in events]
        assert int(version) < versions[0] < versions[1] < versions[2]
        assert events[2]["object"]["status"] == {"phase": "New"}

    async def test_a_watch_resumes_where_it_was_left(self, api: Api) -> None:
        start = await api.version_of(api.backups)
        first = (await api.create(api.backups, backup("one"))).expect(201)
        await api.create(api.backups, backup("two"))
        await api.delete(f"{api.backups}/one")
        assert brief(await api.watched(api.backups, resourceVersion=start)) == [
            ("ADDED", "one"),
            ("ADDED", "two"),
            ("DELETED", "one"),
        ]
        seen = first["metadata"]["resourceVersion"]
        assert brief(await api.watched(api.backups, resourceVersion=seen)) == [("ADDED", "two"), ("DELETED", "one")]

    async def test_a_watch_without_a_version_starts_with_the_current_objects(self, api: Api) -> None:
        await api.create(api.backups, backup("one"))
        await api.create(api.backups, backup("two"))
        everything = [("ADDED", "one"), ("ADDED", "two")]
        assert brief(await api.watched(api.backups)) == everything
        assert brief(await api.watched(api.backups, resourceVersion="0")) == everything

    async def test_requested_initial_events_end_with_a_bookmark(self, api: Api) -> None:
        await api.create(api.backups, backup("one"))
        query = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}
        events = await api.watched(api.backups, **query)
        assert brief(events) == [("ADDED", "one"), ("BOOKMARK", "")]
        assert events[1]["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}

    async def test_objects_enter_and_leave_a_selection(self, api: Api) -> None:
        await api.create(api.backups, backup("b", parity="odd"))
        version = await api.version_of(api.backups)
        async with api.watching(api.backups, resourceVersion=version, labelSelector="parity=even") as watch:
            path = f"{api.backups}/b"
            await api.merge(path, {"metadata": {"labels": {"parity": "even"}}})
            await api.merge(path, {"status": {"phase": "New"}})
            last = (await api.merge(path, {"metadata": {"labels": {"parity": "odd"}}})).expect(200)
            await api.delete(path)
            await api.create(api.backups, backup("c", parity="even"))
            events = [await watch.next() for _ in range(4)]
        assert brief(events) == [("ADDED", "b"), ("MODIFIED", "b"), ("DELETED", "b"), ("ADDED", "c")]
        left = events[2]["object"]["metadata"]
        assert (left["labels"], left["resourceVersion"]) == ({"parity": "even"}, last["metadata"]["resourceVersion"])

    async def test_one_object_can_be_watched_by_its_name(self, api: Api) -> None:
        await api.create(api.backups, backup("mine"))
        version = await api.version_of(api.backups)
        async with api.watching(api.backups, resourceVersion=version, fieldSelector="metadata.name=mine") as watch:
            await api.create(api.backups, backup("other"))
            await api.delete(f"{api.backups}/mine")
            assert brief([await watch.next()]) == [("DELETED", "mine")]

    async def test_a_write_without_a_change_sends_no_event(self, api: Api) -> None:
        await api.create(api.backups, backup("b"))
        version = await api.version_of(api.backups)
        patched = await api.merge(f"{api.backups}/b", {"spec": {}})
        assert patched.expect(200)["metadata"]["resourceVersion"] == version
        assert await api.watched(api.backups, resourceVersion=version) == []

    async def test_a_bookmark_is_sent_before_the_timeout(self, api: Api) -> None:
        made = (await api.create(api.backups, backup("b"))).expect(201)
        seen = made["metadata"]["resourceVersion"]
        query = {"timeoutSeconds": "6", "allowWatchBookmarks": "true", "resourceVersion": seen}
        async with api.watching(api.backups, **query) as watch:
            elsewhere = "/apis/velero.io/v1/namespaces/default/backups"
            await api.create(elsewhere, {**backup("x"), "metadata": {"generateName": "elsewhere-"}})
            newest = int(seen)
            while newest == int(seen):
                event = await watch.next()
                assert event["type"] == "BOOKMARK"
                mark = event["object"]
                assert (mark["kind"], mark["apiVersion"]) == ("Backup", "velero.io/v1")
                newest = int(mark["metadata"]["resourceVersion"])
        assert newest > int(seen)

    async def test_an_expired_version_is_an_error_event(self, api: Api) -> None:
        async with api.watching(api.backups, resourceVersion="1") as watch:
            events = await watch.rest()
        assert [event["type"] for event in events] == ["ERROR"]
        status = events[0]["object"]
        assert (status["kind"], status["code"], status["reason"]) == ("Status", 410, "Expired")
        assert status["message"].startswith("too old resource version: 1 (")

    async def test_a_version_match_without_initial_events_is_refused(self, api: Api) -> None:
        answer = await api.get(api.backups, watch="1", resourceVersion="0", resourceVersionMatch="NotOlderThan")
        assert answer.refused(422, "Invalid").endswith(
            "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
        )

    async def test_a_watch_can_send_tables(self, api: Api) -> None:
        await api.create(api.backups, backup("b"))
        table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
        async with api.watching(api.backups, accept=table) as watch:
            first = await watch.next()
            await api.merge(f"{api.backups}/b", {"status": {"phase": "New"}})
            second = await watch.next()
        assert (first["type"], second["type"]) == ("ADDED", "MODIFIED")
        assert [column["name"] for column in first["object"]["columnDefinitions"]] == ["Name", "Age"]
        assert not second["object"]["columnDefinitions"]
        assert second["object"]["rows"][0]["cells"][0] == "b"


class Compaction:
    """Watches and lists that continue after the history was dropped."""

    async def test_old_continue_tokens_and_versions_expire(self, api: Api) -> None:
        for name in ("a", "b", "c"):
            await api.create(api.backups, backup(name))
        page = (await api.get(api.backups, limit="1")).expect(200)["metadata"]
        await api.create(api.backups, backup("d"))
        await api.target.compact()

        exact = await api.get(api.backups, resourceVersion=page["resourceVersion"], resourceVersionMatch="Exact")
        assert exact.refused(410, "Expired")
        refused = await api.get(api.backups, limit="1", **{"continue": page["continue"]})
        message = refused.refused(410, "Expired")
        assert message.startswith("The provided continue parameter is too old")
        onwards = await api.get(api.backups, **{"continue": refused.body["metadata"]["continue"]})
        assert onwards.names == ["b", "c", "d"]
