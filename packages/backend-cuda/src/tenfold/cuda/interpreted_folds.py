"""Triton's interpreter, faster: functions that call each other, and those that reduce and scan with functions of one's own.

The interpreter calls such a function once for each element. Here it gets halves of all that is left, as on the hardware.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def install(interpreter: Any) -> None:
    """Let the interpreter's classes do so."""
    searched: set[int] = set()

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
        # Without the search of all of Triton's language for what is to be interpreted, which each launch makes, and each
        # module needs but once.
        if id(self.fn.__globals__) not in searched:
            interpreter._patch_lang(self.fn)
            searched.add(id(self.fn.__globals__))
        try:
            return self.rewrite()(*arguments, **options)
        except Exception as error:
            raise interpreter.InterpreterError(repr(error)) from error

    interpreter.InterpretedFunction.__call__ = call
    interpreter.ReduceOps.generic_reduce, interpreter.ScanOps.generic_scan = reduce, scan
