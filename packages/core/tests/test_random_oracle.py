"""Random operators give PyTorch's numbers for a seed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")
CPUINFO = Path("/proc/cpuinfo")
INTEL = CPUINFO.exists() and "GenuineIntel" in CPUINFO.read_text()

CALLS: list[Callable[[Any, Any], Any]] = [
    lambda lib, g: lib.rand(3, 2, generator=g),
    lambda lib, g: lib.rand((20,), generator=g, dtype=lib.float64),
    lambda lib, g: lib.rand(3, generator=g, dtype=lib.bfloat16).to(lib.float32),
    lambda lib, g: lib.randn(5, generator=g),
    lambda lib, g: lib.randn(4, 5, generator=g),
    lambda lib, g: lib.randn(3, generator=g, dtype=lib.complex64),
    lambda lib, g: lib.randint(10, (7,), generator=g),
    lambda lib, g: lib.randint(-3, 10, (7,), generator=g, dtype=lib.int16),
    lambda lib, g: lib.randint(low=0, high=2**40, size=(3,), generator=g),
    lambda lib, g: lib.randperm(30, generator=g),
    lambda lib, g: lib.normal(lib.arange(4.0), lib.arange(1.0, 5.0), generator=g),
    lambda lib, g: lib.normal(lib.arange(20.0), 2.0, generator=g),
    lambda lib, g: lib.normal(1.0, lib.arange(20.0), generator=g),
    lambda lib, g: lib.normal(1.0, 2.0, (3, 3), generator=g),
    lambda lib, g: lib.normal(lib.tensor(1.0), lib.tensor(2), (3, 3), generator=g),
    lambda lib, g: lib.normal(0, lib.tensor(2.0), size=(3,), generator=g, dtype=lib.float64),
    lambda lib, g: lib.normal(lib.tensor(1.0), True, (20,), generator=g),
    lambda lib, g: lib.bernoulli(lib.full((9,), 0.3), generator=g),
    lambda lib, g: lib.zeros(9).bernoulli_(lib.full((9,), 0.6), generator=g),
    lambda lib, g: lib.multinomial(lib.tensor([0.1, 0.5, 0.4]), 5, True, generator=g),
    lambda lib, g: lib.multinomial(lib.tensor([[0.1, 0.5, 0.4]]), 2, generator=g),
    lambda lib, g: lib.zeros(5).uniform_(-1, 3, generator=g),
    lambda lib, g: lib.zeros(5).normal_(1, 3, generator=g),
    lambda lib, g: lib.zeros(4, 5).normal_(generator=g),
    lambda lib, g: lib.zeros(6, 5).t().normal_(generator=g),
    lambda lib, g: lib.zeros(5, dtype=lib.int64).random_(generator=g),
    lambda lib, g: lib.zeros(5).random_(7, generator=g),
    lambda lib, g: lib.zeros(5, dtype=lib.int32).random_(-2, 7, generator=g),
    lambda lib, g: lib.zeros(5, dtype=lib.float64).exponential_(2.0, generator=g),
    lambda lib, g: lib.zeros(5).geometric_(0.3, generator=g),
    lambda lib, g: lib.zeros(5, dtype=lib.float64).cauchy_(1, 2, generator=g),
    lambda lib, g: lib.zeros(5, dtype=lib.float64).log_normal_(0, 0.5, generator=g),
]


@pytest.mark.parametrize("call", CALLS)
def test_generator(call: Callable[[Any, Any], Any]) -> None:
    ours, theirs = tenfold.Generator().manual_seed(11), torch.Generator().manual_seed(11)
    for _ in range(2):
        a, b = call(tenfold, ours), call(torch, theirs)
        assert a.dtype.name == str(b.dtype).removeprefix("torch.")
        np.testing.assert_allclose(np.array(a.tolist()), np.array(b.tolist()), rtol=3e-7)
    assert ours.get_state().tolist() == theirs.get_state().tolist()


LIKE = ["rand_like", "randn_like"]


@pytest.mark.parametrize("name", LIKE)
def test_default_generator(name: str) -> None:
    tenfold.manual_seed(4)
    torch.manual_seed(4)
    a, b = getattr(tenfold, name)(tenfold.ones(2, 9)), getattr(torch, name)(torch.ones(2, 9))
    np.testing.assert_allclose(a.tolist(), b.tolist(), rtol=3e-7)
    assert tenfold.randint_like(tenfold.ones(4), 9).tolist() == torch.randint_like(torch.ones(4), 9).tolist()


@pytest.mark.skipif(INTEL, reason="on Intel processors PyTorch draws these from MKL's own generator")
@pytest.mark.parametrize("name", ["dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout"])
def test_dropout(name: str) -> None:
    tenfold.manual_seed(4)
    torch.manual_seed(4)
    x = np.linspace(-1, 1, 24, dtype=np.float32).reshape(2, 3, 4)
    ours = getattr(tenfold, name)(tenfold.from_numpy(x), 0.4, True)
    theirs = getattr(torch, name)(torch.from_numpy(x), 0.4, True)
    np.testing.assert_allclose(ours.tolist(), theirs.tolist(), rtol=1e-6)


def test_states_travel() -> None:
    torch.manual_seed(9)
    tenfold.set_rng_state(tenfold.from_numpy(torch.get_rng_state().numpy()))
    assert tenfold.rand(3).tolist() == torch.rand(3).tolist()


LAYOUTS = {
    "contiguous": lambda lib: lib.ones(4, 5, 6),
    "permuted": lambda lib: lib.ones(6, 5, 4).permute(2, 1, 0),
    "transposed": lambda lib: lib.ones(5, 7).t(),
    "sliced": lambda lib: lib.ones(4, 10)[:, ::2],
    "channels last": lambda lib: lib.ones(2, 3, 4, 5).to(memory_format=lib.channels_last),
    "expanded": lambda lib: lib.ones(4, 1).expand(4, 5),
}
LIKE = {
    "dropout": lambda lib, x: lib.dropout(x, 0.4, True),
    "alpha_dropout": lambda lib, x: lib.alpha_dropout(x, 0.4, True),
    "rand_like": lambda lib, x: lib.rand_like(x),
    "randn_like": lambda lib, x: lib.randn_like(x),
    "randint_like": lambda lib, x: lib.randint_like(x, 3, 10),
    "bernoulli": lambda lib, x: lib.bernoulli(x * 0.4),
    "bernoulli_": lambda lib, x: lib.empty_like(x).bernoulli_(0.4),
    "bernoulli_ of a tensor": lambda lib, x: lib.empty_like(x).bernoulli_(x * 0.3),
    "multinomial": lambda lib, x: lib.multinomial(x.flatten(1) if x.dim() > 2 else x, 2),
    "uniform_": lambda lib, x: lib.empty_like(x).uniform_(-2, 3),
    "normal_": lambda lib, x: lib.empty_like(x).normal_(),
    "random_": lambda lib, x: lib.empty_like(x).random_(7),
    "exponential_": lambda lib, x: lib.empty_like(x).exponential_(),
}


@pytest.mark.skipif(INTEL, reason="on Intel processors PyTorch draws some of these from MKL's own generator")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", LIKE)
def test_samples_are_drawn_in_memory_order(name, layout):
    results = []
    for lib in (tenfold, torch):
        lib.manual_seed(3)
        result = LIKE[name](lib, LAYOUTS[layout](lib))
        results.append((result.numpy(), tuple(result.stride()), lib.rand(1).item()))
    (found, strides, state), (expected, expected_strides, expected_state) = results
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert (strides, state) == (expected_strides, expected_state)


@pytest.mark.parametrize("n", [0, 1, 2, 17, 1500, 1501, 5000])
def test_permutations_of_few_and_of_many_items(n):
    torch.manual_seed(3)
    tenfold.manual_seed(3)
    assert tenfold.randperm(n).tolist() == torch.randperm(n).tolist()
    assert tenfold.rand(2).tolist() == torch.rand(2).tolist()


@pytest.mark.parametrize("given", [([0.0], 1.0), ([0.0, 1.0], [1.0]), ("a", 1.0), (1j, 1.0)])
def test_a_size_is_for_two_numbers(given):
    for lib in (tenfold, torch):
        with pytest.raises(TypeError):
            lib.normal(*(lib.tensor(v) if isinstance(v, list) else v for v in given), (2,))
    for lib in (tenfold, torch):
        with pytest.raises(TypeError):
            lib.normal(lib.tensor(0.0, requires_grad=True), 1.0, (2,))


def test_a_spread_that_is_no_number_is_refused():
    for lib in (tenfold, torch):
        with pytest.raises(RuntimeError, match="all elements of std"):
            lib.normal(0.0, lib.tensor([0.5, lib.nan]))
        assert lib.normal(0.0, lib.ones(0)).shape == (0,)
