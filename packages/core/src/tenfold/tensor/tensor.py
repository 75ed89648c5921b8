"""The Tensor: an array of a device, its place in the gradient graph, and what can be asked of it.

Operators are declared in `ops/` and installed here as methods; this module has what is not an operator: attributes,
its memory. What it is to Python and NumPy is in conversions.py, what it is to gradients in differentiable.py.
"""

from __future__ import annotations

from math import prod
from typing import Any
from weakref import ref

import numpy as np

from tenfold.dispatch.beneath import BeneathKey, asks
from tenfold.dispatch.devices import CPU, OverrideKey, device, located
from tenfold.dispatch.meta import Meta, contiguous_strides
from tenfold.dispatch.observed import observe
from tenfold.dispatch.overrides import default_torch_function, disabled_torch_function
from tenfold.dispatch.runtime import RUNTIME, STATE
from tenfold.dispatch.services import SERVICES
from tenfold.dispatch.spellings import as_int
from tenfold.tensor import conversions
from tenfold.tensor.differentiable import Differentiable
from tenfold.tensor.storage import Storage, mark_view, note_view, settle
from tenfold.types import dtypes
from tenfold.types.dtypes import FROM_NUMPY, dtype
from tenfold.types.memory_format import strided, with_steps
from tenfold.types.size import Size

new = object.__new__
_as_size = tuple.__new__  # a shape needs no check
host = conversions.host


class Tensor(Differentiable):
    """A multi-dimensional array of one dtype on one device; `tenfold.tensor(data)` makes one from data.

    >>> import tenfold
    >>> tenfold.Tensor([1, 2]).dtype
    tenfold.float32
    """

    # _array: the device's array. _key: the device, or what the dispatch must know instead. _node: the gradient node
    # that made it, or for a leaf that requires gradients its accumulator. _storage: shared memory and version, once
    # someone asked. The rest is unset until used; _origin says where a view came about that no recorded write may go
    # through: "no_grad", "inference", "several" (with other results of one operator), "function" (a custom one).
    __slots__ = ("__dict__", "__weakref__", "_array", "_base", "_grad", "_key", "_node", "_origin", "_storage")
    _array: Any
    _base: Tensor | None
    _grad: Tensor | None
    _key: Any
    _node: Any
    _origin: str
    _storage: Storage | None

    __torch_function__ = classmethod(default_torch_function)
    __array_priority__ = 1000  # NumPy arrays leave `array * tensor` to the tensor
    layout = strided
    is_sparse = is_quantized = is_mkldnn = is_nested = is_sparse_csr = False
    is_xpu = is_mps = is_xla = is_ipu = is_hpu = is_mtia = is_vulkan = is_maia = False

    def __new__(cls, *data: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Any:
        """PyTorch's legacy constructor: `Tensor(2, 3)` is uninitialised, `Tensor([2, 3])` holds the data."""
        made = SERVICES.legacy_tensor(data, device)
        return made if cls is Tensor else made.as_subclass(cls)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if asks(cls) and getattr(cls.__torch_function__, "__func__", None) is default_torch_function:
            cls.__torch_function__ = disabled_torch_function  # type: ignore[assignment]  # beneath the tape is where it wants to be asked
        observe(cls, Tensor)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # So that subclasses may call super().__init__() with anything.
        pass

    @staticmethod
    def _make_subclass(cls: type, data: Tensor, require_grad: bool = False, **_: Any) -> Any:  # noqa: PLW0211 - PyTorch's name
        """A tensor of class `cls` on the memory of `data`, outside the gradient graph."""
        made: Any = new(cls)
        made._array, made._storage, made._node, made._base = data._array, data._storage, None, None
        key = data._key
        made._key = key if key.level is not None else key_of(cls, key.device)
        if require_grad:
            made.requires_grad_(True)
        return made

    @staticmethod
    def _make_wrapper_subclass(
        cls: type,  # noqa: PLW0211 - PyTorch's name
        size: Any, strides: Any = None, storage_offset: int | None = None, memory_format: Any = None,
        dtype: Any = None, layout: Any = strided, device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
        dispatch_sizes_strides_policy: str | None = None, dispatch_device: bool = False, dispatch_layout: bool = False,
        **_: Any,
    ) -> Any:  # fmt: skip
        """A tensor of class `cls` that has a shape, a dtype and a device and no memory; its class answers operators.

        Raises RuntimeError for a class without `__torch_dispatch__`.
        """
        if not asks(cls):
            raise RuntimeError(
                f"_make_wrapper_subclass: {cls.__name__} defines no __torch_dispatch__, so nobody would answer for its tensors"
            )
        made: Any = new(cls)
        kind = dtypes.get_default_dtype() if dtype is None else dtype
        sizes = tuple(int(n) for n in size)
        steps = None if strides is None else tuple(int(n) * kind.itemsize for n in strides)
        made._array = Meta(sizes, kind.numpy, steps, (storage_offset or 0) * kind.itemsize)
        made._key = BeneathKey(
            located(device), getattr(cls, "__torch_function__", None) is not disabled_torch_function, wrapper=True
        )
        made._storage = made._node = made._base = None
        if requires_grad:
            made.requires_grad_(True)
        return made

    def as_subclass(self, cls: type) -> Any:
        """The same tensor, in the same place of the graph, as an instance of a subclass."""
        made = self._make_subclass(cls, self)
        made._node = self._node
        return made

    # Attributes

    def __dir__(self) -> list[str]:
        """The names that the tensor has; what only some tensors hold is listed for those."""
        return [name for name in super().__dir__() if name not in ("_grad", "_origin") or hasattr(self, name)]

    @property
    def shape(self) -> Size:
        """The sizes of the dimensions."""
        return _as_size(Size, self._array.shape)

    @property
    def dtype(self) -> dtype:
        return FROM_NUMPY[self._array.dtype]

    @property
    def device(self) -> device:
        return self._key.device  # type: ignore[no-any-return]

    @property
    def ndim(self) -> int:
        return len(self._array.shape)

    @property
    def itemsize(self) -> int:
        return int(self._array.dtype.itemsize)

    @property
    def nbytes(self) -> int:
        return self.numel() * self.itemsize

    def element_size(self) -> int:
        return self.itemsize

    def dim(self) -> int:
        return len(self._array.shape)

    ndimension = dim

    def size(self, dim: int | None = None) -> Any:
        """All sizes, or that of one dimension."""
        if dim is None:
            return _as_size(Size, self._array.shape)
        try:
            return self._array.shape[dim if type(dim) is not bool else as_int(dim, "size", "dim")]
        except IndexError:
            raise self._no_dimension(dim) from None

    def _no_dimension(self, dim: int) -> IndexError:
        n = max(self.dim(), 1)
        return IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})")

    def numel(self) -> int:
        return prod(self._array.shape)

    nelement = numel

    def stride(self, dim: int | None = None) -> Any:
        """Steps between neighbours along each dimension, in elements."""
        array = self._array
        itemsize = array.dtype.itemsize
        strides = tuple(s // itemsize for s in array.strides)
        if 0 in array.shape and not any(strides):  # NumPy's strides of a fresh empty array
            strides = contiguous_strides(array.shape)
        elif 0 in strides:
            strides = with_steps(array.shape, strides)
        if dim is None:
            return strides
        try:
            return strides[dim if type(dim) is not bool else as_int(dim, "stride", "dim")]
        except IndexError:
            raise self._no_dimension(dim) from None

    def is_contiguous(self, memory_format: Any = None) -> bool:
        """Whether the elements lie in memory in row-major order (or in the given memory format)."""
        if memory_format is not None and memory_format.order:
            return memory_format.holds(self)  # type: ignore[no-any-return]
        if type(self._array) is np.ndarray:
            return bool(self._array.flags.c_contiguous)
        step = self._array.dtype.itemsize
        if 0 in self._array.shape:
            return True
        for n, s in zip(reversed(self._array.shape), reversed(self._array.strides)):
            if n != 1:
                if s != step:
                    return False
                step *= n
        return True

    def is_floating_point(self) -> bool:
        return self.dtype.is_floating_point

    def is_complex(self) -> bool:
        return self.dtype.is_complex

    def is_signed(self) -> bool:
        return self.dtype.is_signed

    def is_inference(self) -> bool:
        """Whether the tensor was made in inference mode, and may not meet autograd."""
        return self._storage is not None and self._storage.inference

    def is_conj(self) -> bool:
        return False

    def is_neg(self) -> bool:
        return False

    @property
    def is_cuda(self) -> bool:
        return self.device.type == "cuda"

    @property
    def is_cpu(self) -> bool:
        return self._key.device is CPU

    @property
    def is_meta(self) -> bool:
        return self.device.type == "meta"

    def get_device(self) -> int:
        """The device's index, -1 on the CPU."""
        return -1 if self._key.device.index is None else self._key.device.index

    # Memory

    def untyped_storage(self) -> Storage:
        """The memory behind the tensor, shared with its views."""
        if self._storage is None:
            self._storage = Storage(self._array, self._key)
        return self._storage

    def storage(self) -> Any:
        """The memory as elements of the tensor's dtype (PyTorch's deprecated `TypedStorage`)."""
        return SERVICES.typed_storage(self)

    def _typed_storage(self) -> Any:
        return SERVICES.typed_storage(self, told=False)

    def storage_offset(self) -> int:
        """Elements between the storage's start and the tensor's first element."""
        return int(self._key.backend.memory(self._array)[2]) // self.itemsize

    def data_ptr(self) -> int:
        """Address of the first element, 0 for an empty tensor."""
        return int(self._key.backend.data_ptr(self._array))

    @property
    def _version(self) -> int:
        storage = self._storage
        if storage is None:
            return 0
        if storage.inference:
            raise RuntimeError("Inference tensors do not track version counter.")
        return storage.version - getattr(storage, "detached", 0)

    def is_set_to(self, tensor: Tensor) -> bool:
        """Whether both are the same view of the same memory."""
        shared = self.data_ptr() == tensor.data_ptr() if self.numel() else self.untyped_storage() is tensor.untyped_storage()
        return shared and self.shape == tensor.shape and self.stride() == tensor.stride()

    def _is_view(self) -> bool:
        return self._base is not None and not self.is_inference()

    @property
    def data(self) -> Tensor:
        """The same memory outside the gradient graph; writes through it are not seen by version checks."""
        if type(self._key) is BeneathKey:  # what it wraps only its class knows
            return self.detach()
        if self._key.level is not None:
            self._key.transform.refuse_data("accessing `data`")
        made = self._make_subclass(Tensor if is_plain(type(self)) else type(self), self)
        made._storage = None
        if self._storage is not None:
            self._storage.shown = True
            if self._storage.guarded:  # elements at one place are no less so
                made.untyped_storage().guarded = True
        return made  # type: ignore[no-any-return]

    @data.deleter
    def data(self) -> None:
        raise RuntimeError("Deleting tensor.data is not allowed. Delete tensor itself instead.")

    @data.setter
    def data(self, value: Tensor) -> None:
        if self._key.level is not None:
            self._key.transform.refuse_data("mutating directly with `.data`")
        if not isinstance(value, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
        if value.layout is not self.layout:
            raise RuntimeError(f"data: incompatible tensor type: {value.layout} for a tensor of {self.layout}")
        if self._node is not None and self._node.is_leaf and not (value.is_floating_point() or value.is_complex()):
            raise RuntimeError("data set to a tensor that requires gradients must be floating point or complex dtype")
        counted = 0 if self._storage is None or self._storage.inference else self._storage.version
        given = value._storage
        self._array, self._storage = value._array, given
        if not getattr(given, "inference", False) and (counted or (given is not None and given.version)):
            made = self._storage = Storage(self._array, value._key)  # it goes on counting from where it was, beside the other
            made.version, made.guarded = counted, given is not None and given.guarded
        self._key = value._key if is_plain(type(self)) else key_of(type(self), value._key.device)
        if self._node is not None and self._node.is_leaf:
            self._node._shape = value._array.shape  # that gradients will have from now on

    __hash__ = object.__hash__

    def __format__(self, spec: str) -> str:
        if type(self) is Tensor and not self._array.shape and self._key.level is None and not self.is_meta:
            return format(self.item(), spec)
        return object.__format__(self, spec)

    def __repr__(self, tensor_contents: Any = None) -> str:
        if self._key.level is not None:
            return self._key.transform.repr_of(self)  # type: ignore[no-any-return]
        return SERVICES.repr_of(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return SERVICES.deep_copy(self, memo)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return SERVICES.reduce(self)


def is_plain(cls: type) -> bool:
    """Whether instances of this class take the short path of operators."""
    return cls is Tensor or (getattr(cls, "__torch_function__", None) is disabled_torch_function and not asks(cls))


def key_of(cls: type, device: device) -> Any:
    """The key of tensors of a class: the device, or what says that the class wants to be asked."""
    if asks(cls):
        return BeneathKey(device, getattr(cls, "__torch_function__", None) is not disabled_torch_function)
    return device if is_plain(cls) else OverrideKey(device)


def wrap(array: Any, key: Any) -> Tensor:
    """A new plain tensor around a backend's array."""
    if type(array) is not key.array_type:
        array = key.coerce(array)
    t: Tensor = new(Tensor)
    t._array, t._key, t._node, t._storage, t._base = array, key, None, None, None
    if RUNTIME["INFERENCE"]:
        settle(t)
    return t


def wrap_all(arrays: Any, key: Any) -> tuple[Tensor, ...]:
    return getattr(arrays, "_make", tuple)([wrap(a, key) for a in arrays])


def share(view: Any, source: Any, differentiable: bool = True) -> None:
    """Note that `view` lies in the memory of `source`, and whether in-place writes to it are writes to the source."""
    view._storage = source.untyped_storage()
    if differentiable:
        view._base = source if source._base is None else source._base
        note_view(view, source)


def wrap_views(arrays: Any, key: Any, source: Any) -> tuple[Tensor, ...]:
    """The several views that one call returned: none of them may be written where that is recorded."""
    made = wrap_all(arrays, key)
    storage, base = source.untyped_storage(), source if source._base is None else source._base
    storage.mark()
    views = storage.views
    for view in made:
        view._storage, view._base, view._origin = storage, base, "several"
        views[id(view)] = ref(view)
        if not STATE.grad_enabled:
            mark_view(view, source)
    return made


RUNTIME.update(
    Tensor=Tensor, ref=ref, wrap=wrap, wrap_all=wrap_all, wrap_views=wrap_views, share=share,
    F32=dtypes.float32.numpy, F64=dtypes.float64.numpy, I64=dtypes.int64.numpy,
    WHOLE={np.dtype(f"i{n}"): range(-(1 << 8 * n - 1), 1 << 8 * n - 1) for n in (1, 2, 4)} | {np.dtype("u1"): range(256)},
)  # fmt: skip
