"""Making sparse tensors: of coordinates and values, of dense tensors, and by PyTorch's legacy classes."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.sparse.coo import SparseTensor


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
    held = held.to(dtype=dtype or held.dtype, device=device or held.device)
    at = (indices if isinstance(indices, Tensor) else tenfold.tensor(indices)).to(dtype=tenfold.int64, device=held.device)
    if requires_grad:
        held = held.detach().requires_grad_()
    at, held = _counted(at, held)
    size = _least(at, held) if size is None else tuple(size)
    _check(at, held, size, check_invariants)
    return SparseTensor.of(at, held, size, bool(is_coalesced))


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
    if not at.numel() or not (check_invariants.is_enabled() if invariants is None else invariants):
        return
    for d, row in enumerate(at):
        if int(row.min()) < 0:
            raise RuntimeError(f"found negative index {int(row.min())} for dim {d}")
        if int(row.max()) >= size[d]:
            raise RuntimeError(
                f"size is inconsistent with indices: for dim {d}, size is {size[d]} but found index {int(row.max())}"
            )


def empty(size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> SparseTensor:
    """A tensor of a size, without elements."""
    at = tenfold.zeros(len(size), 0, dtype=tenfold.int64, device=device)
    return SparseTensor.of(at, tenfold.zeros(0, dtype=dtype, device=device, requires_grad=requires_grad), tuple(size))


def to_sparse(input: Tensor, sparse_dim: int | None = None, *, layout: Any = None, dense_dim: int | None = None) -> SparseTensor:
    """The elements of a dense tensor that are not zero; of the first `sparse_dim` dimensions the slices that are not."""
    if layout not in (None, tenfold.sparse_coo):
        raise NotImplementedError(f"to_sparse: the layout {layout} is not there yet, only {tenfold.sparse_coo}")
    n = input.ndim if sparse_dim is None else sparse_dim
    if not 0 <= n <= input.ndim or (n == 0 and input.ndim):
        raise RuntimeError(f"sparse_dim argument must be in >0 when tensor is not scalar and at most {input.ndim}, got {n}")
    stored = input != 0
    at = (stored.flatten(n).any(-1) if n < input.ndim else stored).nonzero().t()
    return SparseTensor.of(at, input[tuple(at)] if n else input.reshape(1)[: at.shape[1]], input.shape, coalesced=True)


def sparse_mask(input: Tensor, mask: SparseTensor) -> SparseTensor:
    """The elements of a dense tensor at the coordinates of a sparse one."""
    if input.shape != mask.shape:
        sizes = f"self has size {list(input.shape)} but mask has size {list(mask.shape)}"
        raise RuntimeError(f"sparse_mask(): operands have incompatible sizes; {sizes}")
    return SparseTensor.of(mask._at, input[tuple(mask._at)], mask.shape, mask._is_summed)


class check_invariants:  # noqa: N801 - PyTorch's name is sparse.check_sparse_tensor_invariants, and a function's
    """Whether coordinates are checked against sizes: a switch, a context and a decorator."""

    _on = False

    def __init__(self, enable: bool = True) -> None:
        self._wanted, self._before = enable, False

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

    def __enter__(self) -> None:
        self._before, check_invariants._on = check_invariants._on, self._wanted

    def __exit__(self, *exc: object) -> None:
        check_invariants._on = self._before


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
