"""kubectl's JSONPath as far as foretop has it; tests/real puts the same templates to kubectl itself."""

from __future__ import annotations

from typing import Any

import pytest

from foretop.commands.get import parse_columns
from foretop_core.errors import BadInput
from foretop_core.tables.engine.jsonpath import parse_jsonpath, parse_relaxed
from foretop_core.tables.engine.selectors import parse_field_selector

DOCUMENT: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {
        "name": "web",
        "namespace": "shop",
        "labels": {"app.io/name": "web", "tier": "1"},
        "annotations": {"note": "<b> & c"},
    },
    "spec": {
        "replicas": 3,
        "paused": True,
        "selector": {"matchLabels": {"tier": "1"}},
        "template": {
            "metadata": {"labels": {"tier": "1"}},
            "spec": {
                "containers": [
                    {"name": "one", "image": "a:1", "stdin": True},
                    {"name": "two", "image": "b:2"},
                    {"name": "three", "image": "c:3"},
                ]
            },
        },
    },
}
AT = ".spec.template.spec.containers"
UNDERSTOOD = [
    ("{.metadata.name}", "web"),
    ("name {.metadata.name}, {.kind}", "name web, Deployment"),
    ('{.metadata.name}{"\\t"}{.kind}{"\\n"}', "web\tDeployment\n"),
    ("{'single'}{\"{\"}", "single{"),
    ('{"\\u20ac"}', "€"),
    (f'{{{AT}[?(@.image=="\\u0062:2")].name}}', "two"),
    ("{3}{true}", "3true"),
    ("{.metadata.labels.app\\.io/name}", "web"),
    ("{.metadata.labels}", '{"app.io/name":"web","tier":"1"}'),
    ("{.metadata.annotations}", '{"note":"\\u003cb\\u003e \\u0026 c"}'),
    ("{.metadata['name','namespace']}", "web shop"),
    ("{$.metadata.name}{@.kind}", "webDeployment"),
    ("{ .spec.replicas }", "3"),
    ("{.spec.paused}", "true"),
    ("{.nothing}", ""),
    ("{.metadata.name.deeper}", ""),
    ("{.spec.nothing[0]}", ""),
    (f"{{{AT}[*].name}}", "one two three"),
    (f"{{{AT}.*.name}}", "one two three"),
    (f"{{{AT}[0].name}}", "one"),
    (f"{{{AT}[-1].name}}", "three"),
    (f"{{{AT}[0:2].name}}", "one two"),
    (f"{{{AT}[1:].name}}", "two three"),
    (f"{{{AT}[:1].name}}", "one"),
    (f"{{{AT}[-2:].name}}", "two three"),
    (f"{{{AT}[0:3:2].name}}", "one three"),
    (f"{{{AT}[1:1].name}}", ""),
    (f"{{{AT}[0,2].name}}", "one three"),
    (f"{{{AT}[*]['name','image']}}", "one two three a:1 b:2 c:3"),
    (f"{{{AT}[0:1]}}", '{"image":"a:1","name":"one","stdin":true}'),
    (f'{{{AT}[?(@.name=="two")].image}}', "b:2"),
    (f"{{{AT}[?(@.name=='two')].image}}", "b:2"),
    (f'{{{AT}[?( @.name != "two" )].image}}', "a:1 c:3"),
    (f'{{{AT}[?(@.name>"p")].image}}', "b:2 c:3"),
    (f'{{{AT}[?(@.name<="three")].image}}', "a:1 c:3"),
    (f'{{{AT}[?(@.name=="a]b")].image}}', ""),
    (f"{{{AT}[?(@.stdin)].name}}", "one"),
    (f"{{{AT}[?(@.stdin==true)].name}}", "one"),
    (f"{{range {AT}[*]}}{{.name}}={{.image}};{{end}}.", "one=a:1;two=b:2;three=c:3;."),
    ("{range .nothing[*]}{.name}{end}none", "none"),
]


@pytest.mark.parametrize(("template", "printed"), UNDERSTOOD)
def test_a_template_prints(template: str, printed: str) -> None:
    assert parse_jsonpath(template).render(DOCUMENT) == printed


SMALL: dict[str, Any] = {
    "kind": "Backup",
    "name": "caf\u00e9",
    "on": True,
    "none": None,
    "parts": {"b": "caf\u00e9", "a": 1},
    "list": [
        {"a": [1, 2], "b": 1, "c": {"d": 1}, "on": True, "name": "one"},
        {"a": [3], "b": 3, "c": {"d": 2}, "on": False, "name": "two"},
    ],
}


@pytest.mark.parametrize(
    ("template", "printed"),
    [
        ("{.list[-2].name}", "one"),
        ("{.list[1].name}", "two"),
        ("{.list[0:2:1].name}", "one two"),
        ("{.list[2:].name}", ""),
        ("{.list[2:2].name}", ""),
        ("{.list[1:2].name}", "two"),
        ("{.parts}", '{"a":1,"b":"caf\u00e9"}'),
        ("{.name}", "caf\u00e9"),
        ("{.['kind']}", "Backup"),
        ("{.list[?(.name=='two')].b}", "3"),
        ("{.list[?(@.name==@.name)].name}", "one two"),
        ("{.list[?(@.b==.b)].name}", "one two"),
        ("{.list[?(@.b>1)].name}", "two"),
        ("{.list[?(@.b>=1)].name}", "one two"),
        ("{.list[?(@.on==true)].name}", "one"),
        ("{.list[?(@.on!=true)].name}", "two"),
        ("{.list[?(@.none==1)].name}", ""),
        ("a{.kind}b", "aBackupb"),
        ("plain", "plain"),
        ("{.none}", "null"),
    ],
)
def test_a_template_prints_at_the_ends_of_lists_and_beside_values(template: str, printed: str) -> None:
    assert parse_jsonpath(template).render(SMALL) == printed


@pytest.mark.parametrize(
    ("template", "why"),
    [
        ("{.list[2]}", "the index 2 is out of range, the list has 2"),
        ("{.list[-3]}", "the index -3 is out of range, the list has 2"),
        ("{.list[0:3]}", "the slice 0:3 is out of range, the list has 2"),
        ("{.list[1:0]}", "the slice 1:0 is out of range, the list has 2"),
        ("{.list[-3:1]}", "the slice -1:1 is out of range, the list has 2"),
        ("{.list[?(@.a[*]==1)]}", "a filter compares one value with one"),
        ("{.list[?(@.b==@.a[*])]}", "a filter compares one value with one"),
        ("{.list[?(@.c==@.c)]}", '{"d":1} cannot be compared'),
        ("{.list[?(@.a==@.a)]}", "[1,2] cannot be compared"),
        ("{.list[?(@.on>true)]}", "true cannot be compared"),
        ("{.kind[0]}", "Backup is not a list"),
    ],
)
def test_what_the_document_does_not_allow_is_named(template: str, why: str) -> None:
    with pytest.raises(BadInput) as refusal:
        parse_jsonpath(template).render(SMALL)
    assert why in str(refusal.value)


@pytest.mark.parametrize(
    ("template", "why"),
    [
        ("{kind2 .x}", "kind2 is not range or end; a field begins with a dot"),
        ("{..name}", "the recursive .. is not supported"),
        (f'{{{AT}[?(@.a=="1"&&@.b=="2")]}}', "&& in a filter is not supported"),
        (f'{{{AT}[?(@.a=="1"||@.b=="2")]}}', "|| in a filter is not supported"),
        (f'{{{AT}[?(@.a=~"x")]}}', "=~ in a filter is not supported"),
        (f"{{{AT}[(@.length-1)]}}", "the expression [(@.length-1)] is not supported"),
        ("{.metadata.name", "a { is not closed"),
        ("{.metadata[0}", "a [ is not closed"),
        ("{range .items[*]}{.name}", "{range} without an {end}"),
        ("{end}", "{end} without a {range}"),
        ("{name}", "a field begins with a dot"),
        (f'{{{AT}["name"]}}', "is not an index, a slice or a 'name'"),
        (f"{{{AT}[0:2:0]}}", "the step 0 is not positive"),
        (f"{{{AT}[?(@.name==two)]}}", "'two' is not a value; put text in quotes"),
    ],
)
def test_what_cannot_be_used_is_named(template: str, why: str) -> None:
    with pytest.raises(BadInput) as refusal:
        parse_jsonpath(template)
    assert why in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("template", "why"),
    [
        (f"{{{AT}[5]}}", "the index 5 is out of range, the list has 3"),
        (f"{{{AT}[0:9]}}", "the slice 0:9 is out of range, the list has 3"),
        ("{.spec.replicas[0]}", "3 is not a list"),
        (f"{{{AT}[?(@.name==1)]}}", "one and 1 are of different types"),
    ],
)
def test_what_does_not_fit_the_objects_is_named_as_in_kubectl(template: str, why: str) -> None:
    with pytest.raises(BadInput) as refusal:
        parse_jsonpath(template).render(DOCUMENT)
    assert why in str(refusal.value)


@pytest.mark.parametrize("path", ["metadata.name", ".metadata.name", "{.metadata.name}", "{metadata.name}"])
def test_a_column_takes_a_path_with_and_without_braces_and_dot(path: str) -> None:
    assert parse_relaxed(path).values(DOCUMENT) == ["web"]


@pytest.mark.parametrize("path", ["", "{}", " ", "{.a}{.b}", ".a{", ".a}"])
def test_a_column_takes_one_path_and_no_template(path: str) -> None:
    with pytest.raises(BadInput, match="it must be one path"):
        parse_relaxed(path)


def test_columns_are_as_wide_as_kubectls() -> None:
    columns = parse_columns("NAME:.metadata.name,IMAGES:.spec.template.spec.containers[*].image,NO:.nothing")
    assert columns.lines([DOCUMENT]) == ["NAME   IMAGES        NO", "web    a:1,b:2,c:3   <none>"]
    assert columns.lines([DOCUMENT], headers=False) == ["web   a:1,b:2,c:3   <none>"]


@pytest.mark.parametrize("spec", ["", "NAME", "NAME:", ":.name", "NAME:.name,"])
def test_columns_that_are_no_pairs_are_refused(spec: str) -> None:
    with pytest.raises(BadInput, match="is not HEADER:PATH"):
        parse_columns(spec)


@pytest.mark.parametrize(
    ("selector", "kept"),
    [
        ("phase=Failed", True),
        ("phase==Failed", True),
        ("phase!=Failed", False),
        ("status.phase=Failed,metadata.name=one", True),
        ("phase=Failed,name=two", False),
        ("owner=", True),
        ("errors=3,paused=true", True),
        ("", True),
    ],
)
def test_a_field_selector_keeps_what_fits(selector: str, kept: bool) -> None:
    item = {"name": "one", "phase": "Failed", "owner": None, "errors": 3, "paused": True}
    assert parse_field_selector(selector).keeps(item) is kept


def test_a_field_that_no_item_has_is_refused_with_those_there_are() -> None:
    with pytest.raises(BadInput, match=r"'wind' is not a field here \(the fields are name, phase\)"):
        parse_field_selector("wind=north").check({"name": "one", "phase": None, "conditions": {}})
    with pytest.raises(BadInput, match="'phase' is not FIELD=VALUE"):
        parse_field_selector("phase")


def test_a_field_that_is_null_matches_nothing_as_one_that_is_missing() -> None:
    document = {"items": [{"name": "new", "phase": None}, {"name": "bad", "phase": "Failed"}, {"name": "bare"}]}
    for compare in ("==", "!="):
        template = parse_jsonpath(f'{{.items[?(@.phase{compare}"Failed")].name}}')
        assert template.render(document) == ("bad" if compare == "==" else "")
