"""Numbers beyond the range of the integers that they are converted to."""

import pytest

import tenfold

torch = pytest.importorskip("torch")

LARGE = [2.0**31, 2.0**31 + 204, -(2.0**31) - 300, 2.0**32 + 7, -(2.0**32) - 7, 1e10, -1e10, 2.0**53 + 2, 300.0, -1.5, 255.9]
INTEGERS = ("uint8", "int8", "int16", "int32", "int64")
WAYS = {
    "to": lambda library, x, dtype: x.to(dtype),
    "to of every second": lambda library, x, dtype: x[::2].to(dtype),
    "to of rows": lambda library, x, dtype: x.expand(2, len(x)).t().to(dtype),
    "copy_": lambda library, x, dtype: library.zeros(len(x), dtype=dtype).copy_(x),
    "copy_ to rows": lambda library, x, dtype: library.zeros(2, len(x), dtype=dtype).copy_(x),
    "fill_": lambda library, x, dtype: library.zeros(2, dtype=dtype).fill_(x[1]),
    "set": lambda library, x, dtype: setting(library.zeros(len(x), 2, dtype=dtype), x),
}


def setting(out, x):
    out[:, 1] = x
    return out


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("target", INTEGERS)
@pytest.mark.parametrize("source", ["float64", "float32", "complex128"])
@pytest.mark.parametrize("times", [1, 200])
@pytest.mark.filterwarnings("ignore:Casting complex values")
def test_the_low_bits_are_kept_where_pytorch_keeps_them(way, target, source, times):
    theirs, ours = (
        WAYS[way](library, library.tensor(LARGE * times, dtype=getattr(library, source)), getattr(library, target))
        for library in (torch, tenfold)
    )
    assert ours.tolist() == theirs.tolist()
