"""`out=` on the memory of an input: the whole of it where each element is read before it is written, else refused."""

from __future__ import annotations

from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")

# Calls of an input x of 4 elements and an output, and the output's size.
CALLS: dict[str, tuple[Any, int]] = {
    "exp": (lambda t, x, out: t.exp(x, out=out), 4),
    "add": (lambda t, x, out: t.add(t.ones(4), x, out=out), 4),
    "cumsum": (lambda t, x, out: t.cumsum(x, 0, out=out), 4),
    "logcumsumexp": (lambda t, x, out: t.logcumsumexp(x, 0, out=out), 4),
    "sum": (lambda t, x, out: t.sum(x, 0, True, out=out), 1),
    "sort": (lambda t, x, out: t.sort(x, out=(out, t.empty(4, dtype=t.int64))), 4),
    "topk": (lambda t, x, out: t.topk(x, 2, out=(out, t.empty(2, dtype=t.int64))), 2),
    "kthvalue": (lambda t, x, out: t.kthvalue(x, 1, 0, True, out=(out, t.empty(1, dtype=t.int64))), 1),
    "mode": (lambda t, x, out: t.mode(x, 0, True, out=(out, t.empty(1, dtype=t.int64))), 1),
    "max": (lambda t, x, out: t.max(x, 0, True, out=(out, t.empty(1, dtype=t.int64))), 1),
    "maximum": (lambda t, x, out: t.maximum(x, t.ones(4), out=out), 4),
    "cat": (lambda t, x, out: t.cat([t.ones(1), x], out=out), 5),
    "stack": (lambda t, x, out: t.stack([x, x], out=out.view(2, 4)), 8),
    "hstack": (lambda t, x, out: t.hstack([x, x], out=out), 8),
    "column_stack": (lambda t, x, out: t.column_stack([x], out=out.view(4, 1)), 4),
    "outer": (lambda t, x, out: t.outer(x, t.ones(2), out=out.view(4, 2)), 8),
    "diff": (lambda t, x, out: t.diff(x, out=out), 3),
    "addmv": (lambda t, x, out: t.addmv(x, t.ones(4, 2), t.ones(2), out=out), 4),
    "mv": (lambda t, x, out: t.mv(t.ones(4, 4), x, out=out), 4),
    "addr": (lambda t, x, out: t.addr(t.ones(4, 4), x, t.ones(4), out=out.view(4, 4)), 16),
    "cross": (lambda t, x, out: t.linalg.cross(x[:3], t.ones(3), out=out), 3),
    "renorm": (lambda t, x, out: t.renorm(x.view(2, 2), 2, 0, 1.0, out=out.view(2, 2)), 4),
    "take_along_dim": (lambda t, x, out: t.take_along_dim(x, t.tensor([0, 1, 2, 3]), 0, out=out), 4),
    "gather": (lambda t, x, out: t.gather(x, 0, t.tensor([0, 1, 2, 3]), out=out), 4),
    "gather's index": (lambda t, x, out: t.gather(t.tensor([3, 4, 5, 6]), 0, x.long() * 0, out=out.long()), 4),
    "scatter": (lambda t, x, out: t.scatter(x, 0, t.tensor([0]), t.zeros(1), out=out), 4),
    "scatter's source": (lambda t, x, out: t.scatter(t.ones(4), 0, t.tensor([0, 1, 2, 3]), x, out=out), 4),
    "index_add": (lambda t, x, out: t.index_add(x, 0, t.tensor([0]), t.ones(1), out=out), 4),
    "index_reduce": (
        lambda t, x, out: t.index_reduce(t.ones(4), 0, t.tensor([0, 1, 2, 3]), x, "amax", out=out),
        4,
    ),
    "diag": (lambda t, x, out: t.diag(x, out=out.view(4, 4)), 16),
    "tril": (lambda t, x, out: t.tril(x.view(2, 2), out=out.view(2, 2)), 4),
    "bernoulli": (lambda t, x, out: t.bernoulli(x * 0 + 1, out=out), 4),
    "normal": (lambda t, x, out: t.normal(x, 1.0, out=out), 4),
    "solve_triangular": (
        lambda t, x, out: t.linalg.solve_triangular(t.eye(4), x.view(4, 1), upper=True, out=out.view(4, 1)),
        4,
    ),
}


def outcome(lib: Any, name: str, kind: str) -> Any:
    call, size = CALLS[name]
    memory = lib.zeros(size + 5)
    x = memory[:4]
    x.copy_(lib.tensor([0.5, 0.25, 0.75, 0.125]))
    start = {"the same tensor": 0, "the same place": 0, "further on": 1, "elsewhere": 5}[kind]
    out = x if kind == "the same tensor" and size == 4 else memory[start : start + size]
    try:
        call(lib, x, out)
    except RuntimeError as error:
        return "memory location" in str(error)
    # PyTorch's sums and products clear the output first, and give 0 where it is the input.
    return None if kind == "further on" or name in ("normal", "sum", "mv") else memory.tolist()


@pytest.mark.filterwarnings("ignore:index_reduce")
@pytest.mark.parametrize("kind", ["the same tensor", "the same place", "further on", "elsewhere"])
@pytest.mark.parametrize("name", CALLS)
def test_outputs_on_inputs(name: str, kind: str) -> None:
    wanted, found = (outcome(lib, name, kind) for lib in (torch, tenfold))
    if isinstance(wanted, list):
        assert found == pytest.approx(wanted)
    else:
        assert found is wanted


@pytest.mark.parametrize("given", [(1.0, 2.0), ("tensor", 2.0), (1, "tensor"), ("tensor", "tensor")])
def test_where_writes_what_tensors_hold(given: Any) -> None:
    found = []
    for lib in (torch, tenfold):
        values = [lib.ones(2) if v == "tensor" else v for v in given]
        try:
            found.append(lib.where(lib.tensor([True, False]), *values, out=lib.empty(2)).tolist())
        except TypeError:
            found.append(TypeError)
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "write",
    [
        lambda x, t: x.fill_(x[4]), lambda x, t: x.masked_fill_(x > 3, x[2]), lambda x, t: x.index_fill_(0, t.tensor([1]), x[2]),
        lambda x, t: x[:-1].ldexp_(x[1:]), lambda x, t: x.ldexp_(x[1]), lambda x, t: x.view(3, 3).ldexp_(x.view(3, 3).t()),
        lambda x, t: t.ldexp(t.ones(8), x[1:], out=x[:-1]),
    ],
)  # fmt: skip
def test_what_is_read_before_it_is_written(write: Any) -> None:
    found = []
    for lib in (torch, tenfold):
        x = lib.arange(9.0)
        write(x, lib)
        found.append(x.tolist())
    assert found[0] == found[1]


def _written(write: Any) -> list[Any]:
    """What each library wrote, or that it refused the overlap; other errors are the test's."""
    found: list[Any] = []
    for lib in (torch, tenfold):
        x = lib.tensor([0.125, 0.5, 0.75, -0.5])
        try:
            write(lib, x)
            found.append(x.tolist())
        except RuntimeError as error:
            if "memory location" not in str(error):
                raise
            found.append([])
    return found


NUMBERS = {
    "nan_to_num_": lambda t, x, n: x.nan_to_num_(0, n, n),
    "logit_": lambda t, x, n: x.logit_(n),
    "alpha": lambda t, x, n: x.add_(1, alpha=n),
    "addcmul_": lambda t, x, n: x.addcmul_(t.ones(4), t.ones(4), value=n),
    "logit out=": lambda t, x, n: t.logit(x, n, out=x),
    "hardshrink out=": lambda t, x, n: t.hardshrink(x, n, out=x),
    "threshold": lambda t, x, n: t.threshold_(x, n, 3.0),
    "leaky_relu": lambda t, x, n: t.nn.functional.leaky_relu(x, n, inplace=True),
    "hardtanh": lambda t, x, n: t.nn.functional.hardtanh(x, n, 2.0, inplace=True),
    "logit of a number elsewhere": lambda t, x, n: t.logit(x, t.tensor(0.25)),
    "clamp_": lambda t, x, n: x.clamp_(n),
    "lerp_": lambda t, x, n: x.lerp_(t.ones(4), n),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_that_are_elements_of_the_target(name: str) -> None:
    theirs, ours = _written(lambda t, x: NUMBERS[name](t, x, x[0]))
    assert ours == pytest.approx(theirs)


REDUCTIONS = {
    "max": lambda t, x, out, place: t.max(x, out=out),
    "min": lambda t, x, out, place: t.min(x, out=out),
    "aminmax": lambda t, x, out, place: t.aminmax(x, out=(out, x[3])),
    "max along": lambda t, x, out, place: t.max(x, 0, out=(out, place)),
    "min along": lambda t, x, out, place: t.min(x, 0, out=(out, place)),
    "aminmax along": lambda t, x, out, place: t.aminmax(x, dim=0, out=(out, x[3])),
    "median along": lambda t, x, out, place: t.median(x, 0, out=(out, place)),
    "nanmedian along": lambda t, x, out, place: t.nanmedian(x, 0, out=(out, place)),
    "maximum": lambda t, x, out, place: t.max(x[1], x[2], out=out),
    "float_power": lambda t, x, out, place: t.float_power(x.view(t.float64)[:1], 2, out=x.view(t.float64)[:1].view(())),
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_outputs_that_are_an_element_of_what_is_reduced(name: str) -> None:
    theirs, ours = _written(lambda t, x: REDUCTIONS[name](t, x, x[1], t.tensor(0)))
    assert ours == theirs
