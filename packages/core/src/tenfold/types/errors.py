"""Errors of devices, under PyTorch's names."""

from __future__ import annotations


class AcceleratorError(RuntimeError):
    """A device reported an error."""


class OutOfMemoryError(RuntimeError):
    """A device has no memory left for what was asked.

    >>> issubclass(OutOfMemoryError, RuntimeError)
    True
    """


AcceleratorError.__module__ = OutOfMemoryError.__module__ = "tenfold"
