"""`python -m tests.house.rooms [ROOM…]`: deletes each room with its tests in a copy of the tree, and runs what is left.

With `--collect` the checks are left out, and the tests are only collected.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from foretop_core.room_finder import rooms

_ROOT = Path(__file__).parents[2]
_BIN = Path(sys.executable).parent
_LEFT_OUT = (".git", ".venv", "build", "dist", "__pycache__", ".mypy_cache", ".ruff_cache", ".import_linter_cache")
_DOCUMENTS = ("docs/manual.md", "README.md", "CONTRIBUTING.md")
_CHECKS = (
    ("ruff", "format", "--check", "."),
    ("ruff", "check", "."),
    ("mypy",),
    ("lint-imports", "--no-cache"),
)


def main(arguments: list[str]) -> int:
    names = [argument for argument in arguments if not argument.startswith("-")]
    for room in names or [module.__name__.rpartition(".")[2] for module in rooms("foretop_core")]:
        with TemporaryDirectory(prefix=f"without-{room}-") as folder:
            tree = Path(folder) / "tree"
            shutil.copytree(_ROOT, tree, ignore=shutil.ignore_patterns(*_LEFT_OUT))
            # Some tests ask git for the files of the tree, and some are another user who enters it.
            Path(folder).chmod(0o755)
            for path in remove(tree, room):
                print(f"{room}: removed {path.relative_to(tree)}")
            subprocess.run(["git", "init", "-q", str(tree)], check=True)
            subprocess.run(["git", "add", "-A"], cwd=tree, check=True)
            if code := _run_what_is_left(tree, collect="--collect" in arguments):
                print(f"{room} is no room: the rest fails without it", file=sys.stderr)
                return code
    return 0


def remove(tree: Path, room: str) -> Iterator[Path]:
    """Deletes a room, its tests, and the lines of the documents that show its commands."""
    commands = _commands(room)
    for folder in (tree / "core/foretop_core/rooms", tree / "tui/foretop/rooms", tree / "tests/rooms"):
        if (folder / room).is_dir():
            shutil.rmtree(folder / room)
            yield folder / room
    # A real API server and a real Velero have fixtures of their own: the room's tests stand among the others there, as
    # its measurements do.
    places = ("tests/real/test_*.py", "tests/velero/test_*.py", "trials/**/*.py")
    for path in (path for place in places for path in tree.glob(place)):
        if re.search(rf"\brooms\.{room}\b|\(\[?\"(?:{'|'.join(commands)})\"", path.read_text(encoding="utf-8")):
            path.unlink()
            yield path
    shown = re.compile(rf"foretop (?:{'|'.join(commands)})\b") if commands else None
    for path in (tree / name for name in _DOCUMENTS):
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        kept = [line for line in lines if shown is None or not shown.search(line)]
        path.write_text("".join(kept), encoding="utf-8")


def _commands(room: str) -> list[str]:
    """The room's own commands, and its verbs of others."""
    (module,) = (module for module in rooms("foretop") if module.__name__ == f"foretop.rooms.{room}")
    views = [f"get {word}" for word in getattr(module, "GET", {})]
    return [*views, *(command for codes in module.EXIT_CODES for command in codes.commands)]


def _run_what_is_left(tree: Path, *, collect: bool) -> int:
    """Writes the tables and pictures anew, and runs the checks and all tests; the first code that is not 0."""
    arguments = ("--collect-only", "-qq") if collect else ("-n", "2", "-m", "not sweep")
    tests = ("python", "-m", "pytest", *arguments)
    pictures = () if collect else (("python", "-m", "tests.tui.pictures", "--snapshots"),)
    steps = (("python", "-m", "tests.write_tables"), *pictures, *(() if collect else _CHECKS), tests)
    # A picture of a room may show the key of another, and its own test draws it anew.
    drawn = {"FORETOP_WRITE_SNAPSHOTS": "1"}
    environ = {**os.environ, **drawn, "PYTHONPATH": os.pathsep.join((str(tree / "core"), str(tree / "tui")))}
    for step in steps:
        # The copy comes before what is installed, and has no interpreter of its own.
        program = [sys.executable, *step[1:]] if step[0] == "python" else [f"{_BIN / step[0]}", *step[1:]]
        done = subprocess.run(program, cwd=tree, env=environ, check=False, capture_output=collect, text=True)
        if done.returncode:
            print(f"{' '.join(step)} failed\n{done.stdout or ''}{done.stderr or ''}"[-4000:], file=sys.stderr)
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
