"""Making sparse tensors: of coordinates and values, of dense tensors, and by PyTorch's legacy classes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

import tenfold
from tenfold import Tensor
from tenfold.dispatch.overrides import handle_torch_function, has_torch_function
from tenfold.sparse.compressed import BLOCKS, BY_ROW, LAYOUTS, CompressedTensor, compressed
from tenfold.sparse.conversions import check_conversion
from tenfold.sparse.coo import SparseTensor, _keys
from tenfold.sparse.invariants import check_compressed
from tenfold.tensor.layouts import layout_name

Constructor = TypeVar("Constructor", bound=Callable[..., Any])


def _asking(constructor: Constructor) -> Constructor:
    """The constructor, made a function that asks modes and the classes of its arguments."""

    @functools.wraps(constructor)
    def asked(*args: Any, **kwargs: Any) -> Any:
        if has_torch_function(args):
            return handle_torch_function(asked, args, *args, **kwargs)
        return constructor(*args, **kwargs)

    return cast(Constructor, asked)


def _on_one_device(values: Tensor, **indices: Any) -> None:
    """RuntimeError where tensors of indices are elsewhere than the values, and no device was named for both."""
    for name, given in indices.items():
        if isinstance(given, Tensor) and given.device != values.device:
            raise RuntimeError(
                f"device of {name} ({given.device}) must match device of values ({values.device}): move one, or pass device="
            )


@_asking
def sparse_coo_tensor(
    indices: Any = None,
    values: Any = None,
    size: Any = None,
    *,
    dtype: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    is_coalesced: bool | None = None,
) -> SparseTensor:
    """A tensor of the elements at these coordinates, zero elsewhere.

    Shape: indices (sparse_dim, nnz); values (nnz, *dense sizes); `size` as small as holds them when it is not given.
    Dtype: that of the values unless given.

    Raises:
        RuntimeError: counts that differ; with `check_invariants`, coordinates outside the size.

    >>> import tenfold
    >>> tenfold.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3)).to_dense()
    tensor([[0., 0., 3.],
            [4., 0., 0.]])
    """
    if values is None:
        return empty(indices if size is None else size, dtype, device, requires_grad)
    held = values if isinstance(values, Tensor) else tenfold.tensor(values)
    if device is None:
        _on_one_device(held, indices=indices)
    held = held.to(dtype=dtype or held.dtype, device=device or held.device)
    at = (indices if isinstance(indices, Tensor) else tenfold.tensor(indices)).to(dtype=tenfold.int64, device=held.device)
    if requires_grad:
        held = held.detach().requires_grad_()
    at, held = _counted(at, held)
    size = _least(at, held) if size is None else tuple(size)
    _check(at, held, size, check_invariants)
    # Tensors of their own on the same memory: what changes the given ones' sizes in place does not change these.
    at, held = at.detach(), held if held.requires_grad else held.detach()
    made = SparseTensor.of(at, held, size, at.shape[1] < 2 if is_coalesced is None else is_coalesced)
    if is_coalesced and _are_checked(check_invariants):
        keys = _keys(at, size[: at.shape[0]])
        if not bool((keys[1:] > keys[:-1]).all()):
            raise RuntimeError("cannot set is_coalesced to true if indices correspond to uncoalesced COO tensor")
    return made


def _counted(at: Tensor, held: Tensor) -> tuple[Tensor, Tensor]:
    if at.ndim != 2 and not (at.ndim == 1 and not at.numel()):
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(at.shape)}")
    at = at if at.ndim == 2 else at.reshape(1, 0)
    held = held if held.ndim else held.expand(at.shape[1])
    if at.shape[1] != held.shape[0]:
        raise RuntimeError(
            f"indices and values must have same nnz, but got nnz from indices: {at.shape[1]}, nnz from values: {held.shape[0]}"
        )
    return at, held


def _least(at: Tensor, held: Tensor) -> tuple[int, ...]:
    if not at.shape[1]:
        return (*(0 for _ in range(at.shape[0])), *held.shape[1:])
    if at.numel() and int(at.min()) < 0:
        raise RuntimeError(f"found negative index {int(at.min())}")
    return (*(int(n) + 1 for n in at.amax(1)), *held.shape[1:])


def _check(at: Tensor, held: Tensor, size: tuple[int, ...], invariants: bool | None) -> None:
    if len(size) != at.shape[0] + held.ndim - 1:
        raise RuntimeError(
            f"number of dimensions must be sparse_dim ({at.shape[0]}) + dense_dim ({held.ndim - 1}), but got {len(size)}"
        )
    if tuple(held.shape[1:]) != size[at.shape[0] :]:
        raise RuntimeError(f"values has incorrect size, expected {[held.shape[0], *size[at.shape[0] :]]}, got {list(held.shape)}")
    if not at.numel() or not _are_checked(invariants):
        return
    for d, row in enumerate(at):
        if int(row.min()) < 0:
            raise RuntimeError(f"found negative index {int(row.min())} for dim {d}")
        if int(row.max()) >= size[d]:
            raise RuntimeError(
                f"size is inconsistent with indices: for dim {d}, size is {size[d]} but found index {int(row.max())}"
            )


def empty(
    size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, sparse_dim: int | None = None
) -> SparseTensor:  # fmt: skip
    """A tensor of a size, without elements."""
    n = len(size) if sparse_dim is None else sparse_dim
    at = tenfold.zeros(n, 0, dtype=tenfold.int64, device=device)
    held = tenfold.zeros(0, *size[n:], dtype=dtype, device=device, requires_grad=requires_grad)
    return SparseTensor.of(at, held, tuple(size), coalesced=True)


def without_elements(
    size: Any, layout: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, sparse_dim: int | None = None
) -> Any:
    """A tensor of a size in a sparse layout that stores nothing; blocks have no size of their own, so those are refused."""
    if layout is tenfold.sparse_coo:
        return empty(size, dtype, device, requires_grad, sparse_dim)
    if layout in BLOCKS:
        name = layout_name(layout)
        raise RuntimeError(
            f"empty_sparse_compressed expected sparse compressed (non-block) tensor layout but got {name}: use to_sparse(), "
            "which takes the size of blocks"
        )
    if len(size) < 2:
        raise RuntimeError(
            f"torch.empty: Only batched sparse compressed (non-block) tensors are supported, but got size {list(size)}"
        )
    *batch, M, N = size
    starts = tenfold.zeros(*batch, (M if layout in BY_ROW else N) + 1, dtype=tenfold.int64, device=device)
    places = tenfold.zeros(*batch, 0, dtype=tenfold.int64, device=device)
    held = tenfold.zeros(*batch, 0, dtype=dtype, device=device, requires_grad=requires_grad)
    return CompressedTensor.of(starts, places, held, tuple(size), layout)


@_asking
def sparse_compressed_tensor(
    compressed_indices: Any,
    plain_indices: Any,
    values: Any,
    size: Any = None,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> CompressedTensor:
    """A tensor of compressed rows or columns, as `layout` says.

    Shape: compressed_indices (*, rows + 1), plain_indices (*, nnz), values (*, nnz, *dense sizes); in the layouts of
    blocks rows and columns are those of blocks, and values (*, nnz, H, W, *dense sizes).

    Raises:
        RuntimeError: with `check_invariants`, whatever the layout forbids.

    >>> import tenfold
    >>> tenfold.sparse_csc_tensor([0, 1, 1, 2], [0, 1], [1.0, 2.0]).to_dense()
    tensor([[1., 0., 0.],
            [0., 0., 2.]])
    """
    if layout not in LAYOUTS:
        raise RuntimeError(f"sparse_compressed_tensor: expected a compressed layout, got {layout}")
    held = values if isinstance(values, Tensor) else tenfold.tensor(values)
    if device is None:
        _on_one_device(held, compressed_indices=compressed_indices, plain_indices=plain_indices)
    held = held.to(dtype=dtype or held.dtype, device=device or held.device)
    if requires_grad:
        held = held.detach().requires_grad_()
    starts, places = (
        (x if isinstance(x, Tensor) else tenfold.tensor(x, dtype=tenfold.int64)).to(held.device)
        for x in (compressed_indices, plain_indices)
    )
    size = _size_of(starts, places, held, layout) if size is None else tuple(size)
    if _are_checked(check_invariants):
        check_compressed(starts, places, held, size, layout)
    return CompressedTensor.of(starts, places, held, size, layout)


def _are_checked(asked: bool | None) -> bool:
    return check_invariants.is_enabled() if asked is None else asked


def _size_of(starts: Tensor, places: Tensor, held: Tensor, layout: Any) -> tuple[int, ...]:
    n = places.ndim
    H, W = (held.shape[n], held.shape[n + 1]) if layout in BLOCKS else (1, 1)
    rest = held.shape[n + 2 :] if layout in BLOCKS else held.shape[n:]
    lines, width = starts.shape[-1] - 1, int(places.max()) + 1 if places.numel() else 0
    rows, columns = (lines, width) if layout in BY_ROW else (width, lines)
    return (*places.shape[:-1], rows * H, columns * W, *rest)


def _compressed_constructor(name: str, layout: Any) -> Any:
    def construct(
        compressed_indices: Any = None, plain_indices: Any = None, values: Any = None, size: Any = None, **options: Any
    ) -> CompressedTensor:
        starts, places = ("crow_indices", "col_indices") if layout in BY_ROW else ("ccol_indices", "row_indices")
        compressed_indices = options.pop(starts, compressed_indices)
        plain_indices = options.pop(places, plain_indices)
        if options.pop("layout", layout) is not layout:
            raise RuntimeError(f"{name}: the layout is {layout}")
        return sparse_compressed_tensor(compressed_indices, plain_indices, values, size, layout=layout, **options)

    construct.__name__ = construct.__qualname__ = name
    construct.__doc__ = f"`sparse_compressed_tensor` of the layout {layout.name}."
    return _asking(construct)


def _validate_sparse_compressed_tensor_args(
    compressed_indices: Tensor, plain_indices: Tensor, values: Tensor, size: Any, layout: Any
) -> None:
    """RuntimeError where these parts do not make a tensor of the layout."""
    check_compressed(compressed_indices, plain_indices, values, tuple(size), layout)


sparse_csr_tensor = _compressed_constructor("sparse_csr_tensor", tenfold.sparse_csr)
sparse_csc_tensor = _compressed_constructor("sparse_csc_tensor", tenfold.sparse_csc)
sparse_bsr_tensor = _compressed_constructor("sparse_bsr_tensor", tenfold.sparse_bsr)
sparse_bsc_tensor = _compressed_constructor("sparse_bsc_tensor", tenfold.sparse_bsc)


def to_sparse(
    input: Tensor, sparse_dim: int | None = None, *, layout: Any = None, blocksize: Any = None, dense_dim: int | None = None
) -> Any:
    """The elements of a dense tensor that are not zero; of the first `sparse_dim` dimensions the slices that are not."""
    if isinstance(blocksize, (list, tuple)) and len(blocksize) != 2:
        raise RuntimeError(f"to_sparse: blocksize needs to be a tuple of size 2, but got {len(blocksize)}")
    if isinstance(input, CompressedTensor):
        return input.to_sparse(sparse_dim, layout=layout, blocksize=blocksize, dense_dim=dense_dim)
    if layout in LAYOUTS:
        if isinstance(input, SparseTensor):
            check_conversion(input, layout, blocksize=blocksize, dense_dim=dense_dim)
        return compressed(input, layout, blocksize, dense_dim)
    if layout is not None:
        check_conversion(input, layout, blocksize=blocksize)
    most = 0 if layout is tenfold.strided else input.ndim - 1
    if dense_dim is not None and not 0 <= dense_dim <= max(most, 0):
        raise RuntimeError(f"to_sparse: dense_dim argument must be in [0,{max(most, 0)}] range, but {dense_dim} is given")
    if layout is tenfold.strided:
        return input
    n = sparse_dim if sparse_dim is not None else input.ndim - (dense_dim or 0)
    if not 0 <= n <= input.ndim or (n == 0 and input.ndim):
        raise RuntimeError(f"sparse_dim argument must be in >0 when tensor is not scalar and at most {input.ndim}, got {n}")
    stored = input != 0
    at = (stored.flatten(n).any(-1) if n < input.ndim else stored).nonzero().t()
    return SparseTensor.of(at, input[tuple(at)] if n else input.reshape(1)[: at.shape[1]], input.shape, coalesced=True)


def sparse_mask(input: Any, mask: Any) -> Any:
    """The elements of a tensor at the places of a sparse one; 0 where a sparse input has none."""
    if input.shape != mask.shape:
        sizes = f"self has size {list(input.shape)} but mask has size {list(mask.shape)}"
        raise RuntimeError(f"sparse_mask(): operands have incompatible sizes; {sizes}")
    if isinstance(mask, CompressedTensor):
        if mask.layout in BLOCKS:
            raise NotImplementedError(f"sparse_mask: a mask of the layout {mask.layout} is not there yet")
        if mask.layout is tenfold.sparse_csc:  # its elements stand as those of the transposed matrix do, by rows
            row = mask._places.ndim - 1
            turned = (x.transpose(row, row + 1) for x in (input, mask))
            return mask.with_values(sparse_mask(*turned)._held)
        return mask.with_values(_elements(input, mask.coordinates()._at).reshape(mask._held.shape))
    return SparseTensor.of(mask._at, _elements(input, mask._at), mask.shape, mask._is_summed)


def _elements(input: Any, at: Tensor) -> Tensor:
    """The elements at coordinates."""
    if isinstance(input, CompressedTensor):
        input = input.coordinates()
    if not isinstance(input, SparseTensor):
        return input[tuple(at)] if len(at) else input.reshape(1).expand(at.shape[1])  # type: ignore[no-any-return]
    x = input.coalesce()
    sizes = x.shape[: x.sparse_dim()]
    keys, wanted = _keys(x._at, sizes), _keys(at, sizes)
    if not len(keys):
        return x._held.new_zeros((len(wanted), *x._held.shape[1:]))
    place = tenfold.searchsorted(keys, wanted).clamp(max=len(keys) - 1)
    found = (keys[place] == wanted).reshape(-1, *[1] * (x._held.ndim - 1))
    return tenfold.where(found, x._held[place], tenfold.zeros((), dtype=x.dtype, device=x.device))


class check_invariants:  # noqa: N801 - PyTorch's name is sparse.check_sparse_tensor_invariants, and a function's
    """Whether coordinates are checked against sizes: a switch, a context and a decorator."""

    _on = False

    def __init__(self, enable: bool = True) -> None:
        self._wanted, self._before, self._entered = enable, False, False

    @classmethod
    def is_enabled(cls) -> bool:
        """Whether they are."""
        return cls._on

    @classmethod
    def enable(cls) -> None:
        """Check them from here on."""
        check_invariants._on = True

    @classmethod
    def disable(cls) -> None:
        """Check them no more."""
        check_invariants._on = False

    def __call__(self, function: Any) -> Any:
        """Decorate a function: checks are as wanted while it runs."""

        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            with check_invariants(self._wanted):
                return function(*args, **kwargs)

        return run

    def __enter__(self) -> None:
        if self._entered:
            raise RuntimeError(
                "This context manager instance is already activated. Use a different context manager instance for context nesting"
            )
        self._entered = True
        self._before, check_invariants._on = check_invariants._on, self._wanted

    def __exit__(self, *exc: object) -> None:
        check_invariants._on, self._entered = self._before, False


class _LegacyClass(type):
    """The class of `sparse.FloatTensor` and its kin, whose calls make tensors."""

    dtype: Any

    def __call__(cls, *data: Any) -> SparseTensor:
        if data and isinstance(data[0], Tensor):
            return sparse_coo_tensor(*data, dtype=cls.dtype)
        return empty(data[0] if len(data) == 1 and not isinstance(data[0], int) else data, cls.dtype)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, SparseTensor) and instance.dtype is cls.dtype


LEGACY = {
    title + "Tensor": _LegacyClass(title + "Tensor", (), {"dtype": dtype, "__module__": "tenfold.sparse"})
    for title, dtype in {
        "Float": tenfold.float32, "Double": tenfold.float64, "Half": tenfold.float16, "BFloat16": tenfold.bfloat16,
        "Long": tenfold.int64, "Int": tenfold.int32, "Short": tenfold.int16, "Char": tenfold.int8, "Byte": tenfold.uint8,
    }.items()
}  # fmt: skip
