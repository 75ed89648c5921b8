"""Cross entropy of a linear map against PyTorch's, whole and in chunks of the batch."""

from __future__ import annotations

from typing import Any

import pytest

import tenfold
import tenfold.nn.functional as F

torch = pytest.importorskip("torch")
TF = torch.nn.functional
N, E, C = 70, 5, 9


def losses(lib: Any, functional: Any, places: tuple[int, ...], kind: str, options: Any, more: dict[str, Any]) -> list[Any]:
    """The loss, and the gradients of input, weight and bias."""
    generator = torch.Generator().manual_seed(0)

    def made(*shape: int) -> Any:
        return lib.tensor(torch.randn(shape, generator=generator, dtype=torch.float64).tolist(), dtype=lib.float64)

    x, w, b = made(N, E).requires_grad_(), made(C, *places, E).requires_grad_(), made(C, *places).requires_grad_()
    probabilities = made(N, C, *places).softmax(1)
    classes = lib.tensor(torch.randint(0, C, (N, *places), generator=generator).tolist())
    more = {**more, "weight": made(C).abs()} if more.get("weight") else more
    target = probabilities if kind == "probabilities" else classes
    loss = functional.linear_cross_entropy(x, w, target, linear_bias=b, options=options, **more)
    loss.sum().backward()
    return [loss.tolist(), x.grad.tolist(), w.grad.tolist(), b.grad.tolist()]


MORE: list[dict[str, Any]] = [{}, {"weight": True}, {"label_smoothing": 0.2, "weight": True}, {"ignore_index": 3}]


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("places", [(), (2, 3)], ids=str)
@pytest.mark.parametrize(("kind", "more"), [("classes", m) for m in MORE] + [("probabilities", m) for m in MORE[:3]], ids=str)
def test_whole_and_in_chunks(kind: str, places: tuple[int, ...], more: dict[str, Any], reduction: str) -> None:
    more = {**more, "reduction": reduction}
    expected = losses(torch, TF, places, kind, None, more)
    for options in (None, tenfold.nn.LinearCrossEntropyOptions(batch_chunk_size=16), tenfold.nn.LinearCrossEntropyOptions()):
        for got, wanted in zip(losses(tenfold, F, places, kind, options, more), expected, strict=True):
            torch.testing.assert_close(torch.tensor(got), torch.tensor(wanted), rtol=1e-5, atol=1e-6)


def test_one_sample_and_none() -> None:
    for shape, target in (((E,), 2), ((0, E), [])):
        ours = F.linear_cross_entropy(
            tenfold.ones(shape), tenfold.ones(C, E), tenfold.tensor(target, dtype=tenfold.int64), reduction="sum"
        )
        theirs = TF.linear_cross_entropy(
            torch.ones(shape), torch.ones(C, E), torch.tensor(target, dtype=torch.int64), reduction="sum"
        )
        assert ours.item() == pytest.approx(theirs.item())


def test_chunks_go_back_twice_and_to_second_order() -> None:
    x = tenfold.randn(40, 3, dtype=tenfold.float64, requires_grad=True)
    w, target = tenfold.randn(7, 3, dtype=tenfold.float64), tenfold.arange(40) % 7

    def loss(x: Any, size: int) -> Any:
        return F.linear_cross_entropy(x, w, target, options=tenfold.nn.LinearCrossEntropyOptions(batch_chunk_size=size))

    slopes = []
    for size in (8, 40):
        (g,) = tenfold.autograd.grad(loss(x, size), x, create_graph=True)
        slopes.append(tenfold.autograd.grad((g * g).sum(), x)[0])
    tenfold.testing.assert_close(slopes[0], slopes[1])


@pytest.mark.parametrize(
    "call",
    [
        lambda lib, F: F.linear_cross_entropy(lib.ones(1, 3, E), lib.ones(C, E), lib.ones(1, 3).long()),
        lambda lib, F: F.linear_cross_entropy(lib.ones(3, E), lib.ones(E), lib.ones(3).long()),
        lambda lib, F: F.linear_cross_entropy(lib.ones(3, E), lib.ones(C, 4), lib.ones(3).long()),
        lambda lib, F: F.linear_cross_entropy(lib.ones(E), lib.ones(C, 2, E), lib.ones(2).long()),
        lambda lib, F: F.linear_cross_entropy(lib.ones(3, E), lib.ones(C, E), lib.ones(3).long(), linear_bias=lib.ones(3)),
        lambda lib, F: F.linear_cross_entropy(lib.ones(3, E), lib.ones(C, E), lib.ones(3, C) / C, ignore_index=1),
        lambda lib, F: F.linear_cross_entropy(lib.ones(3, E), lib.ones(C, E), lib.ones(3).long(), reduction="middle"),
        lambda lib, F: F.linear_cross_entropy(lib.ones(3, E), lib.ones(C, E), lib.ones(2).long()),
        lambda lib, F: lib.nn.LinearCrossEntropyLoss(E, C, weight=lib.ones(2)),
        lambda lib, F: lib.nn.LinearCrossEntropyLoss(E, C, label_smoothing=1.5),
    ],
)
def test_refusals_are_of_pytorchs_type(call: Any) -> None:
    with pytest.raises(Exception) as theirs:
        call(torch, TF)
    with pytest.raises(type(theirs.value)):
        call(tenfold, F)


def test_the_layer_says_what_it_is_as_pytorchs_does() -> None:
    for more in ({}, {"bias": True, "out_features": (2, 3), "reduction": "sum", "ignore_index": 1}):
        ours, theirs = (lib.nn.LinearCrossEntropyLoss(E, C, **more) for lib in (tenfold, torch))
        assert repr(ours) == repr(theirs)
        assert {k: tuple(v.shape) for k, v in ours.state_dict().items()} == {
            k: tuple(v.shape) for k, v in theirs.state_dict().items()
        }
