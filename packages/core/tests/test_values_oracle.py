"""Every elementwise operator, activation and reduction at the numbers where formulas break down, compared with PyTorch's.

The operators come from the list of operators: a new one is compared as soon as it is declared. Signs of zeros are not compared.
"""

import inspect
import math

import numpy as np
import pytest

import tenfold
from tenfold import plugins
from tenfold.dispatch.operators import OPERATORS

torch = pytest.importorskip("torch")

INF, NAN = math.inf, math.nan
SPECIAL = [0.0, -0.0, INF, -INF, NAN, 1, -1, 0.5, -0.5, 2.5, -2.5, 1.5, 1e-3, 10, 88, -88, 100, 700, 1e-20, -1e-20]
COMPLEX = [1, -1, 1j, -1j, 1 + 1j, -2.5 + 0.5j, 3 - 4j, 1e-3j, -0.5 - 1e-3j, 10]
NUMBERS = {
    "float64": [*SPECIAL, 1e300, -1e300, 5e-324, 3e154],
    "float32": [*SPECIAL, 3e38, -3e38, 1e-45, 1e19],
    "float16": [0.0, INF, -INF, NAN, 1, -1, 0.5, -0.5, 2.5, -2.5, 1e-3, 10, 12, -17, 88, 65504, -65504, 6e-8],
    "bfloat16": [*SPECIAL, 3e38, -3e38],
    "complex64": COMPLEX,
    "complex128": COMPLEX,
    "bool": [0, 1],
    "uint8": [0, 1, 2, 3, 127, 128, 254, 255],
    "int8": [0, 1, -1, 2, -3, 126, 127, -127],
    "int16": [0, 1, -1, 3, -3, 2**15 - 1],
    "int32": [0, 1, -1, 3, -3, 2**31 - 1],
    "int64": [0, 1, -1, 3, -3, 2**31, 2**53 + 1, 2**63 - 1],
}
TOLERANCE = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 2e-6, "float64": 4e-15, "complex64": 4e-6, "complex128": 1e-13}
LEAST = {
    "float16": 2e-7,
    "bfloat16": 1e-19,
    "float32": 1e-44,
    "float64": 1e-322,
}  # where PyTorch flushes to 0, or a polynomial ends
PYTORCHS_OWN = {
    "median": "rows that share memory are sorted in place, one over the other",
    "nanmedian": "as median",
    "mode": "equal numbers of occurrences with nan, 0 and -0 among them",
    "fmod": "nan for a quotient that overflows",
    "remainder": "as fmod",
    "gelu": "nan at infinity",
    "unique": "nan are compared with their neighbours alone, 0 and -0 of float16 are distinct",
    "var_mean": "the mean of infinities is nan",
    "std_mean": "as var_mean",
    "trapezoid": "infinities are subtracted",
    "lcm": "the sign of what overflows",
    "argsort": "equal elements in any order",
    "searchsorted": "places in what is not in order",
    "bucketize": "as searchsorted",
    "logcumsumexp": "the phase of a complex logarithm may be any",
    "logaddexp": "as logcumsumexp",
    "cosh": "infinite at 710 in float64",
    "sinh": "as cosh",
    "std": "squares in float64, which cannot overflow",
    "cumprod": "half precision rounded at every step",
    "sort": "the positions of equal elements",
    "cdist": "a product's rounding of infinities",
}


# Compared less closely: PyTorch rounds on the way.
COARSELY = ("logaddexp2", "erf", "tanhshrink", "log_softmax", "logsumexp")


def forms(operator):
    """Calls of an operator with one tensor, two, a number, three, or a dimension."""
    required = [p for p in operator.params if p.default is inspect.Parameter.empty]
    roles = [p.role for p in required]
    if roles == ["tensor"]:
        yield lambda fn, x, y: fn(x)
    elif roles in (["tensor", "number"], ["number", "number"], ["tensor", "tensor"]):
        yield lambda fn, x, y: fn(x, y)
        if roles[1] == "number":
            yield from [lambda fn, x, y, number=number: fn(x, number) for number in (2.5, 3, -1)]
    elif roles == ["tensor"] * 3:
        yield lambda fn, x, y: fn(x, y, x)
    elif [p.name for p in required] == ["input", "dim"]:
        yield from [lambda fn, x, y, dim=dim: fn(x, dim) for dim in (0, -1)]


def compared():
    plugins.load_operators()
    for name, operator in sorted(OPERATORS.items()):
        known = any(hasattr(place, name) for place in (torch, torch.nn.functional))
        compared_family = operator.family in ("pointwise", "activation", "reduction") and not operator.inplace_of
        if known and compared_family and list(forms(operator)):
            yield name


def layouts(lib, x):
    """The numbers in a row with each pair of neighbours, 0-d, none, expanded, with steps, transposed."""
    yield x[:, None], x[None]
    yield x[len(x) // 2], x[0]
    yield x[:0], x[:0]
    yield x[:1].unsqueeze(1).expand(3, 4), x[:1]
    yield lib.stack([x, x], 1)[:, ::2], x[:, None]
    yield lib.stack([x, x.flip(0)]).t(), x[:, None]


def numbers(result):
    results = result if isinstance(result, (tuple, list)) else [result]
    for x in results:
        lib = torch if isinstance(x, torch.Tensor) else tenfold
        wide = x.resolve_conj()
        wide = wide.to(lib.complex128) if wide.is_complex() else wide.double() if wide.is_floating_point() else wide
        yield str(x.dtype).split(".")[-1], tuple(x.shape), wide.numpy()


def agree(name, found, expected):
    for (kind, shape, x), (expected_kind, expected_shape, y) in zip(numbers(found), numbers(expected), strict=True):
        assert shape == expected_shape
        if name in PYTORCHS_OWN:
            continue
        assert kind == expected_kind
        if x.dtype.kind in "fc":
            rtol, atol = TOLERANCE[kind], LEAST.get(kind, 0 if x.dtype.kind == "f" else TOLERANCE[kind] * 30)
            if name in COARSELY:
                rtol, atol = max(rtol, 0.05), 1e-2
            for part in ("real", "imag"):
                np.testing.assert_allclose(getattr(x, part), getattr(y, part), rtol=rtol, atol=atol)
        else:
            np.testing.assert_array_equal(x, y)


@pytest.mark.filterwarnings("error:(invalid|divide|over|under).* encountered:RuntimeWarning")  # what NumPy says of nan
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", list(compared()))
def test_as_in_pytorch(name):
    ours = OPERATORS[name].fn
    theirs = getattr(torch, name, None) or getattr(torch.nn.functional, name)
    for dtype, values in NUMBERS.items():
        pairs = zip(*[layouts(lib, lib.tensor(values, dtype=getattr(lib, dtype))) for lib in (tenfold, torch)])
        for (x, y), (their_x, their_y) in pairs:
            for form in forms(OPERATORS[name]):
                try:
                    expected = form(theirs, their_x, their_y)
                except Exception:  # noqa: BLE001 - what PyTorch refuses is another test's affair
                    continue
                if isinstance(expected, torch.Tensor) and expected.dtype is torch.complex32:
                    continue
                try:
                    found = form(ours, x, y)
                except (NotImplementedError, RuntimeError):
                    if x.numel() > 1:
                        raise
                    continue  # PyTorch does not look at the dtype of so few
                if isinstance(expected, (torch.Tensor, tuple)):
                    agree(name, found, expected)
                else:
                    assert found == expected


def test_a_wrong_formula_at_infinity_is_seen(monkeypatch):
    def logaddexp(x, y):
        return x + tenfold.log1p(tenfold.exp(y - x))

    monkeypatch.setattr(OPERATORS["hypot"], "fn", lambda x, y: tenfold.sqrt(x * x + y * y))
    with pytest.raises(AssertionError):
        test_as_in_pytorch("hypot")
    infinite = tenfold.tensor([INF])
    with pytest.raises(AssertionError):
        agree("", logaddexp(infinite, infinite), torch.logaddexp(torch.tensor([INF]), torch.tensor([INF])))
