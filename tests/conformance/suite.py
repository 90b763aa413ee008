"""The whole suite, for running it against a server."""

from tests.conformance.access import Access
from tests.conformance.deleting import Deleting
from tests.conformance.discovery import Discovery
from tests.conformance.reading import Paging, Reading, Selecting
from tests.conformance.validation import Pruning, Validation
from tests.conformance.watching import Compaction, Watching
from tests.conformance.writing import Creating, Patching, StatusAndGeneration, Updating


class Suite(
    Discovery,
    Access,
    Reading,
    Paging,
    Selecting,
    Watching,
    Compaction,
    Creating,
    Updating,
    Patching,
    StatusAndGeneration,
    Validation,
    Pruning,
    Deleting,
):
    """Everything that foretop needs from an API server."""
