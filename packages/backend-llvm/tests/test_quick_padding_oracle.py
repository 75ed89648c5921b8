"""`pad` called again with the same sizes, which asks less: what the interpreter's path gives, and PyTorch."""

from __future__ import annotations

import random
import sys

import numpy as np
import pytest
from compared_calls import outcome

import tenfold
from tenfold.llvm.session import session

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(sys.version_info < (3, 12), reason="call paths are native from Python 3.12 on")
DTYPES = ("float32", "float64", "float16", "bfloat16", "int64", "uint8", "bool", "complex64")
LAYOUTS = {
    "rows": lambda x: x, "turned": lambda x: x.transpose(-1, -2), "strided": lambda x: x[..., ::2], "first": lambda x: x[:1],
}  # fmt: skip
VALUES = (None, 0, 0.0, 1, 2.5, -1, True, 1j, float("nan"), 300, "x")


def _steps(x):
    return [step for n, step in zip(x.shape, x.stride(), strict=True) if n > 1]


def _compare(ours, theirs, what):
    assert str(ours.dtype).split(".")[1] == str(theirs.dtype).split(".")[1], what
    assert tuple(ours.shape) == tuple(theirs.shape), what
    if ours.is_floating_point():
        ours, theirs = ours.double(), theirs.double()
    np.testing.assert_array_equal(ours.detach().numpy(), theirs.detach().numpy(), err_msg=str(what))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular", "other"])
def test_calls_and_calls_again(mode, dtype):
    rng = random.Random(f"{mode} {dtype}")
    for _ in range(150):
        shape = [rng.choice([1, 2, 3, 5]) for _ in range(rng.randint(1, 5))]
        base, layout = np.arange(np.prod(shape)).reshape(shape) % 7, rng.choice(list(LAYOUTS))
        if len(shape) < 2:
            layout = "rows"
        widths = [rng.choice([0, 0, 1, 2, -1, 3]) for _ in range(2 * rng.randint(0, 3) + (rng.random() < 0.05))]
        pads = rng.choice([tuple, list])(widths)
        named = {"value": rng.choice(VALUES)} if rng.random() < (0.7 if mode == "constant" else 0.1) else {}
        x, theirs = (LAYOUTS[layout](lib.tensor(base).to(getattr(lib, dtype))) for lib in (tenfold, torch))
        tenfold.nn.functional.pad(tenfold.ones(3), (1, 1))  # whose first call puts the short way before the other
        with session().paths.suspended():
            want = outcome(tenfold.nn.functional.pad, x, pads, mode, **named)
        theirs = outcome(torch.nn.functional.pad, theirs, pads, mode, **named)
        for _ in range(3):
            got, what = outcome(tenfold.nn.functional.pad, x, pads, mode, **named), (shape, layout, pads, named)
            if isinstance(want, Exception):
                assert (type(got), str(got)) == (type(want), str(want)), what
                continue
            assert (got.shape, _steps(got), got.dtype) == (want.shape, _steps(want), want.dtype), what
            if not isinstance(theirs, Exception) and got.numel() and min(widths, default=0) >= 0:
                _compare(got, theirs, what)


@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular"])
def test_gradients_are_recorded_and_layers_see_the_call(mode):
    for _ in range(2):
        found = []
        for lib in (tenfold, torch):
            x = lib.arange(16.0).reshape(1, 1, 4, 4).requires_grad_()
            made = lib.nn.functional.pad(x, (1, 2, 0, 1), mode=mode)
            (made * lib.arange(35.0).reshape(made.shape)).sum().backward()
            with lib.no_grad():
                free = lib.nn.functional.pad(x, (1, 2, 0, 1), mode=mode).requires_grad
            found.append((x.grad.tolist(), free))
        assert found[0] == found[1]
        each = tenfold.vmap(lambda x: tenfold.nn.functional.pad(x, (1, 2, 0, 1), mode=mode))(tenfold.ones(2, 1, 1, 4, 4))
        assert each.shape == (2, 1, 1, 5, 7)


def test_what_is_no_tensor_or_no_width_is_refused():
    for lib in (tenfold, torch):
        for given, pads in ((3, (1, 1)), (None, (1, 1)), (lib.ones(3), 1.5), (lib.ones(3), (1.0, 2.0))):
            with pytest.raises(TypeError):
                lib.nn.functional.pad(given, pads)


@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular"])
def test_a_call_seen_before_enters_two_functions(mode, entered):
    x = tenfold.ones(2, 3, 6, 5)
    tenfold.nn.functional.pad(x, (1, 2, 1, 1), mode=mode)
    seen = entered(lambda: tenfold.nn.functional.pad(x, (1, 2, 1, 1), mode=mode))
    assert {"padded_shape", "constant_pad_nd", "border_pad"}.isdisjoint(seen)


@pytest.mark.parametrize("library", [tenfold, torch], ids=["ours", "theirs"])
def test_widths_that_are_no_sequence_are_refused_at_any_time(library):
    pad, x = library.nn.functional.pad, library.ones(1, 1, 2)
    for _ in range(3):
        assert pad(x, (1, 1)).shape == (1, 1, 4)
        with pytest.raises(TypeError, match="argument 'pad'"):
            pad(x, (width for width in (1, 1)))
