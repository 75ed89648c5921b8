"""The errors of process groups."""

from __future__ import annotations


class DistError(RuntimeError):
    """An error of process groups."""


class DistBackendError(DistError):
    """An error of their backend."""


class DistNetworkError(DistError):
    """An error of their network."""


class DistStoreError(DistError):
    """An error of their store."""
