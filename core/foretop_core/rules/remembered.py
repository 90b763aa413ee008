"""Answers that are kept as long as the object lives that gave them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, TypeVarTuple

S = TypeVar("S")
Asked = TypeVarTuple("Asked")
V = TypeVar("V")


def remembered(method: Callable[[S, *Asked], V]) -> Callable[[S, *Asked], V]:
    """Asks a method once for the same arguments, as long as its object lives.

    The same are equal words and numbers, and the very same object: one that was read anew is another.
    """
    name = f"answers of {method.__name__}"

    @wraps(method)
    def answer(self: S, *asked: *Asked) -> V:
        answers: dict[Any, tuple[Any, V]] = self.__dict__.setdefault(name, {})
        key = tuple([one if isinstance(one, str | int) else id(one) for one in asked])
        known = answers.get(key)
        if known is None:
            # The arguments are kept with the answer, so that no other object is taken for one that is gone.
            known = answers[key] = (asked, method(self, *asked))
        return known[1]

    return answer
