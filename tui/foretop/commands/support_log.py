"""The log for support: what foretop did and what failed, without secrets, in a file of bounded size."""

from __future__ import annotations

import errno
import logging
import os
import queue
import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from io import TextIOWrapper
from logging.handlers import QueueHandler, QueueListener, RotatingFileHandler
from pathlib import Path

from foretop.terminal.crash_report import state_folder, traceback_lines
from foretop_core.errors import BadInput
from foretop_core.foreign_text import without_tokens
from foretop_core.logs import PACKAGES, set_level
from foretop_core.own_files import open_own_file, why_not
from foretop_core.tables.text.terminal_text import clean

VARIABLE = "FORETOP_LOG"
LEVELS = ("debug", "info", "warning", "error")
MOST_BYTES = 5 * 1024 * 1024
"""Of the file; then it becomes the older one, PATH.1, and the one before that goes."""
_MOST_WAITING = 10_000
_LONGEST = 4000
"""Characters of one message."""
_OWN_LINE = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z [A-Z]+ foretop")
"""How every log of foretop begins."""


def start_log(path: str | None, environ: Mapping[str, str]) -> Callable[[], None]:
    """Begins the log, in the state folder where no file is named; the answer ends it, once all of it is written.

    Raises BadInput where the level is unknown or the file cannot be written.
    """
    level = environ.get(VARIABLE, "").strip().lower()
    if level and level not in LEVELS:
        raise BadInput(f"{VARIABLE}={level} is not a level", "", f"give {', '.join(LEVELS)}")
    where = Path(path) if path else state_folder(environ) / "foretop.log"
    handler = _LogFile(where)
    waiting: queue.Queue[logging.LogRecord] = queue.Queue(_MOST_WAITING)
    listener = QueueListener(waiting, handler)
    intake = _Intake(waiting)
    for package in PACKAGES:
        logging.getLogger(package).addHandler(intake)
    set_level(getattr(logging, (level or "info").upper()))
    listener.start()

    def stop() -> None:
        if intake not in logging.getLogger(PACKAGES[0]).handlers:
            return
        set_level()
        for package in PACKAGES:
            logging.getLogger(package).removeHandler(intake)
        listener.stop()
        handler.close()

    return stop


class _Intake(QueueHandler):
    """Takes a record in without waiting; where the disk is slower than the log, the newest are left out."""

    def prepare(self, record: logging.LogRecord) -> logging.LogRecord:
        """Text by text, while the objects are as they were: the thread that writes sees no object."""
        record.msg, record.args = _redacted(record.getMessage()), None
        problem = record.exc_info[1] if record.exc_info else None
        record.exc_info, record.exc_text = None, "\n".join(traceback_lines(problem)) if problem else None
        return record

    def enqueue(self, record: logging.LogRecord) -> None:
        try:
            self.queue.put_nowait(record)
        except queue.Full:
            return


class _LogFile(RotatingFileHandler):
    """A file that its owner alone can read; one that foretop did not write is neither appended to nor replaced."""

    def __init__(self, path: Path) -> None:
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _check_own_log(_older(path))
            super().__init__(path, maxBytes=MOST_BYTES, backupCount=1, encoding="utf-8")
        except OSError as problem:
            raise BadInput(f"The log file {path} cannot be written", why_not(problem)) from None
        shown = logging.Formatter("%(asctime)s.%(msecs)03dZ %(levelname)s %(name)s %(message)s", "%Y-%m-%dT%H:%M:%S")
        shown.converter = time.gmtime
        self.setFormatter(shown)

    def _open(self) -> TextIOWrapper:
        descriptor = _open_own_log(Path(self.baseFilename), os.O_RDWR | os.O_CREAT | os.O_APPEND)
        os.fchmod(descriptor, 0o600)
        return os.fdopen(descriptor, "a", encoding="utf-8")

    def doRollover(self) -> None:  # noqa: N802  # logging's own name
        """Stops logging where somebody has put another file in the place of the older one."""
        _check_own_log(_older(Path(self.baseFilename)))
        super().doRollover()

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  # logging's own name
        """A full disk costs the log, and nothing is written over the screen."""


def _older(path: Path) -> Path:
    return path.with_name(f"{path.name}.1")


def _check_own_log(path: Path) -> None:
    """Raises OSError for a file that foretop did not write."""
    with suppress(FileNotFoundError):
        os.close(_open_own_log(path, os.O_RDONLY))


def _open_own_log(path: Path, flags: int) -> int:
    """Raises OSError for anything but an empty file or a log of foretop, of this user."""
    descriptor = open_own_file(path, flags, anywhere=True)
    try:
        begin = os.pread(descriptor, 80, 0)
        if begin and not _OWN_LINE.match(begin):
            raise FileExistsError(errno.EEXIST, f"{path} is not a log of foretop")
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _redacted(text: str) -> str:
    """One line without what could be a secret, and without control characters."""
    short = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return clean(without_tokens(" ".join(short.split())))
