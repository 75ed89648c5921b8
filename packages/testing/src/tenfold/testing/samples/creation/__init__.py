"""Samples of factories."""
