"""A real Prometheus and Alertmanager of Debian's packages on loopback, with the inhibitions of the mixin."""

from __future__ import annotations

import json
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import yaml

from tests.real.server_process import free_port

MIXIN = Path(__file__).parents[4] / "packaging" / "mixin"
WITHIN = 120.0
T = TypeVar("T")


def tool(*words: str, cwd: Path | None = None, read: str = "") -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=cwd, input=read)
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


def got(address: str) -> Any:
    with urllib.request.urlopen(address, timeout=10) as answer:
        return json.load(answer)


def until(ask: Callable[[], T]) -> T:
    """The first answer that says something; a server that is coming up says nothing."""
    end = time.monotonic() + WITHIN
    while True:
        try:
            if answer := ask():
                return answer
        except OSError:
            pass
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.2)


@contextmanager
def program(*words: str) -> Iterator[None]:
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            process.terminate()


class Servers:
    """The addresses of both, and what is asked of them."""

    def __init__(self, prometheus: str, alertmanager: str) -> None:
        self.prometheus, self.alertmanager = prometheus, alertmanager

    def query(self, expression: str) -> list[dict[str, Any]]:
        answer = got(f"{self.prometheus}/api/v1/query?{urllib.parse.urlencode({'query': expression})}")
        assert answer["status"] == "success"
        result: list[dict[str, Any]] = answer["data"]["result"]
        return result

    def alerts(self) -> dict[str, str]:
        """The alerts that Alertmanager has, by name: active, or suppressed by their cause."""
        return {
            alert["labels"]["alertname"]: alert["status"]["state"]
            for alert in got(f"{self.alertmanager}/api/v2/alerts")
        }


@contextmanager
def prometheus_and_alertmanager(
    folder: Path, rules: Mapping[str, Any], targets: Mapping[str, Sequence[str]], interval: str
) -> Iterator[Servers]:
    """Scrapes HOST:PORT of each job that often; the rules are those of a file of Prometheus."""
    (folder / "rules.yaml").write_text(yaml.safe_dump(rules))
    inhibit = yaml.safe_load((MIXIN / "inhibit.yaml").read_text())
    route = {"receiver": "none", "group_wait": "0s", "group_interval": "1s"}
    (folder / "alertmanager.yaml").write_text(
        yaml.safe_dump({"route": route, "receivers": [{"name": "none"}], **inhibit})
    )
    tool("amtool", "check-config", str(folder / "alertmanager.yaml"))
    ports = free_port(), free_port()
    config = {
        "global": {"scrape_interval": interval, "evaluation_interval": interval},
        "rule_files": [str(folder / "rules.yaml")],
        "scrape_configs": [
            {"job_name": job, "static_configs": [{"targets": list(addresses)}]} for job, addresses in targets.items()
        ],
        "alerting": {"alertmanagers": [{"static_configs": [{"targets": [f"127.0.0.1:{ports[1]}"]}]}]},
    }
    (folder / "prometheus.yaml").write_text(yaml.safe_dump(config))
    tool("promtool", "check", "config", str(folder / "prometheus.yaml"))
    with ExitStack() as opened:
        opened.enter_context(
            program(
                "prometheus-alertmanager",
                f"--config.file={folder / 'alertmanager.yaml'}",
                f"--storage.path={folder / 'alertmanager'}",
                f"--web.listen-address=127.0.0.1:{ports[1]}",
                "--cluster.listen-address=",
            )
        )
        opened.enter_context(
            program(
                "prometheus",
                f"--config.file={folder / 'prometheus.yaml'}",
                f"--storage.tsdb.path={folder / 'prometheus'}",
                f"--web.listen-address=127.0.0.1:{ports[0]}",
            )
        )
        servers = Servers(f"http://127.0.0.1:{ports[0]}", f"http://127.0.0.1:{ports[1]}")
        until(lambda: got(f"{servers.alertmanager}/api/v2/status"))
        yield servers
