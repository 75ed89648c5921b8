"""Which elements are among others, not zero, or real; between which bounds they lie, what follows itself; flat positions."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tenfold.dispatch.operators import Number, composite, op
from tenfold.dispatch.runtime import STATE
from tenfold.ops.reduction.ordering import existing, searchsorted, unique_parts, wanted
from tenfold.scientific.ops.outs import require_dtype
from tenfold.tensor.tensor import Tensor, wrap
from tenfold.types.dtypes import int32, int64, type_name
from tenfold.types.promotion import promote_types

_FEW, _FEW_ON_A_DEVICE = 8, 16  # elements that are compared one by one, or at once, instead of a search among them in order


@composite("membership", method=None, out="bool", nondifferentiable="its result is bool")
def isin(elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False) -> Tensor:
    """Whether each element is among the test elements (with `invert`: is not).

    >>> import tenfold
    >>> tenfold.isin(tenfold.tensor([1, 2, 3]), tenfold.tensor([3, 1]))
    tensor([ True, False,  True])
    """
    if not isinstance(elements, Tensor) and not isinstance(test_elements, Tensor):
        raise TypeError("isin: elements or test_elements must be a tensor, got two numbers")
    device = next(x.device for x in (elements, test_elements) if isinstance(x, Tensor))
    x, known = (a if isinstance(a, Tensor) else op.tensor(a, device=device) for a in (elements, test_elements))
    common = promote_types(x.dtype, known.dtype)
    for given in (x.dtype, known.dtype):
        if given.category in (0, 3):
            raise RuntimeError(f"Unsupported input type encountered for isin(): {type_name(given)}")
    x, known = x.to(common), known.to(common).reshape(-1)
    if not known.numel():
        return op.full(x.shape, invert, device=x.device)
    if x.device.type != "cpu" and known.numel() <= _FEW_ON_A_DEVICE:  # two launches instead of six
        return op.ne(x.unsqueeze(-1), known).all(-1) if invert else op.eq(x.unsqueeze(-1), known).any(-1)
    if known.numel() <= _FEW and type(x._array) is type(known._array) is np.ndarray and not STATE.transforms:
        return _compared(x, known, invert)
    known = known.sort().values
    places = op.searchsorted(known, x.contiguous()).clamp_max(known.numel() - 1)
    found: Any = op.eq(op.index(known, [places]), x)
    return found.logical_not() if invert else found


def _compared(x: Tensor, known: Tensor, invert: bool) -> Tensor:
    """The same for few elements at hand: each is compared with all, which takes less time than putting them in order."""
    first, *others = known._array
    found = np.equal(x._array, first, order="C")
    for one in others:
        found = np.logical_or(found, np.equal(x._array, one), order="C")
    found = np.asarray(found)
    return wrap(np.logical_not(found, out=found) if invert else found, x._key)


@composite("membership", method=None, nondifferentiable="its result is a position")
def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """The index in each dimension of a shape that flat positions stand for.

    >>> import tenfold
    >>> tenfold.unravel_index(tenfold.tensor([1, 5]), (2, 3))
    (tensor([0, 1]), tensor([1, 2]))
    """
    if indices.dtype.category != 1:
        raise TypeError(f"unravel_index: expected 'indices' to be integer dtype, but got {indices.dtype}")
    if isinstance(shape, Tensor) or not isinstance(shape, (int, list, tuple)):
        raise TypeError(f"unravel_index: expected 'shape' to be int or sequence of ints, but got {type(shape).__name__}")
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    if not all(hasattr(n, "__index__") for n in sizes):
        raise TypeError(f"unravel_index: expected 'shape' sequence to only contain ints, but got {shape}")
    sizes = tuple(int(n) for n in sizes)
    if any(n < 0 for n in sizes):
        raise ValueError(f"unravel_index: 'shape' cannot have negative values, but got {sizes}")
    steps = [prod(sizes[i + 1 :]) for i in range(len(sizes))]
    return tuple(indices.to(int64).floor_divide(step).remainder(n) for step, n in zip(steps, sizes))


@composite("membership", accepts="bool integer floating", no_derivative="distinct values have no derivative in PyTorch")
def unique_consecutive(input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None) -> Any:
    """The elements without repetitions of their predecessor; optionally with inverse and counts.

    >>> import tenfold
    >>> tenfold.unique_consecutive(tenfold.tensor([1, 1, 2, 1]))
    tensor([1, 2, 1])
    """
    dim = None if dim is None else existing(dim, input, "unique_consecutive")
    return wanted(unique_parts(input, dim, True), return_inverse, return_counts)


@composite("membership", method=None, out="same")
def bucketize(input: Tensor | Number, boundaries: Tensor, *, out_int32: bool = False, right: bool = False) -> Tensor:
    """The index of the bucket between sorted boundaries that each value falls into.

    >>> import tenfold
    >>> tenfold.bucketize(tenfold.tensor([0, 4]), tenfold.tensor([1, 3, 5]))
    tensor([0, 2])
    """
    if boundaries.dim() != 1:
        raise RuntimeError(f"bucketize: boundaries tensor must be 1 dimension, but got dim({boundaries.dim()})")
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


@bucketize.overload
def _(input: Any, boundaries: Any, *, out_int32: bool = False, right: bool = False, out: Any = None) -> Any:
    """Refuses an output of another dtype, in PyTorch's words."""
    require_dtype(
        "torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or Long(int64) depending on whether "
        f"out_int32 flag is True, but we got output tensor's dtype {{given}} and out_int32 flag is {out_int32}",
        out, int32 if out_int32 else int64,
    )  # fmt: skip
    return NotImplemented


@composite("membership")
def argwhere(input: Tensor) -> Tensor:
    """The positions of the elements that are not zero: (count, dimensions).

    >>> import tenfold
    >>> tenfold.argwhere(tenfold.tensor([0, 3]))
    tensor([[1]])
    """
    return input.nonzero()


@composite("membership")
def isreal(input: Tensor) -> Tensor:
    """Whether the imaginary part is 0.

    >>> import tenfold
    >>> tenfold.isreal(tenfold.tensor([1.0, 1j]))
    tensor([ True, False])
    """
    return input.imag == 0 if input.dtype.is_complex else (input == input).logical_or(input.isnan())
