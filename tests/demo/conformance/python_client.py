"""Scripts with the kubernetes package as users write them: its dynamic client, its watch and its informer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from kubernetes.client import ApiClient, CustomObjectsApi
from kubernetes.config import new_client_from_config
from kubernetes.dynamic import DynamicClient
from kubernetes.dynamic.exceptions import ConflictError, NotFoundError
from kubernetes.informer import ADDED, DELETED, MODIFIED, SharedInformer
from kubernetes.watch import Watch

GROUP, VERSION, PLURAL = "velero.io", "v1", "schedules"
PATIENCE_SECONDS = 60
MERGE_PATCH = "application/merge-patch+json"


def schedule(name: str, **more: Any) -> dict[str, Any]:
    spec = {"schedule": "0 1 * * *", "template": {"includedNamespaces": ["shop"]}}
    return {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": "Schedule",
        "metadata": {"name": name, "labels": {"made-by": "script"}},
        "spec": {**spec, **more},
    }


@contextmanager
def signed_in(kubeconfig: Path) -> Iterator[ApiClient]:
    """The package's own client for a kubeconfig."""
    client = new_client_from_config(str(kubeconfig), persist_config=False)
    try:
        yield client
    finally:
        client.rest_client.pool_manager.clear()


@dataclass
class Seen:
    """The events that a watch or an informer has delivered so far."""

    events: list[tuple[str, str, bool]] = field(default_factory=list)
    changed: threading.Condition = field(default_factory=threading.Condition)

    def add(self, kind: str, item: Any) -> None:
        with self.changed:
            self.events.append((kind, item["metadata"]["name"], bool(item["spec"].get("paused"))))
            self.changed.notify_all()

    def wait_for(self, event: tuple[str, str, bool]) -> None:
        with self.changed:
            assert self.changed.wait_for(lambda: event in self.events, PATIENCE_SECONDS), (event, self.events)


def write_and_read(client: ApiClient, namespace: str, cache: Path) -> None:
    """Create, get, list, patch, watch and delete a Schedule with the dynamic client."""
    dynamic = DynamicClient(client, cache_file=str(cache))
    api = dynamic.resources.get(api_version=f"{GROUP}/{VERSION}", kind="Schedule")
    made = api.create(body=schedule("by-script"), namespace=namespace)
    assert made.metadata.resourceVersion
    with pytest.raises(ConflictError):
        api.create(body=schedule("by-script"), namespace=namespace)
    assert api.get(name="by-script", namespace=namespace).spec.schedule == "0 1 * * *"
    listed = api.get(namespace=namespace, label_selector="made-by=script")
    assert [item.metadata.name for item in listed.items] == ["by-script"]
    assert api.get(namespace=namespace, label_selector="made-by=hand").items == []
    patched = api.patch(
        body={"spec": {"paused": True}}, name="by-script", namespace=namespace, content_type=MERGE_PATCH
    )
    assert patched.spec.paused is True
    assert int(patched.metadata.resourceVersion) > int(made.metadata.resourceVersion)
    stale = {**made.to_dict(), "spec": {"schedule": "0 2 * * *", "template": {}}}
    with pytest.raises(ConflictError):
        api.replace(body=stale, namespace=namespace)
    watched = api.watch(namespace=namespace, resource_version=made.metadata.resourceVersion, timeout=PATIENCE_SECONDS)
    event = next(watched)
    watched.close()
    assert (event["type"], event["object"].spec.paused) == ("MODIFIED", True)
    api.delete(name="by-script", namespace=namespace)
    with pytest.raises(NotFoundError):
        api.get(name="by-script", namespace=namespace)


def watch(client: ApiClient, namespace: str) -> None:
    """A watch from the version of a list delivers only what happens after it."""
    api = CustomObjectsApi(client)
    api.create_namespaced_custom_object(GROUP, VERSION, namespace, PLURAL, schedule("before"))
    listed: Any = api.list_namespaced_custom_object(GROUP, VERSION, namespace, PLURAL)
    _change(api, namespace, "after")
    events = []
    watcher = Watch()
    for event in watcher.stream(
        api.list_namespaced_custom_object,
        GROUP,
        VERSION,
        namespace,
        PLURAL,
        resource_version=listed["metadata"]["resourceVersion"],
        timeout_seconds=PATIENCE_SECONDS,
    ):
        events.append((event["type"], event["object"]["metadata"]["name"]))
        if len(events) == 3:
            watcher.stop()
    assert events == [("ADDED", "after"), ("MODIFIED", "after"), ("DELETED", "after")]


def inform(client: ApiClient, namespace: str) -> None:
    """An informer has the existing objects and receives every change."""
    api = CustomObjectsApi(client)
    api.create_namespaced_custom_object(GROUP, VERSION, namespace, PLURAL, schedule("known"))
    seen = Seen()
    informer = SharedInformer(_listing(api), namespace=namespace)
    for kind in (ADDED, MODIFIED, DELETED):
        informer.add_event_handler(kind, partial(seen.add, kind))
    informer.start()
    try:
        seen.wait_for(("ADDED", "known", False))
        _change(api, namespace, "later")
        for event in (("ADDED", "later", False), ("MODIFIED", "later", True), ("DELETED", "later", True)):
            seen.wait_for(event)
        assert informer.cache.list_keys() == [f"{namespace}/known"]
    finally:
        informer.stop()


def _listing(api: CustomObjectsApi) -> Callable[..., Any]:
    """Lists in the shape that the informer needs: it is made for the built-in kinds, whose lists are objects."""

    def schedules(namespace: str, **asked: Any) -> Any:
        answer: Any = api.list_namespaced_custom_object(GROUP, VERSION, namespace, PLURAL, **asked)
        if asked.get("watch"):
            return answer
        version = SimpleNamespace(resource_version=answer["metadata"]["resourceVersion"])
        return SimpleNamespace(items=answer["items"], metadata=version)

    return schedules


def _change(api: CustomObjectsApi, namespace: str, name: str) -> None:
    """Created, paused, deleted."""
    where = (GROUP, VERSION, namespace, PLURAL)
    api.create_namespaced_custom_object(*where, schedule(name))
    api.patch_namespaced_custom_object(*where, name, {"spec": {"paused": True}}, _content_type=MERGE_PATCH)
    api.delete_namespaced_custom_object(*where, name)
