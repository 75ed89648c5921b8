"""Tensors that a module owns: parameters, buffers, and their not yet shaped (lazy) kinds."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, ClassVar

import tenfold
from tenfold import Tensor
from tenfold.dispatch.overrides import DisableTorchFunctionSubclass, disabled_torch_function
from tenfold.tensor.copying import restore, send_as_tensor, state_of

__all__ = [
    "Buffer",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "UninitializedTensorMixin",
    "is_lazy",
]


class _ParameterMeta(type(Tensor)):  # type: ignore[misc]
    """Lets a tensor of any other subclass count as a Parameter once it is marked as one."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if super().__instancecheck__(instance):
            return True
        return cls is Parameter and isinstance(instance, Tensor) and getattr(instance, "_is_param", False)


class Parameter(Tensor, metaclass=_ParameterMeta):
    """A tensor that a `Module` registers as trainable when it is assigned as an attribute.

    A tensor of a foreign subclass keeps its type and is only marked, so that `isinstance(p, Parameter)` holds.

    Args: data (any shape, default empty); requires_grad (needs a floating or complex dtype).

    >>> Parameter(tenfold.ones(2)).requires_grad
    True
    """

    __torch_function__ = disabled_torch_function

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Any:
        if data is None:
            data = tenfold.empty(0)
        plain: Any = data if type(data) is Tensor else data.detach()
        if type(plain) is Tensor:
            made = Tensor._make_subclass(cls, plain, requires_grad)
            made._grad = None  # read in each step: without it the reading of none is an exception
            return made
        marked = plain.requires_grad_(requires_grad)
        marked._is_param = True
        return marked

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            copied = self.detach().clone(memory_format=tenfold.preserve_format)
            memo[id(self)] = type(self)(copied, self.requires_grad)
        return memo[id(self)]

    def __repr__(self, tensor_contents: Any = None) -> str:
        return "Parameter containing:\n" + repr(self.detach().requires_grad_(self.requires_grad))

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        given: tuple[Any, ...] = Tensor._make_subclass(Tensor, self.detach()), self.requires_grad, OrderedDict()
        state = state_of(self)
        return (_rebuild_parameter_with_state, (*given, state)) if state else (_rebuild_parameter, given)


def _rebuild_parameter(data: Tensor, requires_grad: bool, backward_hooks: Any) -> Parameter:
    """What a pickled Parameter calls to come back."""
    made: Parameter = Parameter(data, requires_grad)
    return made


def _rebuild_parameter_with_state(data: Tensor, requires_grad: bool, backward_hooks: Any, state: Any) -> Parameter:
    """The same for one with attributes."""
    made = _rebuild_parameter(data, requires_grad, backward_hooks)
    restore(made, state)
    return made


send_as_tensor(Parameter)


class Buffer(Tensor):
    """A tensor that a `Module` registers as state that is not trained when it is assigned as an attribute.

    With `persistent=False` it moves with the module but stays out of `state_dict`.

    >>> Buffer(tenfold.zeros(3), persistent=False).persistent
    False
    """

    __torch_function__ = disabled_torch_function
    persistent: bool = True

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Any:
        if data is None:
            data = tenfold.empty(0)
        buffer = Tensor._make_subclass(cls, data.detach(), data.requires_grad)
        buffer.persistent = persistent
        return buffer

    def __repr__(self, tensor_contents: Any = None) -> str:
        return repr(self.detach())

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            copied = self.detach().clone(memory_format=tenfold.preserve_format).requires_grad_(self.requires_grad)
            memo[id(self)] = Buffer(copied, persistent=self.persistent)
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return _rebuild_buffer, (self.detach(), self.requires_grad, self.persistent)


def _rebuild_buffer(data: Tensor, requires_grad: bool, persistent: bool) -> Buffer:
    """What a pickled Buffer calls to come back."""
    buffer: Buffer = Buffer(data, persistent=persistent)
    if requires_grad:
        buffer.requires_grad_(True)
    return buffer


# What may be done with a tensor that has no shape yet: change where and as what it will be made, nothing that reads it.
_SHAPELESS_METHODS = frozenset(
    "__hash__ copy_ is_complex is_floating_point half float double char short int long cuda cpu to get_device "
    "bfloat16 type requires_grad_ size __get__ __set__".split()
)


class UninitializedTensorMixin:
    """The part that lazy parameters and buffers share: no shape until `materialize` gives one."""

    cls_to_become: ClassVar[type]

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Allocates the tensor with `shape` and turns it into an ordinary parameter or buffer in place."""
        this: Any = self
        data = tenfold.empty(shape, device=device or this.device, dtype=dtype or this.dtype)
        self.__class__ = self.cls_to_become
        this.data = data  # as the new class, which overrides no operators

    @property
    def shape(self) -> Any:
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer: it has none before the first forward. If this "
            "came from load_state_dict, a lazy checkpoint was loaded into an initialized module: run a forward before saving it."
        )

    @property
    def data(self) -> Any:
        """An empty tensor of no class of its own, which initializers that write there leave as it is."""
        this: Any = self
        return this.as_subclass(Tensor).data

    @data.setter
    def data(self, value: Any) -> None:
        Tensor.data.__set__(self, value)  # type: ignore[attr-defined] # a property

    def share_memory_(self) -> Any:
        """Refused: there is no memory yet to share."""
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer: it has none yet, run a forward before share_memory()."
        )

    def __repr__(self, tensor_contents: Any = None) -> str:
        return f"<{type(self).__name__}>"

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", "")
        if name in _SHAPELESS_METHODS:
            with DisableTorchFunctionSubclass():
                return func(*args, **(kwargs or {}))
        raise ValueError(
            f"Attempted to use an uninitialized parameter in {name}: got an {cls.__name__}, accepted are initialized tensors. "
            "Run a forward with a sample batch first, then use the module's parameters."
        )


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A Parameter of a lazy module: the shape comes with the first forward (`materialize`).

    Args: requires_grad, device and dtype of the parameter it becomes.

    >>> weight = UninitializedParameter()
    >>> weight.materialize((2, 3))
    >>> type(weight).__name__
    'Parameter'
    """

    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        return Tensor._make_subclass(cls, tenfold.empty(0, device=device, dtype=dtype), requires_grad)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, self.device, self.dtype)
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return type(self), (self.requires_grad, self.device, self.dtype)


class UninitializedBuffer(UninitializedTensorMixin, Buffer):
    """A Buffer of a lazy module: the shape comes with the first forward (`materialize`).

    Args: requires_grad, device and dtype of the buffer it becomes; persistent: whether `state_dict` holds it.
    """

    cls_to_become = Tensor

    def __new__(cls, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True) -> Any:
        buffer = Tensor._make_subclass(cls, tenfold.empty(0, device=device, dtype=dtype), requires_grad)
        buffer.persistent = persistent
        return buffer

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, self.device, self.dtype, self.persistent)
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return type(self), (self.requires_grad, self.device, self.dtype, self.persistent)


def is_lazy(param: Any) -> bool:
    """Whether `param` is a parameter or buffer without a shape yet."""
    return isinstance(param, UninitializedTensorMixin)
