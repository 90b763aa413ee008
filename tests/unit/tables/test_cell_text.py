from __future__ import annotations

import itertools
import sys
import unicodedata
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich._unicode_data import load
from rich.cells import cell_len

from foretop_core.tables.engine.status_glyphs import StatusGlyph
from foretop_core.tables.text.terminal_text import LONGEST, clean, cut, cut_end, fold, pad, width

HOSTILE = [
    ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
    ("\x1b]0;owned\x07", "\\x1b]0;owned\\x07"),
    ("\x9b2J", "\\x9b2J"),
    ("a\nb\tc\r", "a\\nb\\tc\\r"),
    ("pay\u202egnp.exe", "pay\\u202egnp.exe"),
    ("zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"),
    ("line\u2028sep", "line\\u2028sep"),
    ("\x00\x7f", "\\x00\\x7f"),
    ("\ud800", "\\ud800"),
    ("\U000e0041", "\\U000e0041"),
    ("no\u00a0break", "no break"),
    ("[red]not markup[/]", "[red]not markup[/]"),
    ("\u0301x", "◌\u0301x"),
    ("\u00ad\u0600", "\\xad\\u0600"),
    ("\uffff\U000f0000", "\\uffff\\U000f0000"),
]


@pytest.mark.parametrize(("given_text", "shown"), HOSTILE)
def test_control_characters_are_escaped(given_text: str, shown: str) -> None:
    assert clean(given_text) == shown


@given(st.text(st.characters()))
def test_clean_text_has_no_control_characters(text: str) -> None:
    shown = clean(text)
    assert all(unicodedata.category(letter) not in {"Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp"} for letter in shown)
    assert "\n" not in shown
    assert clean(shown) == shown


def test_a_pile_of_accents_stays_in_its_line() -> None:
    assert clean("a" + "\u0301" * 500) == "a" + "\u0301" * 4

    assert clean("\u0301" * 6) == "◌" + "\u0301" * 4
    assert clean("a" + "\u0301" * 5 + "b" + "\u0301" * 5) == "a" + "\u0301" * 4 + "b" + "\u0301" * 4


def test_of_a_text_that_nobody_reads_to_its_end_the_beginning_is_shown() -> None:
    assert clean("x" * LONGEST) == "x" * LONGEST
    assert clean("x" * (LONGEST + 1)) == "x" * LONGEST + "… (1 more characters)"
    assert clean("\n" * (LONGEST + 2000)) == "\\n" * LONGEST + "… (2,000 more characters)"


def test_wide_letters_take_two_cells_and_accents_none() -> None:
    assert width("備份") == 4
    assert width("e\u0301") == 1
    assert width("naïve") == 5
    assert width("🚀") == 2


ASCII_CONTROLS = (*range(0x20), 0x7F)
"""Not measured as in Rich: text is cleaned before it is measured, and a check would slow down every cell."""


def _drawn_by_rich() -> bytearray:
    """Cells by code point. Rich searches its table for each character; expanded once, it is compared quickly."""
    drawn = bytearray(b"\1" * 0x110000)
    for first, last, cells in load("auto").widths:
        drawn[first : last + 1] = bytes((cells,)) * (last + 1 - first)
    drawn[0x80:0xA0] = bytes(0x20)
    assert all(drawn[code] == cell_len(chr(code)) for code in range(0x80, 0x110000, 97)), "the table is not Rich's"
    return drawn


def _differing_rows(drawn: bytearray, firsts: Iterable[int]) -> list[str]:
    """The rows of 256 code points that are not as wide as Rich draws them."""
    rows = {first: "".join(map(chr, range(first, first + 0x100))) for first in firsts}
    return [hex(first) for first, row in rows.items() if width(row) != sum(drawn[first : first + 0x100])]


def test_our_own_signs_are_measured_without_loading_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wcwidth", None)
    assert {width(sign.value) for sign in StatusGlyph} == {1}


@pytest.mark.sweep
def test_every_code_point_takes_the_cells_that_rich_draws_it_in() -> None:
    """Planes 0 and 1 and the tags one by one, 2 and 3 by the row; all rows of the other planes are in the sweep."""
    drawn = _drawn_by_rich()
    one_by_one = sorted({*range(0x20000), *range(0xE0000, 0xE1000)} - set(ASCII_CONTROLS))
    assert [hex(code) for code in one_by_one if width(chr(code)) != drawn[code]] == []
    # Beyond these, widths change by the block: whole rows are compared, of the other planes two each.
    ends = (row for plane in range(0x40000, 0x110000, 0x10000) for row in (plane + 0x1000, plane + 0xFF00))
    assert _differing_rows(drawn, (*range(0x20000, 0x40000, 0x100), *ends)) == []


@pytest.mark.sweep
def test_every_row_of_the_planes_without_letters_takes_the_cells_that_rich_draws_it_in() -> None:
    rows = (*range(0x40000, 0xE0000, 0x100), *range(0xE1000, 0x110000, 0x100))
    assert _differing_rows(_drawn_by_rich(), rows) == []


def test_characters_not_measured_as_in_rich_are_escaped() -> None:
    for code in ASCII_CONTROLS:
        shown = clean(chr(code))
        assert width(shown) == cell_len(shown) == len(shown) > 1


@pytest.mark.sweep
def test_every_character_before_a_variation_selector_takes_the_cells_that_rich_draws() -> None:
    bases = [chr(code) for code in range(0x20, 0x3300)] + [chr(code) for code in range(0x1F000, 0x1FB00)]
    sequences = (base + selector for base in bases for selector in "\ufe0e\ufe0f")
    assert [ascii(text) for text in sequences if width(text) != cell_len(text)] == []


SEQUENCES = (
    *("❤️", "☁️", "⚠️", "⚠", "✈︎", "1️⃣", "#️⃣", "🇩🇪", "🇺🇸🇬🇧", "🇩", "👍🏽", "🏽", "🏴\U000e0067\U000e0062\U000e007f"),
    *(
        "👩\u200d💻",
        "👨\u200d👩\u200d👧\u200d👦",
        "🏳️\u200d🌈",
        "🏴\u200d☠️",
        "👩🏽\u200d🚀",
        "\u200d",
        "\u200d👩",
        "a\u200d",
    ),
    *("e\u0301", "q\u0323\u0307", "한국", "\u1112\u1161\u11ab", "नमस्ते", "क्षि", "กำ", "﷽", "ｶﾞ"),
    *("a\ufe0f", "\ufe0f", "❤\ufe0f\ufe0f", "❤\u0301\ufe0f"),
)


@pytest.mark.parametrize("text", SEQUENCES, ids=ascii)
def test_a_sequence_takes_the_cells_that_rich_draws_it_in(text: str) -> None:
    assert width(text) == cell_len(text)
    assert width(f"a{text}b") == cell_len(f"a{text}b")


def test_sequences_beside_each_other_take_the_cells_that_rich_draws_them_in() -> None:
    wrong = [first + last for first, last in itertools.product(SEQUENCES, SEQUENCES) if _differs(first + last)]
    assert wrong == []


def _differs(text: str) -> bool:
    return width(text) != cell_len(text)


@given(st.text(st.characters(min_codepoint=0x20), max_size=8).filter(lambda text: "\x7f" not in text))
def test_any_text_takes_the_cells_that_rich_draws_it_in(text: str) -> None:
    assert width(text) == cell_len(text)


def test_a_cut_does_not_split_a_letter_from_its_accent_or_selector() -> None:
    assert cut_end("ab⚠️cd", 4) == "ab…"
    assert cut_end("ab⚠️cd", 5) == "ab⚠️…"
    assert cut("abe\u0301cdefghie\u0301", 5) == "abe\u0301…e\u0301"


@pytest.mark.parametrize(
    ("cells", "shown"),
    [(1, "a"), (2, "ab"), (3, "ab…"), (4, "ab…f"), (5, "abc…f"), (6, "abcdef")],
)
def test_a_name_is_cut_in_the_middle_as_long_as_both_sides_have_room(cells: int, shown: str) -> None:
    assert cut("abcdef", cells) == shown


@pytest.mark.parametrize(("cells", "shown"), [(0, ""), (1, "a"), (2, "a…"), (3, "ab…"), (4, "abcd")])
def test_a_word_is_cut_at_its_end_as_long_as_there_is_room_for_a_sign_of_it(cells: int, shown: str) -> None:
    assert cut_end("abcd", cells) == shown


def test_of_a_name_with_a_uuid_the_name_is_kept_and_a_little_of_the_uuid() -> None:
    name = "team-a-orders-0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"
    assert cut(name, 20) == "team-a-orders-0…e1f0"
    assert cut(name, 13) == "team-a-o…e1f0"
    assert cut(name, 10) == "team-a…1f0"
    assert cut("team-a-orders-of-the-week", 10) == "team-a…eek"


def test_a_text_is_padded_on_the_left_or_on_the_right() -> None:
    assert (pad("ab", 4), pad("ab", 4, right=True), pad("abcd", 2)) == ("ab  ", "  ab", "abcd")


@pytest.mark.parametrize(
    ("text", "cells", "pieces"),
    [
        ("", 3, [""]),
        ("abc", 3, ["abc"]),
        ("abcd", 3, ["abc", "d"]),
        ("abcdefg", 3, ["abc", "def", "g"]),
        ("備份備", 4, ["備份", "備"]),
        ("備份", 3, ["備", "份"]),
        ("備份", 1, ["備", "份"]),
        ("ae\u0301b", 2, ["ae\u0301", "b"]),
    ],
)
def test_a_text_is_folded_into_lines(text: str, cells: int, pieces: list[str]) -> None:
    assert fold(text, cells) == pieces


def test_a_backup_name_is_cut_in_the_middle_and_keeps_the_time_at_its_end() -> None:
    name = "mongo-nightly-20261115023003"
    assert cut(name, 26) == "mongo-…htly-20261115023003"
    assert cut(name, 19) == "mo…y-20261115023003"
    assert cut(name, 18) == "mongo-night…023003"
    assert cut(name, 28) == name
    assert cut_end("PartiallyFailed", 11) == "PartiallyF…"
    assert cut("abcdef", 4, ellipsis="..") == "ab.."


@given(st.text(st.characters()).map(clean), st.integers(0, 20))
def test_cut_text_fits_and_fitting_text_is_not_cut(text: str, cells: int) -> None:
    for shown in (cut(text, cells), cut_end(text, cells)):
        assert width(shown) <= cells
        if width(text) <= cells:
            assert shown == text


@given(st.text(st.characters()).map(clean), st.integers(0, 20), st.booleans())
def test_padded_text_fills_its_column_to_the_cell(text: str, cells: int, right: bool) -> None:
    assert width(pad(cut(text, cells), cells, right=right)) == cells
