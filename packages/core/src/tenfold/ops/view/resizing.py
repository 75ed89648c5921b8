"""Tensors that get other memory, size or shape in place: `set_`, `resize_`, `unsqueeze_`; questions about their memory."""

from __future__ import annotations

from math import prod
from typing import Any

from tenfold.dispatch.devices import accelerator_backend, require_accelerator
from tenfold.dispatch.gradmode import set_grad_enabled
from tenfold.dispatch.inplace import bump_version, check_writable
from tenfold.dispatch.meta import contiguous_strides
from tenfold.dispatch.operators import composite
from tenfold.dispatch.runtime import STATE
from tenfold.dispatch.services import SERVICES
from tenfold.ops.creation.factories import checked_size, fill_uninitialised
from tenfold.ops.view.forms import t
from tenfold.ops.view.shapes import as_strided, squeeze, transpose, unsqueeze
from tenfold.tensor.memory import span_of
from tenfold.tensor.storage import UntypedStorage, on_storage
from tenfold.tensor.tensor import Tensor
from tenfold.types.memory_format import preserve_format, suggested_format


def _place(self: Tensor, storage: UntypedStorage, size: Any, stride: Any, offset: int) -> Tensor:
    """Let a tensor view memory in this shape; memory that is too small grows."""
    extent = 0 if 0 in size else offset + 1 + sum((n - 1) * s for n, s in zip(size, stride))
    if extent * self.itemsize > storage.nbytes():
        storage.resize_(extent * self.itemsize)
    array = storage.view(self.dtype).as_strided(size, stride, offset if extent else 0)._array
    self._array, self._storage, self._base = array, storage, None
    if self._node is not None and self._node.is_leaf:
        self._node = SERVICES.autograd().leaf(self)  # what was computed from the former memory is not this leaf's any more
    bump_version(self)
    return self


def _set(
    self: Tensor, source: Any = None, storage_offset: int = 0, size: Any = None, stride: Any = None
) -> Tensor:  # fmt: skip
    """View the memory of a storage or of another tensor from now on; nothing: an empty tensor.

    >>> import tenfold
    >>> x, y = tenfold.zeros(1), tenfold.tensor([1.0, 2.0])
    >>> x.set_(y).data_ptr() == y.data_ptr()
    True
    """
    check_writable("set_", self, may_repeat=True)
    if source is None:
        return _place(self, UntypedStorage(0, device=self.device), (0,), (1,), 0)
    if isinstance(source, Tensor):
        if source.dtype is not self.dtype or source.device is not self.device:
            raise RuntimeError(
                f"Could not set tensor of type {source.dtype.name} on {source.device} to a tensor of type {self.dtype.name} "
                f"on {self.device}"
            )
        size, stride = (source.shape, source.stride()) if size is None else (size, stride)
        offset = storage_offset or source.storage_offset()
        return _place(self, source.untyped_storage(), size, stride or contiguous_strides(size), offset)
    if source.device is not self.device:
        raise RuntimeError(f"Attempted to set the storage of a tensor on device {self.device} to a storage on {source.device}")
    whole = on_storage(source, self.dtype)
    size = whole.shape if size is None else checked_size(size, "set_")
    storage = whole.untyped_storage()
    return _place(self, storage, size, contiguous_strides(size) if stride is None else tuple(stride), storage_offset)


def _resize(self: Tensor, *sizes: Any, memory_format: Any = None) -> Tensor:
    """Give the tensor another size, keeping its memory where that is large enough and its first elements where not.

    >>> import tenfold
    >>> tenfold.tensor([1, 2, 3]).resize_(2)
    tensor([1, 2])
    """
    if self.requires_grad and not STATE.inference:
        raise RuntimeError("cannot resize variables that require grad")
    size = checked_size(sizes[0] if len(sizes) == 1 and not isinstance(sizes[0], int) else sizes, "resize_")
    if size == tuple(self.shape) and not (memory_format is not None and memory_format.order):
        return self
    if prod(size) * self.itemsize >= 2**63:
        raise RuntimeError(f"resize_: Storage size calculation overflowed with sizes={list(size)}")
    before, version = self.untyped_storage().nbytes(), self.untyped_storage().version
    strides = list(contiguous_strides(size))
    if memory_format is not None and memory_format.order:
        strides, step = [0] * len(size), 1
        for d in reversed(memory_format.order):
            strides[d] = step
            step *= max(size[d], 1)
    _place(self, self.untyped_storage(), size, strides, self.storage_offset())
    fill_uninitialised(self.untyped_storage().view(self.dtype), before // self.itemsize)
    self.untyped_storage().version = version + 1  # one change, in however many steps
    return self


def resize_as_(self: Tensor, the_template: Tensor, *, memory_format: Any = None) -> Tensor:
    """Give the tensor the size of another."""
    if memory_format is preserve_format:
        memory_format = suggested_format(the_template._array)
    return _resize(self, the_template.shape, memory_format=memory_format)


def _is_same_size(self: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape."""
    return other.is_same_size(self) if other.is_nested else self.shape == other.shape


def _is_nonzero(self: Tensor) -> bool:
    """Whether the one element is not zero."""
    return bool(self)


def _storage_type(self: Tensor) -> Any:
    """The class of the tensor's typed storage, such as `FloatStorage`."""
    return SERVICES.storage_type(self)


def _share_memory(self: Tensor) -> Tensor:
    """Move the tensor's memory, with all views of it, to where processes share it."""
    if self._key.backend.name == "cpu" and self._key.level is None:
        SERVICES.share_memory(self)
    elif self.is_meta:
        raise RuntimeError("share_memory_: only available on CPU")
    return self


def _is_shared(self: Tensor) -> bool:
    if self.device.type != "cpu":
        return not self.is_meta
    return span_of(self._key.backend.memory(self._array)[0]) is not None


def _is_pinned(self: Tensor, device: Any = None) -> bool:
    """Whether the accelerator reads and writes the tensor's memory by itself."""
    return getattr(accelerator_backend(), "is_pinned", lambda array: False)(self._array)


def _pin_memory(self: Tensor, device: Any = None) -> Tensor:
    """A copy in pinned memory, or the tensor itself where it is pinned. Refused without an accelerator, as in PyTorch."""
    if self.device.type != "cpu":
        raise RuntimeError(f"cannot pin '{self.type()}' only dense CPU tensors can be pinned")
    return getattr(require_accelerator(), "pin_memory", lambda tensor: tensor)(self)


def _dim_order(self: Tensor, *, ambiguity_check: Any = False) -> tuple[int, ...]:
    """The dimensions from the outermost in memory to the innermost."""
    strides, sizes = self.stride(), self.shape
    order = tuple(sorted(range(self.dim()), key=lambda d: (-strides[d], -sizes[d], d)))
    fitting = isinstance(ambiguity_check, bool) or sum([self.is_contiguous(memory_format=f) for f in ambiguity_check])
    unclear = ambiguity_check is not False and len({s for s, n in zip(strides, sizes) if n != 1}) < len(sizes)
    if unclear and (ambiguity_check is True or fitting != 1):
        raise RuntimeError("The tensor does not have unique dim order, or cannot map to exact one of the given memory formats.")
    return order


def _apply(self: Tensor, callable: Any) -> Tensor:
    """Replace every element by a Python function of it. Slow: for what no operator does."""
    return _mapped(self, "apply_", callable)


def _map(self: Tensor, tensor: Tensor, callable: Any) -> Tensor:
    """Replace every element by a Python function of it and of another tensor's, broadcast."""
    return _mapped(self, "map_", callable, tensor)


def _map2(self: Tensor, x: Tensor, y: Tensor, callable: Any) -> Tensor:
    """Replace every element by a Python function of it and of two other tensors', broadcast."""
    return _mapped(self, "map2_", callable, x, y)


def _mapped(self: Tensor, name: str, function: Any, *others: Tensor) -> Tensor:
    for x in (self, *others):
        if not isinstance(x, Tensor):
            raise TypeError(f"{name}(): expected a Tensor, got {type(x).__name__}")
        if x.requires_grad:
            raise RuntimeError(f"Can't call {name} on Variable that requires grad. Use var.detach().{name} instead.")
        if x.device.type != "cpu":
            raise TypeError(f"{name} is only implemented on CPU tensors")
        if x.dtype is not self.dtype:
            raise TypeError(f"{name}: expected all tensors to be of {self.dtype}, got {x.dtype}")
    values = [x.expand(self.shape).reshape(-1).tolist() for x in (self, *others)]
    found = [function(*row) for row in zip(*values)]
    foreign = next((v for v in found if not isinstance(v, (int, float, complex, Tensor))), None)
    if foreign is not None:
        raise TypeError(f"{name}: the function's results must be real number, not {type(foreign).__name__}")
    made = self.new_tensor(found, dtype=self.dtype) if prod(self.shape) else self
    return self.copy_(made.reshape(self.shape))


# The in-place forms of views change a tensor's own geometry; its memory and other tensors on it stay as they are.


def _become(name: str, tensor: Tensor, change: Any, *arguments: Any) -> Tensor:
    """Let a tensor be what `change` makes of it, recorded as such; a leaf, outside of recording, stays the leaf it is."""
    check_writable(name, tensor, may_repeat=True)
    node = tensor._node
    with set_grad_enabled(STATE.grad_enabled or not (node is None or node.is_leaf)):  # gradients pass through it as it is
        changed = change(tensor, *arguments)
    tensor._array = changed._array
    if node is None or not node.is_leaf:
        tensor._node = changed._node
    if node is not None or hasattr(tensor._storage, "detached"):
        SERVICES.autograd().reshaped(tensor)
    for slot in getattr(type(changed), "adopted", ()):  # wrappers inside a transform
        setattr(tensor, slot, getattr(changed, slot))
    bump_version(tensor)
    return tensor


@composite("view")
def unsqueeze_(input: Tensor, dim: int) -> Tensor:
    """In-place version of `unsqueeze`.

    >>> import tenfold
    >>> tenfold.ones(2).unsqueeze_(0).shape
    tenfold.Size([1, 2])
    """
    return _become("unsqueeze_", input, unsqueeze, dim)


@composite("view", old=("*",))
def squeeze_(input: Tensor, dim: Any = None) -> Tensor:
    """In-place version of `squeeze`.

    >>> import tenfold
    >>> tenfold.ones(1, 2).squeeze_().shape
    tenfold.Size([2])
    """
    return _become("squeeze_", input, squeeze, dim)


@composite("view")
def transpose_(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """In-place version of `transpose`.

    >>> import tenfold
    >>> tenfold.ones(2, 3).transpose_(0, 1).shape
    tenfold.Size([3, 2])
    """
    return _become("transpose_", input, transpose, dim0, dim1)


@composite("view")
def swapaxes_(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """In-place version of `swapaxes`.

    >>> import tenfold
    >>> tenfold.ones(2, 3).swapaxes_(0, 1).shape
    tenfold.Size([3, 2])
    """
    return _become("swapaxes_", input, transpose, axis0, axis1)


@composite("view")
def swapdims_(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """In-place version of `swapdims`.

    >>> import tenfold
    >>> tenfold.ones(2, 3).swapdims_(0, 1).shape
    tenfold.Size([3, 2])
    """
    return _become("swapdims_", input, transpose, dim0, dim1)


@composite("view")
def t_(input: Tensor) -> Tensor:
    """In-place version of `t`.

    >>> import tenfold
    >>> tenfold.ones(2, 3).t_().shape
    tenfold.Size([3, 2])
    """
    return _become("t_", input, t)


@composite("view")
def as_strided_(input: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """In-place version of `as_strided`.

    >>> import tenfold
    >>> tenfold.arange(5).as_strided_((2, 2), (1, 2))
    tensor([[0, 2],
            [1, 3]])
    """
    return _become("as_strided_", input, as_strided, size, stride, storage_offset)


@composite("view")
def detach_(input: Tensor) -> Tensor:
    """Cut this tensor off the gradient graph; views of it cannot be detached in place.

    >>> import tenfold
    >>> tenfold.ones(2).detach_()
    tensor([1., 1.])
    """
    if input._base is not None:
        raise RuntimeError("Can't detach views in-place. Use detach() instead")
    if input._key.level is not None:
        input._array = input.detach()._array  # without the tangent
    if input._node is not None:
        SERVICES.autograd().rest(input)
    return input


for _name, _method in {
    "set_": _set, "resize_": _resize, "resize_as_": resize_as_, "is_same_size": _is_same_size, "is_nonzero": _is_nonzero,
    "storage_type": _storage_type, "share_memory_": _share_memory, "is_shared": _is_shared,
    "is_pinned": _is_pinned, "pin_memory": _pin_memory, "dim_order": _dim_order, "apply_": _apply, "map_": _map,
    "map2_": _map2,
}.items():  # fmt: skip
    setattr(Tensor, _name, _method)
