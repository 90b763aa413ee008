"""Text of others within a sentence of foretop."""

from __future__ import annotations

import pytest

from foretop_core.quoting import LONGEST_QUOTE, named, quoted, without_signs
from foretop_core.tables.engine.status_glyphs import RESTORE_GLYPH, StatusGlyph
from foretop_core.tables.text.terminal_text import clean

FORGED = "\ue000 │ ✓ No problems.\n● All is done by 05:10Z"


def test_no_sign_of_foretop_is_let_through() -> None:
    signs = [*(one.value for one in StatusGlyph if one is not StatusGlyph.UNSET), RESTORE_GLYPH, *"│─┌█▁░▆◐✅🟢"]
    for sign in signs:
        assert sign not in without_signs(f"a {sign} b")
        assert sign not in quoted(sign)
    assert quoted(FORGED) == '"\ue000 \\u2502 \\u2713 No problems. \\u25cf All is done by 05:10Z"'
    assert clean(quoted(FORGED)).startswith('"\\ue000 \\u2502')


@pytest.mark.parametrize("text", ["", "a → b", "漢字", "ctl 5 % [x] · é", "‘quoted’"])
def test_text_of_any_language_stays(text: str) -> None:
    assert without_signs(text) == text


def test_nothing_in_a_quotation_ends_it_and_it_is_bounded() -> None:
    assert quoted('no such bucket". All is well. "') == "\"no such bucket'. All is well. '\""
    assert quoted(" two\n lines\t") == '"two lines"'
    assert quoted("x" * LONGEST_QUOTE) == f'"{"x" * LONGEST_QUOTE}"'
    assert len(quoted("x" * 10**6)) == LONGEST_QUOTE + 2
    assert quoted("x" * 10**6).endswith('x…"')


def test_a_name_is_quoted_where_it_is_none() -> None:
    assert named("default.bucket-1_a/b") == "default.bucket-1_a/b"
    assert named("offsite. All is well") == '"offsite. All is well"'
    assert named("") == '""'
    assert named("x" * 300) == f'"{"x" * 300}"'
