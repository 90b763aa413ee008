"""A simulated cluster: an API server on loopback that speaks the Kubernetes protocol for the kinds foretop knows.

`make test-velero` runs the same stories on it and on real Velero servers. Known differences, with the release:

- The queue of 1.18.3 sometimes leaves a slot free for up to a minute, until an event or its own once-a-minute pass.
  The simulated one starts the next backup at once.
- A backup that the real server refuses can keep its slot of the queue until the server is restarted: it ends so quickly
  that it is counted as ready to start only afterwards. With one slot nothing starts any more. Seen after 99 that were
  refused one after the other. Here its slot is free at once. 1.18.3.
- Behind a refused backup the queue goes on at the next event or once-a-minute pass. A real pass can start
  several, each when the one before was refused; here it starts as many as there are slots. 1.18.3.
- A real API server refuses objects of built-in kinds that are not valid, so a restore can fail at them; here anything
  goes. A restore of a Service whose node port somebody chose fails while another one has that port; foretop does not
  say so beforehand. All releases.
- Storage that hangs makes a real sync late, which nobody can see who looks once, with `get`. 1.17.2 and 1.18.2.
- Here a backup is refused for its storage location only; a real one also for namespaces that are not valid, for `*`
  beside other names, and for filters and selectors that exclude each other. All releases.
- A real restore leaves out jobs and pods that have ended; the application in the namespaces here has none. All
  releases.
- While the real queue empties, a schedule whose own backups wait in it sometimes misses a run that the simulated one
  makes: seen once in the story `overlap`, which now pauses its schedules meanwhile. 1.18.3.
- A real server reconciles its schedules for the first time one to three seconds after its start, which is then the
  second of its once-a-minute pass. The simulated one does so at once.
- An expression that never fires makes a real server submit one or two backups in the first second, and miss a pass now
  and then. The simulated one makes one at each pass. All releases.
- A schedule that is due when a server starts for the first time can be ahead of the first validation of its location;
  its backup is then FailedValidation. The simulated server validates first. 1.18.3.
- A real location can be synced before it is validated for the first time; here it is validated first. Seen once, with
  1.15.2.
- The message of an Unavailable location is that of the plugin and its storage; here it is that of a missing bucket.
"""

from foretop_demo.access import Rule, User
from foretop_demo.change_log import Change, ChangeType
from foretop_demo.deletion import DeleteOptions
from foretop_demo.in_process_api import InProcessApi
from foretop_demo.kinds import Kind
from foretop_demo.local_api_server import LocalApiServer
from foretop_demo.status import ApiError

__all__ = [
    "ApiError",
    "Change",
    "ChangeType",
    "DeleteOptions",
    "InProcessApi",
    "Kind",
    "LocalApiServer",
    "Rule",
    "User",
]
