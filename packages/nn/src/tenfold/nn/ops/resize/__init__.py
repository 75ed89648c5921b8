"""Operators of resampling."""
