"""The limits of triage as the configuration has them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from foretop_core.config.settings import ThresholdSettings
from foretop_core.rules.triage import Thresholds

if TYPE_CHECKING:
    from foretop_core.rules.night.window import Window

# Deferred imports: the first row waits for no window, and hardly anybody has one.

_UNITS = {"d": "days", "h": "hours", "m": "minutes", "s": "seconds"}


def thresholds_of(settings: ThresholdSettings, window: Window | None = None) -> Thresholds:
    """The rules' own limits, with those that are set in their place, and the window to keep free."""
    values: dict[str, Any] = {
        name: _length(value) if isinstance(value, str) else value
        for name, value in msgspec.structs.asdict(settings).items()
        if value
    }
    return Thresholds(**values, window=window)


def configured_window(text: str, time_zone: str, environ: Mapping[str, str]) -> Window | None:
    """The window that a configuration wants kept free, by the clocks of its zone; None where it has none."""
    if not text:
        return None
    from foretop_core.clock import display_zone
    from foretop_core.rules.night.window import read_window

    return read_window(text, display_zone(time_zone, environ))


def duration_text(length: timedelta) -> str:
    """As a file writes it: 1d, 2h30m, 90s is 1m30s."""
    seconds = round(length.total_seconds())
    parts = []
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)):
        count, seconds = divmod(seconds, size)
        parts += [f"{count}{unit}"] if count else []
    return "".join(parts) or "0s"


def _length(text: str) -> timedelta:
    return timedelta(**{_UNITS[unit]: int(count) for count, unit in re.findall(r"(\d+)([dhms])", text)})
