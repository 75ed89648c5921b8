"""`Variable`, which tensors were wrapped in before they recorded gradients themselves."""

from __future__ import annotations

from typing import Any

from tenfold.tensor.tensor import Tensor


class _AnyTensor(type):
    """A class whose instances are all tensors."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=_AnyTensor):
    """`Variable(x, requires_grad=True)`: the tensor x, sharing its memory, as a leaf of the graph.

    >>> import tenfold
    >>> from tenfold.autograd import Variable
    >>> Variable(tenfold.ones(1), requires_grad=True)
    tensor([1.], requires_grad=True)
    """

    def __new__(cls, data: Tensor, requires_grad: bool = False) -> Any:
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        return data.detach().requires_grad_(requires_grad)
