"""What pools refuse, and how their results lie in memory, against PyTorch's."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tenfold
from tenfold.nn.cpu.pool.fractional import fused_fractional_max_pool as fractional_kernel

torch = pytest.importorskip("torch")
Call = Callable[[Any, Any], Any]
NAMES = [f"{kind}_pool{n}d" for kind in ("max", "avg") for n in (1, 2, 3)]
ADAPTIVE = [f"adaptive_{name}" for name in NAMES]


def fractional(**given: Any) -> Call:
    n = given.pop("n", 2)
    shape, samples = given.pop("input", (1, 2, *[7] * n)), given.pop("samples", (1, 2, n))

    def call(lib: Any, F: Any) -> Any:
        drawn = lib.full(samples, 0.5, dtype=getattr(lib, given.get("dtype", "float32")))
        pool = getattr(F, f"fractional_max_pool{n}d")
        return pool(lib.ones(shape), given.get("kernel", 2), given.get("out", 3), _random_samples=drawn)

    return call


def without_stride(name: str) -> Call:
    return lambda lib, F: getattr(F, name)(lib.ones(1, 2, *[4] * int(name[-2])), 2, 0)


def without_channels(name: str) -> Call:
    return lambda lib, F: getattr(F, name)(lib.ones(1, 0, *[4] * int(name[-2])), 2)


def with_sizes(name: str, sizes: Any) -> Call:
    return lambda lib, F: getattr(F, name)(lib.ones(1, 2, *[4] * int(name[-2])), sizes)


REFUSED: list[tuple[Call, str]] = [
    *[(fractional(kernel=k), "kernel_size must either") for k in ((), (1,), (2, 2, 2))],
    *[(fractional(n=3, kernel=k), "kernel_size must either") for k in ((), (1,), (2, 2))],
    *[(fractional(out=o), "output_size must either") for o in ((), (3,), (3, 3, 3))],
    (fractional(out=(9, 3)), "too large relative to input height"),
    (fractional(out=(3, 9)), "too large relative to input width"),
    (fractional(n=3, out=(9, 3, 3)), "too large relative to input time"),
    (fractional(input=(1, 0, 7, 7)), "Expected input to have non-zero size for non-batch dimensions"),
    (fractional(samples=(0, 2, 2)), r"Expect _random_samples.size\(0\)"),
    (fractional(samples=(1, 1, 2)), r"Expect _random_samples.size\(1\)"),
    (fractional(samples=(1, 2, 1)), r"Expect _random_samples.size\(2\)"),
    (fractional(samples=(2, 2)), "Expect _random_samples to have 3 dimensions"),
    (fractional(dtype="float64"), "Expect _random_samples to have the same dtype"),
    *[(without_stride(name), "stride (should not be|must be greater than) zero") for name in NAMES],
    *[(with_sizes(name, s), "output_size") for name in ADAPTIVE if "1d" not in name for s in ((1,), [2])],
    *[(without_channels(name), "Expected") for name in ADAPTIVE if "max" in name or "3d" in name],
]


@pytest.mark.parametrize(("call", "words"), REFUSED)
def test_refusals_have_pytorchs_type_and_words(call: Call, words: str) -> None:
    for lib in (torch, tenfold):
        with pytest.raises(RuntimeError, match=words):
            call(lib, lib.nn.functional)


@pytest.mark.parametrize("name", ADAPTIVE)
def test_empty_batches_pass(name: str) -> None:
    for lead in ((0, 2), (0,)):
        shape = (*lead, *[4] * int(name[-2]))
        sizes = [tuple(getattr(lib.nn.functional, name)(lib.ones(shape), 2).shape) for lib in (torch, tenfold)]
        assert sizes[0] == sizes[1]


def planes(lib: Any, *shape: int) -> Any:
    x = lib.arange(2.0 * 3 * 6**3)[: torch.Size(shape).numel()].reshape(shape)
    return x.to(memory_format=lib.channels_last if len(shape) == 4 else lib.channels_last_3d)


LAYOUTS: list[Call] = [
    lambda lib, F: F.adaptive_avg_pool2d(planes(lib, 2, 3, 6, 6), 1),
    lambda lib, F: F.adaptive_avg_pool2d(planes(lib, 2, 3, 6, 6), 2),
    lambda lib, F: F.adaptive_max_pool2d(planes(lib, 2, 3, 6, 6), 1),
    lambda lib, F: F.max_pool3d(planes(lib, 2, 3, 6, 6, 6), 2),
    lambda lib, F: F.max_pool3d(planes(lib, 1, 3, 6, 6, 6).squeeze(0), 2),
    lambda lib, F: F.max_pool3d(planes(lib, 1, 3, 6, 6, 6).squeeze(0), 2, return_indices=True)[1],
    lambda lib, F: F.max_unpool2d(*F.max_pool2d(planes(lib, 2, 3, 6, 6), 2, return_indices=True), 2),
    lambda lib, F: F.max_unpool2d(*F.max_pool2d(planes(lib, 2, 3, 6, 6).contiguous(), 2, return_indices=True), 2),
]


@pytest.mark.parametrize("call", LAYOUTS)
def test_results_lie_in_memory_as_pytorchs(call: Call) -> None:
    ours, theirs = (call(lib, lib.nn.functional) for lib in (tenfold, torch))
    if theirs.dim() == 4 and theirs.shape[0] > 1:  # the stride of a batch of one says nothing
        assert ours.stride() == theirs.stride()
    else:
        assert ours.stride()[1:] == theirs.stride()[1:]
    assert ours.tolist() == theirs.tolist()


@pytest.mark.parametrize("name", ["adaptive_avg_pool", "adaptive_max_pool"])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_nothing_goes_backwards_through_pooling_to_a_size_of_0(name: str, n: int) -> None:
    for t in (tenfold, torch):
        x = t.ones(1, 2, *[4] * n, requires_grad=True)
        total = getattr(t.nn.functional, f"{name}{n}d")(x, 0).sum()
        with pytest.raises(RuntimeError, match="Expected grad_output to have non-zero size for non-batch dimensions"):
            total.backward()


@pytest.mark.parametrize("norm", [float("inf"), float("-inf")])
@pytest.mark.parametrize("ceil_mode", [False, True])
def test_norms_of_windows_that_are_their_largest_or_smallest_size(norm, ceil_mode):
    line, plane = [[[1.0, -6, 5, 2, 7]]], [[[float(i % 7 - 3) for i in range(5 * k, 5 * k + 5)] for k in range(5)]]
    theirs, ours = (
        (m.nn.functional.lp_pool1d(m.tensor(line), norm, 2, ceil_mode=ceil_mode).tolist(),
         m.nn.functional.lp_pool2d(m.tensor(plane), norm, 3, 2, ceil_mode).tolist())
        for m in (torch, tenfold)
    )  # fmt: skip
    assert ours == theirs


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_windows_at_random_places_take_the_first_of_equals_and_nan(dtype: str) -> None:
    """By the CPU's kernel, tap by tap: as gathered windows they had taken ten times as long."""
    numbers = np.random.default_rng(0).integers(0, 3, (5, 7, 20, 15)).astype(dtype)
    numbers[0, 0, 3:6, 3:6], numbers[1, :, 4], numbers[2] = np.nan, np.inf, -np.inf
    spots = np.random.default_rng(1).random((5, 7, 2)).astype(dtype)
    values, indices = fractional_kernel(numbers, spots, (3, 2), (9, 6))
    assert (values.dtype, indices.dtype) == (numbers.dtype, np.int64)
    x, places = (torch.from_numpy(a) for a in (numbers, spots))
    expected = torch.nn.functional.fractional_max_pool2d(x, (3, 2), output_size=(9, 6), _random_samples=places)
    np.testing.assert_array_equal(values, expected.numpy())
    found = np.take_along_axis(numbers.reshape(35, -1), indices.reshape(35, -1), 1)
    np.testing.assert_array_equal(found, values.reshape(35, -1))
    equal = np.ones((1, 1, 6, 6), dtype)
    assert fractional_kernel(equal, spots[:1, :1], (2, 2), (1, 1))[1].tolist() == [[[[28]]]]
    empty = fractional_kernel(numbers[:0], spots[:0], (3, 2), (9, 6))
    assert [a.shape for a in empty] == [(0, 7, 9, 6)] * 2


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64", "uint8"])
@pytest.mark.parametrize("sizes", [(1,), (2,), (3,), (1, 1), (1, 4), (4, 1), (3, 3), (1, 1, 1), (2, 1, 3), (4, 1, 1), (3, 2, 3)])
def test_windows_that_straddle_a_short_input(sizes: tuple[int, ...], dtype: str) -> None:
    def pooled(m: Any, kernel: int, stride: int, gap: int) -> Any:
        x = m.arange(2 * math.prod(sizes)).reshape(1, 2, *sizes).to(getattr(m, dtype))
        pool = getattr(m.nn.functional, f"max_pool{len(sizes)}d")
        try:
            return [r.tolist() for r in pool(x, kernel, stride, kernel // 2, dilation=gap, return_indices=True)]
        except RuntimeError:
            return "refused"

    for given in ((2, 1, 2), (2, 1, 3), (2, 2, 2), (3, 1, 2), (4, 2, 2)):
        assert pooled(tenfold, *given) == pooled(torch, *given)


def test_windows_that_straddle_a_short_input_have_no_gradient() -> None:
    for sizes in ((1, 1), (1, 4), (4, 1)):  # PyTorch writes it at an index outside the plane
        x = tenfold.ones(1, 2, *sizes, requires_grad=True)
        values = tenfold.nn.functional.max_pool2d(x, 2, 1, 1, dilation=2)
        assert (values == -math.inf).all()
        values.sum().backward()
        assert not x.grad.any()
