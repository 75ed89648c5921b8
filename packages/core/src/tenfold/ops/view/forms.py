"""Views written in other views, and `x.T` and its kin."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from tenfold.dispatch.operators import composite, op
from tenfold.dispatch.overrides import handle_torch_function, has_torch_function
from tenfold.dispatch.shape_rules import broadcast_shapes, wrap_dim
from tenfold.dispatch.spellings import as_dims, as_int
from tenfold.ops.view.shapes import expand, of_a_copy, permute, reshape, transpose, view
from tenfold.settings.warnings import warn_once
from tenfold.tensor.tensor import Tensor

Ints = Sequence[int]


@composite("view")
def t(input: Tensor) -> Tensor:
    """The transpose of a matrix; vectors and 0-d tensors as they are.

    >>> import tenfold
    >>> tenfold.ones(2, 3).t().shape
    tenfold.Size([3, 2])
    """
    if input.dim() > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {input.dim()}D")
    return transpose(input, 0, -1)


@composite("view")
def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """Two dimensions exchanged: `transpose` under NumPy's name.

    >>> import tenfold
    >>> tenfold.ones(2, 3).swapaxes(0, 1).shape
    tenfold.Size([3, 2])
    """
    return transpose(input, axis0, axis1)


@composite("view")
def swapdims(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions exchanged: `transpose` under another name.

    >>> import tenfold
    >>> tenfold.ones(2, 3).swapdims(0, 1).shape
    tenfold.Size([3, 2])
    """
    return transpose(input, dim0, dim1)


@composite("view")
def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """Dimensions moved to new positions; the others keep their order.

    >>> import tenfold
    >>> tenfold.ones(2, 3, 4).movedim(0, -1).shape
    tenfold.Size([3, 4, 2])
    """
    sources, targets = as_dims(source, "movedim", "source"), as_dims(destination, "movedim", "destination")
    sources, targets = (d if type(d) is tuple else (d,) for d in (sources, targets))
    if len(sources) != len(targets):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({list(sources)} dims) should contain the same number of "
            f"dims as destination ({list(targets)} dims)"
        )
    n = input.dim()
    for what, dims in (("source", sources), ("destination", targets)):
        if len({wrap_dim(d, n, "movedim") for d in dims}) != len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{what}` ({list(dims)})")
    if not n:
        return permute(input, ())
    order: list[int] = [-1] * n
    for s, d in zip(sources, targets):
        order[d % n] = s % n
    rest = iter([i for i in range(n) if i not in order])
    return permute(input, tuple(next(rest) if i < 0 else i for i in order))


@composite("view")
def moveaxis(input: Tensor, source: Any, destination: Any) -> Tensor:
    """Dimensions moved to new positions: `movedim` under NumPy's name.

    >>> import tenfold
    >>> tenfold.ones(2, 3, 4).moveaxis(0, 1).shape
    tenfold.Size([3, 2, 4])
    """
    return movedim(input, source, destination)


@composite("view")
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Dimensions start_dim to end_dim merged into one; a view where memory allows it.

    >>> import tenfold
    >>> tenfold.ones(2, 3, 4).flatten(1).shape
    tenfold.Size([2, 12])
    """
    if start_dim == 0 and end_dim == -1 and input.dim() != 1:
        try:
            return view(input, (-1,))
        except RuntimeError:  # its memory does not allow a view
            return of_a_copy(view(input.contiguous(), (-1,)))
    shape = input.shape
    n = len(shape)
    if not n:
        wrap_dim(start_dim, n, "flatten"), wrap_dim(end_dim, n, "flatten")
        return view(input, (1,))
    start, end = wrap_dim(start_dim, n, "flatten"), wrap_dim(end_dim, n, "flatten")
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if start == end:
        return input
    return reshape(input, (*shape[:start], prod(shape[start : end + 1]), *shape[end + 1 :]))


@composite("view")
def unflatten(input: Tensor, dim: int, sizes: Any) -> Tensor:
    """One dimension as several; one of the sizes may be -1.

    >>> import tenfold
    >>> tenfold.ones(6).unflatten(0, (2, -1)).shape
    tenfold.Size([2, 3])
    """
    if not input.dim():
        raise (RuntimeError if dim in (0, -1) else IndexError)(
            f"unflatten: Dimension specified as {dim} but tensor has no dimensions"
        )
    dim, sizes = wrap_dim(dim, input.dim(), "unflatten"), [*as_dims(sizes, "unflatten", "sizes")]
    shape = input.shape
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    known = prod(n for n in sizes if n != -1)
    filled = [shape[dim] // max(known, 1) if n == -1 else n for n in sizes]
    if prod(filled) != shape[dim] or sizes.count(-1) > 1:
        raise RuntimeError(
            f"unflatten: Provided sizes {sizes} don't multiply up to the size of dim {dim} ({shape[dim]}) in the input tensor"
        )
    return view(input, (*shape[:dim], *filled, *shape[dim + 1 :]))


@composite("view")
def ravel(input: Tensor) -> Tensor:
    """All elements in one dimension, one behind the other in memory: a view of a contiguous tensor, else a copy.

    >>> import tenfold
    >>> tenfold.ones(2, 3).ravel().shape
    tenfold.Size([6])
    """
    return view(input.contiguous(), (-1,))


@composite("view")
def narrow(input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """`length` elements of a dimension from `start` on.

    >>> import tenfold
    >>> tenfold.arange(5).narrow(0, 1, 2)
    tensor([1, 2])
    """
    n = input.dim()
    if n == 0:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if isinstance(start, Tensor) and (start.dim() or start.dtype.category != 1):
        raise RuntimeError("narrow(): start must be an 0-dim integral Tensor.")
    dim, start = wrap_dim(dim, n, "narrow"), as_int(start, "narrow", "start")
    size = input.size(dim)
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    if not -size <= start <= size:
        raise IndexError(f"narrow: Dimension out of range (expected to be in range of [{-size}, {size}], but got {start})")
    start += size if start < 0 else 0
    if start + length > size:
        raise RuntimeError(f"narrow: start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return op.getitem(input, (*(slice(None),) * dim, slice(start, start + length)))


@composite("view", mixed=True)
def view_as(input: Tensor, other: Tensor) -> Tensor:
    """A view with the shape of another tensor.

    >>> import tenfold
    >>> tenfold.arange(4).view_as(tenfold.ones(2, 2)).shape
    tenfold.Size([2, 2])
    """
    return view(input, tuple(other.shape))


@composite("view", mixed=True)
def reshape_as(input: Tensor, other: Tensor) -> Tensor:
    """A view or copy with the shape of another tensor.

    >>> import tenfold
    >>> tenfold.arange(4).reshape_as(tenfold.ones(2, 2)).shape
    tenfold.Size([2, 2])
    """
    return reshape(input, tuple(other.shape))


@composite("view", mixed=True)
def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """Expanded to the shape of another tensor.

    >>> import tenfold
    >>> tenfold.arange(2).expand_as(tenfold.ones(3, 2)).shape
    tenfold.Size([3, 2])
    """
    return expand(input, tuple(other.shape))


@composite("view")
def broadcast_to(input: Tensor, size: Ints) -> Tensor:
    """Expanded to a shape: `expand` under NumPy's name.

    >>> import tenfold
    >>> tenfold.arange(2).broadcast_to((3, 2)).shape
    tenfold.Size([3, 2])
    """
    return expand(input, tuple(size))


def tensors_of(given: Any) -> tuple[Any, ...]:
    """The tensors of a call f(a, b) or f([a, b]); TypeError for what is none."""
    found = tuple(given) if isinstance(given, (list, tuple)) else (given,)
    for i, x in enumerate(found):
        if not hasattr(type(x), "__torch_function__"):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {type(x).__name__}")
    return found


@composite("view", method=None)
def broadcast_tensors(tensors: Ints) -> tuple[Tensor, ...]:
    """The tensors, expanded to their common shape.

    >>> import tenfold
    >>> [t.shape for t in tenfold.broadcast_tensors(tenfold.ones(2, 1), tenfold.ones(3))]
    [tenfold.Size([2, 3]), tenfold.Size([2, 3])]
    """
    given = tensors_of(tensors)
    if has_torch_function(given):
        return handle_torch_function(broadcast_tensors, given, *given)
    shape = broadcast_shapes("broadcast_tensors", [x.shape for x in given])
    return tuple(x if x.shape == shape else expand(x, shape) for x in given)


@composite("view")
def adjoint(input: Tensor) -> Tensor:
    """The last two dimensions exchanged, conjugated for complex tensors.

    >>> import tenfold
    >>> tenfold.ones(2, 3).adjoint().shape
    tenfold.Size([3, 2])
    """
    if input.dim() == 1:
        raise RuntimeError("tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor.")
    swapped = transpose(input, -2, -1) if input.dim() else input
    return swapped.conj() if input.is_complex() else swapped


def _of_no_dimensions(name: str) -> None:
    """Warn that a matrix is transposed that is a number."""
    warn_once(name, f"{name} is deprecated on 0-D tensors.", 4)


def _reversed(self: Tensor) -> Tensor:
    """All dimensions in reverse order."""
    n = self.dim()
    if n == 0:
        _of_no_dimensions("Tensor.T")
    elif n != 2:
        warn_once(
            "T",
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated. "
            "Consider `x.mT` for batches of matrices, or `x.permute`.",
        )
    return transpose(self, 0, 1) if n == 2 else permute(self, tuple(range(n - 1, -1, -1)))


def _matrix_transposed(self: Tensor) -> Tensor:
    """The last two dimensions exchanged."""
    if self.dim() == 0:
        _of_no_dimensions("Tensor.mT")
        return self
    if self.dim() == 1:
        raise RuntimeError(f"tensor.mT is only supported on matrices or batches of matrices. Got {self.dim()}-D tensor.")
    return transpose(self, -2, -1)


def _conjugate_transposed(self: Tensor) -> Tensor:
    """A matrix transposed and conjugated."""
    if self.dim() not in (0, 2):
        raise RuntimeError(f"tensor.H is only supported on matrices (2-D tensors). Got {self.dim()}-D tensor.")
    if self.dim() == 0:
        _of_no_dimensions("Tensor.H")
    return adjoint(self)


def _batch_adjoint(self: Tensor) -> Tensor:
    """The last two dimensions exchanged, and conjugated for complex tensors."""
    if self.dim() == 1:
        raise RuntimeError(f"tensor.mH is only supported on matrices or batches of matrices. Got {self.dim()}-D tensor.")
    if self.dim() == 0:
        _of_no_dimensions("Tensor.mH")
    return adjoint(self)


Tensor.T = property(_reversed)  # type: ignore[method-assign, assignment]
Tensor.mT = property(_matrix_transposed)  # type: ignore[method-assign, assignment]
Tensor.H = property(_conjugate_transposed)  # type: ignore[method-assign, assignment]
Tensor.mH = property(_batch_adjoint)  # type: ignore[method-assign, assignment]
