"""Parse errors of expressions, in the words of the server's own library."""

from __future__ import annotations

from foretop_core.errors import BadInput


class CronError(BadInput):
    """An expression that does not parse; `str()` is the library's own text, including its blanks.

    `field` (0 to 4) and `offset` (characters into the expression) locate the error where there is one.
    """

    def __init__(self, text: str, field: int | None = None, offset: int | None = None) -> None:
        super().__init__(text)
        self.field = field
        self.offset = offset

    def __str__(self) -> str:
        return self.what
