"""Masked reductions beside PyTorch's, on the samples of its own operator database: values, dtypes, shapes and gradients."""

import numpy
import pytest

import tenfold
from tenfold import masked

torch = pytest.importorskip("torch")
database = pytest.importorskip("torch.testing._internal.common_methods_invocations")

ENTRIES = {entry.name: entry for entry in database.op_db if entry.name.startswith("masked.")}
DTYPES = [torch.float32, torch.int64, torch.bool, torch.complex64]
pytestmark = pytest.mark.filterwarnings("ignore")  # PyTorch's, on what it has not finished


def ours(value, requires_grad=False):
    if isinstance(value, torch.dtype):
        return getattr(tenfold, str(value).removeprefix("torch."))
    if not isinstance(value, torch.Tensor):
        return value
    made = tenfold.from_numpy(numpy.array(value.detach().resolve_conj().numpy(), copy=True))
    return made.requires_grad_(requires_grad and value.requires_grad)


def thinned(found):
    """At most about sixty of them, from all over."""
    found = list(found)
    return found[:: 1 + len(found) // 60]


def compare(got, expected):
    tolerance = {"rtol": 2e-4, "atol": 2e-5} if expected.dtype.is_floating_point or expected.is_complex() else {}
    expected = expected.detach().resolve_conj()
    assert str(got.dtype).removeprefix("tenfold.") == str(expected.dtype).removeprefix("torch.")
    torch.testing.assert_close(torch.from_numpy(numpy.array(got.detach().numpy())), expected, equal_nan=True, **tolerance)


@pytest.mark.parametrize("name", sorted(ENTRIES))
def test_values(name):
    entry = ENTRIES[name]
    ran = 0
    for dtype in DTYPES:
        for sample in thinned(entry.sample_inputs("cpu", dtype)) if dtype in entry.dtypes else ():
            expected = entry.op(sample.input, *sample.args, **sample.kwargs)
            function = getattr(masked, name.removeprefix("masked."))
            arguments = [ours(a) for a in (sample.input, *sample.args)]
            got = function(*arguments, **{k: ours(v) for k, v in sample.kwargs.items()})
            compare(got, expected)
            ran += 1
    assert ran > 10


@pytest.mark.parametrize("name", sorted(n for n in ENTRIES if ENTRIES[n].supports_autograd))
def test_gradients(name):
    entry = ENTRIES[name]
    for sample in thinned(entry.sample_inputs("cpu", torch.float64, requires_grad=True)):
        expected = entry.op(sample.input, *sample.args, **sample.kwargs)
        if not expected.requires_grad:
            continue
        x = ours(sample.input, True)
        arguments = [x, *(ours(a) for a in sample.args)]
        got = getattr(masked, name.removeprefix("masked."))(*arguments, **{k: ours(v) for k, v in sample.kwargs.items()})
        weight = torch.rand(expected.shape, dtype=expected.dtype, generator=torch.Generator().manual_seed(0))
        (gradient,) = torch.autograd.grad(expected, sample.input, weight, allow_unused=True)
        (mine,) = tenfold.autograd.grad(got, x, ours(weight), allow_unused=True)
        compare(tenfold.zeros_like(x) if mine is None else mine, torch.zeros_like(sample.input) if gradient is None else gradient)
