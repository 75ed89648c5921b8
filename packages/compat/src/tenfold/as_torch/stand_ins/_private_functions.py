"""Functions of `torch` with names that begin with an underscore, which PyTorch's own layers and programs' tests call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.types.dtypes import c_name, type_name

_LAYOUTS = {"strided": "Strided", "sparse_coo": "Sparse"}


class _Symbols(type):
    def __instancecheck__(cls, value: object) -> bool:
        return bool(getattr(type(value), "is_symbolic", False))


class SymInt(metaclass=_Symbols):
    """The class that sizes without one number count to: lengths of ragged dimensions, `nested.shape[1]`. Others are ints."""


def _assert_tensor_metadata(
    a: Tensor, size: Sequence[int] | None = None, stride: Sequence[int] | None = None, dtype: Any = None, *,
    device: Any = None, layout: Any = None,
) -> None:  # fmt: skip
    """RuntimeError unless a tensor has these sizes, strides, dtype, device and layout, as far as they are given.

    >>> _assert_tensor_metadata(tenfold.ones(2), [3])
    Traceback (most recent call last):
    RuntimeError: Tensor sizes mismatch! Expected: [3], Got: [2]
    """
    shown = _LAYOUTS.get
    found = {
        "sizes": None if size is None else (list(size), list(a.shape)),
        "strides": None if stride is None else (list(stride), list(a.stride())),
        "dtype": None if dtype is None else (type_name(dtype), c_name(a.dtype)),
        "device": None if device is None else (tenfold.device(device), a.device),
        "layout": None if layout is None else tuple(shown(str(v).rpartition(".")[2], str(v)) for v in (layout, a.layout)),
    }
    same = {"dtype": dtype is a.dtype}
    for name, pair in found.items():
        if pair is not None and not same.get(name, pair[0] == pair[1]):
            raise RuntimeError(f"Tensor {name} mismatch! Expected: {pair[0]}, Got: {pair[1]}")


def _unique(self: Tensor, sorted: bool = True, return_inverse: bool = False) -> tuple[Tensor, Tensor]:
    """The different elements and, where asked for, which of them each element is; else an empty tensor.

    >>> _unique(tenfold.tensor([3, 1, 3]), return_inverse=True)
    (tensor([1, 3]), tensor([1, 0, 1]))
    """
    return _unique2(self, sorted, return_inverse)[:2]


def _unique2(
    self: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """`_unique` with the number of times that each is there."""
    values, inverse, counts = tenfold.unique(self, sorted, True, True)
    nothing = inverse.new_empty(0)
    return values, inverse if return_inverse else nothing, counts if return_counts else nothing.clone()


def _compute_linear_combination(input: Tensor, coefficients: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Sums of the tensors input[0], input[1], ... with the weights of each row of coefficients, added to `out` if given."""
    found = tenfold.tensordot(coefficients.to(input.dtype), input, 1)
    return found if out is None else out.add_(found)


def _debug_has_internal_overlap(self: Tensor) -> int:
    """0: no element of a tensor shares memory with another; 1: some do; 2: that is not told by its strides alone.

    >>> [_debug_has_internal_overlap(x) for x in (tenfold.ones(2), tenfold.ones(1).expand(2), tenfold.ones(4)[::2])]
    [0, 1, 2]
    """
    if any(stride == 0 and size > 1 for size, stride in zip(self.shape, self.stride())):
        return 1
    kept = sorted((stride, size) for size, stride in zip(self.shape, self.stride()) if size != 1)
    step = 1
    for stride, size in kept:
        if self.numel() and stride != step:
            return 2
        step *= size
    return 0


def _neg_view(self: Tensor) -> Tensor:
    """The negative; PyTorch computes it later, in the same memory."""
    return tenfold.neg(self)


def _efficientzerotensor(*size: Any, **options: Any) -> Tensor:
    """Zeros, which have no memory in PyTorch."""
    return tenfold.zeros(*size, **options)


def _add_relu(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """The positive part of a sum.

    >>> _add_relu(tenfold.tensor([1.0, -3.0]), 2)
    tensor([3., 0.])
    """
    return tenfold.relu(tenfold.add(input, other, alpha=alpha))


def _softmax(self: Tensor, dim: int, half_to_float: bool) -> Tensor:
    """Softmax over a dimension. RuntimeError where the result is to be float32 of half precision, which GPUs compute."""
    return tenfold.softmax(_not_widened(self, half_to_float), dim)


def _log_softmax(self: Tensor, dim: int, half_to_float: bool) -> Tensor:
    """The logarithm of `_softmax`."""
    return tenfold.log_softmax(_not_widened(self, half_to_float), dim)


def _not_widened(input: Tensor, half_to_float: bool) -> Tensor:
    if half_to_float and input.is_cpu:
        raise RuntimeError("softmax with half to float conversion is not supported on CPU; convert by .float()")
    return input.float() if half_to_float else input


def _masked_softmax(self: Tensor, mask: Tensor, dim: int | None = None, mask_type: int | None = None) -> Tensor:
    """Softmax (over the last dimension by default) of the elements where a boolean mask is False; 0 where it is True.

    mask_type: 0 for a mask (T, T) of an input (B, H, T, T), 1 for (B, T), 2 (default where the shapes are equal) for one of the
    input's shape. Where a row has no element that counts, all of it is nan.

    >>> _masked_softmax(tenfold.zeros(1, 3), tenfold.tensor([[False, False, True]]))
    tensor([[0.5000, 0.5000, 0.0000]])
    """
    if mask.dtype is not tenfold.bool:
        raise RuntimeError(f"Mask should be a boolean tensor, got {mask.dtype}")
    if mask_type is None:
        if self.dim() == 4:
            raise RuntimeError("Mask Type should be defined: 0, 1 or 2")
        mask_type = 2
    if mask_type not in (0, 1, 2):
        raise RuntimeError(f"Mask Type should be 0 (src_mask) or 1 (src_key_padding_mask), or 2 (default_mask), got {mask_type}")
    B, L = self.shape[0], self.shape[-1]
    small = {0: ((L, L), "(L, L)"), 1: ((B, L), "(B, L)")}.get(mask_type) if self.dim() == 4 else None
    if mask.shape != self.shape and (small is None or mask.shape != small[0]):
        wanted = "match input shape" if small is None else f"be {small[1]}"
        raise RuntimeError(
            f"For mask_type == {2 if small is None else mask_type} mask shape should {wanted}, got {list(mask.shape)} and an "
            f"input {list(self.shape)}"
        )
    if mask_type == 1 and mask.shape != self.shape:
        mask = mask.reshape(B, 1, 1, L)
    return tenfold.softmax(self.masked_fill(mask, float("-inf")), self.dim() - 1 if dim is None else dim)


def _register_device_module(device_type: str, module: Any) -> None:
    """Make a module `torch.TYPE` for a kind of device; RuntimeError where one is there."""
    kind = tenfold.device(device_type).type
    known = vars(tenfold).get(kind)
    if kind in ("cpu", "cuda", "meta") or known is not None:
        raise RuntimeError(f"The runtime module of '{kind}' has already been registered with '{known}'")
    setattr(tenfold, kind, module)


def _test_check_tensor(self: Tensor) -> Tensor:
    """A copy of a tensor whose elements are all true; RuntimeError for others."""
    if not bool(self.all()):
        raise RuntimeError("Test message for TORCH_CHECK_TENSOR_ALL")
    return self.clone()


def set_vital(vital: str, attr: str, value: str) -> bool:
    """False: PyTorch's record of what a program uses, which `TORCH_VITAL` switches on there, is not kept."""
    return False
