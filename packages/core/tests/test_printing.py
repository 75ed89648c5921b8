"""Literal texts: what a PyTorch user sees for the same values."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest

import tenfold
from tenfold.tensor import printing
from tenfold.tensor.printing import format_array, get_printoptions, printoptions, set_printoptions, tensor_repr


@pytest.fixture(autouse=True)
def _default_options():
    set_printoptions(profile="default")
    yield
    set_printoptions(profile="default")


def text(array, **options):
    values = np.asarray(array)
    return tensor_repr(
        values, shape=values.shape, **({"dtype_name": values.dtype.name, "default_dtype_name": "float64"} | options)
    )


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (1.5, "tensor(1.5000)"),
        (2.0, "tensor(2.)"),
        (7, "tensor(7)"),
        (True, "tensor(True)"),
        ([1, -20, 300], "tensor([  1, -20, 300])"),
        ([True, False], "tensor([ True, False])"),
        ([1.0, 2.5], "tensor([1.0000, 2.5000])"),
        ([0.0, 0.0], "tensor([0., 0.])"),
        ([math.nan, 1.0, -math.inf], "tensor([nan, 1., -inf])"),
        ([1e-5, 1.5], "tensor([1.0000e-05, 1.5000e+00])"),
        ([1.0, 1e9], "tensor([1.0000e+00, 1.0000e+09])"),
        ([1.0, 1000.0], "tensor([   1., 1000.])"),
        ([1.0, 1001.0], "tensor([1.0000e+00, 1.0010e+03])"),
        ([[1, 2], [3, 4]], "tensor([[1, 2],\n        [3, 4]])"),
        ([[[1], [2]], [[3], [4]]], "tensor([[[1],\n         [2]],\n\n        [[3],\n         [4]]])"),
        ([1 + 2j, -0.5j], "tensor([1.+2.0000j, -0.-0.5000j])"),
        (3 - 1j, "tensor(3.-1.j)"),
    ],
)
def test_values_take_one_form_per_tensor(values, expected):
    assert text(values) == expected


def test_a_large_tensor_shows_its_edges():
    rows = np.arange(2000).reshape(20, 100)
    assert text(rows) == (
        "tensor([[   0,    1,    2,  ...,   97,   98,   99],\n"
        "        [ 100,  101,  102,  ...,  197,  198,  199],\n"
        "        [ 200,  201,  202,  ...,  297,  298,  299],\n"
        "        ...,\n"
        "        [1700, 1701, 1702,  ..., 1797, 1798, 1799],\n"
        "        [1800, 1801, 1802,  ..., 1897, 1898, 1899],\n"
        "        [1900, 1901, 1902,  ..., 1997, 1998, 1999]])"
    )


def test_hidden_values_do_not_decide_the_form():
    values = np.ones(2000)
    values[1000] = 1e-7
    assert text(values) == "tensor([1., 1., 1.,  ..., 1., 1., 1.])"


def test_a_long_row_wraps_at_the_line_width():
    assert text(np.arange(30) + 100) == (
        "tensor([100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113,\n"
        "        114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127,\n"
        "        128, 129])"
    )


@pytest.mark.parametrize(
    ("shape", "options", "expected"),
    [
        ((0,), {}, "tensor([])"),
        ((0, 3), {}, "tensor([], size=(0, 3))"),
        ((0,), {"dtype_name": "int64"}, "tensor([], dtype=tenfold.int64)"),
        ((2, 0), {"requires_grad": True}, "tensor([], size=(2, 0), requires_grad=True)"),
    ],
)
def test_an_empty_tensor_names_what_the_brackets_hide(shape, options, expected):
    assert text(np.zeros(shape), **options) == expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"dtype_name": "float32"}, "tensor([1.], dtype=tenfold.float32)"),
        ({"dtype_name": "float32", "default_dtype_name": "float32"}, "tensor([1.])"),
        ({"requires_grad": True}, "tensor([1.], requires_grad=True)"),
        ({"requires_grad": True, "grad_fn_name": "AddBackward0"}, "tensor([1.], grad_fn=<AddBackward0>)"),
        ({"device": "cuda:0"}, "tensor([1.], device='cuda:0')"),
        ({"prefix": "Mask("}, "Mask([1.])"),
        (
            {"device": "cuda:0", "dtype_name": "float16", "grad_fn_name": "NativeLayerNormBackward0"},
            "tensor([1.], device='cuda:0', dtype=tenfold.float16,\n       grad_fn=<NativeLayerNormBackward0>)",
        ),
    ],
)
def test_suffixes(options, expected):
    assert text([1.0], **options) == expected


def test_the_meta_device_has_a_size_and_no_values():
    meta = tensor_repr(None, shape=(2, 3), dtype_name="int32", device="meta")
    assert meta == "tensor(..., device='meta', size=(2, 3), dtype=tenfold.int32)"
    assert tensor_repr(None, shape=(), dtype_name="float32", device="meta") == "tensor(..., device='meta', size=())"


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_short_floats(name):
    values = np.array([0.5, 2.0], getattr(ml_dtypes, name))
    assert text(values) == f"tensor([0.5000, 2.0000], dtype=tenfold.{name})"


def test_complex_follows_the_default_dtype():
    values = np.array([1 + 2j], np.complex64)
    assert text(values, default_dtype_name="float32") == "tensor([1.+2.j])"
    assert text(values, default_dtype_name="float64") == "tensor([1.+2.j], dtype=tenfold.complex64)"


def test_profiles():
    set_printoptions(profile="short")
    assert get_printoptions() == {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80, "sci_mode": None}
    set_printoptions(profile="full")
    assert text(np.arange(2000)).count(",") == 1999


def test_an_option_that_is_not_given_stays_except_sci_mode():
    set_printoptions(edgeitems=1, sci_mode=True)
    assert text([1.0, 2.0]) == "tensor([1.0000e+00, 2.0000e+00])"
    set_printoptions(precision=2)
    assert get_printoptions()["edgeitems"] == 1
    assert get_printoptions()["sci_mode"] is None
    set_printoptions(sci_mode=False)
    assert text([1e-7, 2e3]) == "tensor([   0.00, 2000.00])"


def test_no_edge_items_leave_only_dots():
    with printoptions(edgeitems=0, threshold=1):
        assert text(np.zeros((3, 3))) == "tensor([...], size=(3, 3))"


def test_printoptions_restores_after_an_error():
    with pytest.raises(RuntimeError, match="inside"), printoptions(precision=1, sci_mode=True):
        raise RuntimeError("inside")
    assert printing.get_printoptions() == {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": None}


def test_the_profiles_themselves_never_change():
    set_printoptions(profile="short")
    set_printoptions(precision=9)
    set_printoptions(profile="short")
    assert get_printoptions()["precision"] == 2


def test_format_array_indents_the_following_lines():
    assert format_array(np.eye(2), indent=3) == "[[1., 0.],\n    [0., 1.]]"


def test_tensors_print_themselves():
    assert repr(tenfold.arange(6).reshape(2, 3)) == "tensor([[0, 1, 2],\n        [3, 4, 5]])"
    assert repr(tenfold.zeros(2, 3, device="meta")) == "tensor(..., device='meta', size=(2, 3))"
    assert str(tenfold.tensor([1.5, 2.0]).to(tenfold.bfloat16)) == "tensor([1.5000, 2.0000], dtype=tenfold.bfloat16)"
