"""Numbers that tensors are multiplied by, such as `alpha`, are refused as in PyTorch: complex ones of real tensors."""

from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")


def calls(t: Any, dtype: str, factor: Any) -> dict[str, Any]:
    def ones(*sizes: int) -> Any:
        return t.ones(*sizes, dtype=getattr(t, dtype))

    v, m, b = ones(2), ones(2, 2), ones(1, 2, 2)
    return {
        "add": lambda: t.add(v, v, alpha=factor),
        "add_": lambda: v.clone().add_(v, alpha=factor),
        "add of a number": lambda: t.add(v, 2, alpha=factor),
        "sub": lambda: t.sub(v, v, alpha=factor),
        "rsub": lambda: t.rsub(v, v, alpha=factor),
        "addmm": lambda: t.addmm(m, m, m, alpha=factor),
        "addmm, beta": lambda: t.addmm(m, m, m, beta=factor),
        "addmv": lambda: t.addmv(v, m, v, alpha=factor),
        "addmv, beta": lambda: t.addmv(v, m, v, beta=factor),
        "addbmm": lambda: t.addbmm(m, b, b, alpha=factor),
        "baddbmm": lambda: t.baddbmm(b, b, b, beta=factor),
        "addr": lambda: t.addr(m, v, v, alpha=factor),
        "addcmul": lambda: t.addcmul(v, v, v, value=factor),
        "addcdiv": lambda: t.addcdiv(v, v, v, value=factor),
        "addcdiv_": lambda: v.clone().addcdiv_(v, v, value=factor),
        "lerp": lambda: t.lerp(v, v * 2, factor),
        "index_add": lambda: v.index_add(0, t.tensor([0]), ones(1), alpha=factor),
        "_foreach_add": lambda: t._foreach_add([v], [v], alpha=factor)[0],
    }


def outcome(call: Any) -> Any:
    try:
        result = call()
    except Exception as error:  # noqa: BLE001 - which one is the question
        return type(error)
    return str(result.dtype).split(".")[1], result.tolist()


@pytest.mark.parametrize("factor", [1j, 1 + 0j, 1.5, 2, -1, True, float("inf")])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "uint8", "complex64"])
def test_a_factor_is_taken_or_refused_as_by_pytorch(dtype: str, factor: Any) -> None:
    ours, theirs = calls(tenfold, dtype, factor), calls(torch, dtype, factor)
    names = [n for n in ours if not (dtype == "complex64" and factor == float("inf"))]  # whose NaN is the C library's affair
    assert {n: outcome(ours[n]) for n in names} == {n: outcome(theirs[n]) for n in names}


@pytest.mark.parametrize("name", ["rsub", "addmv", "addbmm", "baddbmm", "addcmul", "addcdiv", "index_add"])
def test_a_factor_beyond_the_range_of_float32_is_refused(name: str) -> None:
    with pytest.raises(RuntimeError, match="without overflow"):
        calls(tenfold, "float32", 1e39)[name]()


@pytest.mark.parametrize("factor", [1e9, 70000, -1e9, 3.0, float("inf")])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_an_alpha_beyond_half_precision(dtype: str, factor: Any) -> None:
    ours, theirs = calls(tenfold, dtype, factor), calls(torch, dtype, factor)
    names = ["add", "add_", "sub", "addmm", "addcmul", "addcdiv", "_foreach_add"]
    assert {n: outcome(ours[n]) for n in names} == {n: outcome(theirs[n]) for n in names}


@pytest.mark.parametrize("number", [1e9, 65505.0, -1e39, 2**40, 3.0, float("nan"), float("inf")])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_numbers_for_what_is_none_that_the_dtype_does_not_hold(dtype: str, number: Any) -> None:
    found = []
    for t in (tenfold, torch):
        x = t.tensor([float("nan"), float("inf"), -float("inf"), 1.0], dtype=getattr(t, dtype))
        found.append(repr([t.nan_to_num(x, number).tolist(), t.nan_to_num(x, 0.0, number, number).tolist()]))
    assert found[0] == found[1]


def test_a_complex_alpha_is_named() -> None:
    with pytest.raises(RuntimeError, match="For non-complex input tensors, argument alpha must not be a complex number"):
        tenfold.add(tenfold.ones(1), tenfold.ones(1), alpha=1j)


FILLINGS = {
    "fill_": lambda t, x, v: x.fill_(v),
    "an element": lambda t, x, v: x.__setitem__(0, v),
    "a mask": lambda t, x, v: x.__setitem__(t.tensor([True, False]), v),
    "a mask, of a tensor": lambda t, x, v: x.__setitem__(t.tensor([True, False]), t.tensor(v, dtype=t.float64)),
    "a mask beside None": lambda t, x, v: x.__setitem__((None, t.tensor([True, False])), t.tensor(v, dtype=t.float64)),
    "masked_fill": lambda t, x, v: x.masked_fill(t.tensor([True, False]), v),
    "masked_fill by a tensor": lambda t, x, v: x.masked_fill(t.tensor([True, False]), t.tensor(v, dtype=t.float64)),
    "masked_fill_ by a tensor": lambda t, x, v: x.masked_fill_(t.tensor([True, False]), t.tensor(v, dtype=t.float64)),
    "index_fill_": lambda t, x, v: x.index_fill_(0, t.tensor([0]), v),
}


@pytest.mark.parametrize("name", FILLINGS)
@pytest.mark.parametrize(
    ("dtype", "value"),
    [("int8", 127.0), ("int8", 127.5), ("int8", -128.5), ("uint8", -0.5), ("int32", 2.0**31), ("int64", 1e19),
     ("int64", float("nan")), ("float16", 65519.0), ("float16", float("inf")), ("float32", 1e39), ("bool", 2.5)],
)  # fmt: skip
def test_what_fills_a_tensor_is_taken_or_refused_as_by_pytorch(name: str, dtype: str, value: float) -> None:
    def filled(t: Any) -> Any:
        x = t.ones(2, dtype=getattr(t, dtype))
        result = FILLINGS[name](t, x, value)
        return x if result is None else result

    assert outcome(lambda: filled(tenfold)) == outcome(lambda: filled(torch))
