"""`foretop fleet`: a row for each cluster from the same metrics, whether made here or asked of a server on loopback."""

from __future__ import annotations

import json
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import trustme
import yaml

from foretop.cli import run
from foretop_core.rooms.exporter import prometheus
from foretop_core.rooms.exporter.fleet import ClusterState, Series, WorstFinding, fleet, merged
from foretop_core.rooms.exporter.fleet_view import other_names
from foretop_core.rules.severity import Severity
from tests.http_answers import answering, echoing
from tests.objects import NOW
from tests.rooms.exporter.test_exporter import STILL
from tests.wire.boxes import living_box


def one(name: str, value: float = 1.0, cluster: str = "prod", **labels: str) -> Series:
    return Series(name, {"cluster": cluster, **labels}, value)


def alive(cluster: str = "prod", uid: str = "u-1") -> list[Series]:
    return [
        one("up", cluster=cluster),
        one("cluster_info", cluster=cluster, uid=uid),
        one("visible", cluster=cluster),
        one("judged_timestamp_seconds", NOW.timestamp(), cluster),
    ]


def test_the_worst_cluster_comes_first_and_only_who_saw_all_says_no_problems() -> None:
    rows = fleet(
        [
            *alive("calm", "u-1"),
            *alive("blind", "u-2"),
            one("visible", 0.0, "blind", kind="Schedule"),
            *alive("warned", "u-3"),
            one("findings", 2.0, "warned", severity="warning", code="backup-failed"),
            *alive("ill", "u-4"),
            one("findings", 1.0, "ill", severity="error", code="namespace-late"),
            one("findings", 1.0, "ill", severity="error", code="schedule-overdue"),
            one("finding_oldest_timestamp_seconds", 50.0, "ill", severity="error", code="schedule-overdue"),
            one("finding_oldest_timestamp_seconds", 90.0, "ill", severity="error", code="namespace-late"),
            one("worst_finding_info", cluster="ill", severity="error", code="namespace-late"),
            one("up", 0.0, "gone"),
        ],
        NOW,
    )
    assert [(row.cluster, row.state) for row in rows] == [
        ("gone", ClusterState.NO_NEWS),
        ("ill", ClusterState.ERRORS),
        ("warned", ClusterState.WARNINGS),
        ("blind", ClusterState.NOT_ALL_SEEN),
        ("calm", ClusterState.NO_PROBLEMS),
    ]
    assert rows[1].worst == WorstFinding(Severity.ERROR, "namespace-late", datetime.fromtimestamp(90, UTC))
    assert rows[0].night is None, "nothing is known of it"


def test_two_names_of_one_uid_are_one_cluster_and_two_clusters_of_one_name_are_told() -> None:
    twice = one("cluster_info", cluster="c", uid="u-3")
    rows = fleet([*alive("a", "u-1"), *alive("b", "u-1"), *alive("c", "u-2"), twice], NOW)
    assert [(row.cluster, row.uids) for row in rows] == [("a", ("u-1",)), ("c", ("u-2", "u-3"))]
    assert [other_names(row) for row in rows] == ["b has the same uid, and is taken for this cluster", ""]


def test_a_server_that_stands_still_comes_before_more_errors_of_single_schedules() -> None:
    def worst(cluster: str, code: str) -> Series:
        return one("worst_finding_info", cluster=cluster, severity="error", code=code)

    errors = [one("findings", 6.0, "many", severity="error", code="schedule-overdue")]
    errors += [one("findings", 1.0, "still", severity="error", code="velero-no-pulse")]
    rows = fleet(
        [*alive("many", "u-1"), *alive("still", "u-2"), *errors, worst("many", "x"), worst("still", "velero-no-pulse")],
        NOW,
    )
    assert [row.cluster for row in rows] == ["still", "many"]


def test_another_name_of_a_cluster_hides_neither_its_news_nor_its_errors() -> None:
    error = one("findings", 1.0, "b", severity="error", code="namespace-late")
    (row,) = fleet([*alive("a", "u-1"), *alive("b", "u-1"), error, *alive("c", "u-1"), one("up", 0.0, "c")], NOW)
    assert (row.cluster, row.state) == ("b", ClusterState.ERRORS)


def test_what_is_watched_counts_before_what_prometheus_tells_of_the_same_cluster() -> None:
    error = one("findings", 1.0, "eu", severity="error", code="namespace-late")
    watched = [
        *fleet(alive("prod-eu", "u-1"), NOW),
        *fleet([one("up", 0.0, "lost")], NOW),
        *fleet(alive("x", "u-8"), NOW),
    ]
    asked = fleet([*alive("eu", "u-1"), error, *alive("lost", "u-2"), *alive("x", "u-9"), *alive("far", "u-4")], NOW)
    told = [(row.cluster, row.state, row.is_asked) for row in merged(watched, asked)]
    calm = ClusterState.NO_PROBLEMS
    assert told == [
        ("far", calm, True),
        ("lost", calm, True),
        ("prod-eu", calm, False),
        ("x", calm, False),
        ("x (by Prometheus)", calm, True),
    ], "one of the same uid is one, one that is lost here is told from there, and two of one name are told apart"


def test_numbers_of_an_exporter_that_has_stopped_are_no_news() -> None:
    """It may go on to answer with the last that it worked out."""
    (row,) = fleet(alive(), NOW + timedelta(hours=1))
    assert (row.state, row.judged, row.stale) == (ClusterState.NO_NEWS, NOW, 3600)
    (row,) = fleet(alive(), NOW + timedelta(minutes=1))
    assert (row.state, row.stale) == (ClusterState.NO_PROBLEMS, 0)
    (row,) = fleet(alive(), NOW - timedelta(hours=1))
    assert (row.state, row.stale) == (ClusterState.NO_NEWS, 0), "by a clock so far ahead nobody can tell that it stops"
    (row,) = fleet([one("up")], NOW)
    assert (row.state, row.judged) == (ClusterState.NO_NEWS, None)
    last = one("judged_timestamp_seconds", NOW.timestamp() - 60)
    (row,) = fleet([last], NOW)
    assert (row.state, row.stale) == (ClusterState.NO_NEWS, 60), "it has gone, and with it all but when it judged last"


def test_who_does_not_say_what_was_seen_has_not_seen_all() -> None:
    (row,) = fleet([series for series in alive() if series.name != "visible"], NOW)
    assert row.state is ClusterState.NOT_ALL_SEEN


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), -1e300, 1e300])
def test_odd_numbers_cost_themselves_only(odd: float) -> None:
    (row,) = fleet(
        [
            *alive(),
            one("night_done_timestamp_seconds", odd, certainty="0.9"),
            one("finding_oldest_timestamp_seconds", odd, severity="error", code="x"),
            one("findings", 1.0, severity="error", code="x"),
            one("findings", 1.0, severity="of somebody's own", code="y"),
            one("worst_finding_info", odd, severity="error", code="x"),
            one("worst_finding_info", 1.0, severity="of somebody's own", code="y"),
            Series("up", {}, 1.0),
        ],
        NOW,
    )
    assert (row.state, row.done_by) == (ClusterState.ERRORS, None)


@pytest.mark.parametrize("rows", [0, 1])
def test_what_prometheus_could_not_ask_itself_is_said(rows: int, capsys: pytest.CaptureFixture[str]) -> None:
    up = [({"__name__": "foretop_up", "cluster": "a"}, "1"), ({"__name__": "foretop_visible", "cluster": "a"}, "1")]
    judged = ({"__name__": "foretop_judged_timestamp_seconds", "cluster": "a"}, str(datetime.now(UTC).timestamp()))
    answer = {**json.loads(vector(*[*up, judged][: 3 * rows])), "warnings": ["no answer of store\x1b[2J eu"]}
    with answering(lambda *_: (200, json.dumps(answer).encode())) as url:
        assert run(["fleet", "--prometheus", url]) == 1
    told = capsys.readouterr()
    assert told.err == f"foretop: Cannot ask all of {url}: no answer of store\\x1b[2J eu\n"
    assert ("no problems" in told.out) is bool(rows)


def test_what_a_server_sends_back_is_not_repeated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "token").write_text("canary")
    with echoing() as url:
        assert run(["fleet", "--prometheus", url, "--prometheus-token-file", str(tmp_path / "token")]) == 3
    told = capsys.readouterr().err
    assert "its answer is cut off, or no HTTP" in told
    assert "canary" not in told


ODD = {"cluster": "odd"}


def vector(*samples: tuple[dict[str, str], str]) -> bytes:
    result = [{"metric": metric, "value": [1.0, value]} for metric, value in samples]
    return json.dumps({"status": "success", "data": {"resultType": "vector", "result": result}}).encode()


@pytest.mark.parametrize(
    ("body", "status", "error"),
    [
        (b"<html>", 200, "it does not answer as Prometheus does"),
        (b'{"status": "success", "data": {"result": [1', 200, "it does not answer as Prometheus does"),
        (b'{"status": "error", "error": "too many samples"}', 422, "HTTP 422: too many samples"),
        (b"no", 401, "HTTP 401 (look at --prometheus-token-file)"),
        (b"", 302, "HTTP 302"),
        (b'{"status": "error", "error": "\x1b[2J password=canary"}', 200, "Cannot ask http://127.0.0.1"),
        (b" " * 5000, 200, "its answer has more than 0 MB"),
        (b'{"x":' + b"[" * 1900 + b"]" * 1900 + b"}", 200, "it does not answer as Prometheus does"),
        (b'{"status": "success", "data": {"result": [{"metric": {"a": "\xff"}}]}}', 200, "it does not answer as"),
    ],
)
def test_a_server_that_answers_something_else_is_one_line(
    body: bytes, status: int, error: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prometheus, "_MOST_BYTES", 4000)
    with answering(lambda *_: (status, body)) as url:
        assert run(["fleet", "--prometheus", url]) == 3
    told = capsys.readouterr().err
    assert error in told
    assert told.count("\n") == 1
    assert "canary" not in told
    assert "\x1b" not in told


def served_by(authority: trustme.CA, name: str = "127.0.0.1") -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert(name).configure_cert(context)
    return context


def test_a_certificate_that_is_not_trusted_is_one_line_until_its_authority_is_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known, other = trustme.CA(), trustme.CA()
    known.cert_pem.write_to_path(tmp_path / "ca.pem")
    words = ("--prometheus-ca", str(tmp_path / "ca.pem"))
    not_known, look = (
        "unable to get local issuer certificate",
        "(look at --prometheus-ca, or caFile in the configuration)",
    )
    elsewhere = "IP address mismatch, certificate is not valid for '127.0.0.1'"
    for authority, name, given, why in (
        (known, "127.0.0.1", (), not_known),
        (other, "127.0.0.1", words, not_known),
        (known, "elsewhere.test", words, elsewhere),
    ):
        with answering(lambda *_: (200, vector()), served_by(authority, name)) as url:
            assert run(["fleet", "--prometheus", url, *given]) == 3
        told = capsys.readouterr()
        assert told.err == f"foretop: Cannot ask {url}: its certificate is not trusted, {why} {look}\n"
        assert not told.out
    with answering(lambda *_: (200, vector()), served_by(known)) as url:
        assert run(["fleet", "--prometheus", url, *words]) == 0


@pytest.mark.parametrize("odd", ["1e308", "-1e308", "1e14", "NaN", "+Inf", "9" * 5000])
def test_a_number_beyond_all_clocks_costs_itself_only(odd: str, capsys: pytest.CaptureFixture[str]) -> None:
    findings = [({**ODD, "__name__": "foretop_findings", "severity": "error", "code": code}, odd) for code in "ab"]
    answer = vector(
        ({**ODD, "__name__": "foretop_up"}, "1"), ({**ODD, "__name__": "foretop_stale_seconds"}, odd), *findings
    )
    with answering(lambda *_: (200, answer)) as url:
        assert run(["fleet", "--prometheus", url]) == 1
    assert "odd" in capsys.readouterr().out


def test_a_histogram_and_a_label_without_end_cost_themselves_only(capsys: pytest.CaptureFixture[str]) -> None:
    long = {"metric": {"__name__": "foretop_up", "cluster": "x" * 100_000}, "value": [1, "1"]}
    histogram = {"metric": {"__name__": "foretop_up", "cluster": "odd"}, "histogram": [1, {"count": "2"}]}
    answer = json.dumps({"status": "success", "data": {"result": [long, histogram]}}).encode()
    with answering(lambda *_: (200, answer)) as url:
        assert run(["fleet", "--prometheus", url]) == 1
    assert len(max(capsys.readouterr().out.splitlines(), key=len)) < 500


def test_what_is_no_number_of_an_exporter_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    odd = [({"__name__": "foretop_up", "cluster": "a\x1b[2J"}, "1"), ({"cluster": "b"}, "1"), ({"__name__": "up"}, "1")]
    answer = vector(*odd, ({"__name__": "foretop_up", "cluster": "c"}, "many"))
    with answering(lambda *_: (200, answer)) as url:
        assert run(["fleet", "--prometheus", url]) == 1
    told = capsys.readouterr().out
    assert "a\\x1b[2J" in told
    assert len(told.splitlines()) == 3
    with answering(lambda *_: (200, vector())) as url:
        assert run(["fleet", "--prometheus", url]) == 0
    assert capsys.readouterr().out == "No cluster: there are no metrics of a foretop exporter.\n"


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("--prometheus", "thanos:9090"), "thanos:9090 is not an address of a Prometheus"),
        (("--prometheus", "http://[::1"), "http://[::1 is not an address of a Prometheus"),
        (("--prometheus", "http://h:99999"), "http://h:99999 is not an address of a Prometheus"),
        (("--prometheus-ca", "/nowhere"), "there is no --prometheus"),
        (("--prometheus", "https://h", "--prometheus-ca", "/nowhere"), "Cannot use /nowhere: No such file"),
        (("--prometheus", "https://h", "--prometheus-token-file", "/nowhere"), "Cannot read /nowhere"),
    ],
)
def test_bad_input_is_one_line(words: tuple[str, ...], error: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["fleet", *words]) == 2
    assert error in capsys.readouterr().err


def test_by_watching_each_context_has_a_row_also_one_that_is_gone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with living_box("quiet", tmp_path, STILL) as (_, path):
        config = yaml.safe_load(Path(path).read_text())
        config["clusters"].append({"name": "gone", "cluster": {"server": "http://127.0.0.1:1"}})
        config["contexts"].append({"name": "gone", "context": {**config["contexts"][0]["context"], "cluster": "gone"}})
        Path(path).write_text(yaml.safe_dump(config))
        assert run(["fleet", "--kubeconfig", path, "-o", "json"]) == 1
    rows = json.loads(capsys.readouterr().out)["items"]
    assert [(row["cluster"], row["state"]) for row in rows] == [("gone", "no news"), ("minicluster", "no problems")]
    assert (rows[0]["slots"], rows[0]["completedLastDay"], rows[0]["uids"]) == (None, None, [])
    assert rows[1]["completedLastDay"]


def test_the_command_tells_of_the_clusters_that_the_page_would_have(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that are watched and those of Prometheus are merged, whether its address is given or configured."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    now, statuses = str(datetime.now(UTC).timestamp()), [200]
    known = {"foretop_up": "1", "foretop_visible": "1", "foretop_judged_timestamp_seconds": now}
    body = vector(
        *(
            ({"__name__": name, "cluster": one}, value)
            for one in ("far", "minicluster")
            for name, value in known.items()
        )
    )

    def told(*words: str) -> tuple[int, list[str], str]:
        code = run(["fleet", "-o", "json", *words])
        printed = capsys.readouterr()
        items = json.loads(printed.out)["items"] if printed.out else []
        return code, sorted(item["cluster"] for item in items if item["state"] == "no problems"), printed.err

    with living_box("quiet", tmp_path, STILL) as (_, path), answering(lambda *_: (statuses[-1], body)) as url:
        asked, own = ("--prometheus", url), ("--kubeconfig", path)
        given = told(*asked, *own, "--context", "minicluster")
        assert given == (0, ["far", "minicluster"], "")
        assert told(*own) == (0, ["minicluster"], "")
        (tmp_path / "foretop").mkdir()
        (tmp_path / "foretop" / "config.yaml").write_text(f"prometheus: {{url: '{url}'}}\n")
        assert told(*own) == given
        statuses.append(503)
        code, watched, error = told(*own)
        assert (code, watched) == (3, ["minicluster"]), "what is watched is told though Prometheus does not answer"
        assert error == f"foretop: Cannot ask {url}: HTTP 503\n"
        statuses.append(200)
    (tmp_path / "none").write_text("")
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    with answering(lambda *_: (200, body)) as url:
        assert told("--prometheus", url) == (0, ["far", "minicluster"], "")
        (tmp_path / "foretop" / "config.yaml").write_text(f"prometheus: {{url: '{url}'}}\n")
        assert told() == (0, ["far", "minicluster"], "")
        assert told("--kubeconfig", str(tmp_path / "gone"))[:2] == (2, []), "a kubeconfig that is named is not left out"
