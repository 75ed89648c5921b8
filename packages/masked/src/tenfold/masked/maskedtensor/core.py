"""MaskedTensor: data, and a mask that says which elements there are."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import tenfold
from tenfold import Tensor
from tenfold.dispatch.observed import is_attribute
from tenfold.masked.maskedtensor.chosen import begin, reached
from tenfold.tensor.holding import Holding

Function = TypeVar("Function", bound=Callable[..., Any])
TABLE: dict[str, Callable[..., Any]] = {}
LAYOUTS = (tenfold.strided, tenfold.sparse_coo, tenfold.sparse_csr)


def knows(*names: str) -> Callable[[Function], Function]:
    """Decorator: the function carries out the operators of these names where an argument is a MaskedTensor."""

    def register(function: Function) -> Function:
        TABLE.update(dict.fromkeys(names, function))
        return function

    return register


def is_masked_tensor(obj: Any, /) -> bool:
    """Whether an object is a MaskedTensor."""
    return isinstance(obj, MaskedTensor)


class MaskedTensor(Holding):
    """Data beside a mask of the same shape and layout, true where an element is there.

    Operators reach this class by `__torch_function__`: elementwise ones leave the mask as it is, reductions pass over
    elements that are not there, and those that move elements move the mask along. What autograd records, it records of
    the data.

    >>> import tenfold
    >>> x = tenfold.masked.masked_tensor(tenfold.tensor([1.0, 2.0]), tenfold.tensor([True, False]))
    >>> x + 1
    MaskedTensor(
      [  2.0000,       --]
    )
    """

    _mask: Tensor

    @staticmethod
    def __new__(cls, data: Any, mask: Any, requires_grad: bool = False) -> Any:
        """The tensor of a copy of data and mask; a leaf."""
        check(data, mask)
        if data.requires_grad:
            warnings.warn(
                "It is not recommended to create a MaskedTensor with a tensor that requires_grad. "
                "To avoid this, you can use data.detach().clone()",
                UserWarning,
                stacklevel=2,
            )
        if requires_grad and not (data.dtype.is_floating_point or data.dtype.is_complex):
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        return cls.of(stored(data.detach(), mask).clone().requires_grad_(requires_grad), mask.detach().clone())

    @classmethod
    def of(cls, data: Tensor, mask: Tensor) -> MaskedTensor:
        """The tensor of just this data and mask, neither checked nor copied."""
        shown = data.detach()
        if shown.layout is not tenfold.strided:  # one element, shown everywhere, has the sizes that a tensor is asked for
            shown = tenfold.zeros((), dtype=data.dtype, device=data.device).expand(tuple(data.shape))
        made: MaskedTensor = cls._make_subclass(cls, shown)
        made._held, made._mask, made.layout = data, mask, data.layout
        made.is_sparse = made.is_sparse_coo() or made.is_sparse_csr()
        return made

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Carry an operator out by the table of those that know masks; TypeError names one that is not there."""
        operator = getattr(func, "op", None)
        name = operator.name if operator is not None else getattr(func, "__name__", str(func))
        if name in TABLE:
            return TABLE[name](*args, **(kwargs or {}))
        if operator is not None and operator.inplace_of is not None and operator.inplace_of.name in TABLE:
            return written(args[0], TABLE[operator.inplace_of.name](*args, **(kwargs or {})))
        if operator is None and is_attribute(func):
            return func(*args, **(kwargs or {}))
        raise TypeError(
            f"Multiple dispatch failed for 'torch._ops.aten.{name}.default'; all __torch_dispatch__ handlers returned "
            f"NotImplemented: a MaskedTensor has no {name}; call .to_tensor(value) first"
        )

    # What it is made of

    def get_data(self) -> Tensor:
        """The data, of which elements that are not there may be anything."""
        return self._held

    def get_mask(self) -> Tensor:
        """The mask, true where an element is there."""
        return self._mask

    def to_tensor(self, value: Any) -> Tensor:
        """A plain tensor with a value where no element is there."""
        return self._held.to_dense().masked_fill(~self._mask.to_dense(), value)

    def is_sparse_coo(self) -> bool:
        """Whether data and mask are stored by coordinates."""
        return self._held.layout is tenfold.sparse_coo

    def is_sparse_csr(self) -> bool:  # type: ignore[override]  # a tensor's attribute, and here a method: PyTorch's
        """Whether data and mask are stored by compressed rows."""
        return self._held.layout is tenfold.sparse_csr

    def to_dense(self, dtype: Any = None, *, masked_grad: bool | None = None) -> MaskedTensor:
        """Data and mask as strided tensors."""
        return MaskedTensor.of(self._held.to_dense(dtype), self._mask.to_dense())

    def to_sparse(self, *args: Any, **kwargs: Any) -> MaskedTensor:
        """Data and mask by coordinates: the elements that are there."""
        if self.is_sparse_coo():
            return self
        mask: Any = self._mask.to_dense().to_sparse()
        return MaskedTensor.of(self._held.to_dense().sparse_mask(mask), mask)

    to_sparse_coo = to_sparse

    def to_sparse_csr(self, *args: Any, **kwargs: Any) -> MaskedTensor:
        """Data and mask by compressed rows: the elements that are there."""
        mask: Any = self._mask.to_dense()
        mask = mask.to_sparse_csr()
        return MaskedTensor.of(self._held.to_dense().sparse_mask(mask), mask)

    def _gradient(self, g: Tensor) -> Tensor:
        return MaskedTensor.of(g, reached(self._held, self._mask))

    def _root(self, g: Any) -> tuple[Tensor, Any]:
        begin(self._held)
        held = self._held.to_dense()  # a sparse one's elements enter the graph as the dense tensor's do
        return held, g._held.to_dense() if isinstance(g, MaskedTensor) else g

    def backward(
        self, gradient: Any = None, retain_graph: bool | None = None, create_graph: bool = False, inputs: Any = None
    ) -> None:  # fmt: skip
        """Add the gradients of the data with respect to the graph's leaves to their `.grad`."""
        begin(self._held)
        gradient = gradient._held if isinstance(gradient, MaskedTensor) else gradient
        self._held.backward(gradient, retain_graph, create_graph, inputs=inputs)

    # Asked for without an operator

    def is_contiguous(self, memory_format: Any = None) -> bool:
        """Whether data and mask lie in memory row by row."""
        self._strided("is_contiguous")
        return self._held.is_contiguous() and self._mask.is_contiguous()

    def contiguous(self, memory_format: Any = None) -> MaskedTensor:
        """The same with data and mask row by row."""
        self._strided("is_contiguous")  # PyTorch's word for both
        return MaskedTensor.of(self._held.contiguous(), self._mask.contiguous())

    def _strided(self, what: str) -> None:
        if self._held.layout is not tenfold.strided:
            raise ValueError(f"MaskedTensors with sparse data do not have {what}")

    def tolist(self) -> Any:
        """Refused, as in PyTorch: elements that are not there have no number."""
        raise RuntimeError(".tolist() is not supported for tensor subclasses, got MaskedTensor")

    def numpy(self, *, force: bool = False) -> Any:
        """Refused, as in PyTorch: elements that are not there have no number."""
        raise RuntimeError(".numpy() is not supported for tensor subclasses.")

    def __repr__(self, tensor_contents: Any = None) -> str:
        from tenfold.masked.maskedtensor.printing import text_of  # is needed when one is printed, and few are

        return text_of(self)


def written(target: Any, result: Any) -> Any:
    """The result of an in-place operator in its first argument."""
    if target._held.requires_grad and target._held.is_leaf and tenfold.is_grad_enabled():
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
    if target._held.layout is tenfold.strided:
        target._held.copy_(result._held)
    else:
        target._held = result._held
    return target


def _is_plain(value: Any) -> bool:
    return isinstance(value, Tensor) and not isinstance(value, MaskedTensor)


def check(data: Any, mask: Any) -> None:
    """Refuse data and mask that do not belong together."""
    for name, value in (("data", data), ("mask", mask)):
        if not _is_plain(value):
            raise TypeError(f"{name} must be a Tensor")
    if data.layout != mask.layout:
        raise TypeError(f"data and mask must have the same layout. Got {data.layout} and {mask.layout}")
    if data.layout not in LAYOUTS:
        raise TypeError(f"data layout of {data.layout} is not supported")
    if data.dtype not in _DTYPES:
        raise TypeError(f"{data.dtype} is not supported in MaskedTensor")
    if mask.dtype is not tenfold.bool:
        raise TypeError("mask must have dtype bool")
    if data.dim() != mask.dim():
        raise ValueError("data.dim() must equal mask.dim()")
    if data.size() != mask.size():
        raise ValueError("data.size() must equal mask.size()")
    _check_places(stored(data, mask), mask)


_DTYPES = (
    tenfold.bool, tenfold.int8, tenfold.int16, tenfold.int32, tenfold.int64, tenfold.float16, tenfold.bfloat16, tenfold.float32,
    tenfold.float64, tenfold.uint8,
)  # fmt: skip


def stored(data: Any, mask: Any) -> Any:
    """The data of sparse tensors at the mask's places, where it stores another number of elements than the mask."""
    by_places = data.layout is tenfold.sparse_coo and data._nnz() != mask._nnz()
    return data.sparse_mask(mask.coalesce()) if by_places else data


def _check_places(data: Any, mask: Any) -> None:
    """Refuse sparse data and masks whose elements are at other places."""
    if data.layout is tenfold.sparse_coo:
        if not tenfold.equal(data.coalesce().indices(), mask.coalesce().indices()):
            raise ValueError("data and mask are both sparse COO tensors but do not have the same indices.")
    elif data.layout is tenfold.sparse_csr:
        same = tenfold.equal(data.crow_indices(), mask.crow_indices()) and tenfold.equal(data.col_indices(), mask.col_indices())
        if not same:
            raise ValueError("data and mask are both sparse CSR tensors but do not share either crow or col indices.")


def _masks_match(a: Any, b: Any) -> bool:
    """Whether two MaskedTensors have the same mask; anything without one fits."""
    if not (isinstance(a, MaskedTensor) and isinstance(b, MaskedTensor)):
        return True
    return tenfold.equal(a._mask.to_dense(), b._mask.to_dense())


def _tensors_match(a: Any, b: Any, exact: bool = True, rtol: float = 1e-05, atol: float = 1e-08) -> bool:
    """Whether two tensors have equal elements: exactly, or up to tolerances (nan equals nan then)."""
    if a.layout != b.layout or a.shape != b.shape:
        raise ValueError(f"cannot compare {a.layout} of {tuple(a.shape)} with {b.layout} of {tuple(b.shape)}")
    if a.dtype != b.dtype:
        b = b.to(a.dtype)
    a, b = a.to_dense(), b.to_dense()
    return tenfold.equal(a, b) if exact else tenfold.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True)
