"""Samples of elementwise operators."""
