"""NumPy's numbers and arrays beside tensors, in Python's operators, functions and indices: results and refusals are PyTorch's."""

from __future__ import annotations

import operator
import warnings
from typing import Any

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")

DTYPES = "bool uint8 int8 int32 int64 float16 float32 float64 complex64".split()
# complex64 is left out: of a number of that kind PyTorch takes the real part.
NUMBERS = [np.dtype(name).type(1) for name in "bool uint8 int8 int16 int32 int64 float16 float32 float64 longdouble".split()]
NUMBERS += [np.complex128(1)]
# No zeros, by which NumPy divides with a warning; no bools, which PyTorch makes bytes of after NumPy computed them.
ARRAYS = [np.array(values, name) for name in ("uint8", "int32", "int64", "float32", "float64") for values in (2, [1, 2, 3])]
BINARY = "add sub mul truediv floordiv mod pow and_ or_ xor lshift rshift lt le gt ge eq ne".split()
INPLACE = "iadd isub imul itruediv ifloordiv imod ipow iand ior ixor".split()
FUNCTIONS: dict[str, Any] = {
    "add of a number first": lambda t, x, n: t.add(n, x),
    "sub of a number first": lambda t, x, n: t.sub(n, x),
    "div of a number first": lambda t, x, n: t.div(n, x),
    "pow of a number first": lambda t, x, n: t.pow(n, x),
    "where": lambda t, x, n: t.where(t.tensor([True, False, True]), n, x),
    "full": lambda t, x, n: t.full((2,), n),
    "full of a dtype": lambda t, x, n: t.full((2,), n, dtype=x.dtype),
    "masked_fill": lambda t, x, n: x.masked_fill(t.tensor([True, False, True]), n),
    "fill_": lambda t, x, n: x.clone().fill_(n),
    "copy_": lambda t, x, n: x.clone().copy_(n),
    "tensor": lambda t, x, n: t.tensor([n, n]),
    "in": lambda t, x, n: n in x,
    "result_type": lambda t, x, n: str(t.result_type(x, n)).split(".")[-1],
}
INDICES = [
    np.array([0, 2], "int8"), np.array([0.9, 2.1]), np.array(1.5), [0.0, 1.9], [np.float64(1)], np.array([[0, 1]], "uint16"),
    np.array([True, False, True]), np.array(1, "uint8"), np.array([1, 0, 1], "uint8"), np.array([], float), np.array(2),
    [True, False, True], np.float32(1), 1.0, (np.array([0, 1]),), [np.array(0.5)],
]  # fmt: skip


def told(t: Any, run: Any, x: Any) -> Any:
    """What a call gives: the dtype, shape and elements of a tensor, or the type of an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = run(t, x)
        except Exception as error:  # noqa: BLE001 - the type is what is compared
            return type(error)
    if not isinstance(value, t.Tensor):
        return value
    return str(value.dtype).split(".")[-1], tuple(value.shape), value.tolist()


def compare(run: Any, dtypes: Any = DTYPES) -> None:
    for name in dtypes:
        mine, theirs = (told(t, run, t.tensor([1, 2, 1]).to(getattr(t, name))) for t in (tenfold, torch))
        assert mine == theirs, name


@pytest.mark.parametrize("number", NUMBERS, ids=lambda n: type(n).__name__)
@pytest.mark.parametrize("name", BINARY)
def test_numbers_on_either_side(name: str, number: Any) -> None:
    function = getattr(operator, name)
    dtypes = [d for d in DTYPES if name != "pow" or not isinstance(number, complex) or d != "float16"]  # no powers of complex32
    compare(lambda t, x: function(x, number), dtypes)
    compare(lambda t, x: function(number, x), dtypes)


@pytest.mark.parametrize("number", NUMBERS, ids=lambda n: type(n).__name__)
@pytest.mark.parametrize("name", INPLACE)
def test_numbers_in_place(name: str, number: Any) -> None:
    compare(lambda t, x: getattr(operator, name)(x, number), [d for d in DTYPES if d != "float16"])


@pytest.mark.parametrize("array", ARRAYS, ids=lambda a: f"{a.dtype}{a.shape}")
@pytest.mark.parametrize("name", BINARY[:7])
def test_arrays_behind_a_tensor(name: str, array: Any) -> None:
    if name in ("floordiv", "mod", "pow"):  # of complex numbers NumPy says something else; with bools it computes in bytes
        compare(lambda t, x: getattr(operator, name)(x, array), [d for d in DTYPES if d not in ("bool", "complex64")])
    else:
        compare(lambda t, x: getattr(operator, name)(x, array))


@pytest.mark.parametrize("number", [n for n in NUMBERS if not isinstance(n, np.longdouble)], ids=lambda n: type(n).__name__)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_numbers_in_functions(name: str, number: Any) -> None:
    no_halves = name.startswith("pow") and isinstance(number, complex)
    compare(lambda t, x: FUNCTIONS[name](t, x, number), [d for d in DTYPES if not no_halves or d != "float16"])


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_indices(index: Any) -> None:
    def written(t: Any, x: Any) -> Any:
        x[index] = 5
        return x

    compare(lambda t, x: x[index], ["int64"])
    if repr(index) != "array([1, 0, 1], dtype=uint8)":  # masks of bytes PyTorch reads, but does not write by
        compare(written, ["int64"])


@pytest.mark.parametrize("t", [tenfold, torch])
def test_a_refused_size_is_not_kept(t: Any) -> None:
    x = t.ones(1, 37)
    for refused in (np.bool_(True), 1.0):
        with pytest.raises(TypeError):
            x.expand(refused, 37)
    assert x.expand(1, 37).shape == x.expand(np.int64(1), 37).shape == (1, 37)


@pytest.mark.parametrize("t", [tenfold, torch])
def test_counts_of_repeat_interleave(t: Any) -> None:
    x = t.tensor([1, 2])
    assert x.repeat_interleave(np.int64(2)).tolist() == x.repeat_interleave(np.array(2)).tolist() == [1, 1, 2, 2]
    for refused in (2.0, np.bool_(True), range(2), np.array([1, 1]), True):
        with pytest.raises(TypeError):
            x.repeat_interleave(refused)
