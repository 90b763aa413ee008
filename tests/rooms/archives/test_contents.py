"""Archives as they are sent, and as nobody should send them: what is read, what is left out, and that it is said."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
import textwrap
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from foretop_core.errors import BadInput
from foretop_core.models.kinds import BACKUP, CLAIM, NAMESPACE, RESTORE, SCHEDULE, STORAGE, Kind
from foretop_core.rooms.archives import contents, members
from foretop_core.rooms.archives.contents import Archive, read_archive
from tests.rooms.archives.packing import BUNDLE, listed, schedule, tar, tree, zipped

PACKERS: dict[str, Callable[[Path, Mapping[str, bytes]], Path]] = {
    "tree": tree,
    "tar": lambda path, files: tar(path.with_suffix(".tar"), files, "w"),
    "tar.gz": lambda path, files: tar(path.with_suffix(".tar.gz"), files),
    "tar.xz": lambda path, files: tar(path.with_suffix(".tar.xz"), files, "w:xz"),
    "zip": lambda path, files: zipped(path.with_suffix(".zip"), files),
}


def read(path: Path) -> Archive:
    return read_archive(path, lambda _: None)


def names(archive: Archive, kind: Kind) -> list[str]:
    return sorted(name for _, name in archive.objects.get(kind, {}))


def test_a_bundle_of_velero_debug_is_read_as_of_its_capture() -> None:
    archive = read(BUNDLE)
    assert {kind: len(held) for kind, held in archive.objects.items()} == {BACKUP: 13, SCHEDULE: 9, STORAGE: 1}
    assert archive.now == datetime(2026, 11, 19, 2, 20, 52, tzinfo=UTC)
    assert (archive.notes, archive.namespaces) == ((), ("velero",))
    assert archive.is_listed(SCHEDULE, "velero")
    assert not archive.is_listed(CLAIM, "velero")


@pytest.mark.parametrize("packer", PACKERS)
def test_a_tree_is_the_same_however_it_is_packed(packer: str, tmp_path: Path) -> None:
    inside = "must-gather/clusters/1/namespaces/velero"
    files = {
        f"{inside}/velero.io/schedules/schedules.yaml": yaml.safe_dump(
            {"apiVersion": "v1", "kind": "List", "items": [schedule("daily"), schedule("hourly")]}
        ).encode(),
        f"{inside}/velero.io/schedules/one.json": listed(schedule("daily")),
        f"{inside}/pods/velero-1/velero/velero/logs/current.log": b"level=info\n",
    }
    archive = read(PACKERS[packer](tmp_path / "sent", files))
    assert names(archive, SCHEDULE) == ["daily", "hourly"]
    assert archive.texts == (f"{inside}/pods/velero-1/velero/velero/logs/current.log",)
    assert archive.is_listed(SCHEDULE, "velero")
    assert not archive.is_listed(SCHEDULE, "shop")


def test_what_kubectl_prints_is_a_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "all.yaml"
    path.write_text(f"{yaml.safe_dump(schedule('a'))}---\n{yaml.safe_dump(schedule('b'))}")
    assert names(read(path), SCHEDULE) == ["a", "b"]
    packed = tmp_path / "all.json.gz"
    packed.write_bytes(gzip.compress(listed(schedule("c"), kind="ScheduleList", version="velero.io/v1")))
    archive = read(packed)
    assert names(archive, SCHEDULE) == ["c"]
    assert archive.is_listed(SCHEDULE, "anywhere")


def test_items_of_a_list_need_not_name_their_kind(tmp_path: Path) -> None:
    item = {"metadata": {"name": "shop", "creationTimestamp": "2026-11-19T02:00:00Z"}}
    path = tree(tmp_path / "x", {"ns.json": listed(item, kind="NamespaceList")}) / "ns.json"
    assert b'"kind":"Namespace"' in read(path).objects[NAMESPACE]["", "shop"]


def test_an_empty_list_is_known_where_its_place_is(tmp_path: Path) -> None:
    files = {
        "namespaces/velero/velero.io/restores/restores.yaml": b"apiVersion: v1\nkind: List\nitems: []\n",
        "backups.json": listed(kind="BackupList", version="velero.io/v1"),
        "velero/cronjobs.json": listed(kind="CronJobList", version="batch/v1"),
        "velero/schedules.json": listed(schedule("daily")),
    }
    archive = read(tree(tmp_path / "x", files))
    assert archive.listed == {(RESTORE, "velero"), (BACKUP, ""), (SCHEDULE, "velero")}


def test_single_objects_tell_nothing_of_those_that_are_not_there(tmp_path: Path) -> None:
    namespace = b"apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, creationTimestamp: '2026-11-19T02:00:00Z'}\n"
    archive = read(tree(tmp_path / "x", {"namespaces/shop/shop.yaml": namespace}))
    assert not archive.is_listed(NAMESPACE, "")
    assert archive.notes == ("Not lists but single objects, so there may be more: namespaces",)


def test_secrets_and_other_kinds_are_not_kept(tmp_path: Path) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "cloud"}, "data": {"cloud": "hush"}}
    archive = read(tree(tmp_path / "x", {"all.json": listed(schedule("daily"), secret)}))
    assert "hush" not in str(archive.objects)
    assert archive.notes == ("1 objects of other kinds are not shown",)


def test_what_is_in_it_twice_is_shown_once_and_the_newer(tmp_path: Path) -> None:
    older, newer = schedule("daily"), schedule("daily", paused=True)
    newer["metadata"]["resourceVersion"] = "12"
    archive = read(tree(tmp_path / "x", {"a.json": listed(newer), "b.json": listed(older)}))
    assert b'"paused"' in archive.objects[SCHEDULE]["velero", "daily"]
    assert archive.notes == ("Is in it twice, and differs: the newer one is shown: Schedule velero/daily",)


@pytest.mark.parametrize("indent", ["", "  "])
def test_broken_yaml_costs_its_own_item(indent: str, tmp_path: Path) -> None:
    items = textwrap.indent(yaml.safe_dump([schedule("a"), schedule("b"), schedule("c")]), indent)
    broken = f"apiVersion: v1\nitems:\n{items}kind: List\n".replace("    name: b", "    name: [b")
    archive = read(tree(tmp_path / "x", {"schedules.yaml": broken.encode(), "other.json": b'{"kind": '}))
    assert names(archive, SCHEDULE) == ["a", "c"]
    assert [note.partition(":")[0] for note in archive.notes] == [
        "Not valid JSON (Input data was truncated)",
        "Not valid YAML in part",
        "Not lists but single objects, so there may be more",
    ]


@pytest.mark.parametrize("odd", ["items: 5", "items: {a: b}", "items: [5, [], {metadata: 7}, null]", "metadata: [x]"])
def test_an_object_of_an_odd_shape_costs_itself(odd: str, tmp_path: Path) -> None:
    files = {"odd.yaml": f"apiVersion: v1\nkind: List\n{odd}\n".encode(), "fine.json": listed(schedule("fine"))}
    assert names(read(tree(tmp_path / "x", files)), SCHEDULE) == ["fine"]


def test_names_that_lead_outside_and_links_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "evil.tar.gz"
    with tarfile.open(path, "w:gz") as packed:
        for name in ("../outside.json", "/etc/absolute.json", "a/../../b.json", "fine.json"):
            data = listed(schedule(name.replace("/", "-").replace(".", "")))
            info = tarfile.TarInfo(name)
            info.size = len(data)
            packed.addfile(info, io.BytesIO(data))
        for kind, name in (
            (tarfile.SYMTYPE, "link.json"),
            (tarfile.LNKTYPE, "hard.json"),
            (tarfile.FIFOTYPE, "p.json"),
        ):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/passwd"
            packed.addfile(info)
    archive = read(path)
    assert names(archive, SCHEDULE) == ["finejson"]
    assert archive.notes == (
        "Left out, for its name leads outside the archive: ../outside.json and 2 more",
        "Left out, for it is a link or no regular file: link.json and 2 more",
    )


def test_a_directory_is_not_left_by_a_link_and_waits_for_no_pipe(tmp_path: Path) -> None:
    outside = tree(tmp_path / "outside", {"secret.json": listed(schedule("outside"))})
    folder = tree(tmp_path / "sent", {"fine.json": listed(schedule("fine"))})
    (folder / "folder").symlink_to(outside)
    (folder / "file.json").symlink_to(outside / "secret.json")
    os.mkfifo(folder / "pipe.json")
    archive = read(folder)
    assert names(archive, SCHEDULE) == ["fine"]
    assert archive.notes == ("Left out, for it is a link or no regular file: file.json and 2 more",)


def test_a_bomb_of_zeros_ends_soon_and_what_came_before_it_is_shown(tmp_path: Path) -> None:
    head = tar(tmp_path / "head.tar", {"before.json": listed(schedule("before"))}, "w").read_bytes()
    large = tarfile.TarInfo("zeros.yaml")
    large.size = 2**31
    path = tmp_path / "bomb.tar.gz"
    path.write_bytes(gzip.compress(head[:1024] + large.tobuf()) + gzip.compress(bytes(2**20), 9) * 2000)
    began = time.process_time()
    archive = read(path)
    assert names(archive, SCHEDULE) == ["before"]
    assert time.process_time() - began < 10
    assert any("it unpacks to more than" in note for note in archive.notes), archive.notes


@pytest.mark.parametrize("text", [unit * 1_000_000 for unit in (b"\n", b" -", b"\0", b"kind:", b"{")])
def test_a_text_that_is_made_to_be_slow_is_not(text: bytes, tmp_path: Path) -> None:
    files = {"a.yaml": text, "b.json": text, "c.yaml": b"kind: List\n" + text, "fine.json": listed(schedule("fine"))}
    began = time.process_time()
    assert names(read(tree(tmp_path / "x", files)), SCHEDULE) == ["fine"]
    assert time.process_time() - began < 20


def test_more_yaml_than_can_be_read_in_time_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "MOST_YAML", 600)
    files = {f"{name}.yaml": yaml.safe_dump(schedule(name)).encode() for name in "abcdef"}
    archive = read(tree(tmp_path / "x", files))
    assert 0 < len(names(archive, SCHEDULE)) < 6
    assert any(note.startswith("Left out, for there is too much YAML") for note in archive.notes)


def test_more_members_and_objects_than_anybody_sends_are_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(members, "MOST_MEMBERS", 20)
    files = {f"{number:03}.json": listed(schedule(f"s{number}")) for number in range(50)}
    archive = read(tar(tmp_path / "many.tar", files, "w"))
    assert len(names(archive, SCHEDULE)) == 20
    assert archive.notes == ("Only the first 20 members are read",)
    monkeypatch.setattr(contents, "MOST_OBJECTS", 5)
    archive = read(tmp_path / "many.tar")
    assert len(names(archive, SCHEDULE)) == 5
    assert archive.notes == ("Not all of it is read: it has too many objects",)


def test_an_archive_that_breaks_off_is_shown_as_far_as_it_goes(tmp_path: Path) -> None:
    whole = tar(tmp_path / "whole.tar", {"a.json": listed(schedule("a")), "b.json": listed(schedule("b"))}, "w")
    cut = tmp_path / "cut.tar"
    cut.write_bytes(whole.read_bytes()[:1600])
    archive = read(cut)
    assert names(archive, SCHEDULE) == ["a"]
    assert archive.notes[0].startswith("cut.tar cannot be read to its end") or "Cannot be read" in archive.notes[0]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "it has no objects"),
        (b"hello: world\n", "it has no objects"),
        (b"PK\x03\x04nonsense", "it has no end"),
        (b"\x1f\x8bnonsense", "cannot be read to its end"),
        (b"\xfd7zXZ\x00nonsense", "cannot be read to its end"),
    ],
)
def test_what_is_no_archive_is_one_line(content: bytes, why: str, tmp_path: Path) -> None:
    path = tmp_path / "odd"
    path.write_bytes(content)
    with pytest.raises(BadInput, match=why) as refused:
        read(path)
    assert "\n" not in str(refused.value)


def test_a_path_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be opened: No such file"):
        read(tmp_path / "none")


def test_a_sparse_member_whose_holes_are_no_numbers_is_no_failure_of_foretop(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    tar(path, {"x/all.json": listed(schedule("daily"))}, "w:")
    head = bytearray(tarfile.TarInfo("x/holes.json").tobuf(tarfile.GNU_FORMAT))
    head[156:157], head[482:483] = tarfile.GNUTYPE_SPARSE, b"\1"
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\0 " % sum(head)
    path.write_bytes(path.read_bytes().rstrip(b"\0").ljust(1024, b"\0")[:1024] + bytes(head) + b"\0" * 200)
    archive = read(path)
    assert len(archive.objects[SCHEDULE]) == 1
    assert any("cannot be read to its end" in note for note in archive.notes)


def test_a_mark_of_byte_order_is_no_part_of_json(tmp_path: Path) -> None:
    files = {
        "x/a.json": b"\xef\xbb\xbf" + listed(schedule("daily")),
        "x/b.yaml": b"\xef\xbb\xbf" + yaml.safe_dump(schedule("b")).encode(),
    }
    assert len(read(tree(tmp_path / "t", files)).objects[SCHEDULE]) == 2


def test_many_harmless_bombs_in_a_zip_are_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(members, "_HARMLESS", 2**20)
    zeros = {f"x/{number}.json": b"\0" * 2**20 for number in range(10)}
    archive = read(zipped(tmp_path / "a.zip", {"x/all.json": listed(schedule("daily")), **zeros}))
    assert "Left out, for it unpacks to far more than it takes: x/1.json and 8 more" in archive.notes


def test_an_encrypted_member_is_left_out_in_a_few_words(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", {"x/secret.json": b"{}", "x/all.json": listed(schedule("daily"))})
    data = bytearray(path.read_bytes())
    data[data.find(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    assert "Left out, for it is encrypted: x/secret.json" in read(path).notes


@pytest.mark.parametrize("name", ["inner.tar.gz", "inner.tgz", "all.json.gz", "more.zip", "old.tar.xz"])
def test_an_archive_in_an_archive_is_not_opened_and_said(name: str, tmp_path: Path) -> None:
    archive = read(tree(tmp_path / "t", {"x/all.json": listed(schedule("daily")), f"x/{name}": b"packed"}))
    assert f"Is packed itself, and not opened: x/{name}" in archive.notes


def test_a_note_is_one_line(tmp_path: Path) -> None:
    holes = b"kind: Schedule\n" + b"\0" * 100
    archive = read(tree(tmp_path / "t", {"x/all.json": listed(schedule("daily")), "x/holes.yaml": holes}))
    (note,) = [note for note in archive.notes if "holes.yaml" in note]
    assert note.isprintable()
    assert "\\n" not in note


def test_json_documents_one_after_the_other_are_all_read(tmp_path: Path) -> None:
    """As two commands write them into one file."""
    both = listed(schedule("a")) + b"\n" + listed(schedule("b")) + b"\n"
    archive = read(tree(tmp_path / "x", {"all.json": both, "more": listed(schedule("c")) + listed(schedule("d"))}))
    assert names(archive, SCHEDULE) == ["a", "b", "c", "d"]
    assert archive.notes == ()


def test_of_a_json_list_that_breaks_off_every_whole_item_is_read(tmp_path: Path) -> None:
    whole = listed(schedule("a"), schedule("b"), schedule("c"))
    archive = read(tree(tmp_path / "x", {"schedules.json": whole[:-40]}))
    assert names(archive, SCHEDULE) == ["a", "b"]
    assert archive.notes[0].startswith("Not valid JSON from character ")
    assert not archive.is_listed(SCHEDULE, "")


@pytest.mark.parametrize("code", ["utf-16", "utf-16-be"])
def test_what_the_shell_of_windows_writes_is_read(code: str, tmp_path: Path) -> None:
    mark = b"\xfe\xff" if code == "utf-16-be" else b""
    files = {
        "a.json": mark + listed(schedule("a")).decode().encode(code),
        "b.yaml": mark + yaml.safe_dump(schedule("b")).encode(code),
    }
    assert names(read(tree(tmp_path / "x", files)), SCHEDULE) == ["a", "b"]


def test_folders_and_links_without_end_are_members_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(members, "MOST_MEMBERS", 20)
    path = tmp_path / "many.tar"
    with tarfile.open(path, "w") as packed:
        info = tarfile.TarInfo("a.json")
        info.size = len(data := listed(schedule("daily")))
        packed.addfile(info, io.BytesIO(data))
        for number in range(40):
            link = tarfile.TarInfo(f"l{number}")
            link.type = tarfile.SYMTYPE
            packed.addfile(link)
    assert "many.tar cannot be read to its end (it has too many members)" in read(path).notes


def test_json_that_one_reader_takes_and_another_does_not_is_said(tmp_path: Path) -> None:
    odd = listed(schedule("a")).replace(b'"a"', b'"\\ud800"')
    archive = read(tree(tmp_path / "x", {"odd.json": odd, "fine.json": listed(schedule("fine"))}))
    assert names(archive, SCHEDULE) == ["fine"]
    assert [note.partition(" (")[0] for note in archive.notes] == ["Not valid JSON"]
