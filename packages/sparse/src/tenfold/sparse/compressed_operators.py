"""Operators that know compressed layouts themselves: those of values alone, transposes, products, sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.sparse.compressed import BLOCKS, BY_ROW, CompressedTensor, batched
from tenfold.sparse.pointwise import CONVERSIONS, LINEAR, ZERO_KEEPING, of_held, zeros_like as zeros_like_coordinates
from tenfold.sparse.shapes import dimension
from tenfold.sparse.table import COMPRESSED
from tenfold.tensor.layouts import layout_name

OTHER = {
    tenfold.sparse_csr: tenfold.sparse_csc, tenfold.sparse_csc: tenfold.sparse_csr,
    tenfold.sparse_bsr: tenfold.sparse_bsc, tenfold.sparse_bsc: tenfold.sparse_bsr,
}  # fmt: skip


def knows(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: the function carries out the operators of these names where an argument is compressed."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        COMPRESSED.update(dict.fromkeys(names, function))
        return function

    return register


def _of_values(name: str) -> Any:
    def run(input: Any, *args: Any, **kwargs: Any) -> CompressedTensor:
        args = tuple(a._held if isinstance(a, CompressedTensor) else a for a in args)
        held = of_held(input, name, args, kwargs)
        return input if held is input._held else input.with_values(held)  # type: ignore[no-any-return]

    return run


for _name in f"{LINEAR} {CONVERSIONS} {ZERO_KEEPING}".split():
    COMPRESSED[_name] = _of_values(_name)


@knows("zero")
def zero(input: Any) -> Any:
    """The tensor without elements."""
    p = input._places.ndim - 1
    places, held = (x.narrow(p, 0, 0) for x in (input._places, input._held))
    return CompressedTensor.of(tenfold.zeros_like(input._starts), places, held, input.shape, input.layout)


@knows("ones_like")
def ones_like(input: Any, *, layout: Any = None, **kwargs: Any) -> Any:
    """Ones at the same places."""
    if layout not in (None, input.layout):
        raise _other_layout(input, layout)
    return input.with_values(tenfold.ones_like(input._held, **kwargs))


@knows("fill")
def fill(input: Any, value: Any) -> Any:
    """A number at the same places."""
    return input.with_values(tenfold.full_like(input._held, value))


@knows("normal_")
def normal_(input: Any, mean: float = 0.0, std: float = 1.0, *, generator: Any = None) -> Any:
    """Random numbers at the same places, in place."""
    input._held.normal_(mean, std, generator=generator)
    return input


@knows("mul", "multiply")
def mul(input: Any, other: Any) -> Any:
    """Product: with a number by the values, else in coordinates."""
    if not isinstance(input, CompressedTensor):
        input, other = other, input
    if not isinstance(other, Tensor) or (other.ndim == 0 and not isinstance(other, CompressedTensor)):
        return input.with_values(input._held * other)
    product = input.coordinates() * (other.coordinates() if isinstance(other, CompressedTensor) else other)
    return product.to_sparse(layout=input.layout, blocksize=_blocks(input))


def _blocks(x: CompressedTensor) -> Any:
    return x.blocksize if x.layout in BLOCKS else None


@knows("div", "divide", "true_divide")
def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    """Quotient by a number."""
    if isinstance(other, Tensor) and other.ndim:
        raise RuntimeError("Sparse division requires a scalar or zero-dim dense tensor divisor")
    return input.with_values(tenfold.div(input._held, other, rounding_mode=rounding_mode))


@knows("add")
def add(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """Sum: with a dense tensor dense, else in the first one's layout."""
    if isinstance(input, CompressedTensor) and isinstance(other, CompressedTensor):
        if input.shape != other.shape:
            raise RuntimeError(
                f"add: Expected input tensors to have the same shape, but got {list(input.shape)} and {list(other.shape)}"
            )
        total: Any = tenfold.add(input.coordinates(), other.coordinates(), alpha=alpha).coalesce()
        return total.to_sparse(layout=input.layout, blocksize=_blocks(input)).counted_in(input._places.dtype)
    dense = input.to_dense() if isinstance(input, CompressedTensor) else input
    return tenfold.add(dense, other.to_dense() if isinstance(other, CompressedTensor) else other, alpha=alpha)


@knows("sub", "subtract")
def sub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """Difference."""
    return add(input, other, alpha=-alpha)


@knows("transpose", "swapaxes", "swapdims")
def transpose(input: Any, dim0: int, dim1: int) -> Any:
    """Rows and columns exchanged, the same values in the other layout; or two dimensions of a batch."""
    n, dense = input.ndim, input.dense_dim()
    a, b = dimension(input, dim0), dimension(input, dim1)
    if dense:
        raise RuntimeError(
            f"transpose(): hybrid sparse compressed tensors with dense dimensions are not supported, got {dense} of them: "
            "transpose the coordinates, of to_sparse_coo()"
        )
    if a == b:
        return _viewed(input, input._held.view_as(input._held), input.shape, input.layout)
    size = list(input.shape)
    size[a], size[b] = size[b], size[a]
    if max(a, b) < n - 2:
        made = _viewed(input, input._held.transpose(a, b), size, input.layout)
        made._starts, made._places = made._starts.transpose(a, b), made._places.transpose(a, b)
        return made
    if {a, b} != {n - 2, n - 1}:
        kinds = ["Batch" if d < n - 2 else "Sparse" for d in (a, b)]
        raise RuntimeError(
            "transpose(): can only transpose dimensions of the same type (Batch, Sparse, Dense), "
            f"got {a}({kinds[0]}) and {b}({kinds[1]}): transpose the coordinates, of to_sparse_coo()"
        )
    p = input._places.ndim
    held = input._held.transpose(p, p + 1) if input.layout in BLOCKS else input._held.view_as(input._held)
    return _viewed(input, held, size, OTHER[input.layout])


def _viewed(input: CompressedTensor, held: Tensor, size: Any, layout: Any) -> CompressedTensor:
    made = CompressedTensor.of(input._starts, input._places, held, size, layout)
    made._base = input if input._base is None else input._base
    return made


@knows("t")
def t(input: Any) -> Any:
    """A matrix transposed."""
    if input.ndim != 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {input.ndim}D: use transpose(-2, -1)")
    return transpose(input, 0, 1)


COMPRESSED["T"] = t
COMPRESSED["mT"] = lambda input: transpose(input, -2, -1)
COMPRESSED["adjoint"] = lambda input: transpose(input, -2, -1).conj()


@knows("sum")
def sum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Sum of all elements, or along dimensions."""
    if dim is None:
        return tenfold.sum(input._held, dtype=dtype)
    total = input.coordinates().sum(dim, keepdim, dtype=dtype)
    return total.to_sparse(layout=input.layout).counted_in(input._places.dtype) if keepdim and total.is_sparse else total


@knows("zeros_like")
def zeros_like(
    input: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, layout: Any = None, **_: Any
) -> Any:
    """A tensor of the same sizes without elements, or in another sparse layout."""
    target = layout or input.layout
    kind = {"dtype": dtype or input.dtype, "device": device or input.device}
    if target is tenfold.sparse_coo:
        return zeros_like_coordinates(input.coordinates(), requires_grad=requires_grad, **kind)
    _check_zeros_like(input, target)
    p = input._places.ndim - 1
    held = input._held.detach().narrow(p, 0, 0).to(**kind).requires_grad_(requires_grad)
    places = input._places.narrow(p, 0, 0)
    d = 0 if target in BY_ROW else 1
    lines = int(input.shape[p + d]) // (input.blocksize[d] or 1)
    starts = input._starts.new_zeros((*input._starts.shape[:-1], lines + 1), device=held.device)
    return CompressedTensor.of(starts, places.to(held.device), held, input.shape, target)


def _check_zeros_like(input: CompressedTensor, target: Any) -> None:
    if target is tenfold.strided:
        raise _other_layout(input, target)
    if (target in BLOCKS) is not (input.layout in BLOCKS):
        word = "needs to be a tuple of size 2, but got 0" if target in BLOCKS else "cannot be specified for non-block layout"
        raise RuntimeError(f"zeros_like: blocksize {word}: {layout_name(input.layout)} to {layout_name(target)}")


def _other_layout(input: CompressedTensor, target: Any) -> RuntimeError:
    return RuntimeError(
        f"empty_like with different sparse layout is not supported (self is {layout_name(input.layout)} but you requested "
        f"{layout_name(target)})"
    )


@knows("empty_like")
def empty_like(
    input: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, layout: Any = None, **_: Any
) -> Any:
    """A tensor with as many elements at the same places, whatever they are."""
    if layout not in (None, input.layout):
        raise _other_layout(input, layout)
    held = tenfold.empty_like(input._held.detach(), dtype=dtype or input.dtype, device=device or input.device)
    made = CompressedTensor.of(input._starts.clone(), input._places.clone(), held, input.shape, input.layout)
    return made.requires_grad_(requires_grad)


@knows("copy_")
def copy_(input: Any, src: Any, non_blocking: bool = False) -> Any:
    """The elements of another tensor of the layout, in place."""
    if not isinstance(input, CompressedTensor):
        return input.copy_(src.to_dense())
    if src.layout is not input.layout:
        raise RuntimeError(
            "copy_: copy of sparse compressed tensors having different layouts is not supported. self layout is "
            f"{layout_name(input.layout)} and src layout is {layout_name(src.layout)}"
        )
    if src._nnz() != input._nnz():
        raise RuntimeError("copy_: only sparse compressed tensors with the same number of specified elements are supported.")
    _check_same_shape(input, src)
    input._starts, input._places = src._starts.clone(), src._places.clone()
    input._held = src._held.to(input.dtype).clone()
    return input


def _check_same_shape(input: CompressedTensor, src: CompressedTensor) -> None:
    pairs = zip(input.shape, src.shape, strict=False)
    other = next((d for d, (have, given) in enumerate(pairs) if have != given), min(input.ndim, src.ndim))
    if input.shape != src.shape:
        raise RuntimeError(
            f"copy_: expected shapes of self and src to match along dimension {other} for {layout_name(input.layout)} layout but "
            f"the shapes of self and src are {list(input.shape)} and {list(src.shape)}, respectively."
        )
    if input.blocksize != src.blocksize:
        raise RuntimeError(
            "copy_: copy of sparse compressed tensors having different block sizes is not supported. self and src block sizes "
            f"are {list(input.blocksize)} and {list(src.blocksize)}, respectively."
        )


@knows("equal")
def equal(input: Any, other: Any) -> bool:
    """Whether the elements are equal."""
    return tenfold.equal(input.to_dense(), other.to_dense())


@knows("bmm")
def bmm(input: Any, mat2: Any) -> Tensor:
    """Products of matrices, one by one."""
    return tenfold.stack([a @ b for a, b in zip(input, mat2, strict=True)])


@knows("select")
def select(input: Any, dim: int, index: int) -> Any:
    """One index of a dimension: of rows or columns by coordinates, of others in the layout."""
    d, size = dimension(input, dim), tuple(input.shape)
    if not -size[d] <= index < size[d]:
        raise IndexError(f"select(): index {index} out of range for tensor of size {list(size)} at dimension {d}")
    p = input._places.ndim  # the batch's dimensions and one
    rest = (*size[:d], *size[d + 1 :])
    if d < p - 1:
        starts, places, held = (x.select(d, index) for x in (input._starts, input._places, input._held))
        return CompressedTensor.of(starts, places, held, rest, input.layout)
    if d > p:
        held = input._held.select(d - 1 + (2 if input.layout in BLOCKS else 0), index)
        return CompressedTensor.of(input._starts, input._places, held, rest, input.layout)
    if p > 1:
        raise RuntimeError(
            "select(): selecting sparse dimensions is not supported for batched sparse compressed tensors: select a matrix first"
        )
    return input.coordinates().select(d, index)


@knows("unbind")
def unbind(input: Any, dim: int = 0) -> tuple[Any, ...]:
    """Every index of a dimension."""
    return tuple(select(input, dim, i) for i in range(input.shape[dimension(input, dim)]))


def sampled_addmm(input: Any, mat1: Tensor, mat2: Tensor, *, beta: Any = 1.0, alpha: Any = 1.0, out: Any = None) -> Any:
    """beta * input + alpha * mat1 @ mat2, at the places that the sparse `input` has: only those products are computed.

    >>> import tenfold
    >>> x = tenfold.sparse_csr_tensor([0, 1, 1], [1], [0.0], (2, 2))
    >>> tenfold.sparse.sampled_addmm(x, tenfold.ones(2, 3), tenfold.ones(3, 2)).values()
    tensor([3.])
    """
    if not isinstance(input, CompressedTensor) or input.layout is not tenfold.sparse_csr:
        raise RuntimeError("sampled_addmm: Expected self to be a CSR tensor")
    for name, matrix in (("mat1", mat1), ("mat2", mat2)):
        if matrix.layout is not tenfold.strided:
            raise RuntimeError(
                f"sampled_addmm: Expected {name} to have strided layout, but got {matrix.layout}; call .to_dense()"
            )
    _check_sampled(input.shape, mat1.shape, mat2.shape)
    made = _sampled(input, mat1, mat2, beta, alpha)
    return made if out is None else copy_(out, made)


def _sampled(input: CompressedTensor, mat1: Tensor, mat2: Tensor, beta: Any, alpha: Any) -> CompressedTensor:
    """The products at the places of one matrix, which is there for all where there are several of the others."""
    if mat1.ndim > 2:
        own = [input if input.ndim == 2 else input.batch(i) for i in range(len(mat1))]
        parts = [_sampled(x, a, b, beta, alpha) for x, a, b in zip(own, mat1, mat2, strict=True)]
        return batched(parts, input.layout)
    row, column = input.coordinates()._at
    products = (mat1[row] * mat2.t()[column]).sum(-1)
    return input.with_values(input._held * beta + products * alpha)


def _check_sampled(shape: Any, first: Any, second: Any) -> None:
    for name, matrix in (("mat1", first), ("mat2", second)):
        if len(matrix) < 2:
            raise RuntimeError(f"sampled_addmm: Expected {name} to be a matrix, got one of shape {list(matrix)}")
    if first[-1] != second[-2]:
        sizes = " and ".join("x".join(map(str, s[-2:])) for s in (first, second))
        raise RuntimeError(f"sampled_addmm: mat1 and mat2 shapes cannot be multiplied ({sizes})")
    for d, name, matrix in ((-2, "mat1", first), (-1, "mat2", second)):
        if shape[d] != matrix[d]:
            raise RuntimeError(
                f"sampled_addmm: self.shape[{d}] must match {name}.shape[{d}], got shapes {list(shape)} and {list(matrix)}"
            )
    batches = [tuple(sizes[:-2]) for sizes in (shape, first, second)]
    for name, a, b in (("mat1 and mat2", batches[1], batches[2]), ("self and mat1", batches[0] or batches[1], batches[1])):
        if a != b:
            raise RuntimeError(f"sampled_addmm: Expected {name} to have the same batch size, but got {list(a)} and {list(b)}")
