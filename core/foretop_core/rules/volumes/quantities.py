"""Quantities as Kubernetes writes them: `10Gi`, `500m`, `1e3`."""

from __future__ import annotations

import re
from fractions import Fraction

_QUANTITY = re.compile(
    r"([+-]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40}))(?:([KMGTPE]i)|([numkMGTPE]?)|[eE]([+-]?\d{1,3}))"
)
_BINARY = {suffix: Fraction(1024) ** power for power, suffix in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), 1)}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_MOST = Fraction(2**63 - 1)
"""Kubernetes counts no further."""


def read_quantity(text: str) -> Fraction | None:
    """The number; None where it is no quantity."""
    match = _QUANTITY.fullmatch(text)
    if match is None:
        return None
    digits, binary, decimal, exponent = match.groups()
    factor = _BINARY[binary] if binary else Fraction(10) ** (int(exponent) if exponent else _DECIMAL[decimal or ""])
    return max(-_MOST, min(_MOST, Fraction(digits if digits[-1] != "." else digits[:-1]) * factor))
