from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foretop_core.tables.engine.drawings import LEAST_BAR, LENGTH, LengthBar, Signs, TimeBar
from foretop_core.tables.engine.status_glyphs import StatusGlyph, Tone
from foretop_core.tables.engine.view import Cell, Column, fit, wording
from foretop_core.tables.text.terminal_text import cut, fold, plain_rows, width


def test_an_owner_is_abbreviated_before_it_is_cut() -> None:
    column: Column[object] = Column("from", "FROM", lambda _entry, _scene: "", lambda _: None)
    cell = Cell("nab team-pay/ledger", briefs=("nab team-pay", "team-pay", "nab"))
    fitted = [fit(cell, column, size) for size in (19, 18, 11, 5, 2)]
    assert fitted == ["nab team-pay/ledger", "nab team-pay", "team-pay", "nab", "n…"]


def test_the_name_of_a_tenants_backup_is_cut_in_its_uuid() -> None:
    name = "team-pay-ledger-0651-16-c9f0a1b2-1111-4222-8333-a1d79d284934"
    assert cut(name, 26) == "team-pay-ledger-0651-…4934"


def test_cells_with_fewer_wordings_than_others_keep_their_shortest() -> None:
    cells = [Cell("PartiallyFailed", briefs=("PartFailed", "PartFail", "Part")), Cell("New")]
    assert [wording(cells, size) for size in (15, 10, 8, 4)] == [0, 1, 2, 3]
    assert wording([Cell("Completed")], 9) == wording([], 9) == 0


@pytest.mark.parametrize(("cells", "drawn"), [(4, "✓·  "), (2, "✓·"), (1, "✓"), (0, "")])
def test_signs_have_exactly_their_room(cells: int, drawn: str) -> None:
    signs = Signs((StatusGlyph.TRUE, StatusGlyph.UNSET)).pieces("", Tone.PLAIN, cells, ascii=False)
    assert "".join(piece.text for piece in signs) == drawn


@given(
    st.floats(0, 1e9), st.floats(0, 1e9), st.text("0123456789hms", max_size=LENGTH), st.integers(1, 40), st.booleans()
)
def test_a_bar_of_a_length_has_exactly_its_room_and_all_bars_begin_and_end_alike(
    length: float, longest: float, text: str, cells: int, ascii: bool
) -> None:
    pieces = LengthBar(length, Tone.GOOD, longest).pieces(text, Tone.PLAIN, cells, ascii=ascii)
    drawn = "".join(piece.text for piece in pieces)
    assert width(drawn) == cells
    if longest and cells > LENGTH + LEAST_BAR:
        assert pieces[0].text.strip("▆▎#'") == ""
        assert len(pieces[0].text) <= cells - LENGTH - 1
        assert drawn.endswith(text)
    else:
        assert drawn.strip(" …") in text


def test_a_line_is_folded_after_a_word_and_a_longer_word_anywhere() -> None:
    assert fold('level=info logSource="pkg/backup.go:1"', 20) == ["level=info ", 'logSource="pkg/backu', 'p.go:1"']
    assert fold("漢字 漢字漢字", 9) == ["漢字 ", "漢字漢字"]
    assert fold("", 9) == [""]


@given(st.text("ab 漢é\t ", max_size=60), st.integers(2, 20))
def test_the_pieces_of_a_line_fit_and_are_together_the_line(text: str, cells: int) -> None:
    pieces = fold(text, cells)
    assert "".join(pieces) == text
    assert all(width(piece) <= cells for piece in pieces)
    plain = text.encode("ascii", "ignore").decode().replace("\t", "")
    assert plain_rows(plain, cells) == len(fold(plain, cells))


@pytest.mark.parametrize(
    ("wait", "run", "letter", "text", "drawn"),
    [
        (0, 1000, "", "", "▆▆▆▆▆▆▆▆▆▆▆▆"),
        (250, 500, "", "", "░░░▆▆▆▆▆▆   "),
        (250, 0, "", "", "░░░▎        "),
        (1000, 500, "", "", "░░░░░░░░░░░▆"),
        (500, 250, "F", "20m", "░░░░▆F   20m"),
        (500, 250, "", "1h20m5s", "     1h20m5s"),
        (0, 409, "F", "", "▆▆▆▆F       "),
        (0, 410, "F", "", "▆▆▆▆▆F      "),
        (409, 591, "F", "", "░░░░▆▆▆▆▆▆▆F"),
    ],
)
def test_a_wait_and_a_run_have_their_shares_of_the_room_before_the_number(
    wait: int, run: int, letter: str, text: str, drawn: str
) -> None:
    pieces = TimeBar(wait, run, letter=letter).pieces(text, Tone.PLAIN, 12, ascii=False)
    assert "".join(piece.text for piece in pieces) == drawn
