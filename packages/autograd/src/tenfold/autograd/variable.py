"""`Variable(data, requires_grad)`: what tensors with gradients were called before tensors had them."""

from __future__ import annotations

from typing import Any

from tenfold.autograd import engine
from tenfold.tensor.tensor import Tensor


class _Engine:
    """What programs reach as `Variable._execution_engine`."""

    queue_callback = staticmethod(engine.queue_callback)
    is_checkpoint_valid = staticmethod(engine.is_checkpoint_valid)


class VariableMeta(type):
    """Every tensor is an instance of `Variable`."""

    def __instancecheck__(cls, other: Any) -> bool:
        return isinstance(other, Tensor)


class Variable(metaclass=VariableMeta):
    """A tensor on the memory of another one, which may require gradients: PyTorch's old way to ask for them.

    >>> import tenfold
    >>> tenfold.autograd.Variable(tenfold.ones(2), requires_grad=True)
    tensor([1., 1.], requires_grad=True)
    """

    _execution_engine = _Engine()

    def __new__(cls, data: Any = None, requires_grad: bool = False, volatile: Any = None) -> Any:
        if data is None:
            data = Tensor()
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        made = data.detach()
        return made.requires_grad_(True) if requires_grad else made


__all__ = ["Variable", "VariableMeta"]
