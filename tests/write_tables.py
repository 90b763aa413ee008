"""`python -m tests.write_tables` after a change of a command, an action or a page.

Checks the records, and writes what is made from them. What is wrong with a record is one line; `FORETOP_STRICT=1`
shows where it was found.
"""

from __future__ import annotations

import importlib
import os
import sys

from foretop_core.errors import let_through


def main() -> None:
    try:
        # Here, as a record that is not whole is an error of this import.
        tables = importlib.import_module("tests.generated_tables")
        tables.check_records()
    except Exception as problem:
        let_through(problem)
        sys.exit(f"Nothing was written: {problem}")
    if not tables.write():
        os.execv(sys.executable, [sys.executable, "-m", "tests.write_tables"])
    print(f"The next free place for an action is {max(one.place for one in tables.RECORDS) + 1}.")


if __name__ == "__main__":
    main()
