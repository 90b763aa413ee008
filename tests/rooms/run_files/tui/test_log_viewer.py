"""The log viewer: errors only, from error to error, wrapped or not, a sign for each level, fetched once."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult

from foretop.rooms.run_files.dialogs import LogViewer
from foretop.rooms.run_files.log_lines import LogLines
from foretop.widgets.line_widgets import StyledLine
from foretop_core.actions import run_logs
from foretop_core.actions.run_logs import RunLog
from foretop_core.actions.signed_url_download import DownloadFailed
from foretop_core.models.kinds import BACKUP
from foretop_core.tables.text.terminal_text import fold
from tests.rooms.run_files.tui.test_results import REQUESTS, faulty
from tests.tui.dashboard_on_box import Stand, stand
from tests.tui.test_dialogs import newest


def lines_of(at: Stand) -> LogLines:
    window = at.shown.app.screen
    assert isinstance(window, LogViewer), at.shown.text
    return window.query_one(LogLines)


async def fetch_log(at: Stand) -> LogLines:
    await at.shown.press("l")
    await at.see("[ Fetch ]", "foretop asks once")
    await at.send()
    await at.see("level=info")
    return lines_of(at)


class _LogApp(App[None]):
    def compose(self) -> ComposeResult:
        yield LogLines()


async def test_no_sign_of_foretop_in_a_line_of_a_log_looks_like_its_own() -> None:
    """The sign of a line's level stands before it; what a program writes is spelt out, and as many rows as that."""
    forged = 'level=info msg="✓ all is well │ ● 10 of 10" ' + "▲" * 40
    app = _LogApp()
    async with app.run_test(size=(80, 12)):
        lines = app.query_one(LogLines)
        log = await RunLog((forged, "level=error msg=no")).with_levels()
        lines.show(log.lines, log.levels)
        for wraps in (False, True):
            lines.wraps = not wraps
            lines.toggle_wrap()
            shown = [lines.render_line(row).text for row in range(12)]
            text = "".join(line[2:].rstrip() for line in shown[: lines.rows - 1])
            assert text.startswith('level=info msg="\\u2713 all is well \\u2502 \\u25cf 10 of 10"'[:70])
            assert not set("✓│●▲") & set("".join(line[1:] for line in shown))
            assert shown[lines.rows - 1].startswith("✗ level=error")
            assert wraps == (lines.rows > 2)


async def test_a_hundred_thousand_lines_are_neither_measured_one_by_one_nor_judged_on_the_screen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    measured: list[str] = []

    def counted(text: str, cells: int) -> list[str]:
        measured.append(text)
        return fold(text, cells)

    monkeypatch.setattr("foretop.rooms.run_files.log_lines.fold", counted)
    plain = tuple(f"level=info msg=line-{number} {'x' * 100}" for number in range(50_000))
    odd = tuple(f"漢字 {number} {'é' * 100}" for number in range(50_000))
    app = _LogApp()
    async with app.run_test(size=(80, 10)) as pilot:
        lines = app.query_one(LogLines)
        log = await RunLog(plain + odd).with_levels()
        lines.show(log.lines, log.levels)
        lines.toggle_wrap()
        first = sum(map(len, measured))
        assert first <= 100_000, "only so many odd characters are measured"
        assert lines.rows == 150_000 + 50_000 + 2 * len(measured), (
            "plain lines are whole, and the odd ones that were measured"
        )
        measured.clear()
        lines.search("line-49999")
        assert list(lines.matches) == [49_999]
        lines.to_end()
        await pilot.pause()
        assert len(measured) < 100, "a search and a page measure what is on the screen"


def test_a_log_of_too_many_lines_is_refused_before_it_is_taken_apart() -> None:
    assert tuple(run_logs._lines(b"one\r\ntwo\n\nfour")) == ("one", "two", "", "four")
    assert tuple(run_logs._lines(b"")) == ()
    with pytest.raises(DownloadFailed, match="more than 1,000,000 lines"):
        run_logs._lines(b"\n" * 1_000_001)


async def test_the_log_has_a_help_of_its_own_keys() -> None:
    """`?` did nothing in it, and nothing listed g, G and ctrl+s."""
    async with stand("quiet", size=(120, 40)) as at:
        await faulty(at)
        await fetch_log(at)
        await at.see("? help")
        await at.shown.press("question_mark")
        await at.see("Keys of the log", "ctrl+s save it to a file", "g and G go to the ends", "q close the log")
        below = at.shown.app.screen_stack[-2].query_one("#fetch-foot", StyledLine)
        assert below.text.split() == ["esc", "close"], "its keys do not work below the help"
        await at.shown.press("question_mark")
        await at.shown.until(lambda: "? help" in below.text)
        assert lines_of(at).has_focus, "the log is there again, as it was"


async def test_errors_are_marked_counted_jumped_to_and_shown_alone() -> None:
    async with stand("quiet") as at:
        await faulty(at)
        lines = await fetch_log(at)
        await at.see("3 errors", "n N next", "ctrl+z errors", "w cut")
        await at.see("What failed, item by item, is in the results: q, then x.")
        errors = [number for number, line in enumerate(lines.lines) if "level=error" in line]
        assert list(lines.errors) == errors
        assert len(errors) == 3
        await at.shown.until(lambda: lines.current == errors[0])
        for wanted in (*errors[1:], errors[0]):
            await at.shown.press("n")
            assert lines.current == wanted
        await at.shown.press("N")
        assert lines.current == errors[-1]
        marks = [line[0] for line in at.shown.lines if "level=" in line]
        assert marks.count("✗") == 3
        assert marks.count("▲") == 1
        await at.shown.press("ctrl+z")
        shown = [line for line in at.shown.lines if "level=" in line]
        assert len(shown) == 3
        assert all("level=error" in line for line in shown)
        await at.see("3 of 3 errors", "ctrl+z all lines")
        await at.shown.press("ctrl+z")
        await at.see(f"of {len(lines.lines)} lines")


async def test_a_narrow_log_opens_wrapped_with_the_whole_error_and_w_cuts_it() -> None:
    async with stand("quiet") as at:
        await faulty(at)
        lines = await fetch_log(at)
        last = lines.lines[lines.errors[-1]]
        assert len(last) > 78
        await at.see("w cut", 'snapshot in time"')
        await at.shown.press("G")
        assert last in " ".join(line[2:].strip() for line in at.shown.lines), "it is folded between words"
        top = lines.top
        await at.shown.press("up")
        assert lines.top == top - 1
        await at.shown.press("w")
        await at.see("w wrap")
        assert last not in "".join(line[2:] for line in at.shown.lines)
        await at.shown.press("w")
        await at.see("w cut")


async def test_right_ends_the_wrapping_and_moves_and_left_does_nothing_before_that() -> None:
    app = _LogApp()
    async with app.run_test(size=(80, 20)) as pilot:
        shown = app.query_one(LogLines)
        shown.focus()
        shown.show([f"{number:03}{'x' * 17}{number:03} {'y' * 200}" for number in range(40)])
        shown.wrap_if_narrow()
        await pilot.press("left")
        assert shown.wraps
        assert shown.render_line(0).text[2:5] == "000"
        await pilot.press("right")
        assert not shown.wraps
        assert [shown.render_line(row).text[2:5] for row in range(3)] == ["000", "001", "002"]
        assert [len(shown.render_line(row).text.rstrip()) for row in range(2)] == [80, 80]
        await pilot.press("left")
        assert shown.render_line(0).text[2:22] == f"000{'x' * 17}"


async def test_a_huge_log_is_not_measured_unasked_nor_wrapped_on_a_wide_terminal() -> None:
    async def wraps(lines: int, columns: int) -> bool:
        app = _LogApp()
        async with app.run_test(size=(columns, 20)):
            shown = app.query_one(LogLines)
            shown.show(("level=info msg=line",) * lines)
            shown.wrap_if_narrow()
            return shown.wraps

    assert [await wraps(*case) for case in ((20, 80), (20, 120), (20_001, 80))] == [True, False, False]


async def test_the_error_that_was_jumped_to_stays_in_sight_when_lines_are_wrapped_or_left_out() -> None:
    lines = [f"level=info msg=line-{number} {'x' * 200}" for number in range(100)]
    lines[60] = f"level=error {'y' * 200} the-reason"
    app = _LogApp()
    async with app.run_test(size=(80, 20)) as pilot:
        shown = app.query_one(LogLines)
        log = await RunLog(tuple(lines)).with_levels()
        shown.show(log.lines, log.levels)
        shown.action_by(50)
        shown.next_error(1)
        assert shown.current == 60
        shown.toggle_wrap()
        assert shown._is_in_sight(60)
        shown.toggle_wrap()
        assert shown._is_in_sight(60)
        shown.toggle_errors_only()
        await pilot.pause()
        assert shown.wraps, "a few errors are shown whole"
        assert shown.rows == 4


async def test_a_log_without_errors_says_so() -> None:
    async with stand("quiet") as at:
        await at.go("7", at.key(BACKUP, newest(at, "wiki")))
        lines = await fetch_log(at)
        assert "item by item" not in at.shown.text
        for key in ("n", "ctrl+z"):
            await at.shown.press(key)
            await at.see("No errors in this log")
        assert not lines.errors_only


async def test_consent_is_asked_once_and_a_log_is_fetched_once_until_its_object_changes() -> None:
    async with stand("quiet") as at:
        name = await faulty(at)
        await fetch_log(at)
        assert at.writes == [f"POST {REQUESTS}"]
        await at.shown.press("q", "2", "7", "l")
        await at.see("level=info", "3 errors")
        assert at.writes == [f"POST {REQUESTS}"]
        await at.shown.press("q", "x")
        await at.see("Fetched at", "namespace wiki")
        fetched = ("log", "results", "volume info", "resource list")
        assert at.writes == [f"POST {REQUESTS}"] * len(fetched), "all but the log together, without asking again"
        at.patch("Backup", name, {"status": {"errors": 4}})
        await at.see("4 errors")
        await at.shown.press("l")
        await at.see("level=info", "4 errors")
        assert at.writes == [f"POST {REQUESTS}"] * (len(fetched) + 1)


async def test_a_log_that_comes_before_there_is_room_for_it_is_opened_when_there_is() -> None:
    app = _LogApp()
    async with app.run_test(size=(80, 10)) as pilot:
        lines = LogLines()
        lines.show([f"line {number}" for number in range(30)])
        lines.when_sized(lines.to_end)
        await app.query_one(LogLines).remove()
        await app.mount(lines)
        await pilot.pause()
        assert (lines.top, lines.last_visible) == (20, 30)
