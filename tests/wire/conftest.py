"""Fixtures of the tests that speak the Kubernetes protocol to a minicluster."""

import pytest

pytest.register_assert_rewrite("tests.conformance")
