"""Every operator with a kernel of this device, on the samples of tenfold-testing, against the CPU: values, dtypes, strides."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import tenfold
from tenfold import plugins
from tenfold.cuda_plugin import FAMILIES
from tenfold.dispatch import kernels
from tenfold.dispatch.operators import OPERATORS
from tenfold.testing import samples as registry
from tenfold.testing.tolerances import implementation

plugins.load_operators()
for family in FAMILIES:
    plugins.load_kernels("cuda", family)
# Public operators by which kernels without samples of their own are reached.
PUBLIC = ("clamp", "max", "min", "sort", "topk", "kthvalue", "unique", "searchsorted", "bucketize", "cummax", "cummin", "norm",
          "median", "nanmedian", "mode", "scatter", "index_select", "index_add", "masked_select", "take", "repeat_interleave",
          "real", "imag", "polar", "conj", "getitem")  # fmt: skip
# Of these families alone, whatever other tests have loaded: layers, linear algebra and special functions have tests of their own.
OWN = (
    name
    for name, device in kernels.KERNELS
    if device == "cuda" and OPERATORS[name].family in FAMILIES and registry.find(name) is not None
)
NAMES = sorted({*OWN, *(name for name in PUBLIC if registry.find(name) is not None)})
# The device refuses, as PyTorch does, what the CPU computes in some way.
REFUSED = {
    "bool": ("ceil", "floor", "fmod", "relu", "remainder", "trunc"),
    "float16": ("complex", "polar", "view_as_complex"),  # complex32 is not computed on the device
    "complex64": ("erf", "erfc", "erfinv", "fmod", "gelu", "relu", "remainder"),
}
DTYPES = (
    tenfold.float32,
    tenfold.bfloat16,
    tenfold.float16,
    tenfold.float64,
    tenfold.int64,
    tenfold.uint8,
    tenfold.bool,
    tenfold.complex64,
)
# Of each operator and dtype: the interpreter takes some milliseconds a call.
MOST = 4


def tried(name, dtype):
    """At most MOST of the operator's samples, spread evenly: (on the CPU, on the device)."""
    pairs = [registry.samples_of(OPERATORS[name], device, dtype) for device in ("cpu", "cuda")]
    found = list(zip(*pairs, strict=True))
    return found[:: -(-len(found) // MOST)] if found else []


def outcome(name, sample):
    """The result, or the type of the error."""
    with warnings.catch_warnings(), tenfold.no_grad():
        warnings.simplefilter("ignore")
        try:
            result = OPERATORS[name].fn(*sample.args, **sample.kwargs)
        except (TypeError, ValueError, IndexError, RuntimeError, NotImplementedError) as error:
            return error
    return result if isinstance(result, (tuple, list)) else (result,)


def assert_same(name, sample, expected, got):
    words = f"{name}{sample!r}"
    if isinstance(expected, Exception):
        assert isinstance(got, Exception), f"{words}: the CPU raises {expected!r}, cuda gives {got}"
        return
    if isinstance(got, Exception):
        raise AssertionError(f"{words}: {type(got).__name__}: {got}") from got
    for e, g in zip(expected, got, strict=True):
        assert g.device.type == "cuda", words
        assert g.dtype is e.dtype, words
        assert g.shape == e.shape, words
        rtol, atol = implementation(e.dtype)
        wider = {"bfloat16": tenfold.float64, "complex32": tenfold.complex64}.get(e.dtype.name, e.dtype)
        a, b = (t.cpu().to(wider).numpy() for t in (g, e))
        np.testing.assert_allclose(a, b, rtol=rtol, atol=atol, equal_nan=True, err_msg=words)


@pytest.mark.parametrize("name", NAMES)
def test_as_on_the_cpu(name):
    compared = 0
    for dtype in DTYPES:
        for sample, moved in tried(name, dtype):
            inputs = [t.clone() for t in moved.tensors]
            expected, got = outcome(name, sample), outcome(name, moved)
            if name in REFUSED.get(dtype.name, ()) and isinstance(got, TypeError):
                continue
            assert_same(name, sample, expected, got)
            assert all(raw(a) == raw(b) for a, b in zip(inputs, moved.tensors)), f"{name} wrote its input"
            compared += not isinstance(expected, Exception)
    assert compared > 0


def raw(tensor):
    return tensor._key.backend.to_numpy(tensor._array).tobytes()
