"""Refusing to write where an operator still reads: memory that input and target have in common."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tenfold.dispatch.operators import Operator
from tenfold.types.memory_format import is_dense

# These read one element after another while they write elsewhere in the target: not even the same tensor may be both.
_APART = frozenset(
    "index_put index_fill index_copy index_add index_reduce put scatter scatter_add scatter_reduce gather index_select take cat "
    "stack hstack vstack dstack column_stack take_along_dim cross linalg_cross kthvalue".split()
)
# These read all that they need before they write.
_FREE = frozenset("ldexp masked_scatter softmax log_softmax diag tril triu logsigmoid".split())
# With `out=`, beside pointwise operators and indexing.
_BY_TURNS = frozenset(
    "cumsum cumprod logcumsumexp addmm addmv addbmm baddbmm addr outer ger kron diff frexp max min aminmax median nanmedian mode "
    "topk sort msort normal renorm float_power linalg_solve_triangular".split()
)
# Arguments that are numbers, also where they are given as tensors: they are read before anything is written.
_NUMBERS = frozenset("value alpha beta eps nan posinf neginf negative_slope min_val max_val threshold lambd maxnorm".split())


def read_late(values: dict[str, Any]) -> list[Any]:
    """What an operator reads, beside its first argument, while it writes."""
    return [v for name, v in values.items() if name not in _NUMBERS][1:]


def refuse_overlap(name: str, target: Any, inputs: Iterable[Any], apart: bool | None = None) -> None:
    """RuntimeError where `target` is written while an operator reads its memory elsewhere."""
    if name in _FREE or target._key.level is not None:
        return
    for value in inputs:
        if type(value) in (list, tuple):
            refuse_overlap(name, target, value, apart)
        elif _meets(value, target, name in _APART if apart is None else apart):
            raise RuntimeError(
                "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
                f"location. Please clone() the tensor before {name} writes to it."
            )


def refuse_outputs(operator: Operator, outs: Iterable[Any], values: dict[str, Any]) -> None:
    """The same of a call with `out=`."""
    name = operator.name
    apart = name in _APART
    # An extreme of all elements is found before it is written.
    turns = name in _BY_TURNS and (values.get("dim", 0) is not None or values.get("other") is not None)
    if apart or operator.pointwise or operator.family == "indexing" or turns:
        first, others = next(iter(values.values())), read_late(values)
        for target in outs:
            # What could be written in place may be the output; products of matrices are computed before they are added.
            refuse_overlap(name, target, [first], apart and operator.inplace_form is None)
            refuse_overlap(name, target, others * (operator.family != "matmul"), apart and name != "gather")


def _meets(value: Any, target: Any, apart: bool) -> bool:
    """Whether a value has memory of the target; both being the same place counts if they must be `apart`."""
    if value is target:
        return apart
    storage = target._storage
    if storage is None or getattr(value, "_storage", None) is not storage:
        return False
    read, written = value._array, target._array
    if value._key.level is not None or 0 in read.shape or 0 in written.shape or not is_dense(read) or not is_dense(written):
        return False
    start, other = value.data_ptr(), target.data_ptr()
    end, other_end = start + value.nbytes, other + target.nbytes
    if (start, end) == (other, other_end):
        return apart or len(read.shape) != len(written.shape) or _steps(read) != _steps(written)
    return bool(start < other_end and other < end)


def _steps(array: Any) -> list[tuple[int, int]]:
    return [(n, step) for n, step in zip(array.shape, array.strides) if n > 1]
