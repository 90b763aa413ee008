"""No secret on the screen: every page, every object's detail and YAML, what is copied, and what is said on failures."""

from __future__ import annotations

import base64
import os
import re
import sys
from pathlib import Path

import pytest

from tests.examples import sampled
from tests.terminal import Terminal
from tests.wire.boxes import box_in_thread
from tests.wire.canary import GOOD, SECRET_OBJECTS, echo_server, secret_kubeconfig, secrets_in, sign_addresses

_REPOSITORY = Path(__file__).parents[2]
_CODE = os.pathsep.join(map(str, (_REPOSITORY, _REPOSITORY / "core", _REPOSITORY / "tui")))
_ESCAPE = "\x1b[27u"
_COPIED = re.compile(rb"\x1b\]52;c;([A-Za-z0-9+/=]*)\x07")


@pytest.mark.parametrize("pages", sampled(["24", "1234567890"], "24"))
def test_no_secret_is_on_any_page_in_any_yaml_or_in_what_is_copied(pages: str, tmp_path: Path) -> None:
    with box_in_thread(SECRET_OBJECTS) as box, echo_server() as echo:
        config, failing = secret_kubeconfig(box, echo, tmp_path)
        sign_addresses(box, echo)
        contexts = [word for name in (GOOD, *failing) for word in ("--context", name)]
        command = [sys.executable, "-m", "foretop", "--kubeconfig", config, *contexts]
        environ = {"PYTHONPATH": _CODE, "XDG_STATE_HOME": str(tmp_path / "state")}
        with Terminal(command, 160, 50, environ, tmp_path) as terminal:
            leaks: list[str] = []

            def leaks_now(lines: list[str]) -> bool:
                leaks.extend(secrets_in("\n".join(lines), box))
                return False

            terminal.shows("by-plugin")
            for page in pages:
                for keys in (page, "\r", "y", " ", "c", _ESCAPE, "l", _ESCAPE, "D", _ESCAPE, _ESCAPE):
                    terminal.press(keys)
                    terminal.until(leaks_now, 0.5 if keys in (page, "y") else 0.1)
            terminal.press("2")
            terminal.shows("nightly")
            terminal.press("\ry")
            terminal.shows("characters, not shown")
            terminal.until(leaks_now, 0.25)
            output = bytes(terminal.output)
        kept = [path for path in (tmp_path / "state").rglob("*") if path.is_file()]
        copied = [base64.b64decode(found).decode() for found in _COPIED.findall(output)]
        assert leaks == []
        assert secrets_in("\n".join([output.decode(errors="replace"), *copied]), box) == []
        assert [line for path in kept for line in secrets_in(path.read_text(errors="replace"), box)] == []
