"""View operators on any device: the shape rule gives the geometry, `as_strided` of the backend the view."""

import importlib
from typing import Any

from tenfold.dispatch.kernels import ANY_DEVICE, kernel
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import OPERATORS, Operator
from tenfold.types.dtypes import FROM_NUMPY
from tenfold.types.memory_format import refuse_negative


def restride(backend: Any, array: Any, geometry: Meta) -> Any:
    """The view of `array` with the geometry that a rule returned; its offset counts from the array's own start."""
    offset = backend.memory(array)[2] + geometry.offset
    if geometry.dtype != array.dtype:
        backend.require_dtype(geometry.dtype)
        if offset % geometry.dtype.itemsize:
            raise RuntimeError(
                f"view: self.storage_offset() must be divisible by {geometry.dtype.itemsize // array.dtype.itemsize} to view "
                f"{FROM_NUMPY[array.dtype]} as {FROM_NUMPY[geometry.dtype]} (different element sizes), "
                f"but got {offset // array.dtype.itemsize}"
            )
        array = backend.reinterpret(array, geometry.dtype)
    itemsize = array.dtype.itemsize
    return backend.as_strided(array, geometry.shape, [s // itemsize for s in geometry.strides], offset // itemsize)


def _by_rule(operator: Operator) -> Any:
    def view(backend: Any, input: Any, *arguments: Any) -> Any:
        given = Meta(input.shape, input.dtype, input.strides)
        geometry = operator.shape_rule(given, *arguments)
        if isinstance(geometry, (tuple, list)):
            return [restride(backend, input, g) for g in geometry]
        return restride(backend, input, geometry)

    return view


def _as_strided(backend: Any, input: Any, size: Any, stride: Any, storage_offset: int | None) -> Any:
    _, held, start = backend.memory(input)
    itemsize = input.dtype.itemsize
    if storage_offset is None:
        storage_offset = start // itemsize
    refuse_negative(stride)
    if backend.name != "cpu":
        OPERATORS["as_strided"].shape_rule(input, size, stride, storage_offset)
        last = storage_offset + sum((n - 1) * s for n, s in zip(size, stride))
        if 0 not in size and not 0 <= storage_offset <= last < held // itemsize:
            raise RuntimeError(f"as_strided: out of bounds for storage of size {held}")
    return backend.as_strided(input, size, stride, storage_offset)


for _module in ("indexing.subscripts", "pointwise.complex_numbers", "view.parts", "view.shapes"):  # which declare views
    importlib.import_module(f"tenfold.ops.{_module}")
for _operator in list(OPERATORS.values()):
    if _operator.view:
        kernel(_operator, device=ANY_DEVICE)(_as_strided if _operator.name == "as_strided" else _by_rule(_operator))
