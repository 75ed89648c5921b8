"""Copies, pickles and saved subclasses keep what tensors share, their strides, attributes and state."""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

import pytest

import tenfold


def moved(obj: Any, writer: Any, reader: Any, **options: Any) -> Any:
    file = io.BytesIO()
    writer.save(obj, file)
    file.seek(0)
    return reader.load(file, **options)


@pytest.mark.parametrize("how", [copy.deepcopy, lambda obj: pickle.loads(pickle.dumps(obj))])
def test_copies_share_what_the_originals_share(how: Any) -> None:
    x = tenfold.arange(6.0).reshape(2, 3)
    storage = x.untyped_storage()
    back = how([x, x.t(), x[1], storage, storage])
    assert back[1].stride() == (1, 3)
    assert back[3] is back[4]
    assert back[0].data_ptr() == back[1].data_ptr() == back[3].data_ptr() == back[2].data_ptr() - 12
    back[0].fill_(5.0)
    assert back[2].tolist() == [5.0] * 3
    assert x.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    assert back[0].untyped_storage() is back[3]


def test_pickles_keep_strides_attributes_and_gradient_flags() -> None:
    pytest.importorskip("tenfold.autograd")
    x = tenfold.arange(6.0).reshape(2, 3).t()
    x.note = "a"
    back = pickle.loads(pickle.dumps(x))
    assert (back.stride(), back.note, back.tolist()) == (x.stride(), "a", x.tolist())
    assert pickle.loads(pickle.dumps(tenfold.arange(3).flip(0))).tolist() == [2, 1, 0]
    made = pickle.loads(pickle.dumps(tenfold.ones(2, requires_grad=True) * 2))  # a computed one comes back as a leaf
    assert made.requires_grad
    assert made.is_leaf
    assert pickle.loads(pickle.dumps(tenfold.empty(2, 3, device="meta").t())).stride() == (1, 3)
    assert pickle.loads(pickle.dumps(tenfold.zeros(0, 3))).shape == (0, 3)


class Wrapper(tenfold.Tensor):
    """A tensor class with slots of its own."""

    __slots__ = ["inner"]


class Stateful(tenfold.Tensor):
    """A tensor class that says what its state is."""

    def __getstate__(self) -> Any:
        return ("marker", self.__dict__)

    def __setstate__(self, state: Any) -> None:
        assert state[0] == "marker"
        self.__dict__ = state[1]
        self.reloaded = True


@pytest.mark.parametrize("how", ["save", "pickle", "copy"])
def test_subclasses(how: str) -> None:
    made: Any = tenfold.ones(2).as_subclass(Wrapper)
    made.inner, made.note = tenfold.arange(2), "a"
    other: Any = tenfold.ones(2).as_subclass(Stateful)
    other.note = "b"
    if how == "save":
        a, b = moved([made, other], tenfold, tenfold, weights_only=False)
        with tenfold.serialization.safe_globals([Wrapper, Stateful]):
            assert moved([made, other], tenfold, tenfold)[0].inner.tolist() == [0, 1]
    else:
        a, b = copy.deepcopy([made, other]) if how == "copy" else pickle.loads(pickle.dumps([made, other]))
    assert (type(a), a.inner.tolist(), a.note, type(b), b.note) == (Wrapper, [0, 1], "a", Stateful, "b")
    assert how == "copy" or b.reloaded
