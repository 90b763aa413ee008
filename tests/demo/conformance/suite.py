"""The whole suite, for running it against a server."""

from tests.demo.conformance.access import Access
from tests.demo.conformance.deleting import Deleting
from tests.demo.conformance.discovery import Discovery
from tests.demo.conformance.reading import Paging, Reading, Selecting
from tests.demo.conformance.validation import Pruning, Validation
from tests.demo.conformance.watching import Compaction, Watching
from tests.demo.conformance.writing import Creating, Patching, StatusAndGeneration, Updating


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
