"""Memory that another stream uses: it is not given out again before that stream has done with it (`Tensor.record_stream`).

CuPy's pool gives memory back to the stream that it was taken for. Memory named here is held until no tensor has it any more;
then a mark is recorded in the other streams, and when they are past it the pool gets the memory. Nobody tells when a tensor
dies: it is looked for with later allocations, and so held a little longer than needed, never shorter.
"""

from __future__ import annotations

from sys import getrefcount
from typing import Any

from tenfold.cuda import runtime
from tenfold.cuda.capturing import CAPTURES
from tenfold.cuda.kernels import recycling
from tenfold.cuda.streams import Stream
from tenfold.tensor.tensor import Tensor

_used: dict[int, tuple[Any, set[Stream]]] = {}  # by the memory's address: the memory, and the streams that use it
_leaving: list[tuple[Any, list[Any]]] = []  # memory that no tensor has, and marks in those streams
OURS = 3  # references to memory that only `_used` has: its tuple, the loop's own name, and getrefcount's


def record_stream(tensor: Any, stream: Stream) -> None:
    """Keep this tensor's memory, after the tensor, until all work that `stream` has by then is done.

    Raises: RuntimeError for a tensor that is not on a GPU; TypeError for what is no stream.
    """
    if not tensor.is_cuda:
        raise RuntimeError(f"record_stream: expected a tensor on a GPU, got one on {tensor.device}")
    if not isinstance(stream, Stream):
        raise TypeError(f"record_stream: expected a tenfold.cuda.Stream, got {type(stream).__name__}")
    release()
    if runtime.is_replaced():
        return
    memory = tensor._array.data.mem
    if memory.size <= recycling.SMALL:
        recycling.leave_out(memory)
    runtime.BEFORE_ALLOCATION[:] = [release]
    _used.setdefault(memory.ptr, (memory, set()))[1].add(stream)


def release() -> None:
    """Look what memory can be let go."""
    if CAPTURES or not (_used or _leaving):
        return
    _leaving[:] = [(memory, marks) for memory, marks in _leaving if not all(mark.query() for mark in marks)]
    for address, (memory, streams) in list(_used.items()):
        if getrefcount(memory) <= OURS:
            del _used[address]
            _leaving.append((memory, [stream.record_event() for stream in streams]))
    if not (_used or _leaving):
        runtime.BEFORE_ALLOCATION.clear()


Tensor.record_stream = record_stream  # type: ignore[attr-defined]
