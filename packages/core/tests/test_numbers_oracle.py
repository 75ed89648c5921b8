"""Values, dtypes and refusals of single calls, compared with PyTorch's: dtypes that meet, places where formulas break down."""

import math
import sys

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")

INF, NAN = math.inf, math.nan
SPECIAL = [-INF, -3.7, -1.0, -0.0, 0.0, 1e-20, 0.3, 1.1, 3.7, 250.0, INF, NAN]
TOLERANCE = {"float16": 1e-3, "bfloat16": 8e-3, "float32": 3e-7, "complex64": 1e-6}


class Subclass(np.ndarray):
    pass


def t(lib, values, dtype):
    return lib.tensor(values).to(getattr(lib, dtype))


def written(x, method, *args):
    """What the tensor itself is after an in-place method."""
    getattr(x, method)(*args)
    return x


def shifted(lib, right):
    x = y = lib.tensor([1, 2, 3])
    if right:
        x >>= 1
    else:
        x <<= 1
    return y


def out_on_a_view(lib, name, *args):
    x = lib.zeros(4, 4)
    lib.manual_seed(0)
    getattr(lib, name)(*args, out=x[:, 1])
    return x


def set_by_index(lib):
    x = lib.zeros(3, dtype=lib.bool)
    x[:] = lib.tensor([1j, 0, 1])
    return x


def expanded(lib, write):
    x = lib.zeros(2, 1).expand(2, 3)
    write(lib, x)
    return x


def put(mask, values):
    def run(lib):
        x = lib.zeros(3)
        x[lib.tensor(mask)] = lib.tensor(values)
        return x

    return run


def steps(lib, shape, dim):
    return lib.tensor(lib.zeros(shape).unsqueeze(dim).stride())


def wide(lib):
    return lib.tensor(2.0, dtype=lib.float64)


CASES = {
    "complex to bool": lambda lib: lib.tensor([1j, 0, 1]).bool(),
    "complex copied to bool": lambda lib: lib.zeros(3, dtype=lib.bool).copy_(lib.tensor([1j, 0, 1])),
    "complex set into bool": set_by_index,
    "complex counted": lambda lib: lib.count_nonzero(lib.tensor([1j, 0, 1])),
    "left shift in place": lambda lib: shifted(lib, False),
    "right shift in place": lambda lib: shifted(lib, True),
    "pow_ of integers": lambda lib: written(lib.tensor([1, 2, -1]), "pow_", lib.tensor([-1, -1, -3])),
    "pow_ by a negative number": lambda lib: written(lib.tensor([1, 2, -1]), "pow_", -1),
    "pow of integers": lambda lib: lib.tensor([1, 2, -1]).pow(lib.tensor([-1, -1, -3])),
    "arange on a view": lambda lib: out_on_a_view(lib, "arange", 4),
    "linspace on a view": lambda lib: out_on_a_view(lib, "linspace", 0, 1, 4),
    "logspace on a view": lambda lib: out_on_a_view(lib, "logspace", 0, 1, 4),
    "randn on a view": lambda lib: out_on_a_view(lib, "randn", 4),
    "full on a view": lambda lib: out_on_a_view(lib, "full", (4,), 2.0),
    "arange into int32": lambda lib: lib.arange(0, 4, out=lib.zeros(4, dtype=lib.int32)),
    "linspace into int64": lambda lib: lib.linspace(0, 5, 3, out=lib.zeros(3, dtype=lib.int64)),
    "arange of bools": lambda lib: lib.arange(False, True),
    "arange to True": lambda lib: lib.arange(True),
    "sum of bools, none of the second": lambda lib: lib.add(lib.tensor([True, False]), lib.tensor([True, True]), alpha=0),
    "sum of int8, alpha out of range": lambda lib: lib.add(t(lib, [1, 2], "int8"), t(lib, [1, 2], "int8"), alpha=300),
    "log1p of tiny complex128": lambda lib: lib.log1p(t(lib, [1e-20 + 1e-20j, 1e-10j, -1e-8 + 1e-9j, -1], "complex128")),
    "log1p of tiny complex64": lambda lib: lib.log1p(t(lib, [1e-20 + 1e-20j, 1e-10j, -1e-5 + 1e-7j, 3], "complex64")),
    "quantile of integers": lambda lib: lib.quantile(lib.tensor([0, 1, 2]), 0.5),
    "quantile of halves": lambda lib: lib.quantile(lib.tensor([0, 1, 2.0]).half(), 0.5),
    "pow by a half": lambda lib: lib.tensor(SPECIAL).pow(0.5),
    "memory map": lambda lib: lib.from_numpy(np.arange(3).view(Subclass)) + 1,
    "memory map, reduced": lambda lib: lib.from_numpy(np.arange(3.0).view(Subclass)).sum() * 2,
    "empty bytes as floats": lambda lib: lib.zeros(0, dtype=lib.uint8).view(lib.float32),
    "empty rows of bytes as floats": lambda lib: lib.zeros(0, 4, dtype=lib.uint8).view(lib.float32),
    "one of the expanded elements set": lambda lib: expanded(lib, lambda lib, x: x.__setitem__(([0], [1]), lib.tensor(5.0))),
    "expanded column set": lambda lib: expanded(lib, lambda lib, x: x.__setitem__((..., [0]), lib.tensor(5.0))),
    "NaN put into expanded elements": lambda lib: expanded(
        lib, lambda lib, x: x.index_put_((lib.tensor([1]), lib.tensor([0])), lib.tensor(NAN))
    ),
    "added to expanded elements": lambda lib: expanded(
        lib, lambda lib, x: x.index_put_((lib.tensor([0, 0, 1]), lib.tensor([0, 1, 1])), lib.tensor([1.0, 2, 4]), accumulate=True)
    ),
    "mask set to a row": put([True, False, True], [[5.0, 6.0]]),
    "mask set to a matrix of one": put([True, False, True], [[5.0]]),
    "mask of nothing set to a matrix of one": put([False, False, False], [[5.0]]),
    "mask set to a column": put([True, False, True], [[5.0], [6.0]]),
    "step of a last dimension of 1": lambda lib: steps(lib, (2, 3), -1),
    "step of a middle dimension of 1": lambda lib: steps(lib, (2, 3), 1),
    "step of a number's dimension": lambda lib: steps(lib, (), 0),
    "deviation of one number": lambda lib: lib.tensor(2.0).std(correction=0),
    "variance of one number over no dimensions": lambda lib: lib.tensor(2.0).var((), correction=0),
    "block_diag of a wide number and a row": lambda lib: lib.block_diag(wide(lib), lib.ones(1, 3)),
    "block_diag of a wide number and integers": lambda lib: lib.block_diag(wide(lib), lib.ones(2).int()),
    "dimension squeezed twice": lambda lib: lib.ones(2, 1).squeeze((1, -1)),
    "no dimension squeezed": lambda lib: lib.ones(2, 1).squeeze(()),
    "bools among numbers": lambda lib: lib.isin(lib.tensor([True]), lib.tensor([1, 2])),
    "numbers among bools": lambda lib: lib.isin(lib.tensor([1]), lib.tensor([True])),
    "broadcast with a number": lambda lib: lib.broadcast_tensors(lib.ones(1), 2.0)[0],
    "nothing rolled along any dimension": lambda lib: lib.roll(lib.zeros(0), 3, 1),
    "rolled twice along a dimension": lambda lib: lib.roll(lib.arange(4), (1, 2), (0, -1)),
    "True subtracted": lambda lib: lib.tensor([1.0]) - True,
    "True subtracted in place": lambda lib: written(lib.tensor([1.0]), "sub_", True),
    "subtracted from True": lambda lib: True - lib.tensor([1.0]),
    "complex fill_ of floats": lambda lib: lib.ones(2).fill_(1j),
    "real complex fill_ of floats": lambda lib: lib.zeros(2).fill_(1 + 0j),
    "complex fill_ of integers": lambda lib: lib.ones(2).int().fill_(1j),
    "complex fill_ of bools": lambda lib: lib.ones(2).bool().fill_(1j),
    "complex masked_fill of floats": lambda lib: lib.ones(2).masked_fill(lib.tensor([True, False]), 1j),
    "real complex masked_fill of floats": lambda lib: lib.ones(2).masked_fill(lib.tensor([True, False]), 2 + 0j),
    "complex masked_fill of integers": lambda lib: lib.ones(2).int().masked_fill(lib.tensor([True, False]), 1j),
    "wide masked_fill of int8": lambda lib: lib.ones(2).to(lib.int8).masked_fill(lib.tensor([True, False]), 300),
    "NaN masked_fill of floats": lambda lib: lib.ones(2).masked_fill(lib.tensor([True, False]), NAN),
    "Frobenius norm over three dimensions": lambda lib: lib.ones(2, 2, 2).norm("fro", (0, 1, 2)),
    "2-norm over three dimensions": lambda lib: lib.ones(2, 2, 2).norm(2, (0, 1, 2)),
    "number unflattened": lambda lib: lib.tensor(5).unflatten(0, (1, 1)),
    "number added to a vector's slice": lambda lib: lib.zeros(3).index_add(0, lib.tensor([0]), lib.tensor(1.0)),
    "vector added to a number": lambda lib: lib.tensor(5).index_add(0, lib.tensor([0]), lib.tensor([3])),
    "number reduced into a vector": lambda lib: lib.ones(3).index_reduce(0, lib.tensor([0]), lib.tensor(3.0), "prod"),
    "number reduced twice": lambda lib: lib.tensor(5).index_reduce(0, lib.tensor([0, 0]), lib.tensor(3), "prod"),
    "float_power_ of complex": lambda lib: written(t(lib, [1, 2], "float64"), "float_power_", 2j),
}
ONE_DIMENSION = {  # of tensors that have none
    "roll": lambda lib, x, dim: lib.roll(x, 3, dim),
    "repeat_interleave": lambda lib, x, dim: lib.repeat_interleave(x, 2, dim),
    "repeat_interleave by a tensor": lambda lib, x, dim: lib.repeat_interleave(x, lib.tensor([2]), dim),
    "topk of none": lambda lib, x, dim: lib.topk(x, 0, dim)[0],
    "topk": lambda lib, x, dim: lib.topk(x, 1, dim)[1],
    "topk of too many": lambda lib, x, dim: lib.topk(x, 2, dim)[0],
    "sort": lambda lib, x, dim: lib.sort(x, dim)[0],
    "argsort": lambda lib, x, dim: lib.argsort(x, dim),
    "unique": lambda lib, x, dim: lib.unique(x, dim=dim),
    "unique_consecutive": lambda lib, x, dim: lib.unique_consecutive(x, dim=dim),
    "index_add": lambda lib, x, dim: x.index_add(dim, lib.tensor([0]), x),
    "index_add twice": lambda lib, x, dim: x.index_add(dim, lib.tensor([0, 0]), x),
    "index_add nowhere": lambda lib, x, dim: x.index_add(dim, lib.tensor([], dtype=lib.int64), x),
    "index_copy": lambda lib, x, dim: x.index_copy(dim, lib.tensor([0]), x),
    "index_copy twice": lambda lib, x, dim: x.index_copy(dim, lib.tensor([0, 0]), x),
}
for name, call in ONE_DIMENSION.items():
    for dim in (-2, -1, 0, 1):
        CASES[f"{name} of a number along {dim}"] = lambda lib, f=call, d=dim: f(lib, lib.tensor(5), d)
ROWS, DIVISORS = [[x] for x in (-INF, INF, 1.0, -1, 0, NAN, 5, -7, 1e-3)], [1.0, -1, INF, -INF, 0, -0.0, NAN, 0.3, -3]
for dtype in ("float16", "bfloat16", "float32", "float64"):
    for mode in ("floor", "trunc", None):
        CASES[f"div {mode} {dtype}"] = lambda lib, d=dtype, m=mode: lib.div(t(lib, ROWS, d), t(lib, DIVISORS, d), rounding_mode=m)
    for name in ("remainder", "fmod", "floor_divide"):
        CASES[f"{name} {dtype}"] = lambda lib, d=dtype, n=name: getattr(lib, n)(t(lib, ROWS, d), t(lib, DIVISORS, d))
    for exponent in (-3, -2, -1.5, -1, -0.5, 0, 0.25, 1, 1.5, 2, 2.5, 3.0, 4, 5, 10.0):
        if dtype != "float16" or exponent != -0.5:
            CASES[f"{dtype} ** {exponent}"] = lambda lib, d=dtype, e=exponent: t(lib, SPECIAL, d) ** e
for dtype in ("float16", "float32", "float64", "int64", "complex64"):
    CASES[f"float_power_ of {dtype}"] = lambda lib, d=dtype: written(t(lib, [1, 2], d), "float_power_", 2)
for dtype in ("bool", "uint8", "int32", "int64", "float16", "float32", "float64"):
    for other in ("uint8", "int32", "int64", "float32", "float64"):
        CASES[f"clamp {dtype} by {other}"] = lambda lib, d=dtype, o=other: lib.clamp(t(lib, [0, 1], d), t(lib, [1, 2], o))
        CASES[f"clamp {dtype} by 0-d {other}"] = lambda lib, d=dtype, o=other: lib.clamp(t(lib, [0, 1], d), max=t(lib, 1, o))
        if other != "uint8":
            CASES[f"ldexp {dtype} by {other}"] = lambda lib, d=dtype, o=other: lib.ldexp(t(lib, [0, 1], d), t(lib, [1, 2], o))
        CASES[f"block_diag {dtype} {other}"] = lambda lib, d=dtype, o=other: lib.block_diag(
            t(lib, [[0, 1]], d), t(lib, [[1], [2]], o)
        )
    for limit in (0.5, 1, True, -1, 300, 1e40, INF, NAN):
        CASES[f"clamp {dtype} from {limit}"] = lambda lib, d=dtype, x=limit: lib.clamp(t(lib, [0, 1], d), x)
        CASES[f"clamp {dtype} to {limit}"] = lambda lib, d=dtype, x=limit: lib.clamp(t(lib, [0, 1], d), 0, x)
        CASES[f"clamp_ {dtype} to {limit}"] = lambda lib, d=dtype, x=limit: written(t(lib, [0, 1], d), "clamp_", None, x)
    CASES[f"{dtype} ** -1"] = lambda lib, d=dtype: t(lib, [1, 2], d) ** -1
    CASES[f"{dtype} pow_ -1"] = lambda lib, d=dtype: written(t(lib, [1, 2], d), "pow_", -1)
    CASES[f"{dtype} ** tensor -1"] = lambda lib, d=dtype: t(lib, [1, 2], d) ** lib.tensor(-1)
    CASES[f"unravel_index {dtype}"] = lambda lib, d=dtype: lib.stack(lib.unravel_index(t(lib, [0, 1, 1], d), (2, 2)))
    for equation, ndim in (("i->", 1), ("ij->j", 2), ("i,i->", 1), ("ij,jk->ik", 2), ("ii->i", 2), ("ii->", 2), ("i->i", 1)):
        CASES[f"einsum {equation} {dtype}"] = lambda lib, d=dtype, e=equation, n=ndim: lib.einsum(
            e, *[lib.ones([3] * n).to(getattr(lib, d))] * len(e.split("->")[0].split(","))
        )


def outcome(lib, run):
    try:
        result = run(lib)
    except Exception as error:  # noqa: BLE001 - its type is compared
        return type(error), None
    wide = result.to(lib.complex128 if result.is_complex() else lib.float64)
    return (str(result.dtype).split(".")[-1], tuple(result.shape)), wide.numpy()


@pytest.mark.filterwarnings("ignore:__array_wrap__", "ignore:The given NumPy array", "ignore:Use of index_put_ on expanded")
@pytest.mark.parametrize("case", CASES)
def test_as_in_pytorch(case):
    expected_kind, expected = outcome(torch, CASES[case])
    kind, found = outcome(tenfold, CASES[case])
    assert kind == expected_kind
    if expected is not None:
        np.testing.assert_allclose(found, expected, rtol=TOLERANCE.get(kind[0], 1e-15), atol=0)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "float16", "float32"])
def test_numbers_out_of_range_are_refused_in_pytorchs_words(dtype):
    number = 1e39 if dtype == "float32" else 70000
    messages = []
    for lib in (torch, tenfold):
        with pytest.raises(RuntimeError) as error:
            lib.clamp(t(lib, [0, 1], dtype), number)
        messages.append(str(error.value))
    assert messages[0] == messages[1]


def test_powers_of_negative_numbers_are_exact():
    x = tenfold.linspace(-3, 3, 1000, dtype=tenfold.float32)
    for exponent in (3.0, 4, 5, -3, 7.0):
        expected = x.double() ** exponent
        assert ((x**exponent).double() - expected).abs().le(expected.abs() * 3 * sys.float_info.epsilon * 2**29).all()


@pytest.mark.parametrize(("rows", "others", "p"), [(30, 40, 2.0), (5, 6, 2.0), (30, 4, 1.0), (26, 3, 2.0)])
@pytest.mark.parametrize("mode", [None, "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist"])
def test_distances_of_rows(rows, others, p, mode):
    a, b = (np.random.default_rng(i).standard_normal((2, n, 5)) for i, n in enumerate((rows, others)))
    b[0, 0] = a[0, 0] = 0.5
    options = {} if mode is None else {"compute_mode": mode}
    found, expected = (lib.cdist(lib.tensor(a), lib.tensor(b), p, **options) for lib in (tenfold, torch))
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-12, atol=1e-12)


def floats(lib):
    return lib.ones(2, 2)


def doubles(lib):
    return lib.empty(2, 2, dtype=lib.float64)


REFUSED = {
    "floor into float64": lambda lib: lib.floor(floats(lib), out=doubles(lib)),
    "neg into complex": lambda lib: lib.neg(floats(lib), out=lib.empty(2, 2, dtype=lib.complex64)),
    "mm into float64": lambda lib: lib.mm(floats(lib), floats(lib), out=doubles(lib)),
    "softmax into float64": lambda lib: lib.softmax(floats(lib), 0, out=doubles(lib)),
    "argmax into float64": lambda lib: lib.argmax(floats(lib), out=lib.empty((), dtype=lib.float64)),
    "isposinf into float32": lambda lib: lib.isposinf(floats(lib), out=floats(lib)),
    "signbit into float64": lambda lib: lib.signbit(floats(lib), out=doubles(lib)),
    "inverted floats": lambda lib: ~floats(lib),
    "abs_ of complex": lambda lib: lib.ones(2, dtype=lib.complex64).abs_(),
    "lerp of mixed dtypes": lambda lib: lib.lerp(floats(lib), doubles(lib), 0.5),
    "lerp with another weight": lambda lib: lib.lerp(floats(lib), floats(lib), doubles(lib)),
    "bool minus bool": lambda lib: lib.tensor([True]) - lib.tensor([True]),
    "bool minus number": lambda lib: lib.tensor([True]) - 1,
    "number minus bool": lambda lib: 1 - lib.tensor([True]),
    "float minus bool": lambda lib: lib.ones(1) - lib.tensor([True]),
    "integer minus bool in place": lambda lib: lib.tensor([1]).sub_(lib.tensor([True])),
    "fmod by zero": lambda lib: lib.fmod(lib.tensor([3]), 0),
    "argmax of nothing": lambda lib: lib.argmax(lib.ones(0)),
    "topk's dim is no bool": lambda lib: lib.topk(lib.ones(3), 1, True),
    "array plus tensor": lambda lib: np.ones(2, np.float32) + lib.ones(2),
    "array times tensor": lambda lib: np.ones(2, np.float32) * lib.ones(2),
}
# Whose messages are the same to the letter.
SAME_WORDS = [c for c in REFUSED if not c.startswith(("argmax", "topk", "array", "fmod"))]


@pytest.mark.parametrize("case", REFUSED)
def test_refused_as_in_pytorch(case):
    errors = []
    for lib in (torch, tenfold):
        with pytest.raises((RuntimeError, TypeError, IndexError)) as error:
            REFUSED[case](lib)
        errors.append(error.value)
    assert isinstance(errors[1], type(errors[0]))
    if case in SAME_WORDS:
        assert str(errors[1]) == str(errors[0])


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div"])
def test_numbers_in_front(name):
    for lib in (torch, tenfold):
        assert getattr(lib, name)(6, lib.tensor([2.0, 3.0])).dtype is lib.float32
    assert (
        getattr(tenfold, name)(6, tenfold.tensor([2.0, 3.0])).tolist()
        == getattr(torch, name)(6, torch.tensor([2.0, 3.0])).tolist()
    )


def test_the_dtype_of_a_clamp_is_that_of_all_three():
    for lib in (torch, tenfold):
        x, low, high = lib.tensor([True]), lib.tensor(0.0, dtype=lib.float64), lib.tensor([1.0])
        assert lib.clamp(x, low, high).dtype is lib.float32


def test_integers_to_the_least_power():
    powers = [
        lib.tensor([1, -1, 3], dtype=lib.int8).pow(lib.tensor([-128, -127, -128], dtype=lib.int8)).tolist()
        for lib in (tenfold, torch)
    ]
    assert powers[0] == [1, -1, 0]


def test_least_integers_are_close_to_nothing_else():
    for lib in (torch, tenfold):
        assert not lib.isclose(lib.tensor([0], dtype=lib.int8), lib.tensor([-128], dtype=lib.int8)).item()


def test_unique_slices_with_nan():
    values, inverse, counts = tenfold.unique(
        tenfold.tensor([[2.0, NAN], [1, 2], [-0.0, 3], [1, 2], [0.0, 3]]), dim=0, return_inverse=True, return_counts=True
    )
    assert values[:2].tolist() == [[0, 3], [1, 2]]
    assert (inverse.tolist(), counts.tolist()) == ([2, 1, 0, 1, 0], [2, 2, 1])


UNFIT = r"value cannot be converted to type .* without overflow"


@pytest.mark.parametrize("exponent", [300, 2**31, 2**63])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
def test_powers_by_what_the_dtype_does_not_hold(dtype, exponent):
    for lib in (torch, tenfold):
        x = lib.tensor([1, 2], dtype=getattr(lib, dtype))
        if dtype == "int16" and exponent == 300:
            assert (x**exponent).tolist() == [1, 0]
            continue
        for power in (lambda x: x**exponent, lambda x: x.pow_(exponent)):
            with pytest.raises(RuntimeError, match=UNFIT):
                power(x)


@pytest.mark.parametrize("made", [lambda x: x, lambda x: x.cfloat(), lambda x: x.long()])
def test_selections_of_what_the_dtype_does_not_hold(made):
    for lib in (torch, tenfold):
        x = made(lib.ones(2))
        for chosen in ((x, 1e300), (-1e300, x)):
            with pytest.raises(RuntimeError, match=UNFIT):
                lib.where(x == 1, *chosen)
        assert lib.where(x == 1, float("inf"), x).abs().min().item() == float("inf")
        assert lib.where(x == 1, 1e300, lib.ones(2).double()).max().item() == 1e300


def test_a_complex_filling_beside_half_precision_is_complex64():
    for lib in (torch, tenfold):
        before = lib.get_default_dtype()
        lib.set_default_dtype(lib.float16)
        try:
            assert str(lib.full((2,), 1j).dtype).endswith("complex64")
        finally:
            lib.set_default_dtype(before)


@pytest.mark.parametrize(
    "make",
    [
        lambda lib: lib.ones(3).resize_([0, 4, 2**61]), lambda lib: lib.zeros(0).reshape(0, 4, 2**61),
        lambda lib: lib.empty(0, 4, 2**61), lambda lib: lib.zeros(2).expand(4, 2**61, 2),
        lambda lib: lib.einsum(". ..", lib.ones(1)),
    ],
)  # fmt: skip
def test_shapes_and_texts_beyond_all_bounds(make):
    for lib in (torch, tenfold):
        with pytest.raises(RuntimeError):
            make(lib)


@pytest.mark.parametrize("exponent", [-1, -2, -3, -4, -2.5])
def test_negative_powers_of_complex_zero_and_infinity(exponent: float) -> None:
    values = [0j, complex(INF, 0), complex(-INF, 1), 2 + 1j, complex(0, INF), complex(NAN, 0)]
    for kind in ("complex64", "complex128"):
        ours = tenfold.tensor(values, dtype=getattr(tenfold, kind)) ** exponent
        theirs = torch.tensor(values, dtype=getattr(torch, kind)) ** exponent
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-6)
