"""The page of the fleet: a row for each cluster, worst first; into one of them, and back."""

from __future__ import annotations

import time
from datetime import timedelta
from pathlib import Path

import pytest
import trustme

from foretop.rooms.exporter.page import FleetPage
from foretop_core.kube.watching.watch_sink import WatchState
from foretop_core.models import Resource
from foretop_core.models.kinds import KINDS
from foretop_core.rooms.exporter import fleet_table
from foretop_core.rules.metric_families import Sample
from tests.http_answers import answering
from tests.rooms.exporter.test_fleet import served_by, vector
from tests.tui.fake_source import FilledSource, calm, troubled
from tests.tui.pilot import LARGE, MIDDLE, SMALL, Screen, screen
from tests.tui.test_config import change, configured

FLEET = (":", *"fleet", "enter")
NAMES = ("prod-eu", "prod-us", "prod-ap")


def three(*troubled_ones: str) -> FilledSource:
    """Three clusters, of which these have troubles."""
    source = FilledSource([], NAMES)
    for name in NAMES:
        objects: list[Resource] = troubled() if name in troubled_ones else calm()
        source.store.fill(name, objects, source.manual)
    return source


async def fleet(shown: Screen) -> list[str]:
    """The rows, once all clusters were measured."""
    await shown.press(*FLEET)
    await shown.until(lambda: "Fleet" in shown.text and "loading" not in shown.text and "prod-ap" in shown.text)
    return shown.table_lines


async def test_the_worst_cluster_comes_first_and_the_pane_says_what_to_do_there() -> None:
    async with screen(three("prod-us"), SMALL) as shown:
        rows = await fleet(shown)
        assert [row.split()[0] for row in rows[:4]] == ["STATE", "▌✗", "●", "●"]
        assert rows[0].split() == ["STATE", "CLUSTER", "WORST", "SINCE", "DONE", "BY", "LAST", "NIGHT"]
        assert "prod-us" in rows[1]
        assert "error" in rows[1]
        assert "\nDo  " in shown.pane
        assert "enter this cluster" in shown.footer
        first = shown.pane.splitlines()[0].partition(": ")[2].rstrip(".")
        await shown.press("enter")
        await shown.on_page("triage")
        assert first in shown.table_lines[1], "Triage begins with the same finding"


async def test_enter_leads_into_the_cluster_and_escape_back_to_all() -> None:
    async with screen(three("prod-us"), MIDDLE) as shown:
        await fleet(shown)
        await shown.press("enter")
        await shown.on_page("triage")
        state = shown.app.main_screen.state
        assert state is not None
        assert state.focus.context == "prod-us"
        assert "prod-us" in shown.lines[0]
        await shown.press("down", "escape")
        await shown.on_page("fleet")
        assert not state.focus
        assert shown.table.cursor is not None
        assert shown.table.cursor.context == "prod-us"


async def test_a_cluster_that_is_lost_costs_its_own_row() -> None:
    async with screen(three(), LARGE) as shown:
        await fleet(shown)
        for kind in KINDS:
            shown.source.fare(kind, WatchState.STALE, "the connection was refused", ("prod-eu",))
        await shown.tick()
        await shown.until(lambda: "no news" in shown.text)
        rows = [row for row in shown.table_lines if "prod-" in row]
        assert "prod-eu" in rows[0]
        assert all("no problems" in row for row in rows[1:])
        await shown.until(lambda: "velero-out-of-reach" in shown.text)
        shown.source.manual.advance(timedelta(minutes=5))
        await shown.tick()
        (row,) = (row for row in shown.table_lines if "prod-eu" in row)
        assert row.split("velero-out-of-reach")[1].split()[0] == "5m"


async def test_a_cluster_that_cannot_be_measured_costs_its_own_row(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = fleet_table._row

    def broken(context: str, samples: list[Sample]) -> object:
        if context == "prod-eu":
            raise RuntimeError("a fault")
        return whole(context, samples)

    monkeypatch.setattr(fleet_table, "_row", broken)
    async with screen(three(), LARGE) as shown:
        await shown.press(*FLEET)
        await shown.until(lambda: shown.text.count("no problems") == 2)
        assert "loading" in shown.text
        assert any("measuring prod-eu" in failure.what for failure in shown.app.main_screen.state.failures("prod-eu"))  # type: ignore[union-attr]


async def test_the_clusters_of_a_prometheus_stand_beside_those_that_are_watched(tmp_path: Path) -> None:
    late = {"cluster": "far", "severity": "error", "code": "namespace-late"}
    named = {"foretop_up": {}, "foretop_visible": {"kind": "Backup"}, "foretop_cluster_info": {"uid": "u-9"}}
    samples = [({"cluster": "far", "__name__": name, **labels}, "1") for name, labels in named.items()]
    samples += [({**late, "__name__": name}, "1") for name in ("foretop_findings", "foretop_worst_finding_info")]
    judged = {"cluster": "far", "__name__": "foretop_judged_timestamp_seconds"}
    calm = {**named, "foretop_cluster_info": {"uid": "u-8"}, judged["__name__"]: {}}
    now = str(time.time())
    samples += [({"cluster": "calm", "__name__": name, **labels}, now) for name, labels in calm.items()]
    known, statuses = vector(*samples, (judged, now)), [200]
    with answering(lambda _, __, body: (statuses[-1], known if b"cluster_info" in body else vector())) as url:
        async with configured(tmp_path, f"prometheus: {{url: '{url}'}}\n") as shown:
            await shown.press(*FLEET)
            await shown.until(lambda: "far" in shown.text and "prod-eu" in shown.text and "loading" not in shown.text)
            (row,) = (row for row in shown.table_lines if "far" in row)
            assert any("● no problems   calm" in row for row in shown.table_lines)
            assert ("1 error" in row, "namespace-late" in row) == (True, True)
            await shown.press("slash", *"far", "enter")
            assert "namespace-late; 1 error." in shown.pane
            assert "by Prometheus, as of" in shown.pane
            await shown.press("enter")
            await shown.until(
                lambda: any("No context of the kubeconfig is called far" in text for _, text in shown.app.told)
            )
            assert shown.page == "fleet"
            statuses.append(503)
            await change(shown, f"prometheus: {{url: '{url}/x'}}\n")
            await shown.press("escape")
            await shown.until(lambda: "HTTP 503" in shown.pane)


async def test_a_prometheus_that_is_not_trusted_is_said_in_the_pane_beside_the_clusters_that_are_watched(
    tmp_path: Path,
) -> None:
    with answering(lambda *_: (200, vector()), served_by(trustme.CA())) as url:
        async with configured(tmp_path, f"prometheus: {{url: '{url}'}}\n") as shown:
            await shown.press(*FLEET)
            await shown.until(lambda: "its certificate is not trusted, unable" in " ".join(shown.pane.split()))
            assert "SSL" not in shown.text
            assert "prod-eu" in shown.text


async def test_one_cluster_is_no_fleet() -> None:
    async with screen(FilledSource(troubled())) as shown:
        await shown.press(*FLEET)
        assert isinstance(shown.app.main_screen.page, FleetPage)
        assert "One cluster is watched; a fleet has two or more. :ctx adds one." in shown.text


@pytest.mark.sweep
async def test_the_rows_are_filtered_and_sorted_like_all_others() -> None:
    async with screen(three("prod-us"), LARGE) as shown:
        await fleet(shown)
        await shown.press("slash", *"state:errors", "enter")
        assert [row.split()[-1] for row in shown.table_lines if "prod-" in row]
        assert sum("prod-" in row for row in shown.table_lines) == 1
        await shown.press("escape")
        await shown.sort_by("name")
        assert [name for row in shown.table_lines for name in NAMES if name in row] == sorted(NAMES)
