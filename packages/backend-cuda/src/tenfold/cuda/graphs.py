"""CUDA graphs: a stream's work is recorded once and started again by one call (PyTorch's `torch.cuda.CUDAGraph` and `graph`).

Recorded are the kernels with the addresses of their arrays: a replay reads what lies in the inputs by then, and writes to the
same results. Numbers of Python, such as a learning rate, are recorded as they are. Random numbers are drawn anew.
"""

from __future__ import annotations

import gc
import sys
from types import TracebackType
from typing import Any

from tenfold.cuda import capturing, cublas, cublaslt, reports, runtime, seeding
from tenfold.cuda.capturing import Capture
from tenfold.cuda.kernels import recycling
from tenfold.cuda.memory import empty_cache
from tenfold.cuda.pools import MemPool, graph_pool_handle, pool_of
from tenfold.cuda.state import is_current_stream_capturing
from tenfold.cuda.streams import Stream, current_stream, stream

__all__ = ["CUDAGraph", "graph", "graph_pool_handle", "is_current_stream_capturing"]
MODES = ("global", "thread_local", "relaxed")


class CUDAGraph:
    """Recorded work of a stream.

    The graph keeps the memory that was allocated while it was recorded, and what of the device its kernels read besides
    tensors; the tensors that were made before are the caller's to keep. `keep_graph` leaves making it ready to `instantiate`,
    or to the first replay.

    Raises: RuntimeError where there is no GPU, for a call out of turn, and for work that cannot be recorded.

    Source: NVIDIA, CUDA C++ programming guide, "CUDA Graphs", stream capture.
    """

    def __init__(self, keep_graph: bool = False) -> None:
        runtime.current()
        if runtime.is_replaced():
            raise RuntimeError("CUDAGraph: this process interprets kernels on the host; graphs are recorded by a GPU's driver")
        self.keep_graph = keep_graph
        self._pool: MemPool | None = None
        self._capture: Capture | None = None
        self._recorded: Any = None
        self._allocating: Any = None
        self._stream: Any = None

    def capture_begin(self, pool: Any = None, capture_error_mode: str = "global") -> None:
        """Record the current stream's work from now on; `graph` does it for a block, which is less to get wrong.

        `pool` is another graph's `pool()`, or a handle, whose memory to share: such graphs are to be replayed in the order in
        which they were recorded. Every mode records as "relaxed": memory has to be taken from the GPU meanwhile.
        """
        if capture_error_mode not in MODES:
            raise RuntimeError(f"Unknown capture error mode. Expected one of {', '.join(MODES)}, got {capture_error_mode!r}")
        if self._capture is not None:
            raise RuntimeError("CUDAGraph.capture_begin: this graph has been recorded; call reset() first, or make another one")
        chosen = current_stream()
        if chosen.cuda_stream == 0:
            raise RuntimeError(
                "CUDAGraph.capture_begin: CUDA graphs must be captured on a non-default stream. (However, after capture, it's ok "
                "to replay them on the default stream.) Enter tenfold.cuda.stream(tenfold.cuda.Stream()) before, or use "
                "tenfold.cuda.graph"
            )
        if chosen.cupy_stream.is_capturing():
            raise RuntimeError("CUDAGraph.capture_begin: the current stream is being recorded into a graph already")
        now = runtime.current()
        reports.words(now)
        with now.module.cuda.Device(chosen.device_index):
            cublas.prepared(chosen.device_index)
            cublaslt.prepared(chosen.device_index)
        self._pool, self._stream, self._capture = pool_of(pool), chosen, Capture(now.module)
        recycling.clear()  # what comes back later must not be what a graph has taken
        self._allocating = now.module.cuda.using_allocator(self._pool.cupy_pool.malloc)
        self._allocating.__enter__()
        capturing.CAPTURES.append(self._capture)
        try:
            chosen.cupy_stream.begin_capture(now.module.cuda.runtime.streamCaptureModeRelaxed)
        except BaseException:
            self._stop()
            self.reset()
            raise

    def capture_end(self) -> None:
        """The end of the recording."""
        if self._allocating is None:
            raise RuntimeError("CUDAGraph.capture_end: capture_begin() was not called")
        if current_stream() != self._stream:
            raise RuntimeError("CUDAGraph.capture_end: Capture must end on the same stream it began on.")
        self._end()

    def _end(self) -> None:
        """End the recording on its stream, whatever came between; a recording that failed leaves an empty graph."""
        try:
            with runtime.current().module.cuda.Device(self._stream.device_index):
                self._recorded = self._stream.cupy_stream.end_capture()
        except BaseException:
            self._stop()
            self.reset()
            raise
        self._stop()

    def _stop(self) -> None:
        allocating, self._allocating = self._allocating, None
        if self._capture in capturing.CAPTURES:
            capturing.CAPTURES.remove(self._capture)
        allocating.__exit__(None, None, None)

    def _needed(self, what: str) -> Any:
        if self._recorded is None:
            raise RuntimeError(f"CUDAGraph.{what}: Called without a preceding successful capture.")
        return self._recorded

    def instantiate(self) -> None:
        """Make the graph ready: it is, as CuPy does so when a recording ends."""
        if not self.keep_graph:
            raise RuntimeError("CUDAGraph.instantiate: only for a graph that was made with keep_graph=True")
        self._needed("instantiate")

    def replay(self) -> None:
        """Start the recorded work on the current stream."""
        recorded = self._needed("replay")
        assert self._capture is not None
        if self._capture.draws:
            self._draw_anew()
        with runtime.current().module.cuda.Device(self._stream.device_index):
            recorded.launch()

    def _draw_anew(self) -> None:
        """Let this replay draw from where its generators are now, and these go on behind it."""
        from tenfold.cuda.sampling import place  # with the first draw, as it needs kernels

        assert self._capture is not None
        for draws in self._capture.draws.values():
            seed, first = seeding.reserve(draws.index, draws.source, draws.counters)
            place(draws.words, seed, first, draws.index)

    def reset(self) -> None:
        """Forget the recorded work and give its memory back."""
        if self._allocating is not None:
            raise RuntimeError("CUDAGraph.reset: the graph is being recorded; call capture_end() first")
        self._pool = self._capture = self._recorded = self._stream = None

    def pool(self) -> tuple[int, int]:
        """The handle of the graph's memory, for graphs that are to share it."""
        if self._pool is None:
            raise RuntimeError("CUDAGraph.pool: Called without a preceding capture; graph_pool_handle() makes a handle before")
        return self._pool.id

    def register_generator_state(self, generator: Any) -> None:
        """Nothing to be done: a replay draws anew from every generator that the recorded work used."""

    def enable_debug_mode(self) -> None:
        """Nothing to be done: what `debug_dump` needs is kept anyway."""

    def debug_dump(self, debug_path: str) -> None:
        """Write the graph to a file, in the language of Graphviz's dot."""
        with open(debug_path, "w") as file:
            file.write(self._needed("debug_dump").debug_dot_str())


class graph:  # noqa: N801 - PyTorch's name
    """Record the work of a block into a graph, on a stream of its own; nothing of it is done before the first replay.

    Waits for the device first, and gives unused memory back. The block may not wait for the GPU, read values or copy from the
    host; run it a few times before, on a side stream, so that everything that is made at first use is there.
    """

    default_capture_stream: Any = None

    def __init__(
        self,
        cuda_graph: CUDAGraph,
        pool: Any = None,
        stream: Stream | None = None,
        capture_error_mode: str = "global",
        enable_annotations: bool = False,
        check_input_liveness: bool = False,
    ) -> None:
        if not isinstance(cuda_graph, CUDAGraph):
            raise TypeError(f"graph: expected a CUDAGraph, got {type(cuda_graph).__name__}")
        if stream is None:
            kept = graph.default_capture_stream
            if kept is None or kept.device_index != runtime.current().current_index():
                graph.default_capture_stream = Stream()
            stream = graph.default_capture_stream
        self.pool = pool
        self.capture_stream = stream
        self.cuda_graph = cuda_graph
        self.capture_error_mode = capture_error_mode

    def __enter__(self) -> None:
        runtime.current().synchronize(None)
        gc.collect()
        empty_cache()
        self.stream_ctx = stream(self.capture_stream)
        self.stream_ctx.__enter__()
        try:
            self.cuda_graph.capture_begin(self.pool, self.capture_error_mode)
        except BaseException:
            self.stream_ctx.__exit__(*sys.exc_info())
            raise

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            self.cuda_graph.capture_end()
        except Exception as failure:
            if error is None:
                raise
            error.add_note(f"The recording ended as well: {failure}")  # what the block raised is the cause
        else:
            if error is not None:
                self.cuda_graph.reset()
        finally:
            self.stream_ctx.__exit__(kind, error, trace)
