"""Drills: a namespace is restored beside itself on trial, compared with its backup, and deleted again."""
