"""Operators of pooling."""
