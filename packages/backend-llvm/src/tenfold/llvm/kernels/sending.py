"""Numbers sent to places along a dimension: `scatter_add`, `scatter_reduce` and `index_add`, of recorded calls, too."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op
from tenfold.llvm import session as sessions
from tenfold.llvm.kernels.adding import index_put
from tenfold.llvm.kernels.attaching import ACCELERATED
from tenfold.llvm.programs import GRAIN_ELEMENTS, Compiled
from tenfold.llvm.sending import HALVES, sent
from tenfold.llvm.storage import BY_DTYPE, FLOAT16, FLOAT32, FLOATING, INT64, Stored

Array = np.ndarray[Any, Any]
SENT = Compiled("numbers sent to places", sent)
TILE = 1 << 9  # inner numbers of an item
SERVED = (*FLOATING, INT64)
_NOTHING = np.zeros((), np.int64)


def send(input: Any, dim: Any, index: Any, src: Any, kind: str, own: bool, out: Any = None) -> Any:
    """What is at each place after all was sent there; NotImplemented for the kernel beneath, which has the words of errors."""
    if not _plain(input, dim, index, src) or not (out is None or _apart(out, input, index, src)):
        return NotImplemented
    if kind == "mean" and input.dtype is INT64.dtype:
        return NotImplemented
    dim %= input.ndim
    along, slices = _places(index, dim)
    return _sent(input, dim, along, slices, src, kind, own, out)


def _sent(input: Array, dim: int, along: Array, slices: bool, src: Array, kind: str, own: bool, out: Any) -> Any:
    """The same for places in one piece, of single numbers or of slices."""
    stored = BY_DTYPE[input.dtype]
    shape, size, many, inner = input.shape, input.shape[dim], src.shape[dim], prod(input.shape[dim + 1 :])
    session = sessions.session()
    assert session is not None
    made = session.memory.empty(shape, input.dtype) if out is None else out
    work = session.memory.empty(shape, FLOAT32.dtype) if stored in HALVES else made
    counts = session.memory.empty(shape, INT64.dtype) if kind == "mean" else _NOTHING
    tile = min(inner, TILE)
    tiles = -(-inner // tile)
    flag = np.zeros((), np.int64)
    given = (input, along, src if src.flags.carray else np.ascontiguousarray(src), made, work, counts, flag)
    grain = max(1, GRAIN_ELEMENTS // ((size + many) * tile))
    numbers = (size, many, inner, tile, tiles)
    key = (stored, kind, own, slices, inner == 1)
    done = SENT.run(key, prod(shape[:dim]) * tiles, grain, *given, *numbers)
    return made if done and not flag else NotImplemented


def _plain(input: Any, dim: Any, index: Any, src: Any) -> bool:
    """Whether arrays are of dtypes and shapes that are served: one number for each place of the index."""
    if not (type(input) is type(index) is type(src) is np.ndarray and type(dim) is int and index.dtype is INT64.dtype):
        return False
    stored: Stored | None = BY_DTYPE.get(input.dtype)
    if stored not in SERVED or src.dtype != input.dtype or not input.flags.carray or not (index.size and input.size):
        return False
    if not -input.ndim <= dim < input.ndim or index.ndim != input.ndim or src.shape != index.shape:
        return False
    dim %= input.ndim
    return bool(index.shape[:dim] == input.shape[:dim] and index.shape[dim + 1 :] == input.shape[dim + 1 :])


def _apart(out: Any, input: Any, index: Any, src: Any) -> bool:
    """Whether a call writes into its input, which the others do not share memory with."""
    return out is input and not np.may_share_memory(out, index) and not np.may_share_memory(out, src)


def _places(index: Array, dim: int) -> tuple[Array, bool]:
    """The places in one piece; whether there is one for each slice, as an expanded vector has them."""
    if index.flags.carray:
        return index, False
    still = all(d == dim or n == 1 or step == 0 for d, (n, step) in enumerate(zip(index.shape, index.strides, strict=True)))
    if still and index.ndim > 1:
        return np.ascontiguousarray(index[tuple(slice(None) if d == dim else 0 for d in range(index.ndim))]), True
    return np.ascontiguousarray(index), False


def scatter_add(input: Any, dim: Any, index: Any, src: Any, out: Any = None) -> Any:
    """The sums at each place."""
    return send(input, dim, index, src, "sum", True, out)


def scatter_reduce(input: Any, dim: Any, index: Any, src: Any, reduce: Any, include_self: Any, out: Any = None) -> Any:
    """The sum, product, mean or extreme at each place."""
    return send(input, dim, index, src, reduce, bool(include_self), out)


def index_add(input: Any, dim: Any, index: Any, source: Any, alpha: Any, out: Any = None) -> Any:
    """Slices added; of half precision they meet in float32 along the first and last dimension, vectors are rounded each time."""
    if (
        BY_DTYPE.get(input.dtype) not in SERVED
        or type(index) is not np.ndarray
        or index.dtype is not INT64.dtype
        or index.ndim != 1
        or not index.flags.carray
    ):
        return NotImplemented
    if type(alpha) is not int or alpha != 1 or type(source) is not np.ndarray or source.dtype != input.dtype:
        return NotImplemented
    if type(dim) is not int or not -input.ndim <= dim < input.ndim or not input.flags.carray or not (source.size and input.size):
        return NotImplemented
    dim %= input.ndim
    shape, half = input.shape, input.itemsize == FLOAT16.size
    if source.shape != (*shape[:dim], len(index), *shape[dim + 1 :]) or (half and 0 < dim < input.ndim - 1):
        return NotImplemented
    if half and input.ndim == 1:
        return index_put(input, (index,), source, True) if int(index.min()) >= 0 else NotImplemented
    return _sent(input, dim, index, True, source, "sum", True, None)


def _before(operator: Any, serve: Any) -> Any:
    def wrapped(beneath: Any) -> Any:
        def send_to(*arguments: Any, out: Any = None) -> Any:
            found = serve(*arguments, out)
            if found is not NotImplemented:
                return found
            return beneath(*arguments) if out is None else beneath(*arguments, out=out)

        if operator.body is None:
            send_to.__module__ = getattr(beneath, "__module__", __name__)  # native writes stand for core's kernel, and no other
        return send_to

    return wrapped


for _name, _serve in {"scatter_add": scatter_add, "scatter_reduce": scatter_reduce, "index_add": index_add}.items():
    ACCELERATED[_name] = _serve
    kernel(getattr(op, _name), device="cpu", wrap=True, into=_name != "index_add", note="floats and int64, places of int64")(
        _before(getattr(op, _name), _serve)
    )
