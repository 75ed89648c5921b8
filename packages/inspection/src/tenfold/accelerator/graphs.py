"""`tenfold.accelerator.Graph`: an accelerator's work, recorded once and started again by one call."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any, Self, cast

from tenfold.accelerator.modules import module


class Graph:
    """Recorded work: `with graph:` records that of a block, `graph.replay()` starts it again.

    Raises: RuntimeError where there is no accelerator, or it has no graphs.
    """

    def __init__(
        self, keep_graph: bool = False, *, pool: tuple[int, int] | None = None, capture_error_mode: str = "default"
    ) -> None:
        self._graph = module().CUDAGraph(keep_graph)
        self._pool = pool
        self._mode = "global" if capture_error_mode == "default" else capture_error_mode
        self._inside = ExitStack()

    def capture_begin(self) -> None:
        """Record the current stream's work from now on."""
        self._graph.capture_begin(self._pool, self._mode)

    def capture_end(self) -> None:
        """The end of the recording."""
        self._graph.capture_end()

    def instantiate(self) -> None:
        """Make a graph ready that was made with keep_graph=True."""
        self._graph.instantiate()

    def replay(self) -> None:
        """Start the recorded work on the current stream."""
        self._graph.replay()

    def reset(self) -> None:
        """Forget the recorded work and give its memory back."""
        self._graph.reset()

    def pool(self) -> Any:
        """The handle of the graph's memory, for graphs that are to share it."""
        return self._graph.pool()

    def enable_debug_mode(self) -> None:
        """Keep what `debug_dump` writes."""
        self._graph.enable_debug_mode()

    def debug_dump(self, path: str) -> None:
        """Write the graph to a file, in the language of Graphviz's dot."""
        self._graph.debug_dump(path)

    def __enter__(self) -> Self:
        self._inside.enter_context(module().graph(self._graph, self._pool, capture_error_mode=self._mode))
        return self

    def __exit__(self, *exc: object) -> None:
        inside, self._inside = self._inside, ExitStack()
        inside.__exit__(*cast("Any", exc))
