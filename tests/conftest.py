"""Settings that every test runs with."""

import os

import pytest
from hypothesis import settings

# The suite is no test module of its own, and its asserts shall say what they saw all the same.
pytest.register_assert_rewrite("tests.conformance")

# How long an example takes is the machine's affair, and says nothing about the rule that it tests. On CI the examples
# are the same each time, so that a red run is the fault of what was changed; at home every run looks for new ones.
settings.register_profile("foretop", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("foretop")
