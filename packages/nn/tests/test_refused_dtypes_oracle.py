"""Arguments of dtypes, and widths of types, that PyTorch refuses."""

from __future__ import annotations

import pytest

import tenfold

torch = pytest.importorskip("torch")


def _outcome(call):
    try:
        result = call()
    except Exception as error:  # noqa: BLE001 - its type is what is compared
        return type(error).__name__
    return str(result.dtype).split(".")[1], result.tolist()


@pytest.mark.parametrize("weight", ["float16", "bfloat16", "float32", "float64", "int64"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_weights_of_classes_have_the_inputs_dtype(dtype, weight):
    def calls(m):
        x = m.tensor([[0.5, 0.25, 0.75], [0.5, 0.0, 1.0]]).to(getattr(m, dtype))
        w, y = m.ones(3).to(getattr(m, weight)), m.tensor([2, 0])
        image, places = x.T.reshape(1, 3, 2, 1), m.zeros(1, 2, 1, dtype=m.int64)
        yield from (lambda r=r: m.nn.functional.nll_loss(x, y, w, reduction=r) for r in ("mean", "sum", "none"))
        yield lambda: m.nn.functional.nll_loss(x[0], y[0], w)
        yield lambda: m.nn.functional.nll_loss(image, places, w)
        yield lambda: m.nn.functional.cross_entropy(x * 0, y, w).isnan()
        yield lambda: m.nn.functional.cross_entropy(x * 0, y, w, label_smoothing=0.1).isnan()

    for ours, theirs in zip(calls(tenfold), calls(torch), strict=True):
        assert _outcome(ours) == _outcome(theirs)


@pytest.mark.parametrize("mode", ["constant", "reflect"])
@pytest.mark.parametrize("widths", [range(2), range(4), 1, (1,), (1, 1), [1, 1], {1: 1, 2: 1}, "12"])
def test_widths_are_a_tuple_or_list(widths, mode):
    assert _outcome(lambda: tenfold.nn.functional.pad(tenfold.ones(1, 2, 4), widths, mode)) == _outcome(
        lambda: torch.nn.functional.pad(torch.ones(1, 2, 4), widths, mode)
    )


@pytest.mark.parametrize("p", [float("inf"), -float("inf")])
@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8", "float32"])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_extremes_as_norms_of_windows(n, dtype, p):
    def call(m):
        x = m.arange(2 * 4**n).reshape(1, 2, *[4] * n).to(getattr(m, dtype))
        return lambda: getattr(m.nn.functional, f"lp_pool{n}d")(x, p, 2)

    assert _outcome(call(tenfold)) == _outcome(call(torch))
