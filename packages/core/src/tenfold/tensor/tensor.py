"""The Tensor: an array of a device, its place in the gradient graph, and what can be asked of it.

Operators are declared in `ops/` and installed here as methods; this module has what is not an operator: attributes,
conversion to Python and NumPy, and the hand-over to autograd.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np

from tenfold.dispatch.beneath import BeneathKey, asks
from tenfold.dispatch.devices import CPU, OverrideKey, device, located
from tenfold.dispatch.meta import Meta, contiguous_strides
from tenfold.dispatch.observed import observe
from tenfold.dispatch.overrides import default_torch_function, disabled_torch_function
from tenfold.dispatch.runtime import RUNTIME, STATE
from tenfold.dispatch.services import SERVICES
from tenfold.tensor.storage import Storage, note_view, settle
from tenfold.types import dtypes
from tenfold.types.dtypes import FROM_NUMPY, dtype
from tenfold.types.memory_format import strided, with_steps
from tenfold.types.narrow import widened
from tenfold.types.size import Size

if TYPE_CHECKING:  # operators install themselves as methods, which no type checker sees; these are their declarations
    from tenfold.operator_methods import TensorMethods
else:
    TensorMethods = object

new = object.__new__
_as_size = tuple.__new__  # a shape needs no check


class Tensor(TensorMethods):
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
            return self._array.shape[dim]
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
            return strides[dim]
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
        made = self._make_subclass(Tensor if is_plain(type(self)) else type(self), self)
        made._storage = None
        if self._storage is not None and self._storage.guarded:  # elements at one place are no less so
            made.untyped_storage().guarded = True
        return made  # type: ignore[no-any-return]

    @data.deleter
    def data(self) -> None:
        raise RuntimeError("Deleting tensor.data is not allowed. Delete tensor itself instead.")

    @data.setter
    def data(self, value: Tensor) -> None:
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

    # Gradients

    @property
    def requires_grad(self) -> bool:
        return self._node is not None

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if value and not (self.is_floating_point() or self.is_complex()):
            raise RuntimeError(
                f"only Tensors of floating point and complex dtype can require gradients, this one is {self.dtype.name}"
            )
        self.requires_grad_(value)

    @requires_grad.deleter
    def requires_grad(self) -> None:
        raise RuntimeError("requires_grad must be a bool")

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Ask autograd to record operators on this leaf (or no longer)."""
        node = self._node
        wrapped = self._key.level is not None and not self._key.transform.by_hand
        if wrapped or (node is not None and SERVICES.autograd().is_transformed(node)):
            raise RuntimeError(
                "You are attempting to call Tensor.requires_grad_() inside of a function being transformed by grad, vmap or "
                "another of tenfold.func. This is unsupported: they differentiate by the function's arguments."
            )
        if requires_grad:
            if not (self.is_floating_point() or self.is_complex()):
                raise RuntimeError(
                    f"only Tensors of floating point dtype can require gradients, and complex ones; this one is {self.dtype.name}"
                )
            if self.is_inference() and not STATE.inference:
                raise RuntimeError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
            if node is None:
                self._node = SERVICES.autograd().leaf(self)
                if self._storage is not None:
                    self._storage.guarded = True  # writes to views made before must be looked at from now on
        elif node is not None:
            if not node.is_leaf:
                raise RuntimeError(
                    "you can only change requires_grad flags of leaf variables. If you want to use a computed variable "
                    "in a subgraph that doesn't require differentiation use var_no_grad = var.detach()."
                )
            self._node = None
        return self

    @property
    def is_leaf(self) -> bool:
        return self._node is None or bool(self._node.is_leaf)

    @property
    def grad_fn(self) -> Any:
        """The graph node that made this tensor; None for leaves."""
        node = self._node
        return None if node is None or node.is_leaf else node.shown

    @property
    def output_nr(self) -> int:
        return 0 if self._node is None else int(self._node.output_nr)

    @property
    def grad(self) -> Tensor | None:
        """The gradient that `backward` accumulated."""
        try:
            return self._grad
        except AttributeError:
            if self._node is not None and not self._node.is_leaf and not self.retains_grad:
                warnings.warn(
                    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
                    "populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf "
                    "Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure "
                    "you access the leaf Tensor instead.",
                    UserWarning,
                    stacklevel=2,
                )
            return None

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            if not isinstance(value, Tensor):
                raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}")
            if value is self:
                raise RuntimeError("can't assign Variable as its own grad")
            if value.shape != self.shape:
                raise RuntimeError(
                    f"assigned grad has data of a different size: {list(value.shape)}, expected {list(self.shape)}"
                )
            if value.dtype is not self.dtype:
                raise RuntimeError(f"assigned grad has data of a different type: {value.dtype}, expected {self.dtype}")
            if value._key.device is not self._key.device:
                raise RuntimeError(
                    f"assigned grad has data located on a different device: {value.device}, expected {self.device}"
                )
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    def backward(
        self, gradient: Any = None, retain_graph: bool | None = None, create_graph: bool = False, inputs: Any = None
    ) -> None:
        """Add the gradients of this tensor with respect to the graph's leaves to their `.grad`."""
        SERVICES.autograd().backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    def register_hook(self, hook: Any) -> Any:
        """Call `hook(grad)` when this tensor's gradient is computed; what it returns replaces the gradient."""
        return SERVICES.autograd().register_tensor_hook(self, hook)

    def register_post_accumulate_grad_hook(self, hook: Any) -> Any:
        """Call `hook(tensor)` after a backward pass has updated this leaf's `.grad`."""
        return SERVICES.autograd().register_post_accumulate_hook(self, hook)

    def retain_grad(self) -> None:
        """Keep `.grad` of this non-leaf tensor too."""
        SERVICES.autograd().retain_grad(self)

    @property
    def retains_grad(self) -> bool:
        return self._node is not None and not self._node.is_leaf and bool(self._node.retains(self))

    # Python and NumPy

    def item(self) -> Any:
        """The one element, as a Python number."""
        array = self._array
        if type(array) is np.ndarray and array.size == 1:
            value = array.item()
            return value if type(value) is not tuple else complex(*value)  # a complex32 is a record of NumPy's
        if self.numel() != 1:
            raise RuntimeError(f"a Tensor with {self.numel()} elements cannot be converted to Scalar")
        value = host(self).item()
        return value if type(value) is not tuple else complex(*value)

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers."""
        array = host(self)
        return widened(array).tolist() if array.dtype.names else array.tolist()

    def numpy(self, *, force: bool = False) -> Any:
        """The tensor as a NumPy array; on the CPU they share memory."""
        if force:
            return host(self.detach())
        if self._node is not None and STATE.grad_enabled:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        if self._key.device is not CPU:
            raise TypeError(
                f"can't convert {self._key.device} device type tensor to numpy. "
                f"Use Tensor.cpu() to copy the tensor to host memory first."
            )
        if self._array.dtype.kind == "V":
            raise TypeError(f"Got unsupported ScalarType {dtypes.type_name(self.dtype)}: NumPy has no such dtype; convert it")
        return host(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        array = self.numpy()
        if copy:
            return np.array(array, dtype=dtype, copy=True)
        return array if dtype is None else array.astype(dtype, copy=False)

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """Results of NumPy's functions on tensors become tensors, as in PyTorch."""
        return SERVICES.from_numpy(np.asarray(array)) if np.asarray(array).dtype in FROM_NUMPY else array

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """The Python array API standard's functions on tensors: `tenfold.array_api`."""
        return SERVICES.array_namespace(api_version)

    def to_device(self, device: Any, /, *, stream: Any = None) -> Tensor:
        """The tensor on a device, under the array API standard's name."""
        return self.to(device)

    def __dlpack__(
        self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: bool | None = None
    ) -> Any:  # fmt: skip
        """A DLPack capsule on the tensor's memory, for other array libraries."""
        return SERVICES.export(self, stream, max_version, dl_device, copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        return SERVICES.dlpack_device(self)

    def __reversed__(self) -> Tensor:
        """The rows in reverse order."""
        return self.flip(0) if self._array.shape else self

    def __len__(self) -> int:
        if not self._array.shape:
            raise TypeError("len() of a 0-d tensor")
        return int(self._array.shape[0])

    def __iter__(self) -> Iterator[Tensor]:
        if not self._array.shape:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __bool__(self) -> bool:
        if self.numel() != 1:
            kind = "no" if self.numel() == 0 else "more than one"
            raise RuntimeError(f"Boolean value of Tensor with {kind} value{'s' if kind == 'no' else ''} is ambiguous")
        return bool(self.item())

    def _one(self) -> Any:
        """The one element, for Python's conversions."""
        array = self._array
        if type(array) is np.ndarray and array.size == 1:
            value = array.item()
            return value if type(value) is not tuple else complex(*value)
        if self.numel() != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        return self.item()

    def _real(self) -> Any:
        """The one element as a real number; RuntimeError where that loses an imaginary part."""
        value = self._one()
        if isinstance(value, complex):
            if value.imag:
                raise RuntimeError(f"value cannot be converted to a real number without overflow: it is {value}")
            value = value.real
        return value

    def __float__(self) -> float:
        return float(self._real())

    def __int__(self) -> int:
        value = self._real()
        if self.dtype.is_complex and not abs(value) < float("inf"):
            raise RuntimeError(f"value cannot be converted to type int64_t without overflow: it is {value}")
        return int(value)

    def __complex__(self) -> complex:
        return complex(self._one())

    def __index__(self) -> int:
        if self.numel() != 1 or self.dtype.category > 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self.item())

    def __contains__(self, element: Any) -> bool:
        if not isinstance(element, (Tensor, int, float, complex)):
            raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}.")
        return bool((self == element).any())

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


def host(tensor: Tensor) -> Any:
    """The tensor's elements as a NumPy array (its own memory on the CPU)."""
    key = tensor._key
    if key.level is not None:
        return host(key.transform.readable(tensor))
    return key.backend.to_numpy(tensor._array)


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
    return tuple([wrap(a, key) for a in arrays])


def share(view: Any, source: Any, differentiable: bool = True) -> None:
    """Note that `view` lies in the memory of `source`, and whether in-place writes to it are writes to the source."""
    storage = source._storage
    if storage is None:
        storage = source._storage = Storage(source._array, source._key)
    view._storage = storage
    if differentiable:
        view._base = source if source._base is None else source._base
        note_view(view, source)


def wrap_views(arrays: Any, key: Any, source: Any) -> tuple[Tensor, ...]:
    """The several views that one call returned: none of them may be written where that is recorded."""
    made = wrap_all(arrays, key)
    storage, base = source.untyped_storage(), source if source._base is None else source._base
    origin = "several" if STATE.grad_enabled else "inference" if STATE.inference and not storage.inference else "no_grad"
    storage.mark()
    views = storage.views
    for view in made:
        view._storage, view._base, view._origin = storage, base, origin
        views[id(view)] = ref(view)
    return made


RUNTIME.update(
    Tensor=Tensor, ref=ref, wrap=wrap, wrap_all=wrap_all, wrap_views=wrap_views, share=share,
    F32=dtypes.float32.numpy, F64=dtypes.float64.numpy, I64=dtypes.int64.numpy,
)  # fmt: skip
