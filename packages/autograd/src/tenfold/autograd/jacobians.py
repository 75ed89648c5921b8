"""Jacobians and Hessians: the rows by vmapped pullbacks (`jacrev`), or the columns by vmapped forward mode (`jacfwd`)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from tenfold.autograd.derivatives import jvp, replaced, require_real, selected, vjp
from tenfold.autograd.pytree import flatten, unflatten
from tenfold.autograd.vmap import vmap
from tenfold.ops.creation.factories import place, zeros
from tenfold.ops.indexing.joining import stack
from tenfold.ops.view.shapes import permute, reshape
from tenfold.tensor.tensor import Tensor

Function = Callable[..., Any]


def unit_vectors(tensors: list[Tensor]) -> tuple[list[Any], list[int]]:
    """A standard basis of the space of all tensors together, as one batch for each; and where each one's part begins."""
    starts = [0]
    for t in tensors:
        starts.append(starts[-1] + t.numel())
    identity = np.eye(starts[-1], dtype=np.bool_)
    basis = []
    for t, start in zip(tensors, starts):
        part = identity[:, start : start + t.numel()].astype(t.dtype.numpy)
        basis.append(place(part.reshape(starts[-1], *t.shape), t.device))
    return basis, starts


def jacrev(
    func: Function, argnums: Any = 0, *, has_aux: bool = False, chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Function:  # fmt: skip
    """The function that returns the Jacobian by its arguments `argnums`, in reverse mode (best for few outputs).

    Shape: output.shape + argument.shape; trees of outputs hold trees of arguments. With `has_aux` (Jacobian, aux).
    `chunk_size` rows are computed at a time; `_preallocate_and_copy` writes them into their place as they come, which
    holds one chunk beside the result, where joining them in the end holds all of them twice.

    >>> import tenfold
    >>> from tenfold.autograd.func import jacrev
    >>> jacrev(lambda x: x * x)(tenfold.tensor([1., 3.]))
    tensor([[2., 0.],
            [0., 6.]])
    """
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        places = selected("jacrev", argnums, args)
        chosen = tuple(args[i] for i in places)
        inputs, in_spec = flatten(chosen)
        require_real("jacrev", inputs, "input")

        @functools.wraps(func)
        def restricted(*values: Any) -> Any:
            return func(*replaced(args, places, values), **kwargs)

        output, pullback, *aux = vjp(restricted, *chosen, has_aux=has_aux)
        outputs, out_spec = flatten(output)
        require_real("jacrev", outputs, "output")
        basis, starts = unit_vectors(outputs)
        rows = _mapped(
            lambda *g: tuple(flatten(pullback(unflatten(list(g), out_spec)))[0]), basis, chunk_size, _preallocate_and_copy
        )
        blocks = []
        for out, start in zip(outputs, starts):
            parts = [_rows(rows, k, x, out, start) for k, x in enumerate(inputs)]
            found = unflatten(parts, in_spec)
            blocks.append(found[0] if isinstance(argnums, int) else found)
        jacobian = unflatten(blocks, out_spec)
        return (jacobian, aux[0]) if has_aux else jacobian

    return wrapper


def _mapped(function: Function, basis: list[Tensor], chunk_size: int | None, in_place: bool) -> Any:
    """The function over all unit vectors; None when there are none."""
    count = basis[0].shape[0]
    if not count:
        return None
    if chunk_size == 1:  # no batches, so that what cannot be batched may happen
        return [stack(list(rows)) for rows in zip(*[function(*[b[i] for b in basis]) for i in range(count)])]
    if in_place and chunk_size is not None and chunk_size < count:
        return _written(vmap(function, randomness="same"), basis, chunk_size)
    return vmap(function, chunk_size=chunk_size, randomness="same")(*basis)


def _written(mapped: Function, basis: list[Tensor], chunk: int) -> list[Tensor]:
    """The rows of a mapped function, some at a time, each written into its place."""
    count, rows = basis[0].shape[0], list[Tensor]()
    for start in range(0, count, chunk):
        parts = mapped(*[b[start : start + chunk] for b in basis])
        rows = rows or [p.new_zeros((count, *p.shape[1:])) for p in parts]
        for row, part in zip(rows, parts):
            row[start : start + chunk] = part
    return rows


def _rows(rows: Any, k: int, x: Tensor, out: Tensor, start: int) -> Tensor:
    shape = (*out.shape, *x.shape)
    if rows is None:
        return zeros(shape, dtype=x.dtype, device=x.device)
    return reshape(_part(rows[k], start, out.numel()), shape)


def _part(rows: Tensor, start: int, count: int) -> Tensor:
    return rows if count == rows.shape[0] else rows[start : start + count]


def jacfwd(func: Function, argnums: Any = 0, has_aux: bool = False, *, randomness: str = "error") -> Function:
    """The function that returns the Jacobian by its arguments `argnums`, in forward mode (best for few inputs).

    Shape: as `jacrev`.

    >>> import tenfold
    >>> from tenfold.autograd.func import jacfwd
    >>> jacfwd(lambda x: x * x)(tenfold.tensor([1., 3.]))
    tensor([[2., 0.],
            [0., 6.]])
    """

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        places = selected("jacfwd", argnums, args)
        inputs, in_spec = flatten(tuple(args[i] for i in places))
        require_real("jacfwd", inputs, "input")
        basis, starts = unit_vectors(inputs)
        seen: dict[str, Any] = {}

        @functools.wraps(func)
        def restricted(*values: Any) -> Any:
            return func(*replaced(args, places, values), **kwargs)

        def column(*direction: Any) -> Any:
            made = jvp(restricted, unflatten(inputs, in_spec), unflatten(list(direction), in_spec), has_aux=has_aux)
            flat, seen["spec"] = flatten(made[1])
            require_real("jacfwd", flat, "output")
            aux, seen["aux_spec"] = flatten(made[2] if has_aux else ())
            seen["outputs"], seen["count"] = [t.shape for t in flat], len(flat)
            return (*flat, *aux)

        results = vmap(column, randomness=randomness)(*basis)
        blocks = [_block(columns, shape, inputs, starts) for columns, shape in zip(results, seen["outputs"])]
        found = [unflatten(block, in_spec) for block in blocks]
        jacobian = unflatten([f[0] if isinstance(argnums, int) else f for f in found], seen["spec"])
        if not has_aux:
            return jacobian
        return jacobian, unflatten([a[0] for a in results[seen["count"] :]], seen["aux_spec"])

    return wrapper


def _block(columns: Tensor, shape: Any, inputs: list[Tensor], starts: list[int]) -> list[Tensor]:
    """One output's derivatives by each input, from the derivatives along all unit vectors (first dimension)."""
    order = (*range(1, columns.dim()), 0)
    parts = [permute(_part(columns, start, x.numel()), order) for x, start in zip(inputs, starts)]
    return [reshape(part, (*shape, *x.shape)) for part, x in zip(parts, inputs)]


def hessian(func: Function, argnums: Any = 0) -> Function:
    """The function that returns the second derivatives by its arguments: forward mode over reverse mode.

    Shape: output.shape + argument.shape + argument.shape.

    >>> import tenfold
    >>> from tenfold.autograd.func import hessian
    >>> hessian(lambda x: (x * x * x).sum())(tenfold.tensor([1., 2.]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    return jacfwd(jacrev(func, argnums), argnums)
