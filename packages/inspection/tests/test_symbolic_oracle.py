"""Arithmetic of sizes and the switch of small numbers are PyTorch's, refusals too."""

import pytest

import tenfold

torch = pytest.importorskip("torch")

CALLS = {
    "sym_max": [(1, 2.0), (1, 1.0), (True, 2)],
    "sym_min": [(1, 2.0), (3, 1.5), (1, 1.0)],
    "sym_int": [(2.7,), (-2.7,), ("3",)],
    "sym_float": [(2,)],
    "sym_not": [(False,), (True,)],
    "sym_ite": [(True, 1, 2), (False, 1, 2), (True, 1, 2.0), (1, 1, 2)],
    "sym_sum": [([1, 2],), ([],), ((1.5, 2),)],
    "set_flush_denormal": [(False,), (1,)],
}


@pytest.mark.parametrize("name", CALLS)
def test_as_in_pytorch(name):
    for args in CALLS[name]:
        outcomes = []
        for lib in (tenfold, torch):
            try:
                result = getattr(lib, name)(*args)
                outcomes.append((type(result), result))
            except (AssertionError, RuntimeError) as error:
                outcomes.append((type(error), None))
        assert outcomes[0] == outcomes[1], args


def test_small_numbers_stay():
    assert tenfold.set_flush_denormal(True) is False
    assert tenfold.tensor(1e-323, dtype=tenfold.float64).item() > 0


def test_names_of_linear_algebra_are_methods():
    x = [[0.0, 1.0], [2.0, -1.0]]
    for call in (lambda lib: lib.tensor(x).matrix_exp(), lambda lib: lib.tensor(x).orgqr(lib.ones(2))):
        assert tenfold.allclose(call(tenfold), tenfold.tensor(call(torch).tolist()), atol=1e-6)
