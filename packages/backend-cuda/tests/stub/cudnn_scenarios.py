"""Scenarios of cuDNN: on which stream its graphs run, where their workspace comes from, trials; its module only notes calls."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace

import stub
from scenarios import array, quiet

import tenfold
from tenfold import cuda
from tenfold.backends import cudnn
from tenfold.cuda import cudnn_graphs
from tenfold.nn import functional as F

WORKSPACE = 1 << 16


class Anything:
    """A tensor, or whatever else has methods that return it."""

    def __getattr__(self, name):
        return lambda *arguments, **options: self


class Graph(Anything):
    def __init__(self, module):
        self.module = module

    def get_workspace_size(self):
        return WORKSPACE

    def get_execution_plan_count(self):
        return 4

    def build_plan_at_index(self, i):
        if i == 1:
            raise RuntimeError("not for this GPU")

    def get_workspace_size_plan_at_index(self, i):
        return WORKSPACE * i

    def _execute(self, addresses, workspace, handle, plan=None):
        assert sorted(addresses) == [1, 2, 3]
        self.module.ran.append((self.module.stream, workspace != 0, plan))

    def _execute_plan_at_index(self, addresses, workspace, plan, handle):
        self._execute(addresses, workspace, handle, plan)


@contextlib.contextmanager
def cudnn_module():
    names = lambda *given: SimpleNamespace(**{name: name for name in given})  # noqa: E731
    module = SimpleNamespace(
        ran=[], stream=None, data_type=names("FLOAT", "HALF", "BFLOAT16"), heur_mode=names("A", "FALLBACK"),
        numerical_note=names("NONDETERMINISTIC", "DOWN_CONVERT_INPUTS", "TENSOR_CORE"), cudnnGraphNotSupportedError=KeyError,
        create_handle=lambda: 7, pygraph=lambda **options: Graph(module),
        set_stream=lambda handle, stream: setattr(module, "stream", stream),
    )  # fmt: skip
    cudnn_graphs.replace(module)
    try:
        yield module
    finally:
        cudnn_graphs.replace(None)


def case_cudnn_runs_on_the_current_stream_and_in_graphs():
    x, w = array(1, 2, 4, 4), array(2, 2, 3, 3)
    side = cuda.Stream()
    with cudnn_module() as module:
        assert quiet(stub.settled(lambda: F.conv2d(x, w))).names == []
        with cuda.stream(side):
            F.conv2d(x, w)
        graph = cuda.CUDAGraph()
        with cuda.graph(graph):
            F.conv2d(x, w)
        streams = [0] * 4 + [side.cuda_stream, cuda.graph.default_capture_stream.cuda_stream]  # settled calls four times
        assert module.ran == [(stream, True, None) for stream in streams]
        assert graph._pool.cupy_pool.total_bytes() >= WORKSPACE


def case_cudnn_tries_its_plans_where_that_is_wished():
    x, w = array(1, 2, 4, 4), array(2, 2, 3, 3)
    with cudnn_module() as module, cudnn.flags(enabled=True, benchmark=True, benchmark_limit=3):
        work = stub.work(lambda: F.conv2d(x, w))
        assert [plan for *_, plan in module.ran] == [0, 0, 2, 2, 0]  # two runs each, then the faster one; the second is none
        assert work.counts["sync"] == 2
        module.ran.clear()
        assert quiet(stub.work(lambda: F.conv2d(x, w))).names == []
        assert module.ran == [(0, False, 0)]
        assert tenfold.backends.cudnn.is_available()
