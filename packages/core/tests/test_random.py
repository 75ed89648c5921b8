"""Random operators: reproducible, in range, on every device; the numbers themselves are checked against PyTorch elsewhere."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import tenfold
from tenfold import random
from tenfold.random import sampling
from tenfold.random.generator import Generator


def test_seeds_and_states() -> None:
    tenfold.manual_seed(3)
    first = tenfold.rand(4).tolist()
    assert tenfold.manual_seed(3) is not None
    state = tenfold.get_rng_state()
    assert state.dtype is tenfold.uint8
    assert tenfold.rand(4).tolist() == first
    tenfold.set_rng_state(state)
    with random.fork_rng():
        assert tenfold.rand(4).tolist() == first
    assert tenfold.rand(4).tolist() == first


def test_generators_are_streams_of_their_own() -> None:
    g = tenfold.Generator().manual_seed(1)
    assert g.device is tenfold.device("cpu")
    a = tenfold.randn(3, generator=g)
    tenfold.manual_seed(1)
    assert tenfold.randn(3).tolist() == a.tolist()
    with pytest.raises(TypeError, match="Generator"):
        tenfold.rand(2, generator=3)


def test_fills_write_in_place_and_count_versions() -> None:
    x = tenfold.zeros(2, 3)
    part = x[0]
    version = x._version
    part.uniform_(1, 2)
    assert x._version == version + 1
    assert all(1 <= v < 2 for v in x.tolist()[0])
    assert x.tolist()[1] == [0, 0, 0]


def test_ranges_of_integers() -> None:
    x = tenfold.randint(3, 5, (100,))
    assert set(x.tolist()) == {3, 4}
    assert sorted(tenfold.randperm(10).tolist()) == list(range(10))
    with pytest.raises(RuntimeError, match="from"):
        tenfold.randint(5, 5, (1,))


def test_backends_hear_of_the_seed() -> None:
    heard = []
    backend = tenfold.ones(1).device.backend
    try:
        backend.manual_seed = heard.append  # type: ignore[method-assign]
        tenfold.manual_seed(5)
    finally:
        del backend.manual_seed
    assert heard == [5]


def test_uniform_takes_little_room_beside_its_samples() -> None:
    generator = Generator().manual_seed(0)
    tracemalloc.start()
    sampling.uniform(generator, 1 << 21, np.float32, -1.0, 1.0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1.5 * (1 << 23)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_uniform_in_pieces_goes_on_in_the_stream(dtype: type) -> None:
    count = (1 << 16) + 5
    whole = sampling.uniform(Generator().manual_seed(1), count, dtype, 2.0, 5.0)
    generator = Generator().manual_seed(1)
    parts = [sampling.uniform(generator, n, dtype, 2.0, 5.0) for n in (20000, 20000, count - 40000)]
    assert np.concatenate(parts).tolist() == whole.tolist()


@pytest.mark.filterwarnings("ignore:ComplexHalf")
def test_complex_halves_are_no_views() -> None:
    for make in (tenfold.randn, tenfold.rand):
        x = make(2, dtype=tenfold.complex32)
        assert not x._is_view()
        assert tenfold.view_as_real(x)._base is x
        assert x.detach_() is x
