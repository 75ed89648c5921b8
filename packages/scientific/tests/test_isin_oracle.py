"""`isin` of few elements, which are compared one by one, and of many, against PyTorch."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tenfold
from tenfold.scientific.ops import membership

torch = pytest.importorskip("torch")
LAYOUTS = {
    "rows": lambda x: x, "turned": lambda x: x.t(), "strided": lambda x: x[:, ::2], "empty": lambda x: x[:0],
    "one": lambda x: x[0, 1],
}  # fmt: skip
KNOWN = ([], [2], [2, 5, 9], [3, 3, 0, 1, 7, 8, 2, 5], list(range(20)), [[1, 4], [6, 2]])


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int32", "uint8", "float16"])
@pytest.mark.parametrize("other", ["float32", "int64"])
def test_membership(dtype, other):
    numbers = np.arange(24).reshape(4, 6) % 11
    for layout, known, invert in itertools.product(LAYOUTS, KNOWN, (False, True)):
        found = []
        for lib in (tenfold, torch):
            x, among = LAYOUTS[layout](lib.tensor(numbers).to(getattr(lib, dtype))), lib.tensor(known).to(getattr(lib, other))
            made = lib.isin(x, among, invert=invert)
            found.append((str(made.dtype).split(".")[1], tuple(made.shape), made.tolist()))
        assert found[0] == found[1], (layout, known, invert)


def test_numbers_and_what_is_no_number():
    special = [0.0, -0.0, float("nan"), float("inf"), 1.0]
    for known in (float("nan"), 0.0, -0.0, float("inf"), 3, [float("nan"), 1.0], [0.0]):
        for invert in (False, True):
            found = [
                lib.isin(lib.tensor(special), lib.tensor(known) if isinstance(known, list) else known, invert=invert).tolist()
                for lib in (tenfold, torch)
            ]
            assert found[0] == found[1], known
    assert tenfold.isin(3, tenfold.tensor([1, 3])).tolist() is torch.isin(3, torch.tensor([1, 3])).tolist()


def test_few_elements_are_not_put_in_order(monkeypatch):
    monkeypatch.setattr(membership, "searchsorted", None)
    monkeypatch.setattr(tenfold.Tensor, "sort", None)
    assert tenfold.isin(tenfold.tensor([1, 2, 3]), tenfold.tensor([3, 1])).tolist() == [True, False, True]


def test_results_lie_in_one_piece():
    for known in ([3], [1, 2, 3], list(range(30))):
        theirs, ours = (m.isin(m.arange(12).reshape(4, 3).t(), m.tensor(known)) for m in (torch, tenfold))
        assert (ours.stride(), ours.tolist()) == (theirs.stride(), theirs.tolist())
