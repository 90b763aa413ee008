"""The functions of the core in this process, to be replaced by those of a mutant."""

from __future__ import annotations

import gc
import importlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import CodeType, FunctionType

from trials.mutants.called_map import ROOT
from trials.mutants.mutations import Mutant, mutated_tree

_Place = tuple[str, int]
"""Qualified name and first line."""


@dataclass(frozen=True, slots=True)
class FunctionPatch:
    """A function and the code that it gets."""

    function: FunctionType
    code: CodeType

    def apply(self) -> None:
        self.function.__code__ = self.code


class LiveFunctions:
    """The functions of some files, which are imported for it."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._by_path: dict[str, dict[_Place, list[FunctionType]]] = {}
        for path in paths:
            module = importlib.import_module(_module(path))
            self._by_path[str(module.__file__)] = {}
        gc.unfreeze()  # what is frozen is not found
        for function in gc.get_objects():
            if (
                type(function) is FunctionType
                and (places := self._by_path.get(function.__code__.co_filename)) is not None
            ):
                places.setdefault(_place(function.__code__), []).append(function)

    def patches(self, mutant: Mutant) -> tuple[FunctionPatch, ...]:
        """What makes this process the mutant's; none where the change is not in a function, or not in one alone."""
        file = str(ROOT / mutant.path)
        source = (ROOT / mutant.path).read_text()
        new = compile(mutated_tree(source, mutant.number), file, "exec", dont_inherit=True)
        codes: dict[_Place, list[CodeType]] = {}
        for code in _inner(new):
            codes.setdefault(_place(code), []).append(code)
        found = []
        for place, functions in self._by_path[file].items():
            changed = [function for function in functions if function.__code__ not in codes.get(place, ())]
            if changed and len(codes[place]) > 1:
                return ()
            found += [FunctionPatch(function, codes[place][0]) for function in changed]
        return tuple(found)


def _module(path: str) -> str:
    return path.removeprefix("core/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _place(code: CodeType) -> _Place:
    return code.co_qualname, code.co_firstlineno


def _inner(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _inner(constant)
