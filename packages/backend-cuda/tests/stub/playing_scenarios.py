"""Scenarios of calls that are played again: they do what a call does that is not, and no call is taken for another."""

# ruff: noqa: B023 - calls are made inside the loops

from __future__ import annotations

import threading

import stub
from scenarios import DEVICE, array

import tenfold
from tenfold import cuda
from tenfold.cuda import launch, playing
from tenfold.dispatch.kernels import table
from tenfold.nn import functional as F

HALF = tenfold.bfloat16


def started_with(arrays, function):
    """(results, what each kernel was last started with): an address as the array that it is in, and the bytes from its first."""
    for loaded in launch._loaded.values():
        buffer, _ = loaded.buffers()
        buffer[:] = bytes(len(buffer))
    result = function()
    results = list(flat([result]))
    named = [(x.data.ptr, max(x.nbytes, 1), k) for k, x in enumerate([*arrays, *results])]
    found = {}
    for key, loaded in launch._loaded.items():
        buffer, _ = loaded.buffers()
        if not any(buffer):
            continue
        values = list(loaded.packing.unpack_from(buffer, 0))
        for i in loaded.addresses:
            values[i] = next(((k, values[i] - at) for at, size, k in named if at <= values[i] < at + size), "elsewhere")
        found[key] = values
    return result, found


def calls():
    """Functions of arrays that are played, and their arguments: new arrays with each call."""
    k = table("cuda")
    a, w = lambda *shape, dtype=HALF: array(*shape, dtype=dtype)._array, lambda n: array(n, dtype=HALF)._array
    places = lambda *shape: tenfold.zeros(*shape, dtype=tenfold.int64, device=DEVICE)._array  # noqa: E731
    s = lambda *shape: a(*shape, dtype=tenfold.float32)  # noqa: E731
    window = ((1, 1), (1, 1), (1, 1), False, (0, 0), 1)
    loss = lambda: (places(64), None, -100, 0.0, "mean")  # noqa: E731
    return {
        "layer norm": (k.fused_layer_norm, lambda: (a(256, 384), 1, w(384), w(384), 1e-5)),
        "its gradient": (k.fused_layer_norm_grad, lambda: (a(256, 384), a(256, 384), s(256, 1), s(256, 1), 1, w(384), 1e-5)),
        "batch norm": (k.fused_batch_norm, lambda: (a(4, 32, 8, 8), w(32), w(32), None, None, True, 1e-5)),
        "its gradient ": (k.fused_batch_norm_grad, lambda: (a(4, 32, 8, 8), a(4, 32, 8, 8), w(32), s(32), s(32), True, 1e-5)),
        "cross entropy": (k.fused_cross_entropy, lambda: (a(64, 100), *loss())),
        "convolution": (k.convolution, lambda: (a(2, 16, 8, 8), a(32, 16, 3, 3), w(32), *window)),
        "of weights": (k.convolution_weight_grad, lambda: (a(2, 32, 8, 8), a(2, 16, 8, 8), (32, 16, 3, 3), *window)),
        "attention": (k.fused_attention, lambda: (a(2, 4, 64, 64), a(2, 4, 64, 64), a(2, 4, 64, 64), None, True, None)),
        "strided copy": (k.clone, lambda: (a(64, 32).T, tenfold.contiguous_format)),
        "stack": (k.stack, lambda: ([a(64, 32), a(64, 32).reshape(64, 32), a(128, 32)[64:]], 0)),
        "rows": (k.embedding_rows, lambda: (a(100, 32), places(4, 8), -1, False, False)),
        "index": (k.index, lambda: (a(100, 32), (places(8),))),
        "pool": (k.max_pool, lambda: (a(2, 16, 8, 8), (2, 2), (2, 2), (0, 0), (1, 1), False)),
        "softmax": (k.softmax, lambda: (a(64, 100), 1)), "gelu": (k.gelu_backward, lambda: (a(64, 30), a(64, 30), "tanh")),
    }  # fmt: skip


def layers():
    """Those of losses, rows, norms, places and blocks."""
    k, f = table("cuda"), tenfold.float32
    a = lambda *shape, dtype=HALF: array(*shape, dtype=dtype)._array  # noqa: E731
    places = lambda *shape: tenfold.zeros(*shape, dtype=tenfold.int64, device=DEVICE)._array  # noqa: E731
    s, one = lambda *shape: a(*shape, dtype=f), lambda: a()
    window = ((2, 2), (1, 1), (0, 0), (1, 1))
    square = lambda: (a(64, 32), a(64, 32), None, None, "square", 0.0, 0.0, 2048)  # noqa: E731
    soft = lambda: (a(64, 100), a(64, 100), None, 0.0, "mean")  # noqa: E731
    picks = lambda: (a(64, 100), places(64), None, -100, "mean")  # noqa: E731
    margins = lambda: (a(64, 100), places(64), None, 1, 1.0, "mean")  # noqa: E731
    labels = lambda: (a(64, 100), places(64, 100), "mean")  # noqa: E731
    far, near = lambda: (s(40, 30), s(50, 30)), lambda: (s(40, 30), s(50, 30), s(40, 50))
    sampled = ("bilinear", "zeros", False)
    weights = lambda: (a(2, 4, 8, 16), a(2, 4, 8, 16), s(2, 4, 8), None, None, 0.0, True, False)  # noqa: E731
    return {
        "rows": (k.fused_scaled_rows, lambda: (a(64, 32), 2.0, "unit", 1e-5)),
        "rows' gradient": (k.fused_scaled_rows_grad, lambda: (a(64, 32), a(64, 32), s(64), 2.0, "unit", 1e-5)),
        "response": (k.fused_response_norm, lambda: (a(2, 8, 5, 5), 3, 1e-4, 0.75, 1.0)),
        "response's": (k.fused_response_norm_grad, lambda: (a(2, 8, 5, 5), a(2, 8, 5, 5), s(2, 8, 5, 5), 3, 1e-4, 0.75, 1.0)),
        "margins": (k.fused_class_margins, margins), "margins'": (k.fused_class_margins_grad, lambda: (one(), *margins())),
        "labels": (k.fused_label_margins, labels), "labels'": (k.fused_label_margins_grad, lambda: (one(), *labels())),
        "distances": (k.fused_distances, lambda: (*far(), 1.0, False)),
        "products": (k.fused_distances, lambda: (*far(), 2.0, True)),
        "distances'": (k.fused_distances_grad, lambda: (s(40, 50), *near(), 1.0, False)),
        "products'": (k.fused_distances_grad, lambda: (s(40, 50), *near(), 2.0, True)),
        "square": (k.fused_pointwise_loss, square), "square's": (k.fused_pointwise_loss_grad, lambda: (one(), *square())),
        "soft": (k.fused_soft_cross_entropy, soft),
        "soft's": (k.fused_soft_cross_entropy_grad, lambda: (one(), *soft(), s(3, 64))),
        "pairs": (k.fused_row_pairs, lambda: (a(64, 32), a(64, 32), "cosine", 1e-6, 2.0)),
        "pairs'": (k.fused_row_pairs_grad, lambda: (a(64), a(64, 32), a(64, 32), a(64), s(2, 64), "cosine", 1e-6, 2.0)),
        "nll": (k.fused_nll_loss, picks), "nll's": (k.fused_nll_loss_grad, lambda: (one(), *picks(), s())),
        "sampled": (k.fused_grid_sample, lambda: (a(2, 3, 8, 8), a(2, 4, 4, 2), *sampled)),
        "affine": (k.affine_grid_generator, lambda: (a(2, 2, 3), (2, 1, 4, 4), False)),
        "places'": (k.fused_grid_sample_grid_grad, lambda: (a(2, 3, 4, 4), a(2, 3, 8, 8), a(2, 4, 4, 2), *sampled)),
        "columns": (k.im2col, lambda: (a(2, 3, 8, 8), (2, 2), (1, 1), (0, 0), (1, 1))),
        "blocks": (k.col2im, lambda: (a(2, 12, 49), (8, 8), *window)),
        "border": (k.constant_pad, lambda: (a(2, 3, 8, 8), (1, 2, 0, 1), 0.5)),
        "groups": (k.fused_group_norm, lambda: (a(4, 32, 8, 8), 4, a(32), a(32), 1e-5)),
        "groups'": (k.fused_group_norm_grad, lambda: (a(4, 32, 8, 8), a(4, 32, 8, 8), s(4, 4), s(4, 4), 4, a(32), 1e-5)),
        "fractional": (k.fused_fractional_max_pool, lambda: (a(2, 3, 8, 8), a(2, 3, 2), (2, 2), (3, 3))),
        "weights": (k.fused_attention_weights, weights),
    }  # fmt: skip


def moves():
    """Those of places, orders, resampling and borders."""
    k, f = table("cuda"), tenfold.float32
    a = lambda *shape, dtype=HALF: array(*shape, dtype=dtype)._array  # noqa: E731
    places = lambda *shape: tenfold.zeros(*shape, dtype=tenfold.int64, device=DEVICE)._array  # noqa: E731
    s = lambda *shape: a(*shape, dtype=f)  # noqa: E731
    plane, into = (lambda: a(2, 3, 8, 8)), (lambda: s(100, 32))
    linear = ((2.0, 2.0), "bilinear", False, False)
    return {
        "put": (k.index_put, lambda: (into(), (places(8),), s(8, 32), False)),
        "put and added": (k.index_put, lambda: (into(), (places(8),), s(8, 32), True)),
        "added": (k.index_add, lambda: (into(), 0, places(8), s(8, 32), 1)),
        "copied": (k.index_copy, lambda: (into(), 0, places(8), s(8, 32))),
        "filled": (k.index_fill, lambda: (into(), 0, places(8), 2.0)),
        "scattered": (k.scatter_add, lambda: (into(), 1, places(8, 4), s(8, 4))),
        "rows'": (k.embedding_weight_grad, lambda: (s(4, 8, 32), places(4, 8), 100, -1, False)),
        "resampled": (k.resample, lambda: (plane(), (16, 16), *linear)),
        "resampled'": (k.resample_grad, lambda: (a(2, 3, 16, 16), (8, 8), *linear)),
        "mirrored": (k.border_pad, lambda: (plane(), (1, 1, 1, 1), "reflect")),
        "mirrored'": (k.border_pad_grad, lambda: (a(2, 3, 10, 10), (2, 3, 8, 8), (1, 1, 1, 1), "reflect")),
        "sorted": (k.sort_pair, lambda: (s(16, 100), 1, False)), "first": (k.topk_pair, lambda: (s(16, 100), 3, 1, True, True)),
        "of a rank": (k.kthvalue_pair, lambda: (s(16, 100), 3, 1, False)),
        "median": (k.median_dim, lambda: (s(16, 100), 1, False, False)),
        "searched": (k.search_positions, lambda: (s(100), s(16), False, False)),
        "gated'": (k.fused_glu_grad, lambda: (a(64, 16), a(64, 32), 1)),
        "slope's": (k.fused_prelu_grad, lambda: (plane(), plane(), a(3))),
    }  # fmt: skip


def flat(values):
    for x in values:
        if type(x) in (list, tuple):
            yield from flat(x)
        elif hasattr(x, "data"):
            yield x


def case_a_played_call_starts_the_same_kernels_with_the_same_arguments():
    playing.forget()  # kinds that other scenarios have had
    for name, (function, make) in (calls() | layers() | moves()).items():
        before = kept()
        for _ in range(2):
            assert function(*make()) is not NotImplemented, name
        new = [kind for kind in kept() if kind not in before]
        seen = []
        for run in (function.__wrapped__, function):
            given, found = make(), []
            work = stub.work(lambda: found.extend(started_with(list(flat(given)), lambda: run(*given))))
            shapes = [(x.shape, x.strides, x.dtype) for x in flat(found[:1])]
            seen.append((work.launches, found[1], shapes))
            assert found[1], name
        assert seen[0] == seen[1], name
        assert new, f"{name}: of {len(before)} kinds before and {len(kept())} now none is new"


def case_products_are_played_with_the_addresses_of_the_call():
    x, w, b = array(64, 32, dtype=HALF), array(48, 32, dtype=HALF), array(48, dtype=HALF)
    for _ in range(3):
        F.linear(x, w, b)
    assert stub.settled(lambda: F.linear(array(64, 32, dtype=HALF), w, b)).products == 1
    trained = lambda: F.linear(x, w.requires_grad_(), b.requires_grad_()).backward(array(64, 48, dtype=HALF))  # noqa: E731
    for _ in range(3):
        trained()
    assert stub.settled(trained).products == 2


def names(function):
    """The kernels and results of calls of one kind, of which the last is played."""
    results = [function() for _ in range(4)]
    work = stub.work(function)
    last = results[-1]
    return work.names, (tuple(last.shape), last.stride(), last.dtype)


def case_calls_of_another_kind_are_not_played():
    def norm(shape=(64, 32), dtype=tenfold.float32, turned=False, weight=True, eps=1e-5):
        x = array(*shape, dtype=dtype)
        x = x.t() if turned else x
        w = array(x.shape[-1], dtype=dtype) if weight else None
        return F.layer_norm(x, (x.shape[-1],), w, None, eps)

    plain = names(norm)
    assert plain[1] == ((64, 32), (32, 1), tenfold.float32)
    assert names(lambda: norm(dtype=HALF))[1][2] is HALF
    copied, normed = names(lambda: norm((32, 64), turned=True))[0]
    assert copied.startswith("cast_f_la2_")  # by tiles
    assert normed == "norm_rows"
    assert names(lambda: norm((32, 16)))[1][0] == (32, 16)
    assert names(norm) == plain
    kept = count()
    names(lambda: norm(eps=1e-3)), names(lambda: norm(weight=False))
    assert count() == kept + 2
    y = array(64, 32)
    for _ in range(3):
        F.gelu(y)
    y.resize_(16, 32)
    assert F.gelu(y).shape == (16, 32)


def kept():
    """The kinds of calls that are played."""
    return [found for table in playing._tables for found in table.values() if isinstance(found, playing.Played)]


def count():
    """How many kinds of calls are played."""
    return len(kept())


def case_switches_streams_devices_and_alignment_are_looked_at():
    x, w = array(64, 32), array(2, 32, 3, 3)
    image = array(1, 32, 8, 8)
    run = lambda: F.conv2d(image, w)  # noqa: E731
    names(run)
    kept = count()
    tenfold.backends.cudnn.allow_tf32 = False
    try:
        names(run)
    finally:
        tenfold.backends.cudnn.allow_tf32 = True
    assert count() == kept + 1
    for _ in range(3):
        x.softmax(1)
    stream = cuda.Stream()
    with cuda.stream(stream):
        for _ in range(4):
            assert {l.stream for l in stub.work(lambda: x.softmax(1)).launches} == {stream.cuda_stream}
    far = array(64, 32, device="cuda:1")
    for _ in range(4):
        assert stub.work(lambda: far.softmax(1)).devices == {1}
    row, kept = array(4, 65), count()
    apart = names(lambda: row.view(-1)[1:65].view(2, 32).softmax(1)), names(lambda: row.view(-1)[4:68].view(2, 32).softmax(1))
    assert apart[0] == apart[1]
    assert count() == kept + 2
    with cuda.graph(cuda.CUDAGraph()):
        assert stub.work(lambda: x.softmax(1)).names == ["softmax_rows"]


def case_two_arrays_that_are_one_are_a_kind_of_their_own():
    x, y = array(32, 32, dtype=HALF), array(32, 32, dtype=HALF)
    kernel = table("cuda").gelu_backward
    for a, b in ((x, x), (x, y), (y, y)):
        for _ in range(3):
            kernel(a._array, b._array, "tanh")
        _, found = started_with([a._array, b._array], lambda: kernel(a._array, b._array, "tanh"))
        assert [values[:3] for values in found.values()] == [[(2, 0), (0, 0), (0 if a is b else 1, 0)]]


def case_threads_play_at_once():
    def run():
        x = array(64, 32)
        for _ in range(20):
            x.softmax(1)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    x = array(64, 32)
    assert stub.settled(lambda: x.softmax(1)).names == ["softmax_rows"]


def case_what_cannot_be_played_is_done_anew():
    x = tenfold.zeros(8, 4, dtype=tenfold.complex64, device=DEVICE)
    before = stub.work(lambda: x.t().contiguous()).names
    for _ in range(4):
        assert stub.work(lambda: x.t().contiguous()).names == before != []
    mask = array(8, 4) > 0
    kept = count()
    for _ in range(4):
        x.real[mask]
    assert count() == kept


def case_writes_are_played_where_nothing_else_is_of_their_memory():
    x, places, y = array(100, 32), tenfold.zeros(8, dtype=tenfold.int64, device=DEVICE), array(8, 32)
    kernel, kept = table("cuda").index_put, count()

    def run(values):
        before = x._array
        assert kernel(before, (places._array,), values._array, False, out=before) is before

    for values in (y, x[:8], x.view(-1)[1:257].view(8, 32)):
        for _ in range(3):
            run(values)
        assert stub.work(lambda: run(values)).names == (["rows_at"] if values is y else ["cast_f_ll0_", "rows_at"])
    assert count() == kept + 1
    tenfold.use_deterministic_algorithms(True)
    try:
        for _ in range(3):
            x.index_put_((places,), y)
        assert count() == kept + 2
    finally:
        tenfold.use_deterministic_algorithms(False)
