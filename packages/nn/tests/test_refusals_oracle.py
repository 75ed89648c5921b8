"""What functions refuse, in PyTorch's types of errors and with the words that tell what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tenfold as tf
import tenfold.nn as nn
import tenfold.nn.functional as F

torch = pytest.importorskip("torch")
TF = torch.nn.functional

REFUSED: dict[str, tuple[Callable[[Any, Any, Any], Any], str]] = {
    "ctc targets shorter than their lengths": (
        lambda F, t, nn: F.ctc_loss(t.zeros(50, 3, 15), t.ones(3, 29, dtype=t.int64), [50, 50, 50], [30, 25, 20]),
        "at dimension 1",
    ),
    "ctc targets of another total": (
        lambda F, t, nn: F.ctc_loss(t.zeros(50, 3, 15), t.ones(10, dtype=t.int64), [50, 50, 50], [3, 2, 2]),
        "dimension 0",
    ),
    "ctc negative lengths": (
        lambda F, t, nn: F.ctc_loss(t.zeros(50, 3, 15), t.ones(3, 29, dtype=t.int64), [50, 50, 50], [-1, -1, -1]),
        "length|size",
    ),
    "ctc lengths of floats": (
        lambda F, t, nn: F.ctc_loss(t.zeros(5, 1, 4), t.ones(1, 2, dtype=t.int64), t.tensor([5.0]), t.tensor([2])),
        "input_lengths must be integral",
    ),
    "conv without a stride": (
        lambda F, t, nn: F.conv2d(t.ones(1, 1, 4, 4), t.ones(1, 1, 2, 2), stride=0),
        "non-positive stride is not supported",
    ),
    "conv with a kernel of no elements": (lambda F, t, nn: F.conv1d(t.ones(1, 4, 5), t.ones(3, 4, 0)), "greater than zero"),
    "conv of no outputs": (lambda F, t, nn: F.conv2d(t.ones(1, 4, 5, 5), t.ones(0, 4, 3, 3)), "at dimension 0"),
    "conv with a kernel that does not fit": (
        lambda F, t, nn: F.conv2d(t.ones(1, 1, 2, 3), t.ones(1, 1, 4, 4)),
        r"Calculated padded input size per channel: \(2 x 3\). Kernel size: \(4 x 4\). Kernel size can't be greater",
    ),
    "grid of another batch": (
        lambda F, t, nn: F.grid_sample(t.ones(1, 1, 2, 2), t.zeros(2, 1, 1, 2), align_corners=False),
        "expected grid and input to have same batch size",
    ),
    "grid of three coordinates": (
        lambda F, t, nn: F.grid_sample(t.ones(1, 1, 2, 2), t.zeros(1, 1, 1, 3), align_corners=False),
        "expected grid to have size 2 in last dimension",
    ),
    "fold of another product": (
        lambda F, t, nn: F.fold(t.ones(1, 5, 9), (4, 5), (2, 3)),
        "be divisible by the product of kernel_size",
    ),
    "linear of a scalar": (
        lambda F, t, nn: F.linear(t.ones(1).squeeze(), t.ones(1, 1), t.ones(1)),
        "both arguments to (matmul|linear) need to be at least 1D",
    ),
    "group norm of one value each": (
        lambda F, t, nn: F.group_norm(t.ones(1, 10, 1), 10),
        "Expected more than 1 value per channel",
    ),
    "nll of a matrix of targets": (
        lambda F, t, nn: F.nll_loss(t.ones(10, 3), t.zeros(10, 2, dtype=t.int64)),
        "1D target tensor expected",
    ),
    "cosine embedding of a matrix of targets": (
        lambda F, t, nn: F.cosine_embedding_loss(t.ones(15, 10), t.ones(15, 10), t.ones(15, 1)),
        "1D target tensor expected",
    ),
    "cosine embedding of different ranks": (
        lambda F, t, nn: F.cosine_embedding_loss(t.ones(0, 0), t.ones(0), t.ones(0)),
        "1D target tensor expects 2D input tensors",
    ),
    "multi margin of no classes": (
        lambda F, t, nn: F.multi_margin_loss(t.ones(10, 0), t.ones(10, dtype=t.int64)),
        "Expected non-empty vector or matrix with optional 0-dim batch size",
    ),
    "multilabel margin of no classes": (
        lambda F, t, nn: F.multilabel_margin_loss(t.ones(10, 0), t.ones(10, 0, dtype=t.int64)),
        "Expected non-empty vector or matrix with optional 0-dim batch size",
    ),
    "reflection of no channels": (lambda F, t, nn: nn.ReflectionPad1d(2)(t.ones(3, 0, 10)), "2D or 3D"),
    "fractional ratios of three": (
        lambda F, t, nn: nn.FractionalMaxPool2d([2, 1], output_ratio=[0.5, 0.5, 0.6])(t.ones(2, 3, 8, 8)),
        "requires output_ratio to either be a single Int or tuple of Ints",
    ),
    "dropout1d of images": (lambda F, t, nn: F.dropout1d(t.ones(1, 2, 2, 2)), "Expected 2D or 3D input, but received a 4D input"),
    "bias for a static key": (
        lambda F, t, nn: F.multi_head_attention_forward(
            *[t.ones(3, 1, 4)] * 3, 4, 2, t.ones(12, 4), t.ones(12), t.ones(1, 1, 4), t.ones(1, 1, 4), False, 0.0, t.ones(4, 4),
            t.ones(4), static_k=t.ones(2, 3, 2),
        ),
        "bias cannot be added to static key",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what: str) -> None:
    call, words = REFUSED[what]
    with pytest.raises(Exception, match=words) as wanted:
        call(TF, torch, torch.nn)
    with pytest.raises(wanted.type, match=words):
        call(F, tf, nn)


def test_warnings() -> None:
    with pytest.warns(UserWarning, match="channel-wise 1D dropout behavior is desired"):
        F.dropout2d(tf.ones(1, 2, 2))
    with pytest.warns(UserWarning, match="See the documentation of affine_grid for details"):
        F.affine_grid(tf.ones(1, 2, 3), (1, 1, 2, 1), align_corners=True)


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("kw", [{}, {"stride": 2, "padding": 1}, {"dilation": 2}, {"groups": 2}])
def test_gradients_without_a_graph(n: int, kw: dict[str, Any], oracle: Any) -> None:
    torch.manual_seed(0)
    x = torch.randn(2, 4, *[7] * n, dtype=torch.float64, requires_grad=True)
    w = torch.randn(6, 4 // kw.get("groups", 1), *[3] * n, dtype=torch.float64, requires_grad=True)
    out = getattr(TF, f"conv{n}d")(x, w, **kw)
    g = torch.randn_like(out)
    wanted = torch.autograd.grad(out, (x, w), g)
    mine = [oracle.ours(v.detach()) for v in (x, w, g)]
    oracle.close(getattr(nn.grad, f"conv{n}d_input")(tuple(x.shape), mine[1], mine[2], **kw), wanted[0], "input")
    oracle.close(getattr(F.grad, f"conv{n}d_weight")(mine[0], tuple(w.shape), mine[2], **kw), wanted[1], "weight")


def test_conv_tbc(agree: Any) -> None:
    arguments = [torch.randn(s, dtype=torch.float64, requires_grad=True) for s in ((9, 4, 5), (3, 5, 6), (6,))]
    agree(F.conv_tbc, TF.conv_tbc, *arguments, 3)


def test_instance_norm_of_other_channels() -> None:
    with pytest.warns(UserWarning, match="which is not used because affine=False"):
        nn.InstanceNorm1d(4)(tf.ones(2, 2, 2))
    with pytest.raises(ValueError, match="expected input's size at dim=1 to match num_features"):
        nn.InstanceNorm1d(4, affine=True)(tf.ones(2, 2, 2))


@pytest.mark.parametrize("size", [(1, 2, 2), (1, 1, 2, 2, 2, 2)])
def test_affine_grids_of_pictures_and_volumes_only(size: tuple[int, ...]) -> None:
    for lib in (torch, tf):
        with pytest.raises(NotImplementedError, match="affine_grid only supports 4D and 5D sizes"):
            lib.nn.functional.affine_grid(lib.ones(1, 2, 3), size, align_corners=False)


@pytest.mark.parametrize("widths", [(1, 0), (0, 0), (-1, 0)])
@pytest.mark.parametrize(
    ("dtype", "value"), [("int8", 1e9), ("uint8", -1), ("int8", 127.5), ("float16", 1e5), ("bool", 2.5), ("float32", 1e39)]
)
def test_a_border_is_of_what_the_dtype_holds(widths: tuple[int, int], dtype: str, value: float) -> None:
    def outcome(lib: Any) -> Any:
        try:
            return lib.nn.functional.pad(lib.ones(3, dtype=getattr(lib, dtype)), widths, value=value).tolist()
        except RuntimeError as error:
            return str(error).split("value cannot")[-1]

    assert outcome(tf) == outcome(torch)


def test_a_complex_border_is_of_constant_pad_nd_alone() -> None:
    for lib in (torch, tf):
        x = lib.ones(1, dtype=lib.complex64)
        assert lib.constant_pad_nd(x, (1, 0), 1j).tolist() == [1j, 1]
        with pytest.raises(TypeError, match="must be float"):
            lib.nn.functional.pad(x, (1, 0), value=1j)


@pytest.mark.parametrize(
    ("shape", "widths"), [((1, 3, 2, 5), (-2, 0, 1, -2)), ((0, 3, 1, 4), (0, 1, 1, -1)), ((1, 2, 3), (3, -3))]
)
def test_circular_borders_of_nothing_are_refused(shape, widths):
    """PyTorch gives memory that nothing was written to."""
    with pytest.raises(RuntimeError, match="leave nothing to go round of dimension"):
        F.pad(tf.zeros(*shape), widths, mode="circular")
