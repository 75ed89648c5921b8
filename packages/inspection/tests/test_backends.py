"""PyTorch's switches for its libraries, and its questions about an accelerator."""

from __future__ import annotations

import importlib

import pytest

import tenfold
from tenfold.backends import cuda
from tenfold.inspection import precision


@pytest.mark.parametrize("name", ["cudnn", "mkl", "mkldnn", "mps", "cuda", "openmp", "opt_einsum", "cpu"])
def test_backends_are_modules(name: str) -> None:
    assert importlib.import_module(f"tenfold.backends.{name}") is getattr(tenfold.backends, name)


def test_switches_have_other_values_in_a_context() -> None:
    cudnn = tenfold.backends.cudnn
    assert (cudnn.enabled, cudnn.benchmark, cudnn.deterministic, cudnn.allow_tf32) == (True, False, False, True)
    with cudnn.flags(deterministic=True):  # what is not named has a value of its own, as in PyTorch
        assert (cudnn.enabled, cudnn.deterministic) == (False, True)
    assert cudnn.enabled
    assert not cudnn.deterministic
    assert (cudnn.version() is None) is not cudnn.is_available()


def test_preferred_libraries():
    assert cuda.preferred_linalg_library() == "default"
    assert cuda.preferred_linalg_library("magma") == "magma" == cuda.preferred_linalg_library()
    with pytest.raises(RuntimeError, match="Choose from: default, cusolver, magma"):
        cuda.preferred_linalg_library("lapack")
    cuda.preferred_linalg_library("default")


def test_the_first_lines_of_many_programs() -> None:
    assert not tenfold.backends.mps.is_available()
    tenfold.backends.cudnn.benchmark = tenfold.backends.cuda.matmul.allow_tf32 = True
    tenfold.backends.cudnn.benchmark = tenfold.backends.cuda.matmul.allow_tf32 = False
    assert tenfold.accelerator.is_available() == (tenfold.accelerator.current_accelerator() is not None)
    assert tenfold.__config__.show().startswith("Tenfold")


def test_one_switch_of_tensor_float_32() -> None:
    matmul = cuda.matmul
    before = tenfold.get_float32_matmul_precision()
    try:
        for level, allowed in (("high", True), ("medium", True), ("highest", False)):
            tenfold.set_float32_matmul_precision(level)
            assert (matmul.allow_tf32, matmul.fp32_precision) == (allowed, "tf32" if allowed else "ieee")
        matmul.allow_tf32 = True
        assert tenfold.get_float32_matmul_precision() == "high"
        matmul.allow_tf32 = False
        assert tenfold.get_float32_matmul_precision() == "highest"
        matmul.fp32_precision = "tf32"
        assert matmul.allow_tf32
        with pytest.raises(RuntimeError, match="expects a bool, but got int"):
            matmul.allow_tf32 = 1
        with pytest.raises(RuntimeError, match="Unknown precision: fp8"):
            matmul.fp32_precision = "fp8"
        with pytest.raises(AttributeError, match="Unknown attribute alow_tf32"):
            matmul.alow_tf32 = True
    finally:
        tenfold.set_float32_matmul_precision(before)


@pytest.fixture
def switches():
    """The precisions, put back afterwards."""
    own, level = dict(precision.OWN), tenfold.get_float32_matmul_precision()
    yield tenfold.backends
    precision.OWN.update(own)
    precision._state["level"] = level


def _told(backends) -> tuple[str, ...]:
    cudnn = backends.cudnn
    return tuple(x.fp32_precision for x in (backends, cudnn, backends.cuda.matmul, cudnn.conv, cudnn.rnn))


def test_precisions_are_inherited(switches) -> None:
    precision.OWN.update(dict.fromkeys(precision.OWN, "none"))
    assert _told(switches) == ("none", "none", "none", "tf32", "tf32")
    switches.fp32_precision = "ieee"
    assert _told(switches) == ("ieee",) * 5
    assert not switches.cudnn.allow_tf32
    switches.cudnn.fp32_precision = "tf32"
    assert _told(switches) == ("ieee", "tf32", "tf32", "tf32", "tf32")
    assert switches.cudnn.allow_tf32
    assert tenfold.get_float32_matmul_precision() == "high"
    switches.cudnn.conv.fp32_precision = "ieee"
    assert _told(switches)[2:] == ("tf32", "ieee", "tf32")
    switches.cudnn.allow_tf32 = True  # the older switch sets both
    assert _told(switches)[3:] == ("tf32", "tf32")
    switches.cuda.matmul.fp32_precision = "ieee"
    assert not switches.cuda.matmul.allow_tf32
    with switches.flags("tf32"):
        assert switches.fp32_precision == "tf32"
    assert switches.fp32_precision == "ieee"
    for part in (switches.cuda.matmul, switches.cudnn.rnn):
        with pytest.raises(RuntimeError, match="does not support precision 'bf16'"):
            part.fp32_precision = "bf16"
    with pytest.raises(AttributeError, match="Unknown attribute"):
        switches.cudnn.conv.fp32 = "ieee"


def test_cudnns_switches_are_set_together(switches) -> None:
    cudnn = switches.cudnn
    before = cudnn.set_flags(_benchmark=True, _deterministic=True)
    assert (cudnn.benchmark, cudnn.deterministic, cudnn.depthwise_kernel) == (True, True, "auto")
    assert cudnn.set_flags(*before) == (True, True, 10, True, True, "none", "auto")
    assert (cudnn.benchmark, cudnn.deterministic) == (False, False)
    assert not cudnn.is_acceptable(tenfold.ones(1))


def test_attention_and_transforms_are_asked_about() -> None:
    heads = tenfold.ones(1, 1, 4, 8)
    params = cuda.SDPAParams(heads, heads, heads, None, 0.0, False, False)
    assert not any(
        f(params) for f in (cuda.can_use_flash_attention, cuda.can_use_efficient_attention, cuda.can_use_cudnn_attention)
    )
    cuda.allow_fp16_bf16_reduction_math_sdp(True)
    assert cuda.fp16_bf16_reduction_math_sdp_allowed()
    cuda.allow_fp16_bf16_reduction_math_sdp(False)
    with pytest.raises(RuntimeError, match="read-only"):
        cuda.cufft_plan_cache.size = 3
    with pytest.raises(RuntimeError, match="device index"):
        cuda.cufft_plan_cache[99]
