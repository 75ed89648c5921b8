"""Rounding the widths of scaled networks."""

from __future__ import annotations


def make_divisible(v: float, divisor: int, min_value: int | None = None) -> int:
    """The multiple of ``divisor`` nearest to ``v``, but not more than a tenth below it, nor below ``min_value``.

    >>> [make_divisible(v, 8) for v in (3, 17, 33.6, 43.2)]
    [8, 16, 32, 40]

    Source: the scaled widths of MobileNet v2's published checkpoints (arXiv:1801.04381).
    """
    nearest = max(divisor if min_value is None else min_value, int(v + divisor / 2) // divisor * divisor)
    return nearest + divisor if nearest < 0.9 * v else nearest
