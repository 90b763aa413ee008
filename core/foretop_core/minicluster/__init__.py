"""A cluster in a box: an API server on loopback that speaks the Kubernetes protocol for the kinds foretop knows.

`make test-velero` tells it and real Velero servers the same stories. Known differences, with the release that has them:

- The queue of 1.18.2 and 1.18.3 sometimes leaves a slot free for up to a minute, until an event or its own
  once-a-minute pass. The box hands over at once.
- A real server looks at its schedules for the first time one to three seconds after it was started, which is then its
  beat. The box does so at once.
- An expression that never fires makes a real server submit one or two backups in the first second, and miss a look now
  and then. The box makes one at each look. All releases.
- A schedule that is due when a server starts for the first time can be ahead of the first validation of its location;
  its backup is then FailedValidation. The box validates first. 1.18.2 and 1.18.3.
- The message of an Unavailable location is that of the plugin and its storage; the box has one for a missing bucket.
"""

from foretop_core.minicluster.access import Rule, User
from foretop_core.minicluster.box import MiniCluster
from foretop_core.minicluster.change_log import Change, ChangeType
from foretop_core.minicluster.deletion import DeleteOptions
from foretop_core.minicluster.kinds import Kind
from foretop_core.minicluster.status import ApiError
from foretop_core.minicluster.storage import Storage

__all__ = [
    "ApiError",
    "Change",
    "ChangeType",
    "DeleteOptions",
    "Kind",
    "MiniCluster",
    "Rule",
    "Storage",
    "User",
]
