"""`Tensor(other)`, by which subclasses are made of tensors, against PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")
LIBRARIES = pytest.mark.parametrize("lib", [tenfold, torch], ids=["tenfold", "torch"])


@LIBRARIES
@pytest.mark.parametrize("dtype", ["int64", "float64", "bool", "complex64", "float32"])
def test_a_tensor_of_any_dtype_is_shared(lib: Any, dtype: str) -> None:
    given = lib.ones(3, 2, dtype=getattr(lib, dtype)).T
    made = lib.Tensor(given)
    assert (made.dtype, made.stride(), made.data_ptr()) == (given.dtype, given.stride(), given.data_ptr())
    assert made is not given
    made[0, 0] = 0
    assert not given[0, 0]


@LIBRARIES
def test_a_subclass_with_a_constructor_of_its_own(lib: Any) -> None:
    class Named(lib.Tensor):  # type: ignore[misc, name-defined]
        @staticmethod
        def __new__(cls: Any, data: Any, name: str) -> Any:
            return super().__new__(cls, data)

        def __init__(self, data: Any, name: str) -> None:
            self.title = name

    made = Named(lib.arange(3), "three")
    assert (type(made), made.title, made.tolist()) == (Named, "three", [0, 1, 2])
    assert type(made + 1) is Named


@LIBRARIES
def test_the_result_is_in_the_graph(lib: Any) -> None:
    x = lib.ones(2, requires_grad=True)
    made = lib.Tensor(x * 3)
    assert not made.is_leaf
    made.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


@LIBRARIES
def test_typed_constructors_still_refuse_other_dtypes(lib: Any) -> None:
    with pytest.raises(TypeError, match="expected"):
        lib.FloatTensor(lib.arange(3))
    with pytest.raises(TypeError, match="expected"):
        lib.ones(1).new(lib.arange(3))


@LIBRARIES
def test_gradients_of_a_subclass_are_plain_tensors(lib: Any) -> None:
    class Marked(lib.Tensor):  # type: ignore[misc, name-defined]
        pass

    leaf = lib.ones(2).as_subclass(Marked).requires_grad_()
    for _ in range(2):
        (leaf * 2).sum().backward()
        assert type(leaf.grad) is lib.Tensor
    assert leaf.grad.tolist() == [4.0, 4.0]
    plain = lib.ones(2, requires_grad=True)
    (plain.as_subclass(Marked) * 2).sum().backward()
    assert type(plain.grad) is lib.Tensor


@LIBRARIES
@pytest.mark.parametrize("make", ["Tensor", "FloatTensor", "new"])
def test_an_array_of_the_dtype_is_shared(lib: Any, make: str) -> None:
    array = np.zeros((3, 2), np.float32)
    made = (lib.ones(1).new if make == "new" else getattr(lib, make))(array.T)
    assert made.stride() == (1, 2)
    array[0, 1] = 5
    assert made.tolist() == [[0, 0, 0], [5, 0, 0]]
    wide = array.astype(np.float64)
    copied = lib.Tensor(wide)
    wide[0, 0] = 1
    assert (copied.dtype, copied.tolist()) == (lib.float32, [[0, 5], [0, 0], [0, 0]])


@LIBRARIES
def test_arrays_without_dimensions_are_values_and_whole_numbers_are_sizes(lib: Any) -> None:
    assert (lib.FloatTensor(np.array(3.5)).tolist(), lib.LongTensor(np.array(3.5)).tolist()) == (3.5, 3)
    assert lib.FloatTensor(np.array(3)).shape == (3,)
    assert lib.BoolTensor(np.array(True)).tolist() is True


@LIBRARIES
def test_arrays_that_no_tensor_can_share_are_refused(lib: Any) -> None:
    with pytest.raises(ValueError, match="negative"):
        lib.Tensor(np.ones(3, np.float32)[::-1])
