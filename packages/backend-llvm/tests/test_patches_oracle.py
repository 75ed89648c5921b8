"""Convolutions whose windows lie side by side, transposed ones and the gradients of others, against PyTorch."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.llvm import convolution
from tenfold.llvm.planes import Window
from tenfold.llvm.session import session
from tenfold.llvm.storage import FLOAT32

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(session() is None, reason="no compiled kernels on this machine")

CASES = [
    ((2, 2), 64, 32, (12, 14)),
    ((4, 4), 16, 64, (8, 8)),
    ((2, 3), 40, 48, (9, 7)),
    ((3,), 64, 32, (40,)),
    ((2, 2, 2), 32, 64, (4, 5, 6)),
    ((2, 2), 3, 5, (4, 4)),
]


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize(("kernel", "channels", "outputs", "sizes"), CASES)
def test_against_pytorch(kernel, channels, outputs, sizes, last):
    rng = np.random.default_rng(0)
    numbers = [
        rng.standard_normal(s).astype(np.float32) for s in ((3, channels, *sizes), (channels, outputs, *kernel), (outputs,))
    ]
    numbers[1] /= 8
    found = []
    for lib in (tenfold, torch):
        x, weight, bias = (lib.from_numpy(n.copy()) for n in numbers)
        if last and len(kernel) == 2:
            x = x.contiguous(memory_format=lib.channels_last)
        leaves = [v.requires_grad_() for v in (x, weight, bias)]
        wide = getattr(lib.nn.functional, f"conv_transpose{len(kernel)}d")(*leaves, stride=kernel)
        (wide * wide).sum().backward()
        image = wide.detach().clone().requires_grad_()
        narrow = getattr(lib.nn.functional, f"conv{len(kernel)}d")(image, weight.detach(), stride=kernel)
        (narrow * narrow).sum().backward()
        found.append([(v.detach().numpy(), tuple(v.stride())) for v in (wide, *(leaf.grad for leaf in leaves), image.grad)])
    for (ours, strides), (theirs, wanted) in zip(*found, strict=True):
        assert strides == wanted
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=2e-5 * np.abs(theirs).max())


def test_which_are_one_product():
    grad, weight = np.ones((2, 32, 6, 6), np.float32), np.ones((32, 16, 2, 2), np.float32)

    def window(inputs, **changes):
        given = {"kernel": (2, 2), "stride": (2, 2), "padding": (0, 0), "dilation": (1, 1), **changes}
        return Window(**given, inputs=inputs, outputs=(6, 6))

    assert convolution.side_by_side(window((12, 12)), 1)
    plans = (convolution.input_gradient(window(sizes), 2, 16, 32, 1, FLOAT32, 0, 1) for sizes in ((12, 12), (13, 12)))
    found, expected = (plan(grad, weight, None) for plan in plans)
    np.testing.assert_allclose(found, expected[:, :, :12])
    for other in (window((13, 12)), window((12, 12), dilation=(2, 1)), window((12, 12), padding=(1, 0))):
        assert not convolution.side_by_side(other, 1)
