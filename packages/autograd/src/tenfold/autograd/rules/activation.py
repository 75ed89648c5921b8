"""Gradients of activation operators."""
