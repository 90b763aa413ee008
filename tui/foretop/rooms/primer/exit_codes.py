"""The exit codes of `primer`, which only tells, and of `prescaled`, which writes."""

from __future__ import annotations

from foretop.commands.exit_codes import PRINTED, WRITTEN, ExitCodes

EXIT_CODES = (ExitCodes(("primer",), PRINTED), ExitCodes(("prescaled",), WRITTEN))
