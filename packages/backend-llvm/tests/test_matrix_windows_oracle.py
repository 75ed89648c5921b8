"""Convolutions of bfloat16 by each unit that the processor has, against PyTorch's in float32: all windows, both orders."""

from __future__ import annotations

import random

import pytest

torch = pytest.importorskip("torch")

import tenfold  # noqa: E402
from tenfold.llvm import matrix_windows  # noqa: E402
from tenfold.nn import functional  # noqa: E402

pytestmark = pytest.mark.usefixtures("unit")
LAST = {2: "channels_last", 3: "channels_last_3d"}


@pytest.fixture(autouse=True)
def served(monkeypatch):
    """Every convolution, however small; how many were served."""
    calls = []
    run = matrix_windows._run
    monkeypatch.setattr(matrix_windows, "WORK", 1)
    monkeypatch.setattr(matrix_windows, "LEAST_FILLED", 0)
    monkeypatch.setattr(matrix_windows, "_run", lambda *given: calls.append(1) or run(*given))
    return calls


def ours(x):
    return tenfold.tensor(x.float().numpy()).bfloat16()


def drawn(dims, transposed, seed):
    """The arguments of a convolution."""
    rng = random.Random(seed)
    torch.manual_seed(seed)

    def each(*choices):
        return [rng.choice(choices) for _ in range(dims)]

    C, O, N = rng.choice((1, 3, 8, 16, 33, 64, 400)), rng.choice((1, 5, 16, 32, 40)), rng.choice((1, 2, 5))
    kernel, options = each(1, 2, 3, 5), {"stride": each(1, 1, 2, 3), "padding": each(0, 1, 2), "dilation": each(1, 1, 2)}
    sizes = each(9, 10, 12)
    if transposed:
        options["output_padding"] = [rng.randrange(max(s, d)) for s, d in zip(options["stride"], options["dilation"])]
    x = torch.randn(N, C, *sizes).bfloat16()
    w = (torch.randn(*((C, O) if transposed else (O, C)), *kernel) / (C * len(sizes)) ** 0.5).bfloat16()
    return x, w, torch.randn(O).bfloat16() if rng.random() < 0.6 else None, options


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_values_and_gradients(served, dims, transposed, last):
    name = f"conv_transpose{dims}d" if transposed else f"conv{dims}d"
    for seed in range(6):
        given = drawn(dims, transposed, seed)
        *arrays, options = given
        wide = [None if a is None else a.float().requires_grad_() for a in arrays]
        narrow = [None if a is None else ours(a) for a in arrays]
        if last and dims in LAST:
            narrow[0] = narrow[0].to(memory_format=getattr(tenfold, LAST[dims]))
        for a in narrow:
            _ = a is not None and a.requires_grad_()
        exact, got = getattr(torch.nn.functional, name)(*wide, **options), getattr(functional, name)(*narrow, **options)
        grad = torch.randn(exact.shape).bfloat16()
        exact.backward(grad.float())
        got.backward(ours(grad))
        pairs = [(exact, got), *((a.grad, b.grad) for a, b in zip(wide, narrow, strict=True) if a is not None)]
        for expected, found in pairs:
            assert found.dtype is tenfold.bfloat16
            assert tuple(found.shape) == tuple(expected.shape)
            error = torch.from_numpy(found.detach().float().numpy()) - expected.detach()
            bound = 2.0**-8 * expected.detach().abs() + 2.0**-9 * expected.detach().abs().mean()  # bias sums are rounded again
            assert (error.abs() <= bound).all(), (seed, name, tuple(found.shape))
    assert len(served) > 6


def test_windows_of_one_tap_are_products_of_the_images_as_they_lie(served):
    for sizes, C, O in (((2, 40, 8, 8), 40, 70), ((1, 33, 6, 7), 33, 32), ((3, 8, 40), 8, 16), ((2, 16, 3, 4, 5), 16, 32)):
        x, w = torch.randn(sizes).bfloat16(), torch.randn(O, C, *[1] * (len(sizes) - 2)).bfloat16()
        name = f"conv{len(sizes) - 2}d"
        narrow = [ours(a).requires_grad_() for a in (x, w)]
        wide = [a.float().requires_grad_() for a in (x, w)]
        got, exact = getattr(functional, name)(*narrow), getattr(torch.nn.functional, name)(*wide)
        assert not served
        assert got.is_contiguous()
        grad = torch.randn(exact.shape).bfloat16()
        exact.backward(grad.float())
        got.backward(ours(grad))
        assert len(served) == 1  # the weights' gradient
        served.clear()
        for expected, found in ((exact, got), *((a.grad, b.grad) for a, b in zip(wide, narrow, strict=True))):
            error = torch.from_numpy(found.detach().float().numpy()) - expected.detach()
            assert (error.abs() <= 2.0**-8 * expected.abs() + 1e-4).all()


def test_results_lie_as_their_arguments():
    x, w = (tenfold.randn(*shape, dtype=tenfold.bfloat16) for shape in ((2, 8, 10, 10), (16, 8, 3, 3)))
    assert functional.conv2d(x, w).is_contiguous()
    assert functional.conv2d(x.to(memory_format=tenfold.channels_last), w).is_contiguous(memory_format=tenfold.channels_last)
    assert functional.conv2d(x[:, :1], w[:1, :1]).stride() == (64, 64, 8, 1)


def test_what_is_no_number_stays_within_its_windows():
    x, w = (tenfold.randn(*shape, dtype=tenfold.bfloat16) for shape in ((1, 5, 12, 12), (7, 5, 3, 3)))
    x[0, 2, 4, 4], x[0, 0, 9, 9] = float("nan"), float("inf")
    got = functional.conv2d(x, w, padding=1)
    wide = functional.conv2d(x.float(), w.float(), padding=1)
    assert (got.isnan() == wide.isnan()).all()
    assert (got.isinf() == wide.isinf()).all()


def test_threads_change_no_number():
    x, w = (tenfold.randn(*shape, dtype=tenfold.bfloat16) for shape in ((3, 40, 20, 20), (70, 40, 3, 3)))
    before, found = tenfold.get_num_threads(), []
    try:
        for count in (1, 2, 3):
            tenfold.set_num_threads(count)
            found.append(functional.conv2d(x, w, padding=1))
    finally:
        tenfold.set_num_threads(before)
    assert found[0].equal(found[1])
    assert found[0].equal(found[2])
