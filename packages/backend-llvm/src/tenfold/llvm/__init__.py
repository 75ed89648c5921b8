"""Compiled kernels for the device "cpu"."""
