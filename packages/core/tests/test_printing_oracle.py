"""The text of tensors, compared with PyTorch's own repr over many values, shapes, dtypes and options."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest

from tenfold.tensor.printing import get_printoptions, set_printoptions, tensor_repr

torch = pytest.importorskip("torch")
hypothesis = pytest.importorskip("hypothesis")
from hypothesis import (  # noqa: E402
    given,
    settings,
    strategies as st,
)

SHORT = ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"]
PLAIN = ["bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16", "float32", "float64"]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 1000.0, 1001.0, 1e-4, 9.9e-5, 1e8, 1.1e8, math.nan, math.inf, -math.inf, 5e-324, 1.7e308]


@pytest.fixture(autouse=True)
def _default_options():
    yield
    set_printoptions(profile="default")
    torch.set_printoptions(profile="default")
    torch.set_default_dtype(torch.float32)


def to_numpy(tensor):
    name = str(tensor.dtype).removeprefix("torch.")
    if name in SHORT:
        bits = tensor.view(torch.int16 if name == "bfloat16" else torch.uint8)
        return bits.numpy().view(getattr(ml_dtypes, name))
    return tensor.detach().numpy()


def assert_same_text(tensor, **extra):
    meta = tensor.device.type == "meta"
    ours = tensor_repr(
        None if meta else to_numpy(tensor.detach()),
        shape=tuple(tensor.shape),
        dtype_name=str(tensor.dtype).removeprefix("torch."),
        default_dtype_name=str(torch.get_default_dtype()).removeprefix("torch."),
        device="meta" if meta else None,
        requires_grad=tensor.requires_grad,
        grad_fn_name=type(tensor.grad_fn).__name__ if tensor.grad_fn is not None else None,
    )
    assert ours == repr(tensor).replace("torch.", "tenfold.")


shapes = st.lists(st.integers(0, 5), min_size=0, max_size=4).map(tuple)
options = st.fixed_dictionaries(
    {},
    optional={
        "precision": st.integers(0, 8),
        "threshold": st.sampled_from([0, 5, 50, 1000, math.inf]),
        "edgeitems": st.integers(0, 4),
        "linewidth": st.integers(5, 120),
        "profile": st.sampled_from(["default", "short", "full"]),
        "sci_mode": st.sampled_from([None, True, False]),
    },
)
numbers = st.one_of(st.sampled_from(SPECIAL), st.integers(-2000, 2000).map(float), st.floats(width=32), st.floats(-3, 3))


@st.composite
def arrays(draw):
    shape = draw(shapes)
    count = math.prod(shape)
    pool = draw(st.lists(numbers, min_size=1, max_size=6))
    order = np.random.default_rng(draw(st.integers(0, 2**32 - 1))).integers(0, len(pool), count)
    return np.array(pool)[order].reshape(shape)


@settings(max_examples=400, deadline=None)
@given(values=arrays(), dtype=st.sampled_from(["float16", "float32", "float64", *SHORT]), chosen=options, grad=st.booleans())
def test_floats(values, dtype, chosen, grad):
    apply(chosen)
    tensor = torch.from_numpy(values.astype(np.float64)).to(getattr(torch, dtype))
    assert_same_text(tensor.requires_grad_(grad and dtype in ("float32", "float64")))


@settings(max_examples=200, deadline=None)
@given(real=arrays(), dtype=st.sampled_from(["complex64", "complex128"]), chosen=options, seed=st.integers(0, 99))
def test_complex(real, dtype, chosen, seed):
    apply(chosen)
    imag = np.random.default_rng(seed).permutation(real.ravel()).reshape(real.shape)
    assert_same_text(torch.complex(torch.from_numpy(real), torch.from_numpy(imag)).to(getattr(torch, dtype)))


@settings(max_examples=200, deadline=None)
@given(shape=shapes, dtype=st.sampled_from(PLAIN[:9]), chosen=options, seed=st.integers(0, 99), top=st.sampled_from([2, 9, 120]))
def test_integers(shape, dtype, chosen, seed, top):
    apply(chosen)
    low = -top if dtype.startswith("int") else 0
    values = np.random.default_rng(seed).integers(low, top, shape)
    assert_same_text(torch.from_numpy(np.asarray(values).astype(dtype)))


def apply(chosen):
    for set_options in (set_printoptions, torch.set_printoptions):
        set_options(profile="default")
        set_options(**chosen)
    assert get_printoptions() == torch._tensor_str.get_printoptions()


LARGE = [
    lambda: torch.arange(4000.0).reshape(2, 2, 1000),
    lambda: torch.zeros(1001, dtype=torch.float64, requires_grad=True),
    lambda: torch.arange(100_000).reshape(10, 10, 10, 100),
    lambda: torch.arange(2000).reshape(1, 2000) * 1e-3,
    lambda: torch.linspace(0, 1, 7 * 200).reshape(7, 200),
    lambda: torch.eye(40) * (1 + 2j),
    lambda: torch.arange(1001) % 2 == 0,
    lambda: torch.zeros(0, 3, 1000),
    lambda: torch.rand(1200, generator=torch.Generator().manual_seed(0), requires_grad=True) * 2,
    lambda: torch.ones(1, 1, 1, 1, 1, 2000),
    lambda: torch.tensor([2**64 - 1, 0], dtype=torch.uint64),
    lambda: torch.arange(30, dtype=torch.float32, requires_grad=True).exp(),
    lambda: torch.ones((), requires_grad=True) * 2,
    lambda: torch.arange(12).reshape(3, 4).T,
    lambda: torch.arange(3).expand(600, 3),
]


@pytest.mark.parametrize("case", range(len(LARGE)))
@pytest.mark.parametrize("profile", ["default", "short"])
def test_large_and_odd_tensors(case, profile):
    apply({"profile": profile})
    assert_same_text(LARGE[case]())


@pytest.mark.parametrize("shape", [(), (0,), (1,), (2, 0), (2, 3), (10,) * 30])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bool", "complex64", "bfloat16"])
def test_meta(shape, dtype):
    assert_same_text(torch.empty((1,) * len(shape) if len(shape) > 5 else shape, dtype=getattr(torch, dtype), device="meta"))


@pytest.mark.parametrize("default", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize(
    "dtype", ["bool", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"]
)
@pytest.mark.parametrize("shape", [(0,), (1,)])
def test_dtype_suffix_depends_on_the_default(default, dtype, shape):
    torch.set_default_dtype(getattr(torch, default))
    assert_same_text(torch.zeros(shape, dtype=getattr(torch, dtype)))
