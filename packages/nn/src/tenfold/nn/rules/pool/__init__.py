"""Gradients of pooling."""
