"""Writes to the cluster: a plan of exact requests and sentences, then guarded, sent, journaled and followed."""
