"""Operators of normalization."""
