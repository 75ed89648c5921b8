"""Samples of indexing."""
