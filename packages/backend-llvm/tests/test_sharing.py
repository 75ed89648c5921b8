"""Native `from_numpy`: the same tensors on the same memory as in the interpreter."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from left_behind import SMALL, left_behind, repeated

import tenfold
from tenfold.llvm import call_paths
from tenfold.llvm.session import session

POSSIBLE = call_paths.possible()
pytestmark = [
    pytest.mark.skipif(not POSSIBLE, reason="call paths are native from Python 3.12 on, where nobody has said no"),
    pytest.mark.filterwarnings("ignore:The given NumPy array is not writable"),
]


@pytest.fixture(autouse=True)
def _warm():
    """Have native code, which the first call of an operator with a compiled kernel brings."""
    tenfold.exp(tenfold.ones(3))


def arrays():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((4, 6)).astype(np.float32)
    yield from (
        x,
        x.T,
        x[:, ::2],
        x[1:],
        x[::-1],
        x[:0],
        x.ravel(),
        np.float32(1),
        np.array(2.0),
        np.zeros((3, 1, 2)),
        x.copy("F"),
    )
    yield from (x.astype(kind) for kind in ("f8", "i8", "i4", "u1", "?", "f2", "c8", ">f4", "u8", "S3", "M8[s]"))
    yield from (np.frombuffer(bytes(24), np.float32), np.zeros(3).view(np.recarray), np.zeros(3, "f4,f4"), [1.0], None)
    fixed = x.copy()
    fixed.flags.writeable = False
    yield fixed


def described(array):
    try:
        t = tenfold.from_numpy(array)
    except Exception as error:  # noqa: BLE001 - compared
        return type(error), str(error)
    s = t._storage
    held = t._array
    fields = (s.version, s.guarded, s.lent, s.marked, s.listing, s.noting, s.unlisted, s.views, s.array is held)
    place = t.untyped_storage().nbytes(), t.storage_offset(), t.data_ptr() - array.ctypes.data
    return (
        type(t),
        t.dtype,
        t.shape,
        t.stride(),
        t.requires_grad,
        t._version,
        t._base,
        held.flags.num,
        held.strides,
        *fields,
        place,
    )


def test_tensors_are_those_of_the_interpreter():
    for array in arrays():
        got = described(array)
        with session().paths.suspended():
            assert described(array) == got


def test_memory_is_shared_and_kept(entered):
    array = np.arange(6.0).reshape(2, 3).copy()
    t = tenfold.from_numpy(array)
    assert entered(lambda a=array: tenfold.from_numpy(a)) == ["<lambda>"]
    array[0, 0] = 7
    t[1, 2] = 9
    assert (t[0, 0].item(), array[1, 2]) == (7, 9)
    assert t.numpy().base is not None
    del array
    gc.collect()
    assert t.tolist() == [[7, 1, 2], [3, 4, 9]]


def test_no_reference_is_left():
    array = np.zeros(5, np.float32)
    assert left_behind(repeated([lambda: tenfold.from_numpy(array)], 5000), (array, array.dtype)) < SMALL
