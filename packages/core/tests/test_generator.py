"""The generator and its samplers without PyTorch: published numbers, states, and the properties that samples must have."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import threading
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tenfold.random import boxmuller, generator as module, sampling
from tenfold.random.generator import Generator

# With seed 5489: the first word of the authors' program, and the 10000th as the C++ standard (rand.predef) states it.
FIRST_WORD, WORD_10000 = 3499211612, 4123659995


def seeded(seed: int = 0) -> Generator:
    return Generator().manual_seed(seed)


def test_the_words_are_the_published_mersenne_twisters() -> None:
    words = seeded(5489).words32(10_000)
    assert (words[0], words[9999]) == (FIRST_WORD, WORD_10000)


def test_64_bit_words_are_two_words_high_one_first() -> None:
    pair = seeded(1).words32(2).tolist()
    assert seeded(1).words64(1).tolist() == [pair[0] << 32 | pair[1]]


# Numbers printed by PyTorch 2.13 on the CPU after torch.manual_seed(0).
KNOWN = {
    "rand(3)": (lambda g: sampling.uniform(g, 3), [0.49625658988952637, 0.7682217955589294, 0.08847743272781372]),
    "randn(3)": (lambda g: sampling.normal(g, 3), [1.5409960746765137, -0.293428897857666, -2.1787893772125244]),
    "randn(16)[:3]": (lambda g: sampling.normal(g, 16)[:3], [-1.1258398294448853, -1.152360200881958, -0.2505785822868347]),
    "randn(17)[-2:]": (lambda g: sampling.normal(g, 17)[-2:], [-0.843676745891571, 0.9318265914916992]),
    "randn(16, dtype=float64)[:2]": (lambda g: sampling.normal(g, 16, np.float64)[:2], [-2.310411800234176, -0.3732508612577643]),
    "randint(10, (5,))": (lambda g: sampling.randint(g, 0, 10, 5), [4, 9, 3, 0, 3]),
    "randperm(5)": (lambda g: sampling.randperm(g, 5), [4, 0, 1, 3, 2]),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_numbers(name: str) -> None:
    draw, expected = KNOWN[name]
    assert draw(seeded()).tolist() == expected


def test_seeds_repeat_and_differ() -> None:
    assert seeded(3).words32(50).tolist() == seeded(3).words32(50).tolist()
    assert seeded(3).words32(50).tolist() != seeded(4).words32(50).tolist()
    assert seeded(2**32 + 3).words32(5).tolist() == seeded(3).words32(5).tolist()  # the low 32 bits count
    assert seeded(-1).initial_seed() == 2**64 - 1
    assert seeded(np.int64(7)).initial_seed() == 7


def test_words_do_not_depend_on_how_many_are_asked_for_at_once() -> None:
    whole, parts = seeded(2).words32(5000), seeded(2)
    assert np.concatenate([parts.words32(n) for n in (1, 0, 622, 1, 1, 1000, 3375)]).tolist() == whole.tolist()


def test_words_drawn_ahead_are_the_same_words_and_the_state_does_not_show_them() -> None:
    g, whole = seeded(2), seeded(2).words32(9000).tolist()
    place = 0
    for turn in range(400):
        count = 1 + turn % 7 if turn % 60 else 700  # a few at a time, so that words are drawn ahead, and many in between
        words = g.few(count) if turn % 3 else g.words32(count).tolist()
        assert words == whole[place : place + count], turn
        place += count
        if turn % 50 == 0:
            assert g.clone_state().words32(5).tolist() == whole[place : place + 5]
            g.restore_engine(g.engine_state())
    assert place < 9000


def test_words_that_memory_cannot_hold_are_not_drawn() -> None:
    g, whole = seeded(2), seeded(2).words32(700).tolist()
    assert g.words32(3).tolist() == whole[:3]
    with pytest.raises(MemoryError):
        g.words32(1 << 55)
    assert [word for _ in range(40) for word in g.few(2)] == whole[3:83]  # words are drawn ahead meanwhile
    assert g.clone_state().words32(5).tolist() == whole[83:88]


def test_seed_from_the_system() -> None:
    g = Generator()
    first, second = g.seed(), g.seed()
    assert first != second
    assert g.initial_seed() == second
    assert seeded(second).words32(3).tolist() == g.words32(3).tolist()


@pytest.mark.parametrize("before", [0, 1, 3, 15, 311, 312, 624, 1000])
def test_a_state_continues_the_stream_and_the_pending_normal(before: int) -> None:
    g = seeded(9)
    sampling.uniform(g, before)
    sampling.normal(g, 3)
    state = g.get_state()
    expected = sampling.normal(g, 5).tolist() + sampling.uniform(g, 700).tolist()
    for other in (Generator(), g):
        other.set_state(state)
        assert sampling.normal(other, 5).tolist() + sampling.uniform(other, 700).tolist() == expected


def test_a_state_is_a_copy() -> None:
    g = seeded()
    state = g.get_state()
    before = state.numpy().copy()
    g.words32(700)
    assert (state.numpy() == before).all()
    g.set_state(state)
    state.numpy()[:] = 0
    assert g.words32(2).tolist() == seeded().words32(2).tolist()


def test_copies_pickles_and_clones_go_their_own_way() -> None:
    g = seeded(5)
    sampling.normal(g, 1)
    for other in (copy.copy(g), copy.deepcopy(g), pickle.loads(pickle.dumps(g)), g.clone_state()):
        assert sampling.normal(other, 20).tolist() == sampling.normal(g.clone_state(), 20).tolist()
        assert (other.initial_seed(), str(other.device)) == (5, "cpu")


def test_the_default_generator() -> None:
    assert module.manual_seed(11) is module.default_generator
    assert module.initial_seed() == 11
    assert module.default_generator.words32(2).tolist() == seeded(11).words32(2).tolist()
    assert module.manual_seed(1.9).initial_seed() == 1  # type: ignore[arg-type]
    assert module.seed() == module.initial_seed()


def test_processes_start_from_different_seeds_and_without_numpy_random() -> None:
    code = "import sys; from tenfold.random.generator import initial_seed; print(initial_seed(), 'numpy.random' in sys.modules)"
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split() for _ in "12"]
    assert runs[0][0] != runs[1][0]
    assert runs[0][1] == "False"


@pytest.mark.parametrize("attempt", range(20))
def test_threads_share_a_stream_without_losing_words(attempt: int) -> None:
    g, drawn = seeded(1), []
    threads = [threading.Thread(target=lambda: drawn.append(g.words32(1000))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(np.concatenate(drawn).tolist()) == sorted(seeded(1).words32(8000).tolist()), attempt


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: Generator("nowhere"), RuntimeError, "nowhere"),
        (lambda: seeded(2**64), ValueError, "Overflow"),
        (lambda: seeded(-(2**63) - 1), ValueError, "Overflow"),
        (lambda: seeded(1.5), RuntimeError, "expected a long, but got float"),
        (lambda: seeded(True), RuntimeError, "bool"),
        (lambda: module.manual_seed("x"), ValueError, "invalid literal"),
        (lambda: Generator().set_state([0]), TypeError, "list"),
        (lambda: Generator().set_state(np.zeros(9, np.uint8)), RuntimeError, "9 bytes"),
        (lambda: Generator().set_state(np.zeros(5056, np.uint8)), RuntimeError, "invalid mt19937 state"),
        (lambda: sampling.uniform(Generator(), 3, np.float32, 2, 1), RuntimeError, "from=2 > to=1"),
        (lambda: sampling.uniform(Generator(), 3, np.float32, 0, np.inf), RuntimeError, "outside the range"),
        (lambda: sampling.uniform(Generator(), 3, np.float32, -3e38, 3e38), RuntimeError, "exceed the limit"),
        (lambda: sampling.uniform(Generator(), 3, np.int64), NotImplementedError, "int64"),
        (lambda: sampling.normal(Generator(), 3, np.int64), NotImplementedError, "int64"),
        (lambda: sampling.normal(Generator(), 3, np.float32, 0, -1), RuntimeError, "std >= 0.0"),
        (lambda: sampling.exponential(Generator(), 3, np.float32, 0), RuntimeError, "lambda > 0.0"),
        (lambda: sampling.exponential(Generator(), 3, np.int64), RuntimeError, "continuous"),
        (lambda: sampling.bernoulli(Generator(), 1.5, 3), RuntimeError, r"p to be in \[0, 1\]"),
        (lambda: sampling.bernoulli(Generator(), np.array([2.0])), RuntimeError, "probability outside"),
        (lambda: sampling.randint(Generator(), 5, 3, 3), RuntimeError, "from=5 >= to=3"),
        (lambda: sampling.randint(Generator(), 0, 300, 3, np.uint8), RuntimeError, "out of bounds for uint8"),
        (lambda: sampling.randperm(Generator(), -1), RuntimeError, "negative"),
        (lambda: sampling.randperm(Generator(), 257, np.uint8), RuntimeError, "uint8"),
        (lambda: sampling.randperm(Generator(), 2050, np.float16), RuntimeError, "float16"),
        (lambda: sampling.multinomial(Generator(), np.array([0.1, 0.2]), 3), RuntimeError, "without replacement"),
        (lambda: sampling.multinomial(Generator(), np.array([0.1, -0.2]), 1), RuntimeError, "element < 0"),
        (lambda: sampling.multinomial(Generator(), np.array([0.1, np.nan]), 1), RuntimeError, "element < 0"),
        (lambda: sampling.multinomial(Generator(), np.zeros(2), 1), RuntimeError, "sum of probabilities"),
        (lambda: sampling.multinomial(Generator(), np.ones(2), 0), RuntimeError, "n_sample <= 0"),
        (lambda: sampling.multinomial(Generator(), np.ones((2, 2, 2)), 1), RuntimeError, "1 or 2"),
        (lambda: sampling.multinomial(Generator(), np.ones(2, np.int64), 1), RuntimeError, "int64"),
    ],
)
def test_errors(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def shuffled(targets: list[int]) -> list[int]:
    items = list(range(len(targets)))
    for i, j in enumerate(targets):
        items[i], items[j] = items[j], items[i]
    return items


@pytest.mark.parametrize("n", [2, 3, 10, 500])
def test_a_shuffle_in_array_operations_is_the_shuffle_step_by_step(n: int) -> None:
    words = seeded(n).words32(n - 1).tolist()
    expected = shuffled([i + word % (n - i) for i, word in enumerate(words)] + [n - 1])
    assert sampling.randperm(seeded(n), n).tolist() == expected


@pytest.mark.parametrize("n", [1, 2, 3, 10, 500])
def test_the_permutation_of_very_many_items_is_the_inside_out_shuffle(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "_WIDE_PERMUTATION", 0)
    expected: list[int] = []
    for i, word in enumerate(seeded(n).words64(n).tolist()):
        j = word % (i + 1)
        expected.append(i)
        expected[i], expected[j] = expected[j], i
    assert sampling.randperm(seeded(n), n).tolist() == expected


def test_ranges_and_dtypes() -> None:
    g = seeded(4)
    for dtype in (np.float16, ml_dtypes.bfloat16, np.float32, np.float64):
        u = sampling.uniform(g, (20, 30), dtype, -1, 2)
        assert u.shape == (20, 30)
        assert u.dtype == dtype
        assert (u.astype(float) >= -1).all()
        assert (u.astype(float) < 2).all()
        assert sampling.normal(g, (), dtype).shape == ()
        assert sampling.exponential(g, (3, 0), dtype).shape == (3, 0)
    values = sampling.randint(g, -3, 4, 500, np.int8)
    assert set(values.tolist()) == set(range(-3, 4))


N = 200_000


@pytest.mark.parametrize(
    ("draw", "mean", "std"),
    [
        (lambda g: sampling.uniform(g, N), 1 / 2, 12**-0.5),
        (lambda g: sampling.uniform(g, N, np.float64, -1, 3), 1, 4 * 12**-0.5),
        (lambda g: sampling.normal(g, N, np.float32, 3, 2), 3, 2),
        (lambda g: sampling.normal(g, N, np.float64, 3, 2), 3, 2),
        (lambda g: sampling.exponential(g, N, np.float32, 4), 1 / 4, 1 / 4),
        (lambda g: sampling.bernoulli(g, 0.2, N), 0.2, 0.4),
        (lambda g: sampling.randint(g, 0, 101, N), 50, 850**0.5),
        (lambda g: sampling.randint(g, 0, 2**40, N) / 2**40, 1 / 2, 12**-0.5),
        (lambda g: sampling.multinomial(g, np.array([1.0, 0, 3]), N, True) / 2, 0.75, 0.1875**0.5),
    ],
)
def test_mean_and_deviation_are_the_distributions(draw: Any, mean: float, std: float) -> None:
    samples = draw(seeded(123)).astype(np.float64)
    assert abs(samples.mean() - mean) < 5 * std / N**0.5
    assert abs(samples.std() / std - 1) < 0.02


def test_complex_normals_have_unit_power() -> None:
    z = sampling.normal(seeded(1), N, np.complex64)
    assert z.dtype == np.complex64
    assert abs((np.abs(z) ** 2).mean() - 1) < 0.02


def test_multinomial_without_replacement_never_repeats() -> None:
    drawn = sampling.multinomial(seeded(1), np.array([[1.0, 2, 3, 4]] * 100), 3)
    assert drawn.shape == (100, 3)
    assert all(len(set(row)) == 3 for row in drawn.tolist())


def test_zero_weights_are_never_drawn() -> None:
    weights = np.array([0, 1.0, 0, 1])
    assert set(sampling.multinomial(seeded(1), weights, 100, True).tolist()) == {1, 3}
    assert sorted(sampling.multinomial(seeded(1), weights, 2).tolist()) == [1, 3]


def test_float32_normals_are_close_to_the_formula_in_float64() -> None:
    u1, u2 = (sampling.uniform(seeded(seed), 20_000) for seed in (1, 2))
    radius, angle = np.sqrt(-2 * np.log(1 - u1.astype(float))), 2 * np.pi * u2.astype(float)
    z1, z2 = boxmuller.pairs32(u1, u2)
    np.testing.assert_allclose(z1, radius * np.cos(angle), atol=3e-6)
    np.testing.assert_allclose(z2, radius * np.sin(angle), atol=3e-6)


def test_a_fused_multiply_add_rounds_once() -> None:
    a = 1 + 2.0**-30
    assert boxmuller.fma64(a, a, -1 - 2.0**-29) == 2.0**-60  # unfused, the square loses its last bit
    b = np.float32(1 + 2.0**-12)
    assert boxmuller.fma32(b, b, np.float32(-1 - 2.0**-11)) == 2.0**-24


def test_a_fused_multiply_add_near_overflow_is_the_plain_one() -> None:
    assert boxmuller.fma64(1e305, 2.0, 1.0) == 2e305
    assert boxmuller.fma64(1e305, 1e10, 1.0) == np.inf
