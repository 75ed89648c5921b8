"""What is said of an `out=` of another dtype, compared with PyTorch's words; densities of points of no dimension."""

from __future__ import annotations

import pytest

import tenfold

torch = pytest.importorskip("torch")


def _outs(t, *names):
    made = tuple(t.empty(0, dtype=getattr(t, name)) for name in names)
    return made if len(made) > 1 else made[0]


CALLS = {
    "bucketize": lambda t: t.bucketize(t.rand(2), t.tensor([0.0, 1.0]), out=_outs(t, "float32")),
    "bucketize int32": lambda t: t.bucketize(t.rand(2), t.tensor([0.0, 1.0]), out_int32=True, out=_outs(t, "int64")),
    "multi_dot": lambda t: t.linalg.multi_dot([t.ones(2, 2), t.ones(2, 2)], out=_outs(t, "float64")),
    "quantile": lambda t: t.quantile(t.rand(4), 0.5, out=_outs(t, "int32")),
    "quantile double": lambda t: t.quantile(t.rand(4), 0.5, out=_outs(t, "float64")),
    "nanquantile": lambda t: t.nanquantile(t.rand(4), 0.5, out=_outs(t, "float64")),
    "histogram": lambda t: t.histogram(t.rand(4), 2, out=_outs(t, "float64", "float32")),
    "histogram edges": lambda t: t.histogram(t.rand(4), 2, out=_outs(t, "float32", "float64")),
    "histogram of edges": lambda t: t.histogram(t.rand(4), t.tensor([0.0, 1.0]), out=_outs(t, "int64", "float32")),
    "histogram without edges": lambda t: t.histogram(t.rand(3), t.empty(0)),
    "mode": lambda t: t.mode(t.rand(4), out=_outs(t, "float64", "int64")),
    "mode indices": lambda t: t.mode(t.rand(4), out=_outs(t, "float32", "int32")),
    "mode both": lambda t: t.mode(t.rand(4), -1, True, out=_outs(t, "int32", "int32")),
    "float_power": lambda t: t.float_power(t.rand(4), 2, out=_outs(t, "int64")),
    "float_power float": lambda t: t.float_power(t.rand(4), t.rand(4), out=_outs(t, "float32")),
    "float_power complex": lambda t: t.float_power(t.rand(4), 2, out=_outs(t, "complex128")),
    "float_power of a number": lambda t: t.float_power(2j, t.rand(4), out=_outs(t, "float64")),
}


@pytest.mark.parametrize("name", CALLS)
def test_words(name):
    with pytest.raises(RuntimeError) as theirs:
        CALLS[name](torch)
    with pytest.raises(RuntimeError) as ours:
        CALLS[name](tenfold)
    assert str(ours.value).startswith(str(theirs.value).splitlines()[0])


def test_outputs_of_the_dtype_are_taken():
    x = [1.0, 2.0, 2.0, 4.0]
    for t in (torch, tenfold):
        hist, edges = _outs(t, "float32", "float32")
        t.histogram(t.tensor(x), 3, out=(hist, edges))
        values, indices = _outs(t, "float32", "int64")
        t.mode(t.tensor(x), out=(values, indices))
        power, middle = _outs(t, "float64"), _outs(t, "float32")
        t.float_power(t.tensor(x), 2, out=power)
        t.quantile(t.tensor(x), 0.5, out=middle)
        got = [a.tolist() for a in (hist, edges, values, indices, power, middle)]
        assert got == [[1.0, 2.0, 1.0], [1.0, 2.0, 3.0, 4.0], 2.0, 2, [1.0, 4.0, 4.0, 16.0], 2.0]


@pytest.mark.parametrize("density", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_points_of_no_dimension(density, weighted):
    made = []
    for t in (torch, tenfold):
        hist, edges = t.histogramdd(t.ones(3, 0), [], weight=t.ones(3) if weighted else None, density=density)
        made.append((str(hist.item()), hist.shape, edges))
    assert made[0] == made[1]
