"""What libraries ask torchvision's compiled part: here every operator is always there."""

from __future__ import annotations

_HAS_OPS = True


def _has_ops() -> bool:
    return True


def _assert_has_ops() -> None:
    """Nothing to refuse."""
