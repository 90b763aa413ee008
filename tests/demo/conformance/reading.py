"""Get and list: versions, pages, selectors and other forms of the same objects."""

from __future__ import annotations

import pytest

from tests.demo.conformance.client import Api, backup

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json"


async def five_backups(api: Api) -> None:
    for number in range(5):
        labels = {"number": str(number), "parity": "odd" if number % 2 else "even"}
        (await api.create(api.backups, backup(f"b{number}", **labels))).expect(201)
    (await api.create(api.backups, backup("plain"))).expect(201)


class Reading:
    """Single objects and whole lists."""

    async def test_a_missing_object_is_named_in_the_error(self, api: Api) -> None:
        answer = await api.get(f"{api.schedules}/nope")
        assert answer.refused(404, "NotFound") == 'schedules.velero.io "nope" not found'
        assert answer.body["details"] == {"name": "nope", "group": "velero.io", "kind": "schedules"}

    async def test_a_list_has_its_kind_and_version_and_is_sorted_by_name(self, api: Api) -> None:
        for name in ("c", "a", "b"):
            await api.create(api.backups, backup(name))
        answer = await api.get(api.backups)
        body = answer.expect(200)
        assert (body["kind"], body["apiVersion"]) == ("BackupList", "velero.io/v1")
        assert {(item["kind"], item["apiVersion"]) for item in body["items"]} == {("Backup", "velero.io/v1")}
        assert answer.names == ["a", "b", "c"]
        newest = max(int(item["metadata"]["resourceVersion"]) for item in body["items"])
        assert int(body["metadata"]["resourceVersion"]) >= newest

    async def test_a_list_across_namespaces_includes_each_namespace(self, api: Api) -> None:
        await api.create(api.backups, backup("here"))
        everywhere = (await api.get("/apis/velero.io/v1/backups")).expect(200)["items"]
        mine = [each for each in everywhere if each["metadata"]["namespace"] == api.namespace]
        assert [each["metadata"]["name"] for each in mine] == ["here"]

    async def test_a_missing_namespace_lists_empty(self, api: Api) -> None:
        assert (await api.get("/apis/velero.io/v1/namespaces/no-such-place/backups")).expect(200)["items"] == []

    async def test_kubectl_gets_a_table_with_the_columns_of_the_definition(self, api: Api) -> None:
        path = f"/apis/velero.io/v1/namespaces/{api.namespace}/deletebackuprequests"
        request = {"apiVersion": "velero.io/v1", "kind": "DeleteBackupRequest", "metadata": {"name": "r"}}
        (await api.create(path, {**request, "spec": {"backupName": "old"}})).expect(201)
        table = (await api.get(path, accept=TABLE)).expect(200)
        assert table["kind"] == "Table"
        assert [column["name"] for column in table["columnDefinitions"]] == ["Name", "BackupName", "Status"]
        assert [row["cells"][:2] for row in table["rows"]] == [["r", "old"]]
        assert table["rows"][0]["object"]["kind"] == "PartialObjectMetadata"

    async def test_metadata_only_can_be_requested(self, api: Api) -> None:
        await api.create(api.backups, backup("b"))
        body = (await api.get(f"{api.backups}/b", accept=PARTIAL)).expect(200)
        assert body["kind"] == "PartialObjectMetadata"
        assert "spec" not in body

    async def test_an_unsupported_media_type_is_refused(self, api: Api) -> None:
        answer = await api.get(api.backups, accept="text/html")
        assert answer.refused(406, "NotAcceptable").startswith("only the following media types are accepted: ")


class Paging:
    """Lists in chunks, and lists of a given version."""

    async def test_all_pages_show_the_version_of_the_first(self, api: Api) -> None:
        await five_backups(api)
        first = await api.get(api.backups, limit="2")
        meta = first.expect(200)["metadata"]
        assert (first.names, meta["remainingItemCount"]) == (["b0", "b1"], 4)
        await api.create(api.backups, backup("b9"))
        await api.delete(f"{api.backups}/b3")
        await api.merge(f"{api.backups}/b2", {"metadata": {"labels": {"late": "yes"}}})
        second = await api.get(api.backups, limit="2", **{"continue": meta["continue"]})
        assert second.names == ["b2", "b3"]
        assert "late" not in second.body["items"][0]["metadata"]["labels"]
        assert second.body["metadata"]["resourceVersion"] == meta["resourceVersion"]
        third = await api.get(api.backups, limit="2", **{"continue": second.body["metadata"]["continue"]})
        assert third.names == ["b4", "plain"]
        assert not third.body["metadata"].get("continue")
        assert "remainingItemCount" not in third.body["metadata"]

    async def test_pages_of_a_selection_have_no_remaining_count(self, api: Api) -> None:
        await five_backups(api)
        page = await api.get(api.backups, limit="1", labelSelector="parity=even")
        assert page.names == ["b0"]
        assert "remainingItemCount" not in page.body["metadata"]
        rest = await api.get(
            api.backups, labelSelector="parity=even", **{"continue": page.body["metadata"]["continue"]}
        )
        assert rest.names == ["b2", "b4"]

    async def test_version_zero_ignores_the_limit(self, api: Api) -> None:
        await five_backups(api)
        assert len((await api.get(api.backups, limit="2", resourceVersion="0")).names) == 6

    async def test_an_exact_past_version_can_be_listed(self, api: Api) -> None:
        await five_backups(api)
        past = await api.version_of(api.backups)
        await api.delete(f"{api.backups}/b0")
        exact = await api.get(api.backups, resourceVersion=past, resourceVersionMatch="Exact")
        assert (exact.names[0], exact.body["metadata"]["resourceVersion"]) == ("b0", past)
        paged = await api.get(api.backups, resourceVersion=past, limit="1")
        assert paged.names == ["b0"]
        fresh = await api.get(api.backups, resourceVersion=past, resourceVersionMatch="NotOlderThan")
        assert fresh.names[0] == "b1"
        assert int(fresh.body["metadata"]["resourceVersion"]) > int(past)

    async def test_a_future_version_is_a_timeout(self, api: Api) -> None:
        answer = await api.get(api.backups, resourceVersion="999999999")
        assert answer.refused(504, "Timeout").startswith("Timeout: Too large resource version: 999999999, current: ")
        assert answer.body["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"
        assert answer.headers["Retry-After"] == "1"

    @pytest.mark.parametrize(
        ("query", "message"),
        [
            (
                {"resourceVersionMatch": "Exact"},
                "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided",
            ),
            (
                {"resourceVersionMatch": "Exact", "resourceVersion": "0"},
                'resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
            ),
            (
                {"sendInitialEvents": "true"},
                "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list",
            ),
        ],
    )
    async def test_contradicting_options_are_refused(self, api: Api, query: dict[str, str], message: str) -> None:
        answer = await api.get(api.backups, **query)
        assert answer.refused(422, "Invalid") == f'ListOptions.meta.k8s.io "" is invalid: {message}'

    @pytest.mark.parametrize(
        ("query", "beginning"),
        [
            ({"resourceVersion": "abc"}, 'invalid resource version: resourceVersion: Invalid value: "abc"'),
            ({"continue": "abc"}, "invalid continue token: continue key is not valid"),
            ({"limit": "abc"}, 'strconv.ParseInt: parsing "abc": invalid syntax'),
        ],
    )
    async def test_meaningless_options_are_refused(self, api: Api, query: dict[str, str], beginning: str) -> None:
        answer = await api.get(api.backups, **query)
        assert answer.refused(400, "BadRequest").startswith(beginning)

    async def test_a_continue_token_excludes_a_version(self, api: Api) -> None:
        await five_backups(api)
        token = (await api.get(api.backups, limit="1")).body["metadata"]["continue"]
        answer = await api.get(api.backups, resourceVersion="5", **{"continue": token})
        assert answer.refused(400, "BadRequest") == "specifying resource version is not allowed when using continue"


class Selecting:
    """Label and field selectors."""

    @pytest.mark.parametrize(
        ("selector", "names"),
        [
            ("parity=even", ["b0", "b2", "b4"]),
            ("parity==even", ["b0", "b2", "b4"]),
            ("parity!=even", ["b1", "b3", "plain"]),
            ("parity in (even,odd),number notin (0, 1)", ["b2", "b3", "b4"]),
            ("number notin (0,1,2,3)", ["b4", "plain"]),
            ("parity", ["b0", "b1", "b2", "b3", "b4"]),
            ("!parity", ["plain"]),
            ("parity=even,number!=0", ["b2", "b4"]),
            ("number>2", ["b3", "b4"]),
            ("parity=", []),
            ("absent notin (x)", ["b0", "b1", "b2", "b3", "b4", "plain"]),
        ],
    )
    async def test_labels_select(self, api: Api, selector: str, names: list[str]) -> None:
        await five_backups(api)
        assert (await api.get(api.backups, labelSelector=selector)).names == names

    @pytest.mark.parametrize("selector", ["=x", "a b", "x in (a", "parity=even,", "a=b=c"])
    async def test_an_invalid_selector_is_refused(self, api: Api, selector: str) -> None:
        assert (await api.get(api.backups, labelSelector=selector)).refused(400, "BadRequest")

    @pytest.mark.parametrize(
        ("selector", "names"),
        [
            ("metadata.name=b1", ["b1"]),
            ("metadata.name!=b1", ["b0", "b2", "b3", "b4", "plain"]),
            ("metadata.name=b1,metadata.namespace=elsewhere", []),
        ],
    )
    async def test_fields_select(self, api: Api, selector: str, names: list[str]) -> None:
        await five_backups(api)
        assert (await api.get(api.backups, fieldSelector=selector)).names == names

    async def test_an_unsupported_field_selector_is_refused(self, api: Api) -> None:
        answer = await api.get(api.backups, fieldSelector="status.phase=New")
        assert answer.refused(400, "BadRequest") == "field label not supported: status.phase"

    async def test_events_are_selected_by_their_involved_object(self, api: Api) -> None:
        path = f"/api/v1/namespaces/{api.namespace}/events"
        for name in ("daily", "weekly"):
            about = {"kind": "Schedule", "namespace": api.namespace, "name": name}
            event = {"metadata": {"name": f"{name}.1"}, "involvedObject": about, "reason": "Seen", "type": "Normal"}
            (await api.create(path, event)).expect(201)
        found = await api.get(path, fieldSelector="involvedObject.name=daily,involvedObject.kind=Schedule")
        assert found.names == ["daily.1"]
