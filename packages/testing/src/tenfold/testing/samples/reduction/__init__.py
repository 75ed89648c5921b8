"""Samples of reductions."""
