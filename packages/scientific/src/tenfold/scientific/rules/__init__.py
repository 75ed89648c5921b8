"""Gradients of the scientific operators; the autograd package imports them."""
