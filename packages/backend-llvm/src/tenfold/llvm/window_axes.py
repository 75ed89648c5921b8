"""Where the windows of pooling begin and end along a dimension: tables for windows.py."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from tenfold.llvm.windows import Across

Array = np.ndarray[Any, Any]

window: Any = import_module("tenfold.nn.window")  # tenfold-nn is there where somebody asks for its operators' kernels
BY_TABLE = Across()
WIDEST = 4  # windows along a row whose steps are vectors
MOST_TAPS = 16


@dataclass(frozen=True, eq=False)
class Axis:
    """Where the windows along a dimension begin and end, and how many elements each counts."""

    size: int
    starts: Array
    ends: Array
    counts: Array
    across: Across = BY_TABLE
    pad: int = 0

    @property
    def outputs(self) -> int:
        return len(self.starts)

    def back(self) -> Axis:
        """The windows of the gradient: the results that read each element. Counts stay those of the results."""
        places = np.arange(self.size)
        starts, ends = np.searchsorted(self.ends, places, "right"), np.searchsorted(self.starts, places, "right")
        step, taps = self.across.step, self.across.taps
        across, pad = Across(), 0
        if taps and step == 1:
            across, pad = Across(taps), taps - 1 - self.pad
        elif 1 < taps == step <= WIDEST and not self.pad:
            across = Across(spread=step)
        return Axis(self.outputs, starts, ends, self.counts, across, pad)


def sliding(size: int, kernel: int, stride: int, pad: int, dilation: int, ceil_mode: bool, count_pad: bool = False) -> Axis:
    """Windows of one size; what lies in the padding is left out. Of a dilated one the elements between its taps are no taps."""
    first = np.arange(max(0, window.output_length(size, kernel, stride, pad, dilation, ceil_mode))) * stride - pad
    reach = dilation * (kernel - 1) + 1
    starts, ends = first + -(-np.maximum(-first, 0) // dilation) * dilation, np.minimum(first + reach, size)
    counts = np.minimum(first + reach, size + pad) - first if count_pad else ends - starts
    steps = stride <= WIDEST and kernel <= MOST_TAPS
    return Axis(size, starts, ends, counts, Across(kernel, stride) if steps else Across(), pad)


def even(size: int, out: int) -> Axis:
    """Windows that divide a dimension as evenly as whole elements allow."""
    steps = np.arange(out)
    starts, ends = steps * size // out, -(-(steps + 1) * size // out)
    return Axis(size, starts, ends, ends - starts)


def tables(axes: list[Axis]) -> tuple[Any, ...]:
    """The words of windows.py for planes of one to three dimensions."""
    single = Axis(1, np.zeros(1), np.ones(1), np.ones(1))
    every = [*[single] * (3 - len(axes)), *axes]
    found: list[Any] = [t.astype(np.int64) for axis in every for t in (axis.starts, axis.ends)]
    return (*found, *(axis.size for axis in every), *(axis.outputs for axis in every))
