"""What keeps the coming runs of a lane from being what they look like, as the cluster is now."""

from __future__ import annotations

from foretop_core.models import CronJob, PreScaledCronJob, Resource, Schedule
from foretop_core.rules.facts.schedule_facts import SEVERITIES
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.timeline.lanes import NO_OBSTACLES, LaneObstacles, TimelineItem


def lane_obstacles(
    item: TimelineItem, resource: Resource | None, render: RenderContext, warmer: CronJob | None
) -> LaneObstacles:
    """`warmer` is the CronJob that the prescaler made for it."""
    match resource:
        case Schedule() if item.paused:
            pause = render.schedule(resource).pause
            return LaneObstacles(paused_since=pause.since, paused_until=pause.until) if pause else NO_OBSTACLES
        case _ if not item.starts:
            return NO_OBSTACLES
        case Schedule():
            facts = render.schedule(resource)
            late = render.now - facts.overdue.since if facts.overdue is not None else None
            return LaneObstacles(bool(facts.refusal), late=late, severity=SEVERITIES.get(facts.coming_state))
        case PreScaledCronJob():
            return LaneObstacles(unwarmed=warmer is None)
        case _:
            return NO_OBSTACLES
