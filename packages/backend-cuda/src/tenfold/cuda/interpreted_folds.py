"""Triton's interpreter, faster: launches, functions that call each other, reductions and scans with functions of one's own.

The interpreter calls such a function once for each element. Here it gets halves of all that is left, as on the hardware.
For each launch the interpreter searches all of Triton's language for what it is to replace, and puts it back afterwards,
which takes longer than most kernels: here a process does it once. And each value has a type and a shape of constants, which
it checks anew: here they are made once for each type.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

_KEPT = SimpleNamespace(restore=lambda: None)  # what stands for the changes of a launch


def install(interpreter: Any) -> None:
    """Let the interpreter's classes do so."""

    def combined(self: Any, left: Any, right: Any, dtypes: Any) -> list[Any]:
        given = [self.to_tensor(np.ascontiguousarray(part), dtype) for part, dtype in zip((*left, *right), dtypes * 2)]
        result = self.combine_fn.fn(*given)
        return [x.handle.data for x in (result if isinstance(result, tuple) else (result,))]

    def reduce(self: Any, input: Any) -> list[Any]:
        whole = self.axis is None
        input, axis = self.unravel(input, self.axis)
        dtypes, parts = [x.dtype for x in input], [x.handle.data for x in input]
        shape = parts[0].shape
        while (n := parts[0].shape[axis]) > 1:
            left, right = ([np.take(x, range(first, n, 2), axis) for x in parts] for first in (0, 1))
            parts = combined(self, left, right, dtypes)
        if whole:
            parts = [x.reshape([1] * len(shape)) if self.keep_dims else x.item() for x in parts]
        elif not self.keep_dims:
            parts = [x.squeeze(axis) if x.ndim > 1 else x.item() for x in parts]
        return [self.to_tensor(x, dtype) for x, dtype in zip(parts, dtypes)]

    def scan(self: Any, input: Any) -> list[Any]:
        axis, dtypes = self.axis, [x.dtype for x in input]
        parts = [np.moveaxis(x.handle.data, axis, -1) for x in input]
        step, n = 1, parts[0].shape[-1]
        while step < n:
            earlier = [np.concatenate([x[..., :step], x[..., :-step]], -1) for x in parts]  # of as many as a block may have
            both = combined(self, earlier, parts, dtypes)
            parts = [np.concatenate([x[..., :step], y[..., step:]], -1) for x, y in zip(parts, both)]
            step *= 2
        return [self.to_tensor(np.ascontiguousarray(np.moveaxis(x, -1, axis)), dtype) for x, dtype in zip(parts, dtypes)]

    def call(self: Any, *arguments: Any, **options: Any) -> Any:
        try:
            return self.rewrite()(*arguments, **options)
        except Exception as error:
            raise interpreter.InterpreterError(repr(error)) from error

    language = interpreter.tl
    interpreter._patch_lang(SimpleNamespace(__globals__={"tl": language, "core": language.core}))
    interpreter._patch_lang = lambda function: _KEPT
    # It computes whether sums of integers overflow, four times an addition's work, and keeps it from those who did not ask.
    interpreter.interpreter_builder.options = interpreter.InterpreterOptions(sanitize_overflow=False)
    _remember_types(language.core)
    _broadcast_shortly(interpreter)
    interpreter.InterpretedFunction.__call__ = call
    interpreter.ReduceOps.generic_reduce, interpreter.ScanOps.generic_scan = reduce, scan


def _remember_types(core: Any) -> None:
    """Let types of blocks, and values of a type, have the attributes of the first one: one shape is one object."""
    shapes: dict[tuple[Any, ...], Any] = {}
    of_types: dict[tuple[str, tuple[Any, ...]], dict[str, Any]] = {}
    of_values: dict[str, dict[str, Any]] = {}
    make_type, make_value = core.block_type.__init__, core.tensor.__init__

    def block_type(self: Any, element_ty: Any, shape: Any) -> None:
        key = element_ty.name, tuple([x.value if isinstance(x, core.constexpr) else x for x in shape])
        if key not in of_types:
            make_type(self, element_ty, shape)
            self.shape = shapes.setdefault(key[1], self.shape)
            of_types[key] = vars(self).copy()
        vars(self).update(of_types[key], element_ty=element_ty)

    def tensor(self: Any, handle: Any, type: Any) -> None:
        if type.name not in of_values:
            make_value(self, handle, type)
            of_values[type.name] = {"shape": self.shape, "numel": self.numel}
        vars(self).update(of_values[type.name], handle=handle, type=type, dtype=type.scalar)

    core.block_type.__init__, core.tensor.__init__ = block_type, tensor


def _broadcast_shortly(interpreter: Any) -> None:
    """Let blocks meet without a comparison of constants for each dimension; anything else goes the interpreter's way."""
    semantic, language = interpreter.interpreter_semantic, interpreter.tl
    general = semantic.broadcast_impl_value

    def broadcast(left: Any, right: Any) -> Any:
        if not (left.type.is_block() and right.type.is_block()):
            return general(left, right)
        a, b = left.type.shape, right.type.shape
        if a is b:
            return left, right
        a, b = list(a), list(b)
        if len(a) != len(b) or any(m != n and 1 not in (m, n) for m, n in zip(a, b)):
            return general(left, right)
        shape = [n if m == 1 else m for m, n in zip(a, b)]
        return spread(left, a, shape), spread(right, b, shape)

    def spread(block: Any, given: list[int], shape: list[int]) -> Any:
        if given == shape:
            return block
        handle = semantic.builder.create_broadcast(block.handle, shape)
        return language.tensor(handle, language.block_type(block.type.scalar, shape))

    semantic.broadcast_impl_value = broadcast
