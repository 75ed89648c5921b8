"""The streams against PyTorch's, number by number: one seed, the same calls, equal bits."""

from __future__ import annotations

import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tenfold.random import sampling
from tenfold.random.generator import Generator

torch = pytest.importorskip("torch")
variates = pytest.importorskip("tenfold.scientific.variates")

SIZES = [0, 1, 2, 5, 15, 16, 17, 31, 100, 1000, 9001]
FLOATS = ["float32", "float64", "float16", "bfloat16"]
INTEGERS = ["uint8", "int8", "int16", "int32", "int64"]
CPUINFO = Path("/proc/cpuinfo")
INTEL = "GenuineIntel" in (CPUINFO.read_text() if CPUINFO.exists() else platform.processor())

Draw = Callable[..., Any]


def numpy_dtype(name: str) -> np.dtype[Any]:
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def to_numpy(x: Any) -> np.ndarray[Any, Any]:
    return x.view(torch.uint16).numpy().view(ml_dtypes.bfloat16) if x.dtype == torch.bfloat16 else x.numpy()


def generators(seed: int) -> tuple[Generator, Any]:
    return Generator().manual_seed(seed), torch.Generator().manual_seed(seed)


def check(ours: np.ndarray[Any, Any], theirs: Any) -> None:
    expected = to_numpy(theirs)
    assert ours.dtype == expected.dtype
    assert ours.shape == expected.shape
    np.testing.assert_array_equal(ours.astype(np.float64) if ours.dtype == ml_dtypes.bfloat16 else ours,
                                  expected.astype(np.float64) if ours.dtype == ml_dtypes.bfloat16 else expected)  # fmt: skip


def check_state(ours: Generator, theirs: Any) -> None:
    np.testing.assert_array_equal(ours.get_state(), theirs.get_state().numpy())


def filled(name: str) -> Draw:
    """PyTorch's in-place sampler of that name as a function of generator, shape, dtype and parameters."""

    def draw(generator: Any, shape: Any, dtype: str, *parameters: Any) -> Any:
        return getattr(torch.empty(shape, dtype=getattr(torch, dtype)), name)(*parameters, generator=generator)

    return draw


PARAMETERS = [
    (sampling.uniform, "uniform_", (0, 1)),
    (sampling.uniform, "uniform_", (0.3, 1.7)),
    (sampling.uniform, "uniform_", (-2, 0)),
    (sampling.normal, "normal_", (0, 1)),
    (sampling.normal, "normal_", (0.3, 0.7)),
    (sampling.normal, "normal_", (2, 0)),
    (variates.log_normal, "log_normal_", (1, 2)),
    (variates.log_normal, "log_normal_", (0.5, 0.7)),
    (sampling.exponential, "exponential_", (1,)),
    (sampling.exponential, "exponential_", (0.7,)),
    (variates.cauchy, "cauchy_", (0, 1)),
    (variates.cauchy, "cauchy_", (1.5, 2.5)),
    (variates.geometric, "geometric_", (0.3,)),
]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("function", "name", "parameters"), PARAMETERS)
def test_continuous_samplers_give_pytorchs_numbers(function: Draw, name: str, parameters: Any, dtype: str) -> None:
    ours, theirs = generators(7)
    for size in SIZES:
        check(function(ours, size, numpy_dtype(dtype), *parameters), filled(name)(theirs, size, dtype, *parameters))
    check_state(ours, theirs)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["uniform", "normal"])
def test_two_hundred_thousand_samples(name: str, dtype: str) -> None:
    ours, theirs = generators(11)
    check(getattr(sampling, name)(ours, 200_003, numpy_dtype(dtype)), filled(name + "_")(theirs, 200_003, dtype))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", ["uniform", "normal"])
def test_complex_samples(name: str, dtype: str) -> None:
    ours, theirs = generators(3)
    for size in SIZES:
        check(getattr(sampling, name)(ours, size, np.dtype(dtype)), filled(name + "_")(theirs, size, dtype))
    check(sampling.normal(ours, 20, np.dtype(dtype), 0.5, 2), filled("normal_")(theirs, 20, dtype, 0.5, 2))
    check_state(ours, theirs)


def test_an_interval_of_few_numbers_leaves_out_its_end() -> None:
    ours, theirs = generators(1)
    for dtype, high in [("float32", 1 + 2**-22), ("float64", 1 + 2**-51), ("float16", 1.002), ("bfloat16", 1.01)]:
        check(sampling.uniform(ours, 500, numpy_dtype(dtype), 1, high), filled("uniform_")(theirs, 500, dtype, 1, high))


@pytest.mark.parametrize("dtype", FLOATS)
def test_normals_for_memory_that_is_not_contiguous(dtype: str) -> None:
    ours, theirs = generators(2)
    for size in SIZES:
        strided = torch.empty(size, 2, dtype=getattr(torch, dtype))[:, 0]
        expected = strided.normal_(0.5, 2, generator=theirs)
        contiguous = size < 2
        check(sampling.normal(ours, size, numpy_dtype(dtype), 0.5, 2, contiguous=contiguous), expected.clone())
    check_state(ours, theirs)


def test_normals_of_tensor_means_and_deviations_are_as_documented() -> None:
    ours, theirs = generators(2)
    mean, std = torch.linspace(-1, 1, 40), torch.linspace(0.1, 3, 40)
    z = sampling.normal(ours, 40)
    check(z * std.numpy() + mean.numpy(), torch.normal(mean, std, generator=theirs))
    check(sampling.normal(ours, 40, np.float32, 0, 2.5) + mean.numpy(), torch.normal(mean, 2.5, generator=theirs))
    check(sampling.normal(ours, 40) * std.numpy() + np.float32(0.7), torch.normal(0.7, std, generator=theirs))


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS, "bool"])
def test_random_fills_the_whole_range(dtype: str) -> None:
    ours, theirs = generators(5)
    for size in SIZES:
        check(sampling.random(ours, size, numpy_dtype(dtype)), filled("random_")(theirs, size, dtype))
    check_state(ours, theirs)


@pytest.mark.parametrize(
    ("low", "high"),
    [(0, 1), (0, 2), (-7, 100), (0, 2**28 - 1), (0, 2**28), (5, 2**28 + 5), (-(2**31), 2**31), (0, 10**12),
     (-(2**62), 2**62), (0, 2**63 - 1), (-(2**63), 2**63 - 1), (-(2**63), None), (5, None)],
)  # fmt: skip
def test_integers_of_a_range(low: int, high: int | None) -> None:
    ours, theirs = generators(5)
    for size in SIZES:
        expected = torch.empty(size, dtype=torch.int64).random_(low, high, generator=theirs)
        check(sampling.randint(ours, low, high, size), expected)
    check_state(ours, theirs)


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS])
def test_integers_in_every_dtype(dtype: str) -> None:
    ours, theirs = generators(5)
    expected = torch.randint(3, 100, (10, 10), generator=theirs, dtype=getattr(torch, dtype))
    check(sampling.randint(ours, 3, 100, (10, 10), numpy_dtype(dtype)), expected)


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS])
def test_trials_up_to_success_in_every_dtype(dtype: str) -> None:
    ours, theirs = generators(5)
    check(variates.geometric(ours, 200, numpy_dtype(dtype), 0.2), filled("geometric_")(theirs, 200, dtype, 0.2))


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5, 16, 100, 127, 1000, 65_537, 300_000])
def test_permutations(n: int) -> None:
    ours, theirs = generators(n)
    check(sampling.randperm(ours, n), torch.randperm(n, generator=theirs))
    check_state(ours, theirs)


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS])
def test_permutations_in_every_dtype(dtype: str) -> None:
    ours, theirs = generators(8)
    check(sampling.randperm(ours, 120, numpy_dtype(dtype)), torch.randperm(120, generator=theirs, dtype=getattr(torch, dtype)))


@pytest.mark.parametrize("dtype", FLOATS)
def test_bernoulli_with_an_array_of_probabilities(dtype: str) -> None:
    ours, theirs = generators(9)
    p = torch.linspace(0, 1, 2000, dtype=getattr(torch, dtype)).reshape(40, 50)
    check(sampling.bernoulli(ours, to_numpy(p)), torch.bernoulli(p, generator=theirs))
    check(
        sampling.bernoulli(ours, to_numpy(p), dtype=np.int64),
        torch.empty(40, 50, dtype=torch.int64).bernoulli_(p, generator=theirs),
    )
    check_state(ours, theirs)


@pytest.mark.skipif(INTEL, reason="on Intel processors PyTorch draws these from MKL's own generator")
@pytest.mark.parametrize("dtype", [*FLOATS, "int64", "bool"])
@pytest.mark.parametrize("p", [0, 0.3, 0.5, 1])
def test_bernoulli_with_one_probability(p: float, dtype: str) -> None:
    ours, theirs = generators(9)
    for size in SIZES:
        check(sampling.bernoulli(ours, p, size, numpy_dtype(dtype)), filled("bernoulli_")(theirs, size, dtype, p))
    check_state(ours, theirs)


@pytest.mark.skipif(INTEL, reason="on Intel processors PyTorch draws these from MKL's own generator")
def test_dropouts_mask_is_a_bernoulli_sample_of_the_kept() -> None:
    torch.manual_seed(4)
    expected = torch.nn.functional.dropout(torch.ones(300), 0.3)
    mask = sampling.bernoulli(Generator().manual_seed(4), 1 - 0.3, 300)
    np.testing.assert_allclose(mask / (1 - 0.3), expected.numpy(), rtol=1e-6)


@pytest.mark.parametrize(("replacement", "dtype"), [(True, dtype) for dtype in FLOATS] + [(False, "float32"), (False, "float64")])
def test_multinomial(replacement: bool, dtype: str) -> None:
    ours, theirs = generators(6)
    weights = torch.rand(6, 50, generator=torch.Generator().manual_seed(1)).to(getattr(torch, dtype))
    for p in (weights, weights[0]):
        for count in (1, 2, 50) + (1000,) * replacement:
            expected = torch.multinomial(p, count, replacement, generator=theirs)
            check(sampling.multinomial(ours, to_numpy(p), count, replacement), expected)
    check_state(ours, theirs)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_multinomial_of_few_bits_differs_in_the_order_of_ties_only(dtype: str) -> None:
    ours, theirs = generators(6)
    weights = torch.rand(50, generator=torch.Generator().manual_seed(1)).to(getattr(torch, dtype))
    keys = to_numpy(weights).astype(np.float32) / sampling.exponential(ours.clone_state(), 50, numpy_dtype(dtype))
    keys = keys.astype(numpy_dtype(dtype)).astype(np.float32)
    drawn = sampling.multinomial(ours, to_numpy(weights), 50)
    np.testing.assert_array_equal(keys[drawn], keys[torch.multinomial(weights, 50, generator=theirs).numpy()])
    assert sorted(drawn.tolist()) == list(range(50))
    check_state(ours, theirs)


MIXED: list[tuple[Draw, Draw]] = [
    (lambda g: sampling.normal(g, 3), lambda g: torch.randn(3, generator=g)),
    (lambda g: sampling.uniform(g, 701), lambda g: torch.rand(701, generator=g)),
    (lambda g: sampling.normal(g, (3, 7)), lambda g: torch.randn(3, 7, generator=g)),
    (lambda g: variates.log_normal(g, 4, np.float64), lambda g: filled("log_normal_")(g, 4, "float64")),
    (lambda g: sampling.randint(g, 0, 10**12, 313), lambda g: torch.randint(0, 10**12, (313,), generator=g)),
    (lambda g: sampling.normal(g, 5, np.float64), lambda g: torch.randn(5, dtype=torch.float64, generator=g)),
    (lambda g: sampling.randperm(g, 20), lambda g: torch.randperm(20, generator=g)),
    (lambda g: sampling.exponential(g, 6), lambda g: filled("exponential_")(g, 6, "float32")),
]


@pytest.mark.parametrize("seed", [0, 1, 2**32 + 1, 2**64 - 1, -3, -(2**63)])
def test_one_stream_through_calls_of_different_kinds_and_states(seed: int) -> None:
    ours, theirs = generators(seed)
    assert ours.initial_seed() == theirs.initial_seed()
    order = np.random.default_rng(0).integers(0, len(MIXED), 80)
    for i, kind in enumerate(order.tolist()):
        our_draw, their_draw = MIXED[kind]
        check(our_draw(ours), their_draw(theirs))
        check_state(ours, theirs)
        if i % 7 == 3:
            crossed, ours_as_torch = Generator(), torch.Generator()
            crossed.set_state(theirs.get_state().numpy())
            ours_as_torch.set_state(torch.from_numpy(ours.get_state().numpy()))
            ours, theirs = crossed, ours_as_torch


def test_states_at_the_ends_of_a_block() -> None:
    ours, theirs = generators(0)
    check_state(ours, theirs)
    for count in (0, 1, 622, 1, 1, 623, 624, 0, 1248):
        check(sampling.uniform(ours, count), torch.rand(count, generator=theirs))
        check_state(ours, theirs)


def test_a_new_generator_starts_where_pytorchs_does() -> None:
    check_state(Generator(), torch.Generator())


@pytest.mark.parametrize("seed", [2**64, -(2**63) - 1, 1.5, "a", True, None])
def test_bad_seeds_raise_what_pytorch_raises(seed: Any) -> None:
    with pytest.raises((RuntimeError, ValueError)) as theirs:
        torch.Generator().manual_seed(seed)
    with pytest.raises(theirs.type):
        Generator().manual_seed(seed)


@pytest.mark.parametrize(
    "state", [np.zeros(10, np.uint8), np.zeros(5056, np.float32), np.zeros(5056, np.uint8)], ids=["short", "float", "zero"]
)
def test_bad_states_raise_what_pytorch_raises(state: np.ndarray[Any, Any]) -> None:
    with pytest.raises((RuntimeError, TypeError)) as theirs:
        torch.Generator().set_state(torch.from_numpy(state))
    with pytest.raises(theirs.type):
        Generator().set_state(state)


def test_few_samples_many_times_in_a_row_and_many_in_between() -> None:
    ours, theirs = generators(5)
    for turn in range(600):
        shape, dtype = (1 + turn % 3 if turn % 90 else 1000,), "float64" if turn % 17 == 0 else "float32"
        name, draw = ("uniform_", sampling.uniform) if turn % 5 == 0 else ("normal_", sampling.normal)
        expected = filled(name)(theirs, shape, dtype)
        np.testing.assert_allclose(draw(ours, shape, dtype), expected.numpy(), rtol=0, atol=0 if shape[0] < 16 else 1e-6)
        if turn % 20 == 0:
            check_state(ours, theirs)
