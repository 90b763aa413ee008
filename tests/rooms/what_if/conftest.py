"""The recording of a night, as the tests of the forecast have it."""

from __future__ import annotations

from tests.unit.test_forecast_command import night

__all__ = ["night"]
