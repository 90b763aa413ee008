"""The lines of a long log: as if they were taken apart, in little more room than their bytes."""

from __future__ import annotations

import gzip
import tracemalloc
from random import Random

import pytest

from foretop_core.actions.run_logs import LogText, RunLog
from foretop_core.actions.signed_url_download import DownloadFailed, _Gunzip

PIECES = (b"", b"plain", b"\r", b"with\r\r", "漢字 é".encode(), b"\xff\xfe", b"cut \xe6\xbc", b"\0", b"x" * 300)


def taken_apart(text: bytes) -> list[str]:
    lines = text.removesuffix(b"\n").split(b"\n") if text else []
    return [line.rstrip(b"\r").decode("utf-8", "replace") for line in lines]


@pytest.mark.parametrize("seed", range(20))
def test_the_lines_are_those_of_the_text_one_by_one_in_parts_and_together(seed: int) -> None:
    dice = Random(seed)
    text = b"\n".join(dice.choice(PIECES) for _ in range(dice.choice((0, 1, 2, 999, 1000, 1001, 2500))))
    wanted = taken_apart(text)
    lines = LogText(bytearray(text))
    assert list(lines) == wanted
    assert [lines[at] for at in range(len(lines))] == wanted
    assert list(lines[5:20]) == wanted[5:20]
    assert [lines[-1 - at] for at in range(len(lines))] == wanted[::-1]
    with pytest.raises(IndexError):
        lines[len(wanted)]


_MINE = b'level=info msg="one" backup=velero/daily-1 logSource=x\r'


@pytest.mark.parametrize(
    ("others", "left_out"),
    [
        ((), " backup=velero/daily-1"),
        ((b'level=error msg="two" backup=velero/daily-1',), " backup=velero/daily-1"),
        ((b"panic: no fields at all",), " backup=velero/daily-1"),
        ((b'level=info msg="two" backup=velero/daily-12',), ""),
        ((b'level=info msg="said of backup=velero/daily-1"',), ""),
        ((b"level=info backup=",), ""),
        ((b"level=info backup=velero/\xff",), ""),
    ],
)
def test_the_object_that_all_lines_name_is_left_out_and_only_where_none_names_another(
    others: tuple[bytes, ...], left_out: str
) -> None:
    text = LogText(b"\n".join((_MINE, *others)))
    assert list(text.without_subject()) == [line.replace(left_out, "") if left_out else line for line in text]
    assert text[0].startswith('level=info msg="one" backup=velero/daily-1')


@pytest.mark.parametrize("text", [b"", b"level=info msg=none", b"restore=x at the start of a line"])
def test_a_log_that_names_no_object_stays_as_it_is(text: bytes) -> None:
    log = LogText(text)
    assert log.without_subject() is log


def test_a_private_key_in_a_log_is_in_none_of_its_lines() -> None:
    key = b"-----BEGIN RSA PRIVATE KEY-----\ncanary\ncanary\n-----END RSA PRIVATE KEY-----"
    assert list(LogText(b"before\n" + key + b" bad\n" + key + b"\nafter")) == [
        "before",
        "[hidden] bad",
        "[hidden]",
        "after",
    ]
    cut = LogText(b"-----BEGIN PRIVATE KEY-----\nlevel=error\nafter")
    assert list(cut)[1:] == ["level=error", "after"], "what has no end hides nothing"


def test_a_search_finds_lines_by_number_whatever_their_case() -> None:
    log = RunLog(LogText("first\nSecond Ärger\nthird".encode()))
    assert list(log.search("ÄRGER")) == [(2, "Second Ärger")]


def test_a_long_log_takes_little_more_room_than_its_bytes_and_none_twice() -> None:
    packed = gzip.compress(b"".join(b"level=info msg=line-%06d %s\n" % (at, b"x" * 110) for at in range(60_000)))
    tracemalloc.start()
    try:
        unpacked = _Gunzip(2**24)
        for start in range(0, len(packed), 2**16):
            unpacked.feed(packed[start : start + 2**16])
        size = len(unpacked.text)
        lines = LogText(unpacked.text)
        assert sum(1 for line in lines if "line-0599" in line) == 100
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size > 7_000_000
    assert peak < 1.5 * size


def test_a_bomb_is_left_before_it_is_unpacked() -> None:
    bomb = gzip.compress(bytes(2**26))
    tracemalloc.start()
    try:
        with pytest.raises(DownloadFailed, match="more than 4 MiB"):
            _Gunzip(2**22).feed(bomb)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2**24


@pytest.mark.parametrize("size", [0, 1, 2**20 - 1, 2**20, 2**20 + 1, 3 * 2**20])
@pytest.mark.parametrize("step", [1 << 10, 1 << 30])
def test_all_of_a_file_is_unpacked_wherever_its_parts_end(size: int, step: int) -> None:
    packed = gzip.compress(bytes(size)) + gzip.compress(b"more")
    unpacked = _Gunzip(2**23)
    for start in range(0, len(packed), step):
        unpacked.feed(packed[start : start + step])
    assert unpacked.is_whole
    assert unpacked.text == bytes(size) + b"more"
