"""YAML from anybody: words mean what they mean to the library, and only what may nest costs a look at all of it."""

from __future__ import annotations

import pytest
import yaml

from foretop_core.yaml_guard import PlainLoader, YamlBomb, check_yaml


class _AsTheLibrary(PlainLoader):
    resolve = yaml.CSafeLoader.resolve


WORDS = (
    *("a", "true", "No", "~", "null", "", "1", "-7", "0x1f", "0o17", "1.5", ".inf", "1e3", "=", "<<", "12:30:45"),
    *("2026-11-19", "2026-11-19T02:00:00Z", "'1'", '"true"', "!!str 5", "!!int '5'", "a: 1", "- 1"),
)


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("form", ["{}", "a: {}", "- {}", "{{b: [{}]}}", "? {}\n: c"])
def test_a_word_is_what_the_library_takes_it_for(word: str, form: str) -> None:
    text = form.format(word)

    def answer(loader: type[PlainLoader]) -> str:
        try:
            return repr(yaml.load(text, loader))
        except yaml.YAMLError as problem:
            return type(problem).__name__

    assert answer(PlainLoader) == answer(_AsTheLibrary)


def test_managed_fields_cost_a_glance(monkeypatch: pytest.MonkeyPatch) -> None:
    def parsed(*_: object) -> None:
        raise AssertionError("all of it is looked at")

    monkeypatch.setattr(yaml, "parse", parsed)
    check_yaml("metadata:\n" + "".join(f"  f:{number}: {{}}\n" for number in range(1000)), PlainLoader)


@pytest.mark.parametrize("deep", ["[" * 200, "{a: " * 200, "[" * 120 + "{}" + "]" * 120, "[{}," * 200])
def test_what_is_nested_too_deeply_is_refused_all_the_same(deep: str) -> None:
    with pytest.raises(YamlBomb, match="nested too deeply"):
        check_yaml(f"a: {deep}", PlainLoader)
