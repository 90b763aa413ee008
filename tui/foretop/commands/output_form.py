"""The forms in which `foretop get` prints its rows: kubectl's `-o`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click
import msgspec
from click.shell_completion import CompletionItem

from foretop_core.errors import nearest
from foretop_core.models.kinds import by_name
from foretop_core.tables.engine.custom_columns import CustomColumns, parse_columns
from foretop_core.tables.engine.jsonpath import JsonPath, parse_jsonpath, parse_relaxed

_PLAIN = ("text", "wide", "json", "yaml", "name")
_WITH_VALUE = ("jsonpath", "custom-columns")
_REFUSED = ("go-template", "go-template-file", "jsonpath-as-json", "jsonpath-file", "custom-columns-file", "kyaml")


class OutputForm(msgspec.Struct, frozen=True):
    """One form, with its template or columns where it has any."""

    name: str = "text"
    template: JsonPath | None = None
    columns: CustomColumns | None = None


class OutputFormType(click.ParamType[OutputForm]):
    """`-o FORM`: what kubectl has and foretop does not is refused by its name."""

    name = "form"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> OutputForm:
        if isinstance(value, OutputForm):
            return value
        form, _, rest = str(value).partition("=")
        if form == "jsonpath" and not rest:
            raise click.BadParameter("jsonpath needs a template, such as jsonpath={.items[*].name}", ctx, param)
        if form == "jsonpath":
            return OutputForm(form, template=parse_jsonpath(rest))
        if form == "custom-columns":
            return OutputForm(form, columns=parse_columns(rest))
        if value in _PLAIN:
            return OutputForm(value)
        known = ", ".join((*_PLAIN, *(f"{one}=…" for one in _WITH_VALUE)))
        if form in _REFUSED:
            raise click.BadParameter(f"{form} is not supported; the forms are {known}", ctx, param)
        closest = nearest(form, (*_PLAIN, *_WITH_VALUE))
        raise click.BadParameter(f"{form!r} is not a form{closest}", ctx, param)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        forms = (*_PLAIN, *(f"{one}=" for one in _WITH_VALUE))
        return [CompletionItem(form) for form in forms if form.startswith(incomplete)]


class SortOrder(msgspec.Struct, frozen=True):
    """`--sort-by PATH`: a field of the items, the smallest first, those without it last."""

    path: JsonPath

    @classmethod
    def read(cls, text: str) -> SortOrder:
        return cls(parse_relaxed(text))

    def check(self, items: Sequence[Mapping[str, Any]]) -> None:
        if items and not any(self.path.values(item) for item in items):
            known = ", ".join(sorted(name for name, value in items[0].items() if not isinstance(value, dict | list)))
            raise click.UsageError(f"--sort-by: no item has the field {self.path.source}; the fields are {known}")

    def place(self, item: Mapping[str, Any]) -> tuple[Any, ...]:
        """What items are compared by: numbers before texts, so that any two can be."""
        found = next((value for value in self.path.values(item) if value is not None), None)
        if found is None:
            return (2,)
        return (0, found) if isinstance(found, int | float) else (1, str(found))


def object_names(items: Sequence[Mapping[str, Any]]) -> list[str]:
    """`schedule.velero.io/daily`, as kubectl takes it; what is about no object of the API is left out."""
    found = []
    for item in items:
        kind = by_name(item["kind"])
        if kind is not None and item["name"]:
            group = f".{kind.group}" if kind.group else ""
            found.append(f"{kind.name.lower()}{group}/{item['name']}")
    return list(dict.fromkeys(found))
