"""The volumes of a copy that somebody chose to leave out, where that choice was read.

It is read now, and the copy was made then: a policy that was changed since, or may have been, tells nothing of it.
"""

from __future__ import annotations

from collections.abc import Mapping

from foretop_core.models import Backup
from foretop_core.rules.protection.copies import is_later, is_of_storage
from foretop_core.rules.protection.coverage import resource_policy
from foretop_core.rules.volumes.by_count import MOST_COUNTED
from foretop_core.rules.volumes.evidence import GLOBAL_POLICIES, is_excluded
from foretop_core.rules.volumes.foretold import NamespaceVolumes, foretold_volumes
from foretop_core.rules.volumes.run_plan import NOT_COPIED, Deciders, run_plan


def chosen_volumes(backup: Backup, deciders: Deciders, objects: NamespaceVolumes) -> Mapping[str, str]:
    """By the name of the claim, by what somebody chose it; none of a namespace with very many claims."""
    server = deciders.flags.volume_policies if deciders.flags is not None else ""
    policies = [name for name in (resource_policy(backup.spec), server) if name]
    if len(objects.claims) > MOST_COUNTED or not (policies or _has_exclusions(objects)):
        return {}
    if is_of_storage(backup) or backup.annotation(GLOBAL_POLICIES) != server:
        return {}
    if not all(_is_unchanged(name, backup, deciders) for name in policies):
        return {}
    plan = run_plan(backup.spec, deciders, backup.name, backup.metadata.annotations)
    return {one.name: one.why for one in foretold_volumes(plan, deciders, objects).left_out if one.is_chosen}


def _has_exclusions(objects: NamespaceVolumes) -> bool:
    """Spares the look at each claim where neither a label nor an annotation can leave one out."""
    is_labelled = any(map(is_excluded, (objects.volumes or {}).values()))
    return is_labelled or any(pod.annotation(NOT_COPIED) for pod in objects.pods or ())


def _is_unchanged(name: str, backup: Backup, deciders: Deciders) -> bool:
    held = deciders.config_maps.get(name)
    return held is not None and held.changed is not None and not is_later(held.changed, backup)
