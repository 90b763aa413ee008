"""Tests of the primer."""
