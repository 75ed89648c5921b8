"""A device made up for tests, "cells": memory, views and transfer, and no kernel but those that a test attaches."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.dispatch.devices import Backend
from tenfold.plugins import hookimpl


class Cells:
    """An array of the device: a NumPy array in a box."""

    def __init__(self, array: Any) -> None:
        self.array, self.dtype, self.shape, self.strides = array, array.dtype, array.shape, array.strides


class CellsBackend(Backend):
    name = "cells"
    array_type = Cells
    indexed = False

    def empty(self, shape: Any, dtype: Any, index: Any) -> Cells:
        return Cells(np.zeros(shape, dtype))

    def from_numpy(self, array: Any, index: Any) -> Cells:
        return Cells(np.array(array))

    def to_numpy(self, array: Cells) -> Any:
        return array.array

    def as_strided(self, array: Cells, shape: Any, strides: Any, offset: int) -> Cells:
        steps = [s * array.dtype.itemsize for s in strides]
        return Cells(np.lib.stride_tricks.as_strided(array.array.reshape(-1)[offset:], shape, steps))

    def write(self, destination: Cells, source: Any) -> None:
        destination.array[...] = source.array

    def memory(self, array: Cells) -> Any:
        return array.array, array.array.nbytes, 0


class Plugin:
    TENFOLD_PLUGIN_API = 1

    @hookimpl()
    def tenfold_backends(self) -> list[Backend]:
        return [CellsBackend()]
