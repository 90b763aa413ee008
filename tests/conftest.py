"""Settings that every test runs with."""

import pytest
from hypothesis import settings

# The suite is no test module of its own, and its asserts shall say what they saw all the same.
pytest.register_assert_rewrite("tests.conformance")

# How long an example takes is the machine's affair, and says nothing about the rule that it tests.
settings.register_profile("foretop", deadline=None)
settings.load_profile("foretop")
