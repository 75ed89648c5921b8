"""Losses against PyTorch where formulas break: saturated and infinite inputs, ignored targets, weights of zero, no rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tenfold
import tenfold.nn.functional as F

torch = pytest.importorskip("torch")
TF = torch.nn.functional
inf, nan = float("inf"), float("nan")
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 20.0, -20.0, 100.0, -100.0, 1e4, -1e4, 1e-30, inf, -inf, nan]

# Losses of an input and a target of its shape, element by element.
PAIRS: dict[str, Callable[..., Any]] = {
    "mse_loss": lambda F, x, t, r: F.mse_loss(x, t, reduction=r),
    "l1_loss": lambda F, x, t, r: F.l1_loss(x, t, reduction=r),
    "smooth_l1_loss": lambda F, x, t, r: F.smooth_l1_loss(x, t, reduction=r),
    "smooth_l1_loss with beta": lambda F, x, t, r: F.smooth_l1_loss(x, t, reduction=r, beta=0.3),
    "smooth_l1_loss without": lambda F, x, t, r: F.smooth_l1_loss(x, t, reduction=r, beta=0.0),
    "huber_loss": lambda F, x, t, r: F.huber_loss(x, t, reduction=r),
    "huber_loss with delta": lambda F, x, t, r: F.huber_loss(x, t, reduction=r, delta=0.3),
    "binary_cross_entropy_with_logits": lambda F, x, t, r: F.binary_cross_entropy_with_logits(x, t, reduction=r),
    "soft_margin_loss": lambda F, x, t, r: F.soft_margin_loss(x, t, reduction=r),
    "hinge_embedding_loss": lambda F, x, t, r: F.hinge_embedding_loss(x, t, reduction=r),
    "kl_div": lambda F, x, t, r: F.kl_div(x, t, reduction=r),
    "kl_div of logarithms": lambda F, x, t, r: F.kl_div(x, t, reduction=r, log_target=True),
    "poisson_nll_loss": lambda F, x, t, r: F.poisson_nll_loss(x, t, reduction=r),
    "poisson_nll_loss in full": lambda F, x, t, r: F.poisson_nll_loss(x, t, full=True, reduction=r),
    "multilabel_soft_margin_loss": lambda F, x, t, r: F.multilabel_soft_margin_loss(
        x.reshape(-1, 1), t.reshape(-1, 1), reduction=r
    ),
    "margin_ranking_loss": lambda F, x, t, r: F.margin_ranking_loss(x, x * 0.5, t, margin=0.25, reduction=r),
}
REDUCTIONS = ["none", "mean", "sum"]


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("target", [0.0, 1.0, -1.0, 0.5])
@pytest.mark.parametrize("name", PAIRS)
def test_points(name: str, target: float, dtype: str, agree: Any) -> None:
    x = torch.tensor([e for e in EDGES if dtype != "float16" or abs(e) < 100 or e in (inf, -inf)], dtype=getattr(torch, dtype))
    if name.startswith("poisson") or (name == "soft_margin_loss" and dtype == "float16"):
        x = x[~(x.abs() > 5)]  # exp(20) is beyond what half precision can tell apart
    t = torch.full_like(x, target)
    agree(
        lambda x, t: PAIRS[name](F, x, t, "none"),
        lambda x, t: PAIRS[name](TF, x, t, "none"),
        x.requires_grad_(),
        t.requires_grad_("margin" not in name and "hinge" not in name),
    )


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("kind", ["plain", "empty", "0-d", "expanded target", "permuted", "large", "channels last"])
@pytest.mark.parametrize("name", PAIRS)
def test_layouts(name: str, kind: str, reduction: str, agree: Any) -> None:
    torch.manual_seed(1)
    x = {
        "plain": lambda: torch.randn(3, 4),
        "empty": lambda: torch.randn(0, 4),
        "0-d": lambda: torch.randn(()),
        "expanded target": lambda: torch.randn(3, 4),
        "permuted": lambda: torch.randn(4, 3, 2).permute(2, 0, 1),
        "large": lambda: torch.randn(300, 400),
        "channels last": lambda: torch.randn(2, 4, 3, 3).contiguous(memory_format=torch.channels_last),
    }[kind]()
    t = torch.rand(1, 4).expand(3, 4) if kind == "expanded target" else torch.rand_like(x)
    agree(
        lambda x, t: PAIRS[name](F, x, t, reduction), lambda x, t: PAIRS[name](TF, x, t, reduction), x.requires_grad_(), t,
        tolerance=1e-3 if kind == "large" and reduction == "sum" else None,
    )  # fmt: skip


@pytest.mark.parametrize("delta", [1.0, 0.5])
def test_second_derivative_of_huber_at_delta(delta: float) -> None:
    found = []
    for lib in (tenfold, torch):
        x = lib.tensor([-2 * delta, -delta, -delta / 2, 0.0, delta / 2, delta, 2 * delta], requires_grad=True)
        t = lib.zeros(7, requires_grad=True)
        first = lib.autograd.grad(lib.nn.functional.huber_loss(x, t, reduction="sum", delta=delta), (x, t), create_graph=True)
        seconds = [lib.autograd.grad(g.sum(), (x, t), retain_graph=True, allow_unused=True) for g in first]
        found.append([[s.tolist() for s in second] for second in seconds])
    assert found[0] == found[1]


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])  # in float16 PyTorch's 1e-12 is 0
@pytest.mark.parametrize("target", [0.0, 1.0, 0.5])
def test_binary_cross_entropy_at_the_ends(target: float, dtype: str, agree: Any) -> None:
    x = torch.tensor([0.0, 1.0, 0.5, 1e-7, 1 - 2**-8], dtype=getattr(torch, dtype)).requires_grad_()
    t = torch.full_like(x, target).requires_grad_()
    weight = torch.tensor([1.0, 0.0, 2.0, 1.0, 0.5], dtype=x.dtype)
    for kw in ({"reduction": "none"}, {"reduction": "mean", "weight": weight}, {"reduction": "sum"}):
        agree(F.binary_cross_entropy, TF.binary_cross_entropy, x, t, tolerance=1e-8 if dtype == "float64" else None, **kw)
    saturated = torch.tensor([100.0, -100.0, 0.0], dtype=x.dtype).requires_grad_()
    agree(
        lambda x, t: F.binary_cross_entropy(x.sigmoid(), t),
        lambda x, t: TF.binary_cross_entropy(x.sigmoid(), t),
        saturated,
        torch.full((3,), target, dtype=x.dtype),
    )


@pytest.mark.parametrize("target", [0.0, 1.0])
@pytest.mark.parametrize("options", [{}, {"pos_weight": [2.0, 0.0, 3.0]}, {"weight": [0.0, 1.0, 2.0]}])
def test_logits_of_a_head_of_zeros(target: float, options: dict[str, Any], agree: Any) -> None:
    x = torch.tensor([[0.0, -0.0, 0.0], [1.0, -1.0, 0.5]], requires_grad=True)
    kw = {name: torch.tensor(value) for name, value in options.items()}
    agree(F.binary_cross_entropy_with_logits, TF.binary_cross_entropy_with_logits, x, torch.full_like(x, target), **kw)


CLASSES: dict[str, tuple[Callable[[], Any], list[Any]]] = {
    "rows": (lambda: torch.randn(5, 4), [0, 3, 1, 1, 2]),
    "rows, some ignored": (lambda: torch.randn(5, 4), [0, -100, 1, -100, 2]),
    "rows, all ignored": (lambda: torch.randn(2, 4), [-100, -100]),
    "one row": (lambda: torch.randn(4), 2),
    "one row, ignored": (lambda: torch.randn(4), -100),
    "no rows": (lambda: torch.randn(0, 4), []),
    "maps": (lambda: torch.randn(2, 4, 2, 3), [[[0, 1, 2], [3, -100, 1]], [[2, 2, 2], [0, 0, 3]]]),
    "sequences": (lambda: torch.randn(2, 4, 3), [[0, 1, 2], [-100, -100, -100]]),
    "with an infinite logit": (
        lambda: torch.tensor([[0.0, -inf, 1.0, 2.0], [inf, 0.0, 0.0, 0.0], [1.0, nan, 1.0, 1.0]]),
        [0, 1, 2],
    ),
    "an ignored row of nan": (lambda: torch.tensor([[nan, nan, nan, nan], [1.0, 2.0, 3.0, 4.0]]), [-100, 2]),
    "huge logits": (lambda: torch.tensor([[1e4, -1e4, 0.0, 1e4], [-1e4, -1e4, -1e4, -1e4]]), [1, 2]),
}
OPTIONS: list[dict[str, Any]] = [
    {}, {"weight": [1.0, 0.0, 2.0, 0.5]}, {"label_smoothing": 0.1}, {"weight": [1.0, 0.0, 2.0, 0.5], "label_smoothing": 0.3},
    {"ignore_index": 1}, {"ignore_index": 1, "weight": [0.0, 0.0, 0.0, 0.0]}, {"label_smoothing": 1.0},
]  # fmt: skip


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
@pytest.mark.parametrize("kind", CLASSES)
def test_classes(kind: str, dtype: str, options: dict[str, Any], reduction: str, agree: Any) -> None:
    torch.manual_seed(2)
    make, classes = CLASSES[kind]
    x, target = make().to(getattr(torch, dtype)).requires_grad_(), torch.tensor(classes, dtype=torch.int64)
    kw = {k: torch.tensor(v, dtype=x.dtype) if k == "weight" else v for k, v in options.items()}
    agree(F.cross_entropy, TF.cross_entropy, x, target, reduction=reduction, **kw)
    kw.pop("label_smoothing", None)
    agree(F.nll_loss, TF.nll_loss, x, target, reduction=reduction, **kw)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("options", [{}, {"weight": [1.0, 3.0, 2.0]}, {"ignore_index": 1}, {"label_smoothing": 0.1}], ids=str)
@pytest.mark.parametrize("name", ["cross_entropy", "nll_loss"])
def test_one_sample_with_a_vector_as_target(name: str, options: dict[str, Any], reduction: str) -> None:
    def called(m: Any, losses: Any, classes: Any, dtype: str = "int64") -> Any:
        x, target = m.tensor([1.0, 2.0, 3.0], requires_grad=True), m.tensor(classes, dtype=getattr(m, dtype))
        kw = {k: m.tensor(v) if k == "weight" else v for k, v in options.items()}
        try:
            return x, getattr(losses, name)(x, target, reduction=reduction, **kw)
        except (ValueError, RuntimeError, IndexError, TypeError) as error:
            return x, type(error)

    targets = [("int64", [1]), ("uint8", [1]), ("int64", []), ("int64", [1, 2]), ("int32", [1])]
    if "label_smoothing" not in options:  # with which the shape is refused, before or after the class
        targets.append(("int64", [5]))
    for dtype, classes in targets:
        ours, theirs = called(tenfold, F, classes, dtype)[1], called(torch, TF, classes, dtype)[1]
        if isinstance(theirs, type):
            assert ours is theirs
            continue
        torch.testing.assert_close(torch.from_numpy(ours.detach().numpy()), theirs.detach(), equal_nan=True)
        (x, given), (y, wanted) = called(tenfold, F, [1]), called(torch, TF, 1)  # PyTorch has gradients of numbers alone
        given.backward()
        wanted.backward()
        torch.testing.assert_close(torch.from_numpy(x.grad.numpy()), y.grad, equal_nan=True)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("options", OPTIONS[:4], ids=str)
@pytest.mark.parametrize("shape", [(3, 4), (4,), (0, 4), (2, 4, 3)])
def test_class_probabilities(shape: Any, options: dict[str, Any], reduction: str, agree: Any) -> None:
    torch.manual_seed(3)
    x = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    target = torch.softmax(torch.randn(shape, dtype=torch.float64), -1).requires_grad_()
    kw = {k: torch.tensor(v, dtype=x.dtype) if k == "weight" else v for k, v in options.items()}
    agree(F.cross_entropy, TF.cross_entropy, x, target, reduction=reduction, **kw)
    hot = torch.zeros(shape, dtype=torch.float64)
    hot[..., 0] = 1.0
    low = x.detach().clone()
    low[..., 1] = -inf
    agree(F.cross_entropy, TF.cross_entropy, low.requires_grad_(), hot, reduction=reduction, **kw)


@pytest.mark.parametrize("margin", [1.0, 0.5, 2.7])
@pytest.mark.parametrize("dtype", ["int64", "int8", "float32"])
def test_hinges_of_integers_are_integers(dtype: str, margin: float) -> None:
    for reduction in REDUCTIONS:
        found = []
        for lib, functions in ((torch, TF), (tenfold, F)):
            x, t = lib.tensor([0, 2, 3, 1], dtype=getattr(lib, dtype)), lib.tensor([-1, -1, 1, 0])
            try:
                loss = functions.hinge_embedding_loss(x, t, margin=margin, reduction=reduction)
                found.append((str(loss.dtype).split(".")[1], loss.tolist()))
            except RuntimeError:
                found.append("refused")
        assert found[1] == found[0]


def test_a_table_without_rows_is_refused_as_such() -> None:
    for lib, functions in ((torch, TF), (tenfold, F)):
        assert functions.embedding(lib.zeros(0, dtype=lib.int64), lib.zeros(0, 2)).shape == (0, 2)
        with pytest.raises(RuntimeError, match="self indexing axis dim should be positive"):
            functions.embedding(lib.tensor([0]), lib.zeros(0, 2))


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "huber_loss"])
def test_weights_of_elements(name: str, reduction: str, agree: Any) -> None:
    x, t, weight = torch.tensor([0.5, -2.0, 3.0]), torch.tensor([0.0, 1.0, 1.5]), torch.tensor([0.5, 2.0, 0.25])
    agree(
        lambda x, t, w: getattr(F, name)(x, t, reduction=reduction, weight=w),
        lambda x, t, w: getattr(TF, name)(x, t, reduction=reduction, weight=w),
        x.requires_grad_(),
        t.requires_grad_(),
        weight,
    )
