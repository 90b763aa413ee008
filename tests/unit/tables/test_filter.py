from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foretop_core.dashboard.findings_table import OverriddenFields
from foretop_core.dashboard.table_models import filter_fields
from foretop_core.errors import BadInput
from foretop_core.tables.engine.filter import parse_filter
from foretop_core.tables.engine.selectors import selector, take
from foretop_core.tables.engine.view import plain

FIELDS = ("name", "namespace", "phase")


@dataclass(frozen=True)
class Row:
    fields: dict[str, str]
    own_labels: dict[str, str]

    def text(self) -> str:
        return " ".join(self.fields.values()).lower()

    def contains(self, word: str) -> bool:
        return word in self.text()

    def field(self, name: str) -> str:
        return self.fields[name]

    def labels(self) -> dict[str, str]:
        return self.own_labels


def row(name: str, phase: str, **labels: str) -> Row:
    return Row({"namespace": "velero", "name": name, "phase": phase}, labels)


ROWS = (
    row("etcd-hourly", "Completed", tier="db", team="core"),
    row("mongo-nightly", "PartiallyFailed", tier="db"),
    row("sales-hourly", "Failed", tier="web", team="sales"),
    row("broken", ""),
)


def shown(text: str) -> list[str]:
    wanted = parse_filter(text, FIELDS)
    return [entry.fields["name"].partition("-")[0] for entry in ROWS if wanted(entry)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["etcd", "mongo", "sales", "broken"]),
        ("HOURLY", ["etcd", "sales"]),
        ("!hourly", ["mongo", "broken"]),
        ("hourly !etcd", ["sales"]),
        ("phase:Failed", ["sales"]),
        ("phase:failed,completed", ["etcd", "sales"]),
        ("phase:*failed", ["mongo", "sales"]),
        ("!phase:Completed", ["mongo", "sales", "broken"]),
        ("PHASE:failed", ["sales"]),
        ("phase:", ["broken"]),
        ("name:etcd-*", ["etcd"]),
        ("-l tier=db", ["etcd", "mongo"]),
        ("-l tier=db,team", ["etcd"]),
        ("-l tier=db,!team", ["mongo"]),
        ("-l tier in (db, web) hourly", ["etcd", "sales"]),
        ("-l tier notin (db)", ["sales", "broken"]),
        ("-l 'tier in (web, x), team = sales'", ["sales"]),
        ("-l tier!=db !broken", ["sales"]),
        ("-f mgnly", ["mongo"]),
        ("-f VelEtcd", ["etcd"]),
        ("-f hrly -l team=core", ["etcd"]),
        ("'hourly completed'", ["etcd"]),
        ("!'hourly completed'", ["mongo", "sales", "broken"]),
        ("'phase:Failed'", []),
        ("-nightly", ["mongo"]),
        ("phase:'failed'", ["sales"]),
    ],
)
def test_filters_match_the_expected_rows(text: str, expected: list[str]) -> None:
    assert shown(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("phase:", ["etcd", "mongo", "sales", "broken"]),
        ("phase:P", ["mongo"]),
        ("phase:part", ["mongo"]),
        ("phase:Failed", ["sales"]),
        ("phase:F,C", ["etcd", "sales"]),
        ("phase:F,", ["sales"]),
        ("phase:*failed", ["mongo", "sales"]),
        ("!phase:Comp", ["mongo", "sales", "broken"]),
        ("phase:'Comp'", []),
        ("phase:''", ["broken"]),
        ("name:etcd", ["etcd"]),
        ("name:hourly", []),
    ],
)
def test_the_value_of_a_field_is_found_while_it_is_being_typed(text: str, expected: list[str]) -> None:
    wanted = parse_filter(text, FIELDS, typing=True)
    assert [entry.fields["name"].partition("-")[0] for entry in ROWS if wanted(entry)] == expected


def test_a_word_in_a_cell_is_found_by_its_beginning() -> None:
    wanted = parse_filter("phase:100", FIELDS, typing=True)
    assert wanted(row("cms", "▇▇▇▇▇ 100%"))
    assert not wanted(row("cms", "▇▇▇▁▁ 61%"))


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("-l", "-l needs a label selector"),
        ("-f", "-f needs a text"),
        ("!", "text is missing after !"),
        ("''", "text is missing"),
        ("'open", "the quote ' is not closed"),
        ("color:red", "the fields are name, namespace, phase"),
        ("-l =x", "a label is missing"),
        ("-l app=web,", "a label is missing"),
        ("-l app=we@b", "is not valid"),
        ("-l 'app=web)'", "is not valid"),
        ("!-l app", "! cannot be combined with -l"),
    ],
)
def test_a_bad_filter_is_a_one_line_error(text: str, part: str) -> None:
    with pytest.raises(BadInput) as problem:
        parse_filter(text, FIELDS)
    assert part in str(problem.value)
    assert "\n" not in str(problem.value)


@pytest.mark.parametrize(
    ("text", "labels", "fits"),
    [
        ("", {}, True),
        ("a", {"a": ""}, True),
        ("a", {}, False),
        ("!a", {}, True),
        ("a=", {"a": ""}, True),
        ("a==b", {"a": "b"}, True),
        ("a!=b", {}, True),
        ("a!=b", {"a": "b"}, False),
        ("a in (b)", {}, False),
        ("a notin (b,c)", {"a": "d"}, True),
        ("velero.io/schedule-name=x-1", {"velero.io/schedule-name": "x-1"}, True),
        ("a in (b,c),d>3,e<5", {"a": "c", "d": "4", "e": "4"}, True),
        ("d>3", {"d": "3"}, False),
        ("d>3", {"d": "many"}, False),
        ("d<0", {"d": "-1"}, True),
    ],
)
def test_selectors_match_as_in_kubectl(text: str, labels: dict[str, str], fits: bool) -> None:
    assert selector(text).matches(labels) is fits


@pytest.mark.parametrize("text", ["a in b", "a,", "=b", "a=b=c", "a b", "!a=b"])
def test_a_selector_that_kubectl_would_refuse_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        selector(text)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("", "e", True),
        ("", "!e", True),
        ("e", "et", True),
        ("t", "et", True),
        ("et", "e", False),
        ("e", "et phase:Failed", True),
        ("e h", "etcd hourly", True),
        ("e", "!et", False),
        ("!e", "!et", False),
        ("-f e", "-f et", False),
        ("phase:F", "phase:Fa", False),
        ("phase:Failed", "phase:Failed e", False),
    ],
)
def test_a_filter_narrows_another_only_where_it_cannot_let_more_through(
    before: str, after: str, expected: bool
) -> None:
    assert parse_filter(after, FIELDS).narrows(parse_filter(before, FIELDS)) is expected


WORDS = st.lists(st.sampled_from(("e", "et", "hourly", "!etcd", "phase:Failed", "o", "-l tier=db")), max_size=3).map(
    " ".join
)


@given(before=WORDS, after=WORDS)
def test_what_narrows_shows_a_part_of_what_was_shown(before: str, after: str) -> None:
    if parse_filter(after, FIELDS).narrows(parse_filter(before, FIELDS)):
        assert set(shown(after)) <= set(shown(before))


@pytest.mark.parametrize(
    ("text", "number", "kept"),
    [
        *(("n<1", "0", True), ("n<1", "1", False), ("n<0", "0", False), ("n<0", "-1", True)),
        *(("n>1", "1", False), ("n>1", "2", True), ("n>0", "0", False), ("n>0", "x", False)),
    ],
)
def test_a_label_is_compared_as_a_number(text: str, number: str, kept: bool) -> None:
    assert selector(text).matches({"n": number}) is kept
    assert not selector(text).matches({})


def test_a_label_that_is_missing_is_named_with_what_stands_in_its_place() -> None:
    with pytest.raises(BadInput, match="Label selector '=x' cannot be read"):
        take("name:a -l =x", 10)
    with pytest.raises(BadInput, match="Label selector 'name:a -l' cannot be read"):
        take("name:a -l ", 10)


def test_a_column_is_asked_for_by_its_name_or_by_its_title_of_one_word() -> None:
    columns = [plain("name", "BACKUP/RESTORE", str), plain("when", "STARTS ENDS", str), plain("phase", "NAME", str)]
    assert filter_fields(("context", "phase"), columns) == {
        "context": "context",
        "phase": "phase",
        "name": "name",
        "when": "when",
        "backup": "name",
        "restore": "name",
    }


def test_a_field_that_the_screen_says_otherwise_is_asked_for_as_it_is_shown() -> None:
    shown = OverriddenFields(row("etcd", "Failed", tier="db"), {"phase": "waiting"})
    assert (shown.field("phase"), shown.field("name")) == ("waiting", "etcd")
    assert shown.contains("etcd")
    assert shown.labels() == {"tier": "db"}
