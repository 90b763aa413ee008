"""What the API server's `Date` header tells about the difference between its clock and ours."""

from __future__ import annotations

from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime

_SECOND = timedelta(seconds=1)


class ClockSkew:
    """Narrows the skew with every answer.

    The header is cut to whole seconds and was written between our sending and our receiving, so each answer
    bounds the skew from both sides; what all of them allow is soon a few milliseconds wide.
    """

    def __init__(self) -> None:
        self._least: timedelta | None = None
        self._most: timedelta | None = None

    @property
    def skew(self) -> timedelta | None:
        """How far the server is ahead of us; nothing before the first answer."""
        if self._least is None or self._most is None:
            return None
        return (self._least + self._most) / 2

    def learn(self, header: str, sent: datetime, received: datetime) -> None:
        try:
            date = parsedate_to_datetime(header)
        except ValueError:
            return
        if date.tzinfo is None or received < sent:
            return
        least, most = date - received, date + _SECOND - sent
        if self._least is None or self._most is None or least > self._most or most < self._least:
            # The first answer, or a clock that was set meanwhile: what was known no longer holds.
            self._least, self._most = least, most
        else:
            self._least, self._most = max(self._least, least), min(self._most, most)
