"""Parse errors of expressions, in the words of the server's own library."""

from __future__ import annotations

from foretop_core.errors import BadInput


class CronError(BadInput):
    """An expression that does not parse; `str()` is the library's own text, including its blanks.

    `field` (0 to 4) and `offset` (characters into the expression) locate the error where there is one; `is_too_long`
    tells that nobody has looked at more than its length, a library or foretop itself.
    """

    def __init__(
        self, text: str, field: int | None = None, offset: int | None = None, *, is_too_long: bool = False
    ) -> None:
        super().__init__(text)
        self.is_too_long = is_too_long
        self.field = field
        self.offset = offset

    def __str__(self) -> str:
        return self.what


LONGEST = 4096
"""Characters of an expression that are read; one with every value of every field written out has 400."""
_SHOWN = 40


def shown(text: str) -> str:
    """An expression for a column or a line; of one that is too long the beginning, and that it is."""
    return text if len(text) <= LONGEST else f"{text[:_SHOWN]}… (too long: {len(text):,} characters)"


def quoted(text: str) -> str:
    """An expression for a sentence; of one that is too long the beginning, so that the sentence can be read."""
    return repr(text) if len(text) <= LONGEST else f"{text[:_SHOWN]!r}… ({len(text):,} characters)"
