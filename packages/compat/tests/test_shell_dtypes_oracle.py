"""Dtypes that no tensor has, compared with PyTorch's."""

from __future__ import annotations

import copy
import pickle

import pytest

import tenfold
from tenfold.as_torch.stand_ins.shell_dtypes import DTYPES

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("name", DTYPES)
def test_what_they_say(name: str) -> None:
    ours, theirs = DTYPES[name], getattr(torch, name)
    assert isinstance(ours, tenfold.dtype)
    assert (ours.itemsize, ours.is_floating_point, ours.is_complex) == (theirs.itemsize, theirs.is_floating_point, False)
    if name[0] in "iu":  # PyTorch does not say it of bits and quantized ones
        assert ours.is_signed == theirs.is_signed
    assert repr(ours).rpartition(".")[2] == repr(theirs).rpartition(".")[2]
    assert ours != tenfold.int8
    assert copy.deepcopy(ours) is pickle.loads(pickle.dumps(ours)) is ours
    with pytest.raises(NotImplementedError, match="no tensors have this dtype"):
        tenfold.empty(2, dtype=ours)


def test_every_dtype_of_pytorchs_is_there() -> None:
    theirs = {name for name in dir(torch) if isinstance(getattr(torch, name), torch.dtype)}
    assert {name for name in theirs if name not in DTYPES and not hasattr(tenfold, name)} <= {"bit"}  # uint1's other name
