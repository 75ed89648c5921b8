"""Operators of convolution."""
