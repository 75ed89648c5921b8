"""Two tensors that change places: each name stands for what the other was."""

from __future__ import annotations

from tenfold.tensor.tensor import Tensor

_SLOTS = ("_array", "_base", "_grad", "_key", "_node", "_storage")


def swap_tensors(t1: Tensor, t2: Tensor) -> None:
    """Exchange two tensors: values, gradients, attributes and classes.

    >>> import tenfold
    >>> a, b = tenfold.zeros(1), tenfold.ones(2)
    >>> swap_tensors(a, b)
    >>> a, b
    (tensor([1., 1.]), tensor([0.]))
    """
    for t in (t1, t2):
        if t._node is not None and t._node.is_leaf and getattr(t._node, "hooks", None):
            raise RuntimeError("swap_tensors: a tensor with hooks on its accumulator cannot be swapped; remove them first")
    for name in _SLOTS:
        first, second = (getattr(t, name, None) for t in (t1, t2))
        setattr(t1, name, second)
        setattr(t2, name, first)
    t1.__dict__, t2.__dict__ = t2.__dict__, t1.__dict__
    t1.__class__, t2.__class__ = t2.__class__, t1.__class__
    for t in (t1, t2):
        if t._node is not None and t._node.is_leaf:
            required = t.requires_grad
            t._node = None
            t.requires_grad_(required)  # an accumulator of its own: the other's refers to the other
