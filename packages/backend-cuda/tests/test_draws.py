"""Random numbers and ranges are made on the device: their laws, that seeds repeat them, and what ranges hold."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold import cuda

# Of the first counter with the key 0, as the authors of Philox 4x32-10 publish them for implementations to check.
FIRST_WORDS = [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]


def test_the_words_are_those_of_philox():
    cuda.manual_seed(0)
    words = tenfold.randint(0, 2**32 - 1, (1024,), device="cuda")
    assert words[::256].tolist() == FIRST_WORDS
    cuda.manual_seed(0)
    wide = tenfold.randint(-(2**63), 2**63 - 1, (512,), device="cuda")
    assert [(w + 2**63) for w in wide[::256].tolist()] == [(a << 32) + b for a, b in (FIRST_WORDS[:2], FIRST_WORDS[2:])]


@pytest.mark.parametrize("dtype", [tenfold.float32, tenfold.float64, tenfold.bfloat16, tenfold.float16])
def test_laws(dtype):
    tenfold.manual_seed(1)
    uniform = tenfold.rand(5000, device="cuda", dtype=dtype).cpu().double()
    assert abs(float(uniform.mean()) - 0.5) < 0.02
    assert abs(float(uniform.std()) - 12**-0.5) < 0.02
    assert 0 <= float(uniform.min()) < float(uniform.max()) < 1
    normal = tenfold.randn(5000, device="cuda", dtype=dtype).cpu().double()
    assert abs(float(normal.mean())) < 0.05
    assert abs(float(normal.std()) - 1) < 0.05
    assert abs(float((normal**4).mean()) - 3) < 0.4
    assert abs(float((normal[:-256] * normal[256:]).mean())) < 0.05
    exponential = tenfold.empty(5000, device="cuda", dtype=dtype).exponential_(2.0).cpu().double()
    assert abs(float(exponential.mean()) - 0.5) < 0.04
    chosen = tenfold.empty(5000, device="cuda", dtype=dtype).bernoulli_(0.3).cpu().double()
    assert abs(float(chosen.mean()) - 0.3) < 0.03
    assert sorted(set(chosen.tolist())) == [0, 1]


def test_a_seed_repeats_the_numbers_and_draws_do_not():
    tenfold.manual_seed(5)
    first, second = (tenfold.randn(700, device="cuda") for _ in range(2))
    state = cuda.get_rng_state()
    third = tenfold.rand(3, device="cuda")
    tenfold.manual_seed(5)
    assert tenfold.randn(700, device="cuda").equal(first)
    assert tenfold.randn(700, device="cuda").equal(second)
    assert not first.equal(second)
    cuda.set_rng_state(state)
    assert tenfold.rand(3, device="cuda").equal(third)
    cuda.manual_seed(6)
    assert not tenfold.randn(700, device="cuda").equal(first)


def test_the_cpu_draws_the_same_whatever_the_device_draws():
    tenfold.manual_seed(5)
    expected = tenfold.rand(3)
    tenfold.manual_seed(5)
    tenfold.rand(3, device="cuda")
    assert tenfold.rand(3).equal(expected)


def test_a_generator_repeats_its_numbers():
    made = [tenfold.randn(4, device="cuda", generator=tenfold.Generator("cuda").manual_seed(7)) for _ in range(2)]
    assert made[0].equal(made[1])
    generator = tenfold.Generator("cuda").manual_seed(7)
    assert not tenfold.rand(4, device="cuda", generator=generator).equal(tenfold.rand(4, device="cuda", generator=generator))


def test_whole_numbers_permutations_and_choices():
    tenfold.manual_seed(0)
    found = tenfold.randint(-3, 4, (2000,), device="cuda", dtype=tenfold.int32)
    assert sorted(set(found.tolist())) == [-3, -2, -1, 0, 1, 2, 3]
    assert sorted(tenfold.randperm(100, device="cuda").tolist()) == list(range(100))
    weights = tenfold.tensor([[0.0, 1.0, 3.0], [1.0, 0.0, 0.0]], device="cuda")
    for replacement in (True, False):
        drawn = tenfold.multinomial(weights[:1], 2, replacement)
        assert not (drawn == 0).any()
    many = tenfold.multinomial(weights, 400, True)
    assert abs(float((many[0] == 2).double().mean()) - 0.75) < 0.08
    assert (many[1] == 0).all()
    kept = tenfold.bernoulli(tenfold.tensor([0.0, 1.0, 1.0], device="cuda"))
    assert kept.tolist() == [0, 1, 1]
    noise = tenfold.op.dropout(tenfold.ones(4000, device="cuda"), 0.25, True)
    assert abs(float(noise.mean()) - 1) < 0.05


def test_ranges_hold_the_cpus_numbers():
    for make in (
        lambda d: tenfold.arange(7, device=d), lambda d: tenfold.arange(1, 2, 0.3, device=d),
        lambda d: tenfold.arange(5, 0, -2, dtype=tenfold.bfloat16, device=d), lambda d: tenfold.linspace(-1, 3, 11, device=d),
        lambda d: tenfold.linspace(0, 5, 6, dtype=tenfold.int32, device=d), lambda d: tenfold.eye(3, 5, device=d),
        lambda d: tenfold.eye(2, dtype=tenfold.float16, device=d), lambda d: tenfold.logspace(0, 2, 5, device=d),
        lambda d: tenfold.linspace(1, 2, 1, device=d), lambda d: tenfold.arange(0, device=d),
    ):  # fmt: skip
        on_cpu, on_cuda = make("cpu"), make("cuda")
        assert on_cuda.device.type == "cuda"
        assert on_cuda.dtype is on_cpu.dtype
        assert on_cuda.cpu().equal(on_cpu)


@pytest.mark.parametrize("integers", [False, True])
def test_a_replay_draws_from_where_its_words_on_the_device_are(integers):
    from tenfold.cuda import runtime
    from tenfold.cuda.kernels.argument_types import Word
    from tenfold.cuda.kernels.handwritten import Handwritten, start
    from tenfold.cuda.sampling import place

    now = runtime.current()
    words, drawn = now.empty((2,), np.dtype(np.uint64), 0), []
    name, constants = ("draw_integers", (("WIDE", 0),)) if integers else ("draw_samples", (("LAW", 1), ("DOUBLE", 0)))
    numbers = (Word(0), Word(100)) if integers else (0.0, 1.0)
    seed, base, inside = 2**63 + 5, 7 * 256, 256
    place(words, seed, base, 0)
    for placed, first in ((0, (seed, base + inside)), (1, (0, inside))):
        out = now.empty((600,), np.dtype(np.int64 if integers else np.float32), 0)
        kernel = Handwritten(name, (*constants, ("PLACED", placed), ("BLOCK", 256)))
        start(kernel, (1,), (out, words if placed else out, Word(first[0]), Word(first[1]), 600, *numbers), 0)
        drawn.append(now.to_host(out))
    np.testing.assert_array_equal(*drawn)
    assert len(set(drawn[0].tolist())) > 50


@pytest.mark.parametrize("wrong", [-0.01, 1.01, float("nan"), float("inf")])
def test_what_is_no_probability_is_reported(wrong):
    for dtype, size in ((tenfold.float32, 1), (tenfold.bfloat16, 3000), (tenfold.float64, 5)):
        chances = tenfold.tensor([0.0, 1.0, 0.5, 0.25, 1.0], dtype=dtype, device="cuda").repeat(-(-size // 5))[:size]
        assert set(chances.bernoulli().tolist()) <= {0.0, 1.0}
        chances[-1] = wrong
        for draw in (tenfold.bernoulli, lambda p: tenfold.empty(p.shape, device="cuda").bernoulli_(p)):
            with pytest.raises(tenfold.AcceleratorError, match=r"device-side assert triggered.* given to bernoulli"):
                draw(chances).tolist()
    assert tenfold.ones(0, device="cuda").bernoulli().shape == (0,)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "float16", "bool", "uint8", "int64", "float8_e4m3fn"])
@pytest.mark.parametrize("of", [tenfold.float32, tenfold.float64, tenfold.bfloat16, tenfold.float16])
def test_each_place_is_drawn_by_its_chance(dtype, of):
    cuda.manual_seed(4)
    chances = tenfold.tensor([0.0, 0.25, 1.0, 0.75], device="cuda", dtype=of).repeat(700)
    out = tenfold.empty(2800, device="cuda", dtype=getattr(tenfold, dtype)).bernoulli_(chances)
    found = out.cpu().double().numpy()
    assert set(np.unique(found)) == {0.0, 1.0}
    np.testing.assert_allclose(found.reshape(-1, 4).mean(0), [0.0, 0.25, 1.0, 0.75], atol=0.05)
    cuda.manual_seed(4)
    wide = tenfold.float64 if of is tenfold.float64 else tenfold.float32
    below = tenfold.rand(2800, device="cuda", dtype=wide) < chances.to(wide)  # the numbers that are compared are those of rand
    np.testing.assert_array_equal(found, below.cpu().double().numpy())


def test_chances_that_lie_otherwise_or_are_written():
    cuda.manual_seed(4)
    chances = tenfold.tensor([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0]], device="cuda")
    expected = chances.clone()
    assert tenfold.equal(chances.t().bernoulli(), expected.t())
    assert tenfold.equal(tenfold.empty(2, 2, 3, device="cuda").bernoulli_(chances)[1], expected)
    assert tenfold.equal(tenfold.empty(3, 2, device="cuda").t().bernoulli_(chances), expected)
    flat = chances.clone().flatten()
    flat[1:].bernoulli_(flat[:-1].clone())
    assert flat.tolist() == [0, 0, 1, 0, 1, 0]
    flat[1:].bernoulli_(flat[:-1])
    assert flat.tolist() == [0, 0, 0, 1, 0, 1]
    assert tenfold.equal(chances.bernoulli_(chances), expected)


@pytest.mark.parametrize("weights", [[0.0, 0.0], [-1.0, 2.0], [float("nan"), 2.0], [float("inf"), 1.0], [[1.0, 2.0], [0.0, 0.0]]])
def test_what_is_no_weight_is_reported(weights):
    x = tenfold.tensor(weights, device="cuda")
    for replacement in (False, True):
        with pytest.raises(tenfold.AcceleratorError, match=r"device-side assert triggered.* given to multinomial"):
            tenfold.multinomial(x, 1, replacement).tolist()
    long = tenfold.ones(2, 9000, device="cuda")
    assert tenfold.multinomial(long, 2).shape == (2, 2)
    long[1, 8999] = -1
    with pytest.raises(tenfold.AcceleratorError, match="multinomial"):
        tenfold.multinomial(long, 2).tolist()
    assert tenfold.multinomial(tenfold.ones(0, 3, device="cuda"), 2).shape == (0, 2)


def test_cauchy_geometric_and_log_normal_samples_have_their_laws():
    stats = pytest.importorskip("scipy.stats")
    tenfold.manual_seed(5)
    for dtype in (tenfold.float32, tenfold.float64):
        drawn = lambda: tenfold.empty(20000, device="cuda", dtype=dtype)  # noqa: B023, E731
        cauchy = drawn().cauchy_(1.0, 2.0).cpu().double().numpy()
        assert stats.kstest(cauchy, stats.cauchy(1.0, 2.0).cdf).pvalue > 0.01
        normal = drawn().log_normal_(0.5, 0.7).cpu().double().numpy()
        assert stats.kstest(normal, stats.lognorm(0.7, scale=np.exp(0.5)).cdf).pvalue > 0.01
        for p in (0.3, 0.9):
            trials = drawn().geometric_(p).cpu().double().numpy()
            counts = np.bincount(trials.astype(int), minlength=40)
            assert counts[0] == 0
            cut = int((20000 * stats.geom(p).pmf(np.arange(1, 40)) > 5).sum())
            seen = np.append(counts[1 : cut + 1], counts[cut + 1 :].sum())
            wanted = np.append(stats.geom(p).pmf(np.arange(1, cut + 1)), stats.geom(p).sf(cut)) * 20000
            assert stats.chisquare(seen, wanted).pvalue > 0.01
    whole = tenfold.empty(2000, device="cuda", dtype=tenfold.int64).geometric_(1e-7)
    assert whole.dtype is tenfold.int64
    assert stats.kstest(whole.cpu().numpy(), stats.expon(scale=1e7).cdf).pvalue > 0.01
    half = tenfold.empty(2000, device="cuda", dtype=tenfold.bfloat16).cauchy_()
    assert bool(half.isfinite().all())


def test_samples_of_these_laws_are_repeated_by_their_seed_and_refused_as_on_the_cpu():
    for draw in (lambda x: x.cauchy_(), lambda x: x.geometric_(0.2), lambda x: x.log_normal_()):
        made = []
        for _ in range(2):
            cuda.manual_seed(7)
            made.append([draw(tenfold.empty(9, device="cuda")), draw(tenfold.empty(3, 4, device="cuda").t())])
        assert all(a.equal(b) for a, b in zip(*made, strict=True))
        assert not made[0][0][:4].equal(made[0][1].reshape(-1)[:4])
    with pytest.raises(RuntimeError, match="sigma > 0"):
        tenfold.empty(2, device="cuda").cauchy_(0.0, 0.0)
    with pytest.raises(RuntimeError, match=r"p to be in \(0, 1\)"):
        tenfold.empty(2, device="cuda").geometric_(1.0)


def test_samples_that_the_host_draws_have_their_gradients():
    shapes = tenfold.tensor([0.3, 1.0, 4.0], device="cuda", requires_grad=True)
    sample = tenfold._standard_gamma(shapes)
    sample.sum().backward()
    expected = tenfold._standard_gamma_grad(shapes.detach().cpu(), sample.detach().cpu())
    assert shapes.grad.device == sample.device == shapes.device
    np.testing.assert_allclose(shapes.grad.cpu().numpy(), expected.numpy(), rtol=1e-6)
    shares = tenfold._sample_dirichlet(shapes)
    (slope,) = tenfold.autograd.grad(shares[0], shapes)
    x, a, total = (t.detach().cpu() for t in (shares, shapes, shapes.sum().expand(3)))
    through = tenfold._dirichlet_grad(x, a, total) * (tenfold.tensor([1.0, 0.0, 0.0]) - x[0])
    np.testing.assert_allclose(slope.cpu().numpy(), through.numpy(), rtol=1e-5)
    with pytest.raises(NotImplementedError, match="floating"):
        tenfold._standard_gamma(tenfold.tensor([1, 2], device="cuda"))


def test_slopes_are_drawn_within_their_bounds():
    x = tenfold.linspace(-2, 2, 400, device="cuda").requires_grad_()
    out = tenfold.nn.functional.rrelu(x, 0.25, 0.5, training=True)
    out.sum().backward()
    slopes = x.grad.cpu()
    assert (slopes[200:] == 1).all()
    assert ((slopes[:200] >= 0.25) & (slopes[:200] < 0.5)).all()
    assert slopes[:200].unique().numel() > 100
    tenfold.testing.assert_close(out.detach().cpu(), (x.detach().cpu() * slopes))
