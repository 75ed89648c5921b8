"""Kernels that any device can use."""
