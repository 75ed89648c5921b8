"""Jacobians of one output by differences and by the tape, as programs asked for them before `gradcheck` was all there is."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tenfold.autograd.gradcheck_values import flat, shaped, tensor_like
from tenfold.autograd.tape import grad
from tenfold.ops.creation.factories import zeros
from tenfold.tensor.tensor import Tensor


def _deprecated(name: str, grad_out: float) -> None:
    warnings.warn(
        f"`{name}` was part of PyTorch's private API and not meant to be exposed. We are deprecating it and it will be removed "
        f"in a future version of PyTorch: use tenfold.func.jacrev or gradcheck.",
        FutureWarning,
        stacklevel=3,
    )
    if grad_out != 1.0:
        raise ValueError(f"Expected grad_out to be 1.0. {name} no longer supports values of grad_out != 1.0.")


def get_numerical_jacobian(
    fn: Callable[[Any], Any], inputs: Any, target: Any = None, eps: float = 1e-3, grad_out: float = 1.0
) -> list[Tensor]:  # fmt: skip
    """The Jacobian of the first output of `fn(inputs)` by central differences, of shape (input elements, output elements).

    One for each tensor of `target` (by default: of the inputs) that requires gradients. Deprecated, as in PyTorch: says so in
    a FutureWarning. Raises ValueError for another `grad_out` than 1.

    >>> import tenfold, warnings
    >>> x = tenfold.tensor([1.0, 3.0], dtype=tenfold.float64, requires_grad=True)
    >>> with warnings.catch_warnings(action="ignore"):
    ...     get_numerical_jacobian(lambda xs: xs[0] * xs[0], (x,))[0].round(decimals=3)
    tensor([[2., 0.],
            [0., 6.]], dtype=tenfold.float64)
    """
    _deprecated("get_numerical_jacobian", grad_out)
    return [_numerical(fn, inputs, x, eps) for x in _leaves(inputs if target is None else target)]


def _leaves(value: Any) -> list[Tensor]:
    given = value if isinstance(value, (tuple, list)) else (value,)
    return [x for x in given if isinstance(x, Tensor) and x.requires_grad]


def _first(result: Any) -> Any:
    return result[0] if isinstance(result, (tuple, list)) else result


def _numerical(fn: Callable[[Any], Any], inputs: Any, x: Any, eps: float) -> Tensor:
    start, write, before = flat(x), x._key.backend.write, x.detach().clone()

    def at(values: Any) -> Any:
        write(x._array, tensor_like(x, shaped(values, x))._array)
        return flat(_first(fn(inputs)))

    try:
        rows = [(at(start + eps * unit) - at(start - eps * unit)) / (2 * eps) for unit in np.eye(start.size)]
    finally:
        write(x._array, before._array)
    jacobian: Tensor = tensor_like(x, np.array(rows))
    return jacobian


def get_analytical_jacobian(
    inputs: Any, output: Tensor, nondet_tol: float = 0.0, grad_out: float = 1.0
) -> tuple[list[Tensor], bool, bool, bool]:  # fmt: skip
    """The Jacobians of an output by backward passes: (Jacobians, whether two passes agree, sizes right, dtypes right).

    Deprecated, as in PyTorch: says so in a FutureWarning. Raises ValueError for another `grad_out` than 1.

    >>> import tenfold, warnings
    >>> x = tenfold.tensor([1.0, 3.0], dtype=tenfold.float64, requires_grad=True)
    >>> with warnings.catch_warnings(action="ignore"):
    ...     get_analytical_jacobian((x,), x * x)[0][0].diagonal()
    tensor([2., 6.], dtype=tenfold.float64)
    """
    _deprecated("get_analytical_jacobian", grad_out)
    leaves = _leaves(inputs)
    columns, again = _passes(leaves, output), _passes(leaves, output)
    grads = [g for column in columns for g in zip(leaves, column) if g[1] is not None]
    jacobians = [_side_by_side(x, [column[i] for column in columns]) for i, x in enumerate(leaves)]
    second = [_side_by_side(x, [column[i] for column in again]) for i, x in enumerate(leaves)]
    reentrant = all(not a.numel() or float((a - b).abs().max()) <= nondet_tol for a, b in zip(jacobians, second))
    sizes = all(g.shape == x.shape for x, g in grads)
    return jacobians, reentrant, sizes, all(g.dtype is x.dtype for x, g in grads)


def _passes(leaves: Sequence[Tensor], output: Tensor) -> list[tuple[Any, ...]]:
    """The leaves' gradients for every element of the output."""
    found = []
    for k in range(output.numel()):
        incoming = zeros((output.numel(),), dtype=output.dtype, device=output.device)
        incoming[k] = 1
        found.append(grad(output, leaves, incoming.reshape(output.shape), retain_graph=True, allow_unused=True))
    return found


def _side_by_side(x: Tensor, columns: Sequence[Any]) -> Tensor:
    made = zeros((x.numel(), len(columns)), dtype=x.dtype, device=x.device)
    for k, g in enumerate(columns):
        if g is not None:
            made[:, k] = g.reshape(-1)
    return made


__all__ = ["get_analytical_jacobian", "get_numerical_jacobian"]
