"""Typed views of the API objects that foretop reads."""
