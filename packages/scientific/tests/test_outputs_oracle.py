"""Which outputs `out=` takes, and what is written there, compared with PyTorch's."""

import pytest

import tenfold

torch = pytest.importorskip("torch")

CALLS = {
    "logspace": lambda t, o: t.logspace(0, 3, 4, 2, out=o((4,))),
    "logspace filled": lambda t, o: t.logspace(0, 3, 4, 2, out=o((2, 2))),
    "logspace dtype": lambda t, o: t.logspace(0, 3, 4, dtype=t.float32, out=o((4,))),
    "kron": lambda t, o: t.kron(t.ones(2), t.ones(2), out=o((4,))),
    "tensordot": lambda t, o: t.tensordot(t.ones(2, 2), t.ones(2, 2), 1, out=o((2, 2))),
    "chain_matmul": lambda t, o: t.chain_matmul(t.eye(2), t.eye(2), out=o((2, 2))),
    "cross": lambda t, o: t.cross(t.ones(3), t.ones(3), 0, out=o((3,))),
    "linalg.cross": lambda t, o: t.linalg.cross(t.ones(3), t.ones(3), out=o((3,))),
    "linalg.vecdot": lambda t, o: t.linalg.vecdot(t.ones(3), t.ones(3), out=o(())),
    "linalg.norm": lambda t, o: t.linalg.norm(t.ones(3), out=o(())),
    "linalg.matrix_norm": lambda t, o: t.linalg.matrix_norm(t.eye(2), out=o(())),
    "linalg.solve_triangular": lambda t, o: t.linalg.solve_triangular(t.eye(2), t.eye(2), upper=True, out=o((2, 2))),
    "linalg.inv": lambda t, o: t.linalg.inv(t.eye(2), out=o((2, 2))),
    "quantile": lambda t, o: t.quantile(t.ones(2), 0.5, out=o(())),
    "histc": lambda t, o: t.histc(t.ones(2), 3, out=o((3,))),
    "fft.irfft": lambda t, o: t.fft.irfft(t.ones(2), out=o((2,))),
    "fft.hfft2": lambda t, o: t.fft.hfft2(t.ones(2, 2), out=o((2, 2))),
}


def outcome(call, lib, dtype):
    try:
        made = call(lib, lambda shape: lib.full(shape, 7, dtype=getattr(lib, dtype)))
    except RuntimeError as error:
        return type(error).__name__
    return made.tolist()


@pytest.mark.filterwarnings("ignore:torch.chain_matmul is deprecated")
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "complex64"])
@pytest.mark.parametrize("name", CALLS)
def test_outputs_of_other_dtypes(name, dtype):
    wanted = outcome(CALLS[name], torch, dtype)
    found = outcome(CALLS[name], tenfold, dtype)
    if isinstance(wanted, str) or isinstance(found, str):
        assert found == wanted
    else:
        assert torch.allclose(torch.tensor(found), torch.tensor(wanted))


def test_logspace_fills_a_view():
    x = tenfold.zeros(2, 3)
    tenfold.logspace(0, 3, 4, base=2, out=x.narrow(1, 1, 2))
    assert x.tolist() == [[0, 1, 2], [0, 4, 8]]


CONSTANT = {
    "trapezoid": lambda t, x: t.trapezoid(x(0)),
    "trapezoid at points": lambda t, x: t.trapezoid(x(2, 0), x(2, 0)),
    "trapezoid of a column": lambda t, x: t.trapezoid(x(0, 2), dim=1),
    "vander": lambda t, x: t.vander(x(0)),
    "vander of ones": lambda t, x: t.vander(x(2), 1),
    "vander without columns": lambda t, x: t.vander(x(2), 0),
    "vander of nothing": lambda t, x: t.vander(x(0), 3),
    "vander with columns": lambda t, x: t.vander(x(2), 3, True),
}


@pytest.mark.parametrize("name", CONSTANT)
def test_results_that_no_argument_enters_have_no_gradient(name: str) -> None:
    theirs, ours = (CONSTANT[name](t, lambda *s, t=t: t.ones(*s, requires_grad=True)) for t in (torch, tenfold))
    assert (ours.requires_grad, tuple(ours.shape), ours.tolist()) == (theirs.requires_grad, tuple(theirs.shape), theirs.tolist())
