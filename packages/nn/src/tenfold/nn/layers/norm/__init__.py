"""Layers of normalization."""
