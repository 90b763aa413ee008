"""Settings that every test runs with."""

from hypothesis import settings

# How long an example takes is the machine's affair, and says nothing about the rule that it tests.
settings.register_profile("foretop", deadline=None)
settings.load_profile("foretop")
