"""The environment variables that settings are also taken from."""

from __future__ import annotations

VARIABLES = {
    "page": "FORETOP_PAGE",
    "defaultContexts": "FORETOP_CONTEXT",
    "namespaces": "FORETOP_NAMESPACE",
    "veleroNamespace": "FORETOP_VELERO_NAMESPACE",
    "veleroVersion": "FORETOP_VELERO_VERSION",
    "readOnly": "FORETOP_READ_ONLY",
    "timeZone": "FORETOP_TIME_ZONE",
    "theme": "FORETOP_THEME",
}
"""By the name of the setting; contexts and namespaces are separated by commas."""
