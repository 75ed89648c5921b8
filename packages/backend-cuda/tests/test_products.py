"""Matrix products through a model of cuBLASLt (model_of_cublaslt.py): what is asked of it, and the values that come of that."""

from __future__ import annotations

import ctypes
import gc
import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

import tenfold
from tenfold.cuda import cublaslt, precision, products, runtime
from tenfold.nn import functional as F

sys.path.insert(0, str(Path(__file__).parent))
from model_of_cublaslt import Model

pytestmark = pytest.mark.skipif(not runtime.is_replaced(), reason="the model computes on the host")
HALF = (tenfold.float16, tenfold.bfloat16)


@pytest.fixture
def model():
    found = Model()
    cublaslt.replace(cublaslt.Library(found.functions, cublaslt.OnHost(runtime.current())))
    cublaslt.library().plans.clear()
    yield found
    cublaslt.library().plans.clear()
    gc.collect()  # of errors, whose frames have plans
    cublaslt.replace(None)
    gone = [kind for kind, _ in found.objects.values()]
    assert set(gone) <= {"handle"}, "descriptors that nothing gave back"


def whole(*shape, dtype=tenfold.float32):
    """Small whole numbers, whose products are exact in every dtype."""
    n = int(np.prod(shape))
    return ((tenfold.arange(n) * 7 % 5) - 2).reshape(shape).to(dtype)


def same(function, *tensors, products=None, model):
    """The device's result is the CPU's, of its own memory, and took so many calls."""
    before = len(model.products)
    got, expected = function(*[x.cuda() for x in tensors]), function(*tensors)
    if products is not None:
        assert len(model.products) - before == products
    assert got.dtype is expected.dtype
    assert got.shape == expected.shape
    assert tenfold.equal(got.cpu(), expected), (got, expected)


LAYOUTS = {
    "rows": lambda x: x, "columns": lambda x: x.mT.contiguous().mT, "gaps": lambda x: tenfold.cat([x, x], -1)[..., : x.shape[-1]],
    "steps": lambda x: x.repeat_interleave(2, -1)[..., ::2], "expanded": lambda x: x[..., :1, :].expand(x.shape),
    "flipped": lambda x: x.flip(-1).contiguous().flip(-1),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [tenfold.float32, *HALF, tenfold.float64, tenfold.complex64], ids=lambda d: d.name)
def test_every_layout(model, dtype):
    for name, lay in LAYOUTS.items():
        a, b = (lay(whole(*s, dtype=dtype)) for s in ((3, 6), (6, 5)))
        same(lambda a, b: a @ b, a, b, products=1, model=model)
        same(tenfold.bmm, lay(whole(4, 3, 6, dtype=dtype)), lay(whole(4, 6, 2, dtype=dtype)), products=1, model=model)
        assert name
    same(lambda a, b: a.T @ b.T, whole(6, 3, dtype=dtype), whole(5, 6, dtype=dtype), products=1, model=model)


SHAPES = [
    ((3,), (3, 4)), ((2, 3), (3,)), ((5, 2, 3), (3, 4)), ((5, 2, 3), (5, 3, 4)), ((2, 5, 2, 3), (3,)),
    ((2, 5, 2, 3), (2, 5, 3, 4)),     ((2, 5, 2, 3), (5, 3, 4)),
    ((5, 2, 3), (1, 3, 4)), ((1, 2, 3), (5, 3, 4)), ((2, 3), (5, 3, 4)), ((1, 1), (1, 1)), ((7, 1), (1, 5)),
    ((3,), (5, 3, 4)), ((1, 3), (3, 1)), ((4, 1, 2, 3), (1, 6, 3, 2)),
]  # fmt: skip


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_every_shape(model, shapes):
    same(tenfold.matmul, *(whole(*s, dtype=tenfold.bfloat16) for s in shapes), products=1, model=model)


def test_batches_that_are_not_one(model):
    heads = whole(2, 4, 3, 6).permute(0, 2, 1, 3)  # (2, 3, 4, 6) of which no two first dimensions are one
    same(lambda a: a @ a.mT, heads, products=1, model=model)
    same(lambda a, b: a @ b, heads, whole(6, 2), products=1, model=model)
    same(lambda a, b: a @ b, whole(3, 2, 6).transpose(0, 1), whole(6, 2), products=1, model=model)  # rows that are a batch


def test_what_is_not_served_goes_another_way(model):
    same(lambda a, b: a @ b, whole(3, 6, dtype=tenfold.int64), whole(6, 2, dtype=tenfold.int64), products=0, model=model)
    same(lambda a, b: a @ b, whole(3, 0), whole(0, 2), products=0, model=model)
    same(tenfold.addmm, whole(2), whole(3, 0), whole(0, 2), products=0, model=model)
    model.refused = lambda operation: True
    same(lambda a, b: a @ b, whole(3, 6), whole(6, 2), products=0, model=model)
    same(F.linear, whole(3, 6), whole(2, 6), whole(2), products=0, model=model)
    for bad in ((whole(3, 6), whole(5, 2)), (whole(2, 3, 6), whole(3, 6, 2))):
        with pytest.raises(RuntimeError, match=r"matmul|mm|broadcast"):
            tenfold.matmul(*[x.cuda() for x in bad])


@pytest.mark.parametrize("dtype", [tenfold.float32, tenfold.bfloat16, tenfold.float64, tenfold.complex64], ids=lambda d: d.name)
def test_what_is_added_is_added_in_the_same_call(model, dtype):
    a, b = whole(4, 6, dtype=dtype), whole(6, 5, dtype=dtype)
    for shape in ((5,), (1, 5), (4, 5), (4, 1), (1,), ()):
        for options in ({}, {"beta": 2}, {"beta": 0.5, "alpha": -2}, {"beta": 0, "alpha": 3}):
            same(
                lambda c, a, b, o=options: tenfold.addmm(c, a, b, **o), whole(*shape, dtype=dtype), a, b, products=1, model=model
            )
    wide = whole(4, 10, dtype=dtype)
    for c in (wide[:, :5], wide[:, ::2], whole(5, 4, dtype=dtype).T):
        same(tenfold.addmm, c, a, b, products=1, model=model)
    x, y = whole(3, 4, 6, dtype=dtype), whole(3, 6, 5, dtype=dtype)
    for shape in ((3, 4, 5), (1, 4, 5), (4, 5), (5,), (3, 1, 5), ()):
        same(lambda c, x, y: tenfold.baddbmm(c, x, y, beta=2), whole(*shape, dtype=dtype), x, y, products=1, model=model)
        same(tenfold.baddbmm, whole(*shape, dtype=dtype), x, y, products=1, model=model)
    for shape in ((4,), (1,), ()):
        same(
            lambda c, a, v: tenfold.addmv(c, a, v, beta=3, alpha=2),
            whole(*shape, dtype=dtype),
            a,
            b[:, 0],
            products=1,
            model=model,
        )
    nan = tenfold.full((4, 5), float("nan")).to(dtype)
    same(lambda c, a, b: tenfold.addmm(c, a, b, beta=0), nan, a, b, products=1, model=model)


def test_what_cannot_be_added_is_refused_in_the_same_words(model):
    a, b = whole(4, 6).cuda(), whole(6, 5).cuda()
    for c, options in ((whole(3), {}), (whole(2, 4, 5), {}), (whole(4, 4), {"beta": 2})):
        errors = []
        for on in ("cpu", "cuda"):
            with pytest.raises((RuntimeError, ValueError)) as error:
                tenfold.addmm(c.to(on), a.to(on), b.to(on), **options)
            errors.append((type(error.value), str(error.value)))
        assert errors[0] == errors[1]


@pytest.mark.parametrize("dtype", [tenfold.float32, *HALF, tenfold.float64], ids=lambda d: d.name)
def test_an_affine_map_is_one_call_and_its_gradients_are_two(model, dtype):
    double = dtype is tenfold.float64  # for which the library has no epilogue
    for shape in ((4, 6), (6,), (2, 3, 6), (1, 6)):
        x, w, b = whole(*shape, dtype=dtype), whole(5, 6, dtype=dtype), whole(5, dtype=dtype)
        same(F.linear, x, w, b, products=1, model=model)
        assert (model.products[-1].epilogue == cublaslt.BIAS) is not double
        same(F.linear, x, w, products=1, model=model)
        leaves = [[t.detach().to(on).requires_grad_() for t in (x, w, b)] for on in ("cpu", "cuda")]
        g = whole(*shape[:-1], 5, dtype=dtype)
        for on, of in zip(("cpu", "cuda"), leaves):
            out, before = F.linear(*of), len(model.products)
            out.backward(g.to(on))
        assert len(model.products) - before == 2
        assert (model.products[-1].epilogue == cublaslt.BIAS_GRADIENT_OF_B) is not double
        for on_cpu, on_cuda in zip(*leaves):
            assert tenfold.equal(on_cpu.grad, on_cuda.grad.cpu())
    x, w, b = (whole(*s, dtype=dtype) for s in ((3, 2, 6), (5, 6), (5,)))
    same(F.linear, x.transpose(0, 1), w.T.contiguous().T, b, products=1, model=model)
    same(F.linear, x, w, b[:1].expand(5), model=model)


def test_gradients_of_gradients_of_an_affine_map(model):
    def second(x, w, b):
        x, w, b = (t.detach().requires_grad_() for t in (x, w, b))
        (g,) = tenfold.autograd.grad((F.linear(x, w, b) ** 2).sum(), w, create_graph=True)
        return tenfold.autograd.grad((g**2).sum(), x)[0]

    same(second, whole(3, 4), whole(2, 4), whole(2), model=model)


def test_switches_of_precision(model, monkeypatch):
    matmul = tenfold.backends.cuda.matmul

    def asked(dtype):
        a = whole(4, 4, dtype=dtype).cuda()
        a @ a
        return model.products[-1].compute, model.searches[-1][3]

    assert asked(tenfold.float32) == (68, 7)
    assert asked(tenfold.bfloat16) == asked(tenfold.float16) == (68, 7)
    assert asked(tenfold.float64) == (70, 7)
    try:
        matmul.allow_tf32 = True
        assert asked(tenfold.float32) == (77, 7)
    finally:
        matmul.allow_tf32 = False
    assert asked(tenfold.float32) == (68, 7)
    monkeypatch.setattr(matmul, "allow_bf16_reduced_precision_reduction", False)
    assert asked(tenfold.bfloat16) == (68, 2)
    monkeypatch.setattr(matmul, "allow_bf16_reduced_precision_reduction", (False, False))
    assert asked(tenfold.bfloat16) == (68, 0)
    cublaslt.library().plans.clear()
    assert asked(tenfold.float16) == (68, 7)
    assert precision.product_mode(np.dtype("i8")) == (0, 7)


def test_plans_are_kept_and_know_how_addresses_are_aligned(model):
    a, b = whole(8, 8).cuda(), whole(8, 9).cuda()
    for _ in range(3):
        a @ b[:, :8]
    assert len(cublaslt.library().plans) == 1
    a @ b[:, 1:]
    assert len(cublaslt.library().plans) == 2
    assert model.searches[1][5] == model.searches[1][6] <= 4
    bias = whole(9).cuda()
    for piece in (bias[:8], bias[1:]):  # one problem for the library, at two addresses
        assert tenfold.equal(F.linear(a, a, piece).cpu(), F.linear(a.cpu(), a.cpu(), piece.cpu()))


def test_a_late_refusal_is_told_and_survived(model, monkeypatch):
    a = whole(4, 4).cuda()
    expected = (a @ a).cpu()
    monkeypatch.setattr(cublaslt.library(), "matmul", lambda *arguments: 15)
    with pytest.warns(UserWarning, match="status 15"):
        got = a @ a
    assert tenfold.equal(got.cpu(), expected)
    assert tenfold.equal((a @ a).cpu(), expected)  # and not asked for again
    monkeypatch.setattr(cublaslt.library(), "matmul", lambda *arguments: 13)
    with pytest.raises(RuntimeError, match="status 13"):
        a[:2] @ a


def test_the_real_library_takes_the_descriptors():
    """Without a GPU it makes no handle, but it checks the number and the size of every attribute."""
    found = importlib.util.find_spec("nvidia")
    paths = [p for root in (found.submodule_search_locations if found else ()) for p in Path(root).glob("**/libcublasLt.so.*")]
    if not paths:
        pytest.skip("libcublasLt is the extra gpu's")
    library = cublaslt.Library(ctypes.CDLL(str(paths[0])), None)
    operation = library.made("cublasLtMatmulDescCreate", cublaslt.COMPUTE_32F, 0)
    library.set("MatmulDesc", cublaslt.OPERATION, operation, **dict.fromkeys(cublaslt.OPERATION, 1))
    cublaslt.Matrix(14, 4, 5, 8, 3, 40).made(library)
    search = library.made("cublasLtMatmulPreferenceCreate")
    library.set("MatmulPreference", cublaslt.SEARCH, search, **dict.fromkeys(cublaslt.SEARCH, 1))
    assert ctypes.sizeof(cublaslt.Found) == 96


@pytest.mark.parametrize("dtype", [tenfold.float32, tenfold.bfloat16], ids=lambda d: d.name)
def test_an_activation_is_part_of_the_call(model, dtype):
    c, a, b = whole(5, dtype=dtype), whole(4, 6, dtype=dtype), whole(6, 5, dtype=dtype)
    same(tenfold._addmm_activation, c, a, b, products=1, model=model)
    assert model.products[-1].epilogue == cublaslt.RELU_BIAS
    got = tenfold._addmm_activation(c.cuda(), a.cuda(), b.cuda(), alpha=0.25, use_gelu=True)
    assert model.products[-1].epilogue == cublaslt.GELU_BIAS
    expected = F.gelu(tenfold.addmm(c.float(), a.float(), b.float(), alpha=0.25), approximate="tanh")
    assert tenfold.allclose(got.cpu().float(), expected, rtol=1e-2, atol=1e-5)
    same(lambda c, a, b: tenfold._addmm_activation(c, a, b, beta=2), whole(4, 5, dtype=dtype), a, b, products=1, model=model)
    leaf = whole(6, 5).cuda().requires_grad_()
    tenfold._addmm_activation(whole(5).cuda(), whole(4, 6).cuda(), leaf).sum().backward()
    assert leaf.grad is not None


EIGHT = (tenfold.float8_e4m3fn, tenfold.float8_e5m2)


@pytest.mark.parametrize("dtype", EIGHT, ids=lambda d: d.name)
def test_eight_bits_are_stored_and_converted(dtype):
    every = tenfold.tensor(np.arange(256, dtype=np.uint8)).view(dtype)
    assert every.cuda().float().cpu().nan_to_num(7.0).equal(every.float().nan_to_num(7.0))
    steps = tenfold.cat([every.float().nan_to_num(0.0, 0.0, 0.0), tenfold.tensor([1e5, 448.0, 464.0, 61440.0, -1e9, 1e-9, -0.0])])
    between = tenfold.cat([steps, steps * 1.0625, steps * 1.0312, tenfold.tensor([float("inf"), -float("inf"), float("nan")])])
    for wide in (tenfold.float32, tenfold.bfloat16, tenfold.float64):
        got, expected = between.to(wide).cuda().to(dtype), between.to(wide).to(dtype)
        assert got.cpu().view(tenfold.uint8).equal(expected.view(tenfold.uint8))
    x = every.reshape(16, 16).cuda()
    for view in (x.t(), x[::2], x[:, 3:]):
        assert view.contiguous().cpu().view(tenfold.uint8).equal(view.cpu().contiguous().view(tenfold.uint8))
        assert view.clone().to(dtype).dtype is dtype


def test_scaled_products_of_eight_bits(model):
    a, b = (whole(*shape).to(tenfold.float8_e4m3fn) for shape in ((16, 32), (48, 32)))
    half, bias = tenfold.tensor(0.5), whole(48, dtype=tenfold.bfloat16)
    rows, columns = tenfold.arange(1.0, 17).reshape(16, 1), tenfold.arange(1.0, 49).reshape(1, 48)
    for options in ({"out_dtype": tenfold.float32}, {"out_dtype": tenfold.bfloat16, "bias": bias}, {}, {"use_fast_accum": True}):
        for scales in ((half, half * 4), (rows, columns)):
            given = (a, b.t(), *scales)
            on = {k: v.cuda() if isinstance(v, tenfold.Tensor) else v for k, v in options.items()}
            got, expected = tenfold._scaled_mm(*[x.cuda() for x in given], **on), tenfold._scaled_mm(*given, **options)
            assert got.dtype is expected.dtype
            assert got.cpu().float().equal(expected.float())
    assert len(model.products) == 8
    other = b.float().to(tenfold.float8_e5m2)
    got = tenfold._scaled_mm(a.cuda(), other.t().cuda(), half.cuda(), half.cuda(), out_dtype=tenfold.float16)
    assert got.cpu().equal(tenfold._scaled_mm(a, other.t(), half, half, out_dtype=tenfold.float16))


def test_scaled_products_that_are_refused(model, monkeypatch):
    a, b, one = tenfold.ones(16, 32).to(EIGHT[0]).cuda(), tenfold.ones(32, 16).t().to(EIGHT[0]).cuda(), tenfold.tensor(1.0).cuda()
    five = a.float().to(EIGHT[1])
    for words, call in {
        "multiplied": lambda: tenfold._scaled_mm(a, a, one, one),
        "divisible": lambda: tenfold._scaled_mm(a[:, :8], a[:, :8].t(), one, one),
        "column by column": lambda: tenfold._scaled_mm(a, a.t().contiguous(), one, one),
        "two Float8_e5m2": lambda: tenfold._scaled_mm(five, five.t(), one, one),
        "Bias": lambda: tenfold._scaled_mm(a, a.t(), one, one, bias=one.expand(16), out_dtype=tenfold.bfloat16),
        "out_dtype": lambda: tenfold._scaled_mm(a, a.t(), one, one, out_dtype=tenfold.int32),
    }.items():
        with pytest.raises(RuntimeError, match=words):
            call()
    with pytest.raises(ValueError, match="Invalid scaling"):
        tenfold._scaled_mm(a, a.t(), one.expand(3), one)
    monkeypatch.setattr(products, "capability", lambda now: 80)
    with pytest.raises(RuntimeError, match=r"compute capability 8\.9"):
        tenfold._scaled_mm(a, a.t(), one, one)
    assert b.dtype is EIGHT[0]
