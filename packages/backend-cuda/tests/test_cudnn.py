"""Convolution and attention through a model of cuDNN's graphs (model_of_cudnn.py)."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

import tenfold
from tenfold.cuda import cudnn_graphs, precision, runtime
from tenfold.cuda.kernels import cudnn_conv
from tenfold.nn import functional as F

sys.path.insert(0, str(Path(__file__).parent))
from model_of_cudnn import Module

pytestmark = pytest.mark.skipif(not runtime.is_replaced(), reason="the model computes on the host")


@pytest.fixture
def module():
    found = Module()
    cudnn_graphs.replace(found)
    yield found
    cudnn_graphs.replace(None)


def whole(*shape, dtype=tenfold.float32):
    n = 1
    for size in shape:
        n *= size
    return ((tenfold.arange(n) * 7 % 5) - 2).reshape(shape).to(dtype)


def both(function, *tensors):
    """(results and gradients on the device, on the CPU)."""
    found = []
    for on in ("cuda", "cpu"):
        leaves = [x.detach().to(on).requires_grad_() for x in tensors]
        out = function(*leaves)
        g = whole(*out.shape, dtype=out.dtype).to(on)
        found.append([out, *tenfold.autograd.grad(out, leaves, g)])
    return found


CASES = {
    "2d": ((2, 4, 5, 6), (6, 4, 3, 2), {"stride": (2, 1), "padding": (1, 0)}),
    "groups": ((1, 4, 5, 5), (6, 2, 3, 3), {"groups": 2, "dilation": 2, "padding": 2}),
    "depth": ((1, 3, 4, 4), (3, 1, 3, 3), {"groups": 3, "padding": 1}),
    "1d": ((2, 3, 7), (4, 3, 3), {"stride": 2, "padding": 1}),
    "3d": ((1, 2, 3, 3, 3), (2, 2, 2, 2, 2), {"padding": 1, "stride": 2}),
}


@pytest.mark.parametrize("last", [False, True], ids=["rows", "channels_last"])
@pytest.mark.parametrize("name", CASES)
def test_convolutions(module, name, last):
    shape, taps, options = CASES[name]
    dtype = tenfold.bfloat16 if name != "1d" else tenfold.float32
    x, w, b = whole(*shape, dtype=dtype), whole(*taps, dtype=dtype), whole(taps[0], dtype=dtype)
    if last and len(shape) > 3:
        x = x.contiguous(memory_format=tenfold.channels_last if len(shape) == 4 else tenfold.channels_last_3d)
    function = (F.conv1d, F.conv2d, F.conv3d)[len(shape) - 3]
    for got, expected in zip(*both(lambda x, w, b: function(x, w, b, **options), x, w, b)):
        assert got.shape == expected.shape
        assert tenfold.equal(got.cpu(), expected)
    assert module.ran == 3
    if last and len(shape) > 3:
        assert module.made[0].inputs[0].stride[1] == 1


@pytest.mark.parametrize("dims", [1, 2])
def test_transposed_convolutions(module, dims):
    x, w, b = whole(2, 3, *(4, 3)[:dims]), whole(3, 2, *(3, 2)[:dims]), whole(2)
    function = (F.conv_transpose1d, F.conv_transpose2d)[dims - 1]
    for got, expected in zip(*both(lambda x, w, b: function(x, w, b, stride=2, padding=1, output_padding=1), x, w, b)):
        assert tenfold.equal(got.cpu(), expected)
    assert module.ran == 3


def test_strided_images_are_copied_and_graphs_kept(module):
    x, w = whole(2, 8, 5, 6).transpose(2, 3)[:, ::2], whole(4, 4, 3, 3)
    for _ in range(2):
        assert tenfold.equal(F.conv2d(x.cuda(), w.cuda()).cpu(), F.conv2d(x, w))
    assert len(module.made) == 1
    assert module.ran == 2


def test_what_it_does_not_support_goes_the_old_way(module):
    x, w, b = whole(1, 2, 4, 4), whole(2, 2, 3, 3), whole(2)
    module.refused = lambda graph: any(node[0] == "bias" for node in graph.nodes)
    assert tenfold.equal(F.conv2d(x.cuda(), w.cuda(), b.cuda()).cpu(), F.conv2d(x, w, b))
    assert module.ran == 1
    module.refused = lambda graph: True
    w = whole(2, 2, 2, 2)
    assert tenfold.equal(F.conv2d(x.cuda(), w.cuda(), b.cuda()).cpu(), F.conv2d(x, w, b))
    assert module.ran == 1
    assert "no engine" in cudnn_graphs.refused()
    double = tenfold.float64
    assert tenfold.equal(F.conv2d(x.to(double).cuda(), w.to(double).cuda()).cpu(), F.conv2d(x.to(double), w.to(double)))
    assert module.ran == 1


def test_switches(module, monkeypatch):
    from tenfold.backends import cudnn

    assert cudnn.version() == module.backend_version()
    assert cudnn.is_available()
    x, w = whole(1, 2, 4, 4).cuda(), whole(2, 2, 3, 3).cuda()
    with cudnn.flags(enabled=False):
        F.conv2d(x, w)
    assert module.ran == 0
    monkeypatch.setattr(precision, "CONVOLUTIONS", True)
    for switches, notes in (
        ({"allow_tf32": True, "deterministic": False}, ["DOWN_CONVERT_INPUTS"]),
        ({"allow_tf32": False, "deterministic": True}, ["NONDETERMINISTIC", "DOWN_CONVERT_INPUTS", "TENSOR_CORE"]),
    ):
        with cudnn.flags(enabled=True, **switches):
            F.conv2d(x, w)
        assert module.made[-1].without == notes
    with cudnn.flags(enabled=True, allow_tf32=False):
        F.conv2d(x.half(), w.half())
    assert module.made[-1].without == []


@pytest.mark.parametrize("causal", [False, True])
def test_attention(module, causal):
    dtype = tenfold.float16
    q, k, v = (tenfold.randn(2, 3, n, e).to(dtype) for n, e in ((5, 8), (7, 8), (7, 16)))
    results = both(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=causal), q, k, v)
    for got, expected in zip(*results):
        assert tenfold.allclose(got.cpu().float(), expected.float(), atol=4e-3, rtol=1e-2)
    assert [graph.nodes[0][0] for graph in module.made] == ["sdpa", "sdpa_backward"]
    few = [tenfold.randn(2, h, 6, 8).to(dtype) for h in (4, 2, 2)]
    got = F.scaled_dot_product_attention(*[x.cuda() for x in few], enable_gqa=True, scale=0.5)
    assert tenfold.allclose(
        got.cpu().float(), F.scaled_dot_product_attention(*few, enable_gqa=True, scale=0.5).float(), atol=4e-3
    )
    assert module.ran == 3
    from tenfold.backends import cuda

    with cuda.sdp_kernel(enable_cudnn=False):
        F.scaled_dot_product_attention(q.cuda(), k.cuda(), v.cuda())
    assert module.ran == 3


@pytest.mark.skipif(importlib.util.find_spec("cudnn") is None, reason="cuDNN's module is the extra cudnn")
def test_the_real_module_takes_the_graphs():
    """Without a GPU it builds none, but it checks the arguments' names and what shape a result has."""
    import cudnn

    try:
        cudnn.backend_version()
    except Exception as error:  # noqa: BLE001 - it raises what it likes
        pytest.skip(f"libcudnn is missing: {error}")
    half, last = cudnn.data_type.BFLOAT16, True
    image, taps, result = (cudnn_conv.Lay(s, last) for s in ((2, 8, 9, 9), (16, 4, 3, 3), (2, 16, 5, 5)))
    window = cudnn_conv._window(2, (2, 2), (1, 1), (1, 1))
    for name, given, of, wanted in (
        ("conv_fprop", {"image": image, "weight": taps}, None, result),
        ("conv_dgrad", {"loss": result, "filter": taps}, image, image),
        ("conv_wgrad", {"image": image, "loss": result}, taps, taps),
    ):  # fmt: skip
        graph = cudnn.pygraph(
            io_data_type=half, intermediate_data_type=cudnn.data_type.FLOAT, compute_data_type=cudnn.data_type.FLOAT
        )
        tensors = {key: lay.tensor(graph, half, n) for n, (key, lay) in enumerate(given.items(), 1)}
        found = getattr(graph, name)(**tensors, **window)
        if of is None:
            found = graph.bias(input=found, bias=cudnn_conv.Lay((1, 16, 1, 1), last).tensor(graph, half, cudnn_conv.B))
            found.set_output(True).set_data_type(half).set_uid(cudnn_conv.Y)
        else:
            of.as_result(found, half, cudnn_conv.Y)
        graph.validate()
        assert (found.get_dim(), found.get_stride()) == (list(wanted.sizes), list(wanted.strides))
    assert all(hasattr(cudnn.numerical_note, n) for n in ("NONDETERMINISTIC", "DOWN_CONVERT_INPUTS", "TENSOR_CORE"))
    for name in (
        "_execute",
        "_execute_plan_at_index",
        "get_workspace_size_plan_at_index",
        "build_plan_at_index",
        "sdpa_backward",
    ):
        assert hasattr(cudnn.pygraph, name)


def test_a_library_that_makes_no_handle_is_done_without(module):
    def none():
        raise RuntimeError("cudnnHandle Create failed")

    module.create_handle = none
    x, w = whole(1, 2, 4, 4), whole(2, 2, 3, 3)
    assert tenfold.equal(F.conv2d(x.cuda(), w.cuda()).cpu(), F.conv2d(x, w))
    assert "Create failed" in cudnn_graphs.refused()
