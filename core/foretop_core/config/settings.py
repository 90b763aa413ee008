"""The settings of a configuration file; each may be left out."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from foretop_core.config.allowed_names import ActionName, PageName, ThemeTone

Duration = Annotated[
    str,
    Meta(pattern=r"^(?=\d)(\d+d)?(\d+h)?(\d+m)?(\d+s)?$", description="a duration such as 90s, 5m, 24h or 2d"),
]
Version = Annotated[
    str,
    Meta(pattern=r"^v?\d{1,4}\.\d{1,4}(\.\d{1,4})?([-+_].*)?$", description="a version such as 1.17.1"),
]
Colour = Annotated[
    str,
    Meta(
        pattern=r"^(#[0-9a-fA-F]{6}|default|(bright_)?(black|red|green|yellow|blue|magenta|cyan|white))$",
        description="a colour such as '#ffcc00', red, bright_black or default",
    ),
]
Key = Annotated[
    str,
    Meta(
        pattern=r"^((ctrl|shift|alt)\+)*(\S|f[0-9]{1,2}|space|tab|insert|delete|home|end|pageup|pagedown)$",
        description="a key such as x, X, ctrl+y or f5",
    ),
]
ClockTime = Annotated[
    str,
    Meta(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$", description="a time of day such as '06:00'"),
]
WindowText = Annotated[
    str,
    Meta(
        pattern=r"^(|([01]?[0-9]|2[0-3]):[0-5][0-9]-([01]?[0-9]|2[0-3]):[0-5][0-9])$",
        description="two times of day such as 06:00-07:30",
    ),
]
ClusterUid = Annotated[
    str,
    Meta(
        pattern=r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$",
        description="the uid of the namespace kube-system, as foretop doctor prints it",
    ),
]
Name = Annotated[str, Meta(min_length=1, description="a name")]
Count = Annotated[int, Meta(ge=1, le=1_000_000, description="a number of 1 or more")]
SeverityName = Literal["error", "warning", "note"]


class ConfigSection(msgspec.Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """A part of the file; in it names are written as Kubernetes writes them."""


class ContextSettings(ConfigSection, frozen=True):
    """One context, and the protection of the cluster that it leads to."""

    read_only: bool = False
    production: bool = False
    cluster_uid: ClusterUid = ""
    velero_version: Version = ""


class ThresholdSettings(ConfigSection, frozen=True):
    """The limits of triage, by the names of `foretop_core.rules.triage.Thresholds`."""

    overdue: Duration = ""
    forgotten_pause: Duration = ""
    nothing_moved: Duration = ""
    movement_waiting: Duration = ""
    ready_to_start: Duration = ""
    queue_idle: Duration = ""
    deleting: Duration = ""
    expired: Duration = ""
    not_synced_periods: Count = 0
    recent_failure: Duration = ""
    recent_restart: Duration = ""
    storage_request: Duration = ""
    position_off: Duration = ""
    expiring_soon: Duration = ""
    gap: Duration = ""
    most_collisions: Count = 0
    fewest_paused: Count = 0
    ignored_namespaces: tuple[Name, ...] = ()
    every_volume: bool = False
    comes_after: Duration = ""
    goes_after: Duration = ""


class PageSettings(ConfigSection, frozen=True):
    """The table of one page: which columns in which order, and what it is sorted by."""

    columns: tuple[Name, ...] = ()
    sort: Name = ""
    reverse: bool = False


class NotifySettings(ConfigSection, frozen=True):
    """The signals to the terminal when a new finding of at least this severity appears."""

    severity: SeverityName = "error"
    bell: bool = False
    desktop: Literal["", "osc9", "osc777"] = ""
    title: bool = False


class PrometheusSettings(ConfigSection, frozen=True):
    """A Prometheus, Thanos or Mimir that has the metrics of exporters, and the files with what it takes to ask it."""

    url: Name = ""
    token_file: Name = ""
    ca_file: Name = ""


class Settings(ConfigSection, frozen=True):
    """The whole file."""

    page: PageName = "triage"
    tabs: tuple[PageName, ...] = ()
    default_contexts: tuple[Name, ...] = ()
    groups: dict[Name, tuple[Name, ...]] = {}
    contexts: dict[Name, ContextSettings] = {}
    namespaces: tuple[Name, ...] = ()
    velero_namespace: Name = ""
    velero_version: Version = ""
    read_only: bool = False
    time_zone: Name = "UTC"
    shift_ends: tuple[ClockTime, ...] = ("06:00", "14:00", "22:00")
    window: WindowText = ""
    warm_up_minutes: Annotated[int, Meta(ge=0, le=1440, description="minutes from 0 to 1440")] = 10
    mouse: bool = False
    keep_last_hour: bool = True
    theme: Name = "terminal"
    skins: dict[Name, dict[ThemeTone, Colour]] = {}
    thresholds: ThresholdSettings = ThresholdSettings()
    pages: dict[PageName, PageSettings] = {}
    keys: dict[ActionName, Key] = {}
    notify: NotifySettings = NotifySettings()
    prometheus: PrometheusSettings = PrometheusSettings()

    def page_settings(self, page: str) -> PageSettings | None:
        """The settings of a page; None where it has none."""
        return next((settings for name, settings in self.pages.items() if name == page), None)

    def expanded(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Contexts with the name of a group replaced by its contexts."""
        return tuple(dict.fromkeys(member for name in names for member in self.groups.get(name, (name,))))


DEFAULT_SETTINGS = Settings()
DEFAULT_THRESHOLDS = ThresholdSettings()


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
