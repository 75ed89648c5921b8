"""Norms under their older names are PyTorch's, refusals as well."""

import warnings

import pytest

import tenfold

torch = pytest.importorskip("torch")

CALLS = {
    "nuclear": lambda lib, x: lib.nuclear_norm(x),
    "nuclear kept": lambda lib, x: lib.nuclear_norm(x, keepdim=True),
    "nuclear bool": lambda lib, x: lib.nuclear_norm(x, True),
    "nuclear dims": lambda lib, x: lib.nuclear_norm(x, (0, 1), True),
    "nuclear one dim": lambda lib, x: lib.nuclear_norm(x, (0,)),
    "nuclear out": lambda lib, x: lib.nuclear_norm(x, (0, 1), out=x.new_empty(())),
    "frobenius": lambda lib, x: lib.frobenius_norm(x, 0),
    "frobenius two": lambda lib, x: lib.frobenius_norm(x, (0, 1)),
    "frobenius all": lambda lib, x: lib.frobenius_norm(x, ()),
    "frobenius three": lambda lib, x: lib.frobenius_norm(x, (0, 1, 2)),
    "except first": lambda lib, x: lib.norm_except_dim(x),
    "except last": lambda lib, x: lib.norm_except_dim(x, 2, 1),
    "except none": lambda lib, x: lib.norm_except_dim(x, 1, -1),
    "except of one dimension": lambda lib, x: lib.norm_except_dim(x[0], 2, 0),
    "deviation": lambda lib, x: lib.std_mean(x, 1, keepdim=True)[0],
    "deviation of few": lambda lib, x: lib.std_mean(x, 1, correction=9)[0],
    "distance": lambda lib, x: lib.dist(x, x + 1, 3),
}


def outcome(call, lib, numbers, dtype):
    x = lib.tensor(numbers, dtype=getattr(lib, dtype))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            y = call(lib, x)
        except (IndexError, RuntimeError, TypeError) as error:
            return type(error).__name__, None
    return list(y.shape), y.to(lib.float64).tolist()


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("name", CALLS)
def test_as_in_pytorch(name, dtype):
    numbers = [[3, 4, 0], [0, 5, -12]]
    ours, theirs = (outcome(CALLS[name], lib, numbers, dtype) for lib in (tenfold, torch))
    assert ours[0] == theirs[0]
    if theirs[1] is not None:
        assert tenfold.tensor(ours[1]).allclose(tenfold.tensor(theirs[1]), equal_nan=True)
