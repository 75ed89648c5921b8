"""Compiled draws: the numbers, and the state that is left, are those of the generator without them."""

from __future__ import annotations

import random
import threading

import numpy as np
import pytest
from left_behind import SMALL, left_behind

import tenfold
from tenfold.llvm import call_paths, draws
from tenfold.llvm.session import session
from tenfold.random import generator as generators, sampling, shuffle
from tenfold.random.ahead import LOCK
from tenfold.random.generator import Generator

SEEDS = (0, 1, 2**40 + 3)
COUNTS = (16, 17, 31, 32, 100, 624, 625, 5000, 70_001)
pytestmark = pytest.mark.skipif(not tenfold.llvm.is_available(), reason="no compiled kernels on this machine")


@pytest.fixture(autouse=True)
def _loaded():
    tenfold.rand(2)


def made():
    """What the package put in the place of the functions beneath."""
    return sampling.filled.__self__


@pytest.fixture
def beneath(monkeypatch):
    """Switches to what is beneath: draws by NumPy."""

    def switch():
        filled, swapped, integers = made().beneath
        monkeypatch.setattr(sampling, "filled", filled)
        monkeypatch.setattr(sampling, "swapped", swapped)
        monkeypatch.setattr(generators, "integers", integers)

    return switch


def left(generator):
    return generator.get_state().tolist(), generator.words32(3).tolist()


def test_draws_are_installed():
    assert isinstance(made(), draws.Draws)
    assert sampling.swapped.__self__ is made()


@pytest.mark.parametrize("seed", SEEDS)
def test_words_are_numpys(seed):
    g = Generator().manual_seed(seed)
    expected = np.random.RandomState(seed & 0xFFFFFFFF).randint(0, 2**32, 20_000, np.uint32)
    got = np.concatenate([g.words32(n) for n in (1, 623, 624, 5, 700, 1248, 9000, 7799)])
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("before", [0, 5, 624])
def test_normals_and_what_is_left_are_those_beneath(beneath, dtype, before):
    def run():
        for seed in SEEDS:
            for count in COUNTS:
                g = Generator().manual_seed(seed)
                sampling.uniform(g, before)
                sampling.normal(g, 3)  # one waits
                yield sampling.normal(g, count, dtype), left(g)

    ours = list(run())
    beneath()
    for (numbers, state), (others, expected) in zip(ours, run(), strict=True):
        assert state == expected
        assert numbers.dtype == others.dtype
        if dtype == np.float32:  # NumPy's are rounded twice, once in 10**8
            assert (numbers != others).mean() < 1e-4
            np.testing.assert_array_max_ulp(numbers, others, 1)
        else:
            np.testing.assert_array_equal(numbers, others)


def test_words_drawn_ahead_come_first(beneath):
    def run():
        g = Generator().manual_seed(7)
        few = [g.few(2) for _ in range(10)]
        return few, sampling.normal(g, 40).tolist(), left(g)

    ours = run()
    beneath()
    assert ours == run()


def test_permutations_are_those_beneath(beneath):
    def run():
        return [sampling.randperm(Generator().manual_seed(3), n).tolist() for n in (0, 1, 2, 5, 1000, 5000)]

    ours, swapped = run(), made().swapped
    assert sorted(ours[-1]) == list(range(5000))
    beneath()
    assert ours == run()
    targets = np.array([2, 2, 3, 3])
    for given in (targets, targets.astype(np.int32), np.repeat(targets, 2)[::2]):
        assert swapped(given, 4).tolist() == shuffle.swapped(targets, 4).tolist()


def test_other_draws_follow(beneath):
    def run():
        tenfold.manual_seed(4)
        x = tenfold.zeros(40, 30)
        drawn = [tenfold.randint(0, 9, (900,)), x.normal_(1, 2), x.uniform_(), x.bernoulli_(0.3), tenfold.randn(4, 5).double()]
        return [t.tolist() for t in (*drawn, tenfold.nn.functional.dropout(tenfold.ones(900)), tenfold.get_rng_state())]

    ours = run()
    beneath()
    assert ours == run()


def test_threads_share_a_stream_without_losing_numbers():
    g, drawn = Generator().manual_seed(1), []
    threads = [threading.Thread(target=lambda: drawn.append(sampling.normal(g, 16_000))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    whole = sampling.normal(Generator().manual_seed(1), 128_000)
    assert sorted(np.concatenate(drawn).tolist()) == sorted(whole.tolist())


PATHS = pytest.mark.skipif(
    not call_paths.possible(), reason="call paths are native from Python 3.12 on, where nobody has said no"
)


def outcome(call):
    try:
        result = call()
        return (type(result), result.dtype, result.tolist()) if isinstance(result, tenfold.Tensor) else result
    except Exception as error:  # noqa: BLE001 - compared
        return type(error), str(error)


SIZES = [
    (1,), (3,), (15,), (16,), (17,), (2, 3), (4, 4), (5, 5, 5), ((2, 3),), (tenfold.Size([3, 2]),), ([2, 2],), (0,), (2, 0), (),
    (-1,), (2.0,), ("3",), (True,), (3, (2,)), ((),), (1,) * 8, (1,) * 9, (16384,), (16385,), (70000,), (2**40,), (None,),
]  # fmt: skip


@PATHS
def test_calls_are_those_of_the_interpreter():
    """Fuzzed calls of all sizes, with seeds, states and draws of other kinds in between."""
    rng = random.Random(0)

    def run():
        chance = random.Random(5)
        for _ in range(1500):
            function = getattr(tenfold, chance.choice(("rand", "randn")))
            size = chance.choice(SIZES if chance.random() < 0.3 else SIZES[:9])
            yield outcome(lambda f=function, s=size: f(*s))
            other = chance.randrange(40)
            if other == 0:
                tenfold.manual_seed(chance.randrange(2**64))
            elif other == 1:
                state = tenfold.get_rng_state()
                yield state.tolist()
                tenfold.set_rng_state(state)
            elif other == 2:
                with tenfold.random.fork_rng():
                    yield tenfold.randn(5).tolist()
            elif other < 8:
                yield [tenfold.rand(2, device="cpu").tolist() for _ in range(8)], tenfold.randint(0, 5, (3,)).tolist()
            elif other < 12:
                yield tenfold.zeros(3).normal_().tolist()

    seed = rng.randrange(2**63)
    tenfold.manual_seed(seed)
    ours = list(run())
    with session().paths.suspended():
        tenfold.manual_seed(seed)
        assert ours == list(run())


@PATHS
def test_calls_that_are_not_plain():
    x = tenfold.randn(3)
    assert type(x) is tenfold.Tensor
    assert not x.requires_grad
    assert x._node is None
    assert tenfold.randn(3, requires_grad=True).requires_grad
    assert tenfold.randn(3, dtype=tenfold.float64).dtype is tenfold.float64
    assert tenfold.randn(3, generator=Generator().manual_seed(0)).tolist() == pytest.approx([1.5410, -0.2934, -2.1788], abs=1e-4)
    with tenfold.device("meta"):
        assert tenfold.randn(3).device.type == "meta"
    tenfold.set_default_dtype(tenfold.float64)
    try:
        assert tenfold.rand(3).dtype is tenfold.float64
    finally:
        tenfold.set_default_dtype(tenfold.float32)
    with tenfold.inference_mode():
        assert tenfold.randn(3).is_inference()
    rows = tenfold.func.vmap(lambda row: row + tenfold.randn(3), randomness="different")(tenfold.zeros(2, 3))
    assert rows[0].tolist() != rows[1].tolist()
    with pytest.raises(RuntimeError):
        tenfold.func.vmap(lambda row: row + tenfold.randn(3), randomness="error")(tenfold.zeros(2, 3))


@PATHS
def test_calls_wait_for_a_thread_that_draws():
    """While another thread holds the lock, calls go the way that waits for it."""
    held, free, drawn = threading.Event(), threading.Event(), []

    def hold():
        with LOCK:
            held.set()
            free.wait(10)

    holder = threading.Thread(target=hold)
    drawer = threading.Thread(target=lambda: drawn.append(tenfold.randn(3)))
    holder.start()
    held.wait(10)
    drawer.start()
    drawer.join(0.2)
    assert not drawn
    free.set()
    drawer.join(10)
    holder.join(10)
    assert len(drawn) == 1


@PATHS
def test_calls_leave_no_reference():
    things = (generators.default_generator, tenfold.Size([2, 3]), tenfold.Tensor, np.dtype(np.float32), tenfold.float32)

    def run(times):
        for _ in range(times):
            tenfold.randn(3)
            tenfold.rand(2, 2)
            tenfold.randn(4, 4)
            tenfold.randn(things[1])
            tenfold.randn(2, requires_grad=True)

    run(200)
    assert left_behind(lambda: run(5000), things) < SMALL


@pytest.mark.parametrize("count", [1, 2, 5, 311, 312, 313, 1000])
def test_uniforms_are_those_beneath(count):
    ours, theirs = (tenfold.Generator().manual_seed(3) for _ in range(2))
    units = made().units_beneath
    for before in (0, 1, 7):
        ours.words32(before), theirs.words32(before)
        np.testing.assert_array_equal(sampling.units64(ours, count), units(theirs, count))
        assert (ours.get_state() == theirs.get_state()).all()
    for g in (ours, theirs):
        for _ in range(40):
            g.few(1)
    np.testing.assert_array_equal(sampling.units64(ours, count), units(theirs, count))
    assert (ours.get_state() == theirs.get_state()).all()
    tenfold.manual_seed(5)
    first = tenfold.nn.functional.dropout(tenfold.ones(count), 0.3)
    sampling.units64 = units
    try:
        tenfold.manual_seed(5)
        assert (tenfold.nn.functional.dropout(tenfold.ones(count), 0.3) == first).all()
    finally:
        sampling.units64 = made().units64
