"""The cron dialects of Velero's releases: which one a server has, and how each reads an expression."""

from foretop_core.rules.cron_dialects.readings import (
    DialectVerdict,
    Evidence,
    Reading,
    alike,
    decide,
    differences,
    expression,
    readings,
)
from foretop_core.rules.cron_dialects.releases import (
    ALL_DIALECTS,
    NEWEST_KNOWN,
    NONE_GIVEN,
    RELEASES,
    GivenVersions,
    Release,
    find_release,
    read_release,
    releases_of,
    velero_of_oadp,
)

__all__ = [
    "ALL_DIALECTS",
    "NEWEST_KNOWN",
    "NONE_GIVEN",
    "RELEASES",
    "DialectVerdict",
    "Evidence",
    "GivenVersions",
    "Reading",
    "Release",
    "alike",
    "decide",
    "differences",
    "expression",
    "find_release",
    "read_release",
    "readings",
    "releases_of",
    "velero_of_oadp",
]
