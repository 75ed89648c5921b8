"""NumPy kernels of the view operators; those missing here work through `tenfold.generic.view`."""

from __future__ import annotations

from typing import Any


from tenfold.kernels import kernel
from tenfold.operators import op


@kernel(op.view, device="cpu")
def view(input: Any, shape: Any) -> Any:
    if input.flags.c_contiguous:
        return input.reshape(shape)
    result = input.view()
    result.shape = shape  # NumPy refuses when that would need a copy
    return result


@kernel(op.permute, device="cpu")
def permute(input: Any, dims: Any) -> Any:
    return input.transpose(dims)


@kernel(op.transpose, device="cpu")
def transpose(input: Any, dim0: int, dim1: int) -> Any:
    return input.swapaxes(dim0, dim1) if input.ndim else input[...]


@kernel(op.detach, device="cpu")
def detach(input: Any) -> Any:
    return input


