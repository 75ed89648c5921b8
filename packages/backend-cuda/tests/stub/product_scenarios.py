"""Scenarios of matrix products: one call of cuBLASLt for each, on its GPU and stream, also in graphs; or of cuBLAS."""

from __future__ import annotations

import gc
import threading

import stub
from scenarios import array, quiet

import tenfold
from tenfold import cuda, nn
from tenfold.cuda import cublaslt, playing
from tenfold.nn import functional as F


def case_a_product_is_one_call_whatever_is_added():
    a, b, c, row, images, batch = array(64, 64), array(64, 64), array(64, 64), array(64), array(2, 3, 64), array(4, 64, 64)
    for function in (
        lambda: a @ b, lambda: a.T @ b, lambda: tenfold.addmm(row, a, b), lambda: tenfold.addmm(c, a, b, beta=2), lambda: a @ row,
        lambda: tenfold.addmv(row, a, row), lambda: F.linear(a, b, row), lambda: F.linear(images, b),
        lambda: tenfold.baddbmm(batch, batch, batch),
    ):  # fmt: skip
        function()
        library, searched = stub.products_library(), stub.products_library().cublaslt_searches()
        before = library.cublaslt_calls()
        work = stub.work(function)
        assert library.cublaslt_calls() - before == work.products == 1
        assert not quiet(work).launches
        assert library.cublaslt_searches() == searched, "a plan was made anew"


def case_an_affine_layer_is_three_calls_and_nothing_else():
    layer = nn.Linear(64, 32).to("cuda:0").to(tenfold.bfloat16)
    x, g = array(8, 16, 64, dtype=tenfold.bfloat16).requires_grad_(), array(8, 16, 32, dtype=tenfold.bfloat16)

    def run():
        for p in (*layer.parameters(), x):
            p.grad = None
        layer(x).backward(g)

    work = quiet(stub.settled(run))
    assert (work.products, work.names) == (3, [])


def case_products_run_on_their_own_gpu_and_stream():
    side = cuda.Stream()
    library = stub.products_library()
    x = array(64, 64)
    with cuda.stream(side):
        x @ x
    assert library.cublaslt_stream() == side.cuda_stream != 0
    assert library.cublaslt_workspace() == 1 << 20
    y = array(64, 64, device="cuda:1")
    assert (y @ y).device.index == 1
    assert {key[10] for key in cublaslt.library().plans} == {0, 1}


def case_products_of_a_graph_take_its_memory():
    x = array(64, 64)
    graph = cuda.CUDAGraph()
    with cuda.graph(graph):
        work = stub.work(lambda: F.linear(x, x, x[0]))
    library = stub.products_library()
    assert (work.products, library.cublaslt_stream()) == (1, cuda.graph.default_capture_stream.cuda_stream)
    assert graph._pool.cupy_pool.total_bytes() >= 64 * 64 * 4 + library.cublaslt_workspace()
    assert stub.work(graph.replay).counts == {"graph": 1}


def case_threads_share_plans():
    x, rows = array(32, 32), [array(32) for _ in range(4)]
    F.linear(x, x, rows[0])
    searched = stub.products_library().cublaslt_searches()
    threads = [threading.Thread(target=lambda row=row: [F.linear(x, x, row) for _ in range(50)]) for row in rows]
    before = stub.products_library().cublaslt_calls()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert stub.products_library().cublaslt_calls() - before == 200
    assert stub.products_library().cublaslt_searches() == searched


def case_descriptors_are_given_back():
    x = array(16, 16)
    x @ x
    assert stub.products_library().cublaslt_made() >= 5
    cublaslt.library().plans.clear()
    playing.forget()
    gc.collect()  # graphs and libraries of other scenarios
    assert stub.products_library().cublaslt_made() == 0


def case_without_the_library_cublas_multiplies():
    x, row = array(64, 64, dtype=tenfold.bfloat16), array(64, dtype=tenfold.bfloat16)
    cublaslt._state["library"] = None
    try:
        calls = stub.products_library().cublaslt_calls()
        for function in (lambda: x @ x, lambda: F.linear(x, x, row), lambda: tenfold.addmm(row, x, x)):
            assert stub.settled(function).products == 1
        assert stub.products_library().cublaslt_calls() == calls
    finally:
        cublaslt.replace(None)
