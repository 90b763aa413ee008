"""Loggers of foretop's own packages: silent, and nearly free, until a log was asked for."""

from __future__ import annotations

import logging

PACKAGES = ("foretop_core", "foretop")
_OFF = logging.CRITICAL + 1

for _package in PACKAGES:
    # Without a handler Python itself would write to standard error, over the screen.
    logging.getLogger(_package).addHandler(logging.NullHandler())
    logging.getLogger(_package).setLevel(_OFF)


def logger(name: str) -> logging.Logger:
    """The logger of a module."""
    return logging.getLogger(name)


def set_level(level: int = _OFF) -> None:
    """Log from this level on; nothing without one."""
    for package in PACKAGES:
        logging.getLogger(package).setLevel(level)
