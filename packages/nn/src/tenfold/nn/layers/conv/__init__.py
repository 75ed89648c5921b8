"""Layers of convolution."""
