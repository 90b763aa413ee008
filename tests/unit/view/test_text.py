from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foretop_core.tables.text.text import clean, cut, cut_end, pad, width

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
]


@pytest.mark.parametrize(("given_text", "shown"), HOSTILE)
def test_what_would_steer_the_terminal_is_spelt_out(given_text: str, shown: str) -> None:
    assert clean(given_text) == shown


@given(st.text(st.characters()))
def test_clean_text_has_no_character_that_a_terminal_obeys(text: str) -> None:
    shown = clean(text)
    assert all(unicodedata.category(letter) not in {"Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp"} for letter in shown)
    assert "\n" not in shown
    assert clean(shown) == shown


def test_a_pile_of_accents_stays_in_its_line() -> None:
    assert clean("a" + "\u0301" * 500) == "a" + "\u0301" * 4


def test_wide_letters_take_two_cells_and_accents_none() -> None:
    assert width("備份") == 4
    assert width("e\u0301") == 1
    assert width("naïve") == 5
    assert width("🚀") == 2


def test_a_backup_name_is_cut_in_the_middle_and_keeps_the_time_at_its_end() -> None:
    name = "mongo-nightly-20261115023003"
    assert cut(name, 26) == "mongo-nightly-2…1115023003"
    assert cut(name, 28) == name
    assert cut_end("PartiallyFailed", 11) == "PartiallyF…"
    assert cut("abcdef", 4, ellipsis="..") == "ab.."


@given(st.text(st.characters()).map(clean), st.integers(0, 20))
def test_what_is_cut_fits_and_what_fits_is_not_cut(text: str, cells: int) -> None:
    for shown in (cut(text, cells), cut_end(text, cells)):
        assert width(shown) <= cells
        if width(text) <= cells:
            assert shown == text


@given(st.text(st.characters()).map(clean), st.integers(0, 20), st.booleans())
def test_padded_text_fills_its_column_to_the_cell(text: str, cells: int, right: bool) -> None:
    assert width(pad(cut(text, cells), cells, right=right)) == cells
