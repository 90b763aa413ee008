"""A story on a real Velero with foretop watching, and the outcome of every forecast that foretop showed."""

from __future__ import annotations

from collections.abc import Callable

from tests.velero.forecasts import Observed, Verdict, forecasts, judge
from tests.velero.get_watch import watching
from tests.velero.real_cluster import RealVeleroCluster
from tests.velero.velero_cluster import VELERO_NAMESPACE


def judged(cluster: RealVeleroCluster, play: Callable[[], None]) -> list[Verdict]:
    with watching(cluster.api_server.kubeconfig("admin", VELERO_NAMESPACE)) as shown:
        play()
    observed = Observed(cluster.events, cluster.actions, cluster.velero.read_log(), cluster.now())
    return judge(forecasts(shown), observed)
