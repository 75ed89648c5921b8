"""Scenarios of recorded work (CUDA graphs), and of what recording needs: products, draws, memory."""

from __future__ import annotations

import numpy as np
import pytest
import stub
from scenarios import DEVICE, array, quiet

import tenfold
from tenfold import cuda, nn, optim
from tenfold.cuda import runtime
from tenfold.nn import functional as F


def case_products_use_tf32_only_where_it_is_allowed():
    from tenfold.cuda import cublas, cublaslt, precision
    from tenfold.cuda.kernels import matmul

    x, called = array(64, 64), []
    real = cublas.product
    matmul.cublas.product = lambda *a: called.append(a) or real(*a)
    cublaslt._state["library"] = None
    try:
        assert stub.settled(lambda: x @ x).products == 1
        assert not called
        tenfold.set_float32_matmul_precision("high")
        assert stub.settled(lambda: x @ x).products == 1
        assert called
        assert precision.products_in_tf32()
    finally:
        matmul.cublas.product = real
        cublaslt.replace(None)
        tenfold.set_float32_matmul_precision("highest")
    assert precision.convolution_precision(np.dtype("f4")) == "tf32"  # as in PyTorch, from the start
    tenfold.backends.cudnn.allow_tf32 = False
    assert precision.convolution_precision(np.dtype("f4")) == "ieee"
    tenfold.backends.cudnn.allow_tf32 = True
    assert precision.convolution_precision(np.dtype("f2")) == "ieee"


def graphed(function):
    """(the graph of a function's work, what it returned, what recording gave the device to do)."""
    function()
    graph, found = cuda.CUDAGraph(), []
    with cuda.graph(graph):
        work = stub.work(lambda: found.append(function()))
    return graph, found[0], work


def case_a_graph_has_memory_of_its_own():
    from tenfold.cuda.kernels import recycling

    x = array(64, 64)
    kept = x + x  # in a ring
    graph, y, work = graphed(lambda: x + x)
    assert [launch.stream for launch in work.launches] == [cuda.graph.default_capture_stream.cuda_stream] != [0]
    assert y.data_ptr() != kept.data_ptr()
    assert y._array.data.mem.pool is not kept._array.data.mem.pool
    assert not [array for _, ring in recycling._rings for array, _ in ring if array is y._array]
    for _ in range(3):
        assert (x + x).data_ptr() != y.data_ptr()
    assert stub.work(graph.replay).counts == {"graph": 1}
    assert cuda.memory_allocated() >= 3 * 64 * 64 * 4
    before, where = graph._pool.cupy_pool.total_bytes(), y.data_ptr()
    del y
    other = cuda.CUDAGraph()
    with cuda.graph(other, pool=graph.pool()):
        z = x + x
    assert z.data_ptr() == where
    assert other.pool() == graph.pool()
    assert graph._pool.cupy_pool.total_bytes() == before
    del z
    graph.reset()
    other.reset()
    cuda.empty_cache()
    with pytest.raises(RuntimeError, match="preceding successful capture"):
        graph.replay()


def case_a_training_step_is_recorded_and_started_by_one_call():
    model = nn.Sequential(nn.Linear(16, 32), nn.LayerNorm(32), nn.ReLU(), nn.Dropout(0.5), nn.Linear(32, 10)).to(DEVICE)
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    x, target = array(8, 16), tenfold.zeros(8, dtype=tenfold.int64, device=DEVICE)

    def step():
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), target)
        loss.backward()
        optimizer.step()
        return loss

    step()
    graph, loss, work = graphed(step)
    # The optimizer's table of addresses is copied beside the recording, and waited for there.
    assert {k: work.counts[k] for k in ("sync", "to_host", "to_device")} == {"sync": 1, "to_host": 0, "to_device": 1}
    assert work.products >= 5
    assert {launch.stream for launch in work.launches} == {cuda.graph.default_capture_stream.cuda_stream}
    again = quiet(stub.work(graph.replay))
    assert again.counts == {"graph": 1}
    assert again.names == ["place_words"]
    assert loss._array.data.mem.pool is not x._array.data.mem.pool


def case_a_replay_draws_anew():
    from tenfold.cuda import seeding

    x = array(64)
    own = tenfold.Generator(DEVICE).manual_seed(3)
    cuda.manual_seed(7)
    graph, _, work = graphed(lambda: (F.dropout(x), tenfold.rand(5, device=DEVICE), x.bernoulli_(0.5, generator=own)))
    assert [quiet(work).names.count(name) for name in ("draw_samples", "drop_samples")] == [2, 1]
    draws = list(graph._capture.draws.values())
    assert draws[0].source is None
    assert draws[1].source.place is own.place
    assert draws[0].counters == 1280
    first = seeding.default_generator(0).place[1]
    words = own.get_state().tolist()
    assert quiet(stub.work(graph.replay)).names == ["place_words"] * 2
    assert seeding.default_generator(0).place == [7, first + 1280]
    assert own.get_state().tolist() != words


def case_what_cannot_be_recorded_is_refused_by_name():
    x = array(8, 8)
    calls = {
        "read": x.sum().item, "copied from the host": lambda: tenfold.tensor([1.0, 2.0], device=DEVICE),
        "waited for": cuda.synchronize, "recorded into a graph already": lambda: cuda.CUDAGraph().capture_begin(),
        "stream cannot be waited for": lambda: cuda.current_stream().synchronize(),
        "capturable": lambda: adam.step(),
    }  # fmt: skip
    p = array(4).requires_grad_()
    p.grad = tenfold.ones_like(p)
    adam = optim.Adam([p])
    adam.step()
    for words, call in calls.items():
        graph = cuda.CUDAGraph()
        with pytest.raises(RuntimeError, match=words), cuda.graph(graph):
            call()
        assert not cuda.is_current_stream_capturing()
        with pytest.raises(RuntimeError, match="preceding"):
            graph.replay()
    x + x
    with pytest.raises(RuntimeError, match="non-default stream"):
        cuda.CUDAGraph().capture_begin()
    with pytest.raises(RuntimeError, match="capture_begin"):
        cuda.CUDAGraph().capture_end()
    with pytest.raises(RuntimeError, match="error mode"):
        cuda.CUDAGraph().capture_begin(capture_error_mode="strict")


def case_memory_that_another_stream_uses_is_not_given_out():
    side = cuda.Stream()
    x = array(300, 300)
    where = x.data_ptr()
    x.record_stream(side)
    del x
    y = tenfold.empty(300, 300, device=DEVICE)  # the mark is recorded now: the stub's streams are at it at once
    assert y.data_ptr() != where
    del y
    found = [tenfold.empty(300, 300, device=DEVICE) for _ in range(3)]
    assert where in [y.data_ptr() for y in found]
    assert not runtime.BEFORE_ALLOCATION
    with pytest.raises(RuntimeError, match="record_stream: expected a tensor on a GPU"):
        tenfold.ones(2).record_stream(side)
    with pytest.raises(TypeError, match="Stream"):
        found[0].record_stream(3)


def case_callables_are_graphed_with_their_gradients():
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Dropout(0.5), nn.Linear(32, 10)).to(DEVICE)
    head = nn.Linear(10, 3).to(DEVICE)
    sample = array(8, 16).requires_grad_(), array(8, 10).requires_grad_()
    graphed_model, graphed_head = cuda.make_graphed_callables((model, head), ((sample[0],), (sample[1],)))
    assert graphed_model is model
    x = array(8, 16).requires_grad_()

    def step():
        for p in (*model.parameters(), *head.parameters(), x):
            p.grad = None
        graphed_head(graphed_model(x)).sum().backward()

    step()
    work = quiet(stub.work(step))
    assert work.counts["graph"] == 4
    assert all(p.grad is not None and p.grad.shape == p.shape for p in (*model.parameters(), *head.parameters(), x))
    assert work.products == 0
    model.eval()
    with tenfold.no_grad():
        assert "graph" not in stub.work(lambda: model(x)).counts  # another mode than the recorded one
    head.register_forward_hook(lambda *a: None)
    with pytest.raises(RuntimeError, match="hooks"):
        cuda.make_graphed_callables(head, (sample[1],))
