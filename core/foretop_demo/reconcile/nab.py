"""The choice of a NonAdminBackup's path in the chart."""

from __future__ import annotations

from datetime import datetime
from typing import assert_never

from foretop_core.models import NonAdminBackup
from foretop_core.rules.nonadmin_lifecycle import Path, path_of
from foretop_demo.reconcile.nab_create_update import NabContext, create_or_update
from foretop_demo.reconcile.nab_delete import api_delete, delete, force_delete
from foretop_demo.reconcile.writes import Behaviour, Reconciled


def reconcile_nab(
    nab: NonAdminBackup,
    around: NabContext,
    now: datetime,
    behaviour: Behaviour = Behaviour.RELEASED,
) -> Reconciled:
    """The next step of a NAB. Released controllers have no forced delete and ignore its field."""
    match path_of(nab, forced=behaviour is Behaviour.SEED):
        case Path.CREATE_UPDATE:
            return create_or_update(nab, around, now, behaviour)
        case Path.API_DELETE:
            return api_delete(nab, around, now, behaviour)
        case Path.FORCE_DELETE:
            return force_delete(nab, around, now)
        case Path.DELETE:
            return delete(nab, around, now, behaviour)
        case never:
            assert_never(never)
