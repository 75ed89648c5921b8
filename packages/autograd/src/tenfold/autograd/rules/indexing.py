"""Gradients of indexing operators."""
