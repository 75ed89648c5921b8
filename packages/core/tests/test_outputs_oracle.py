"""Which outputs `out=` takes, and what is written there, compared with PyTorch's."""

import warnings

import pytest

import tenfold

torch = pytest.importorskip("torch")

DTYPES = ["float32", "float64", "int64", "complex64"]


def matrix(lib):
    return lib.tensor([[4.0, 1.0, 9.0], [2.0, 0.5, 3.0]])


CALLS = {
    "addmv": lambda t, o: t.addmv(t.ones(2), matrix(t), t.ones(3), out=o((2,))),
    "argsort": lambda t, o: t.argsort(matrix(t), stable=True, dim=1, out=o((2, 3))),
    "bitwise_not": lambda t, o: t.bitwise_not(t.tensor([1, 2]), out=o((2,))),
    "bucketize": lambda t, o: t.bucketize(t.ones(2), t.ones(2), out=o((2,))),
    "column_stack": lambda t, o: t.column_stack([t.ones(2), t.ones(2)], out=o((2, 2))),
    "concat": lambda t, o: t.concat([t.ones(2), t.ones(1)], out=o((3,))),
    "deg2rad": lambda t, o: t.deg2rad(t.ones(2), out=o((2,))),
    "diag": lambda t, o: t.diag(matrix(t), out=o((2,))),
    "dstack": lambda t, o: t.dstack([t.ones(2), t.ones(2)], out=o((1, 2, 2))),
    "hstack": lambda t, o: t.hstack([t.ones(2), t.ones(2)], out=o((4,))),
    "index_add": lambda t, o: t.index_add(t.ones(2), 0, t.tensor([0]), t.ones(1), out=o((2,))),
    "index_copy": lambda t, o: t.index_copy(t.ones(2), 0, t.tensor([0]), t.ones(1), out=o((2,))),
    "linspace": lambda t, o: t.linspace(0, 3, 4, out=o((4,))),
    "masked_select": lambda t, o: t.masked_select(t.ones(2), t.tensor([True, False]), out=o((1,))),
    "msort": lambda t, o: t.msort(matrix(t), out=o((2, 3))),
    "multinomial": lambda t, o: t.multinomial(t.tensor([0.0, 1.0]), 1, out=o((1,))),
    "norm": lambda t, o: t.norm(matrix(t), 2, 0, out=o((3,))),
    "row_stack": lambda t, o: t.row_stack([t.ones(2), t.ones(2)], out=o((2, 2))),
    "scatter": lambda t, o: t.scatter(t.ones(2), 0, t.tensor([0]), t.zeros(1), out=o((2,))),
    "scatter_add": lambda t, o: t.scatter_add(t.ones(2), 0, t.tensor([0]), t.ones(1), out=o((2,))),
    "square": lambda t, o: t.square(t.ones(2), out=o((2,))),
    "take_along_dim": lambda t, o: t.take_along_dim(t.ones(2), t.tensor([0]), 0, out=o((1,))),
    "vector_norm": lambda t, o: t.linalg.vector_norm(matrix(t), dim=0, out=o((3,))),
    "vstack": lambda t, o: t.vstack([t.ones(2), t.ones(2)], out=o((2, 2))),
}


def outcome(call, lib, dtype):
    try:
        made = call(lib, lambda shape: lib.full(shape, 7, dtype=getattr(lib, dtype)))
    except (RuntimeError, TypeError) as error:
        return type(error).__name__
    return made.flatten().tolist()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CALLS)
def test_outputs_of_other_dtypes(name, dtype):
    wanted = outcome(CALLS[name], torch, dtype)
    assert outcome(CALLS[name], tenfold, dtype) == (wanted if isinstance(wanted, str) else pytest.approx(wanted))


@pytest.mark.parametrize("name", ["arange", "linspace", "range"])
def test_ranges_fill_outputs_of_any_shape(name):
    def made(lib):
        x = lib.zeros(2, 3)
        with warnings.catch_warnings(action="ignore"):
            getattr(lib, name)(0, {"arange": 4, "linspace": 4, "range": 3}[name], *([4] if name == "linspace" else []),
                               out=x.narrow(1, 1, 2))  # fmt: skip
        return x.tolist()

    assert made(tenfold) == made(torch)


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
@pytest.mark.parametrize(
    "make", [lambda t, o: t.zeros(4, out=o), lambda t, o: t.full((4,), 1.0, out=o), lambda t, o: t.rand(4, out=o)]
)
def test_other_factories_resize_their_output(make):
    assert tuple(make(tenfold, tenfold.ones(2, 2)).shape) == tuple(make(torch, torch.ones(2, 2)).shape)


RANGES = [
    lambda t, dtype: t.arange(3, dtype=dtype),
    lambda t, dtype: t.linspace(0, 2, 3, dtype=dtype),
    lambda t, dtype: t.linspace(0, 300, 3, dtype=dtype),
    lambda t, dtype: t.randperm(0, dtype=dtype),
]


@pytest.mark.parametrize("dtype", ["uint8", "int8", "bool", "complex64", "float16"])
@pytest.mark.parametrize("make", RANGES)
def test_dtypes_of_ranges(make, dtype):
    def made(lib):
        try:
            return make(lib, getattr(lib, dtype)).tolist()
        except RuntimeError as error:
            return type(error).__name__

    assert made(tenfold) == made(torch)


@pytest.mark.parametrize("dtype", ["complex64", "complex128", "float32", "float64", "int64"])
@pytest.mark.parametrize("given", ["complex64", "complex128"])
@pytest.mark.parametrize("name", ["abs", "absolute", "angle"])
def test_outputs_of_real_functions_of_complex_numbers(name, given, dtype):
    def call(lib, make):
        return getattr(lib, name)(lib.tensor([3 + 4j, 1j], dtype=getattr(lib, given)), out=make((2,)))

    wanted = outcome(call, torch, dtype)
    assert outcome(call, tenfold, dtype) == (wanted if isinstance(wanted, str) else pytest.approx(wanted))


@pytest.mark.parametrize("limit", [2 + 0j, 1j])
@pytest.mark.parametrize("given", ["float32", "int64"])
@pytest.mark.parametrize("inplace", [False, True])
def test_complex_limits_of_numbers(inplace, given, limit):
    def clamped(lib):
        x = lib.tensor([1, 2, 3], dtype=getattr(lib, given))
        try:
            return (x.clamp_ if inplace else x.clamp)(lib.tensor(limit), 7).tolist()
        except RuntimeError:
            return "refused"

    assert clamped(tenfold) == clamped(torch)


@pytest.mark.parametrize(
    "limits", [{"min": 2 + 0j}, {"max": 2 + 0j}, {"min": 2 + 0j, "max": 3}, {"min": 1, "max": 2 + 1j}], ids=str
)
@pytest.mark.parametrize("given", ["float32", "int64"])
def test_complex_limits_that_are_no_tensors(given, limits):
    def clamped(lib, name):
        x = lib.tensor([1, 2, 3], dtype=getattr(lib, given))
        try:
            return getattr(x, name)(**limits).tolist()
        except RuntimeError:
            return "refused"

    for name in ("clamp", "clamp_", "clip"):
        assert clamped(tenfold, name) == clamped(torch, name)


EXTREMES = {
    "all": lambda lib, name, make: getattr(lib, name)(lib.tensor([1.5, 3.5]), out=make(())),
    "two": lambda lib, name, make: getattr(lib, name)(lib.tensor([1.5, 3.5]), lib.tensor([2.5, 2.5]), out=make((2,))),
    "dim": lambda lib, name, make: getattr(lib, name)(lib.tensor([1.5, 3.5]), 0, out=(make(()), lib.tensor(0)))[0],
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", EXTREMES)
@pytest.mark.parametrize("name", ["max", "min"])
def test_extremes_are_converted_but_for_those_along_a_dimension(name, form, dtype):
    wanted = outcome(lambda lib, make: EXTREMES[form](lib, name, make), torch, dtype)
    assert outcome(lambda lib, make: EXTREMES[form](lib, name, make), tenfold, dtype) == wanted


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["sign", "sgn", "conj_physical", "logical_not", "square", "neg", "sqrt", "logical_and"])
def test_outputs_for_truth_values(name, dtype):
    def call(lib, make):
        x = lib.tensor([True, False])
        return getattr(lib, name)(*[x] * (2 if name == "logical_and" else 1), out=make((2,)))

    wanted = outcome(call, torch, dtype)
    found = outcome(call, tenfold, dtype)
    refusals = ("RuntimeError", "NotImplementedError")
    assert found == wanted or (wanted in refusals and found in refusals)


@pytest.mark.parametrize("call", ["arange(3, out=o)", "fft.fftfreq(3, out=o)", "fft.rfftfreq(7, out=o)"])
def test_each_resized_output_of_a_factory_warns(call: str) -> None:
    for engine in (tenfold, torch):
        for _ in range(2):
            with pytest.warns(UserWarning, match="The number of elements in the out tensor"):
                eval(f"e.{call}", {"e": engine, "o": engine.empty(5)})


WRITING_AN_ARGUMENT = {
    "add": lambda t, a, b: t.add(a, b, out=a),
    "mul": lambda t, a, b: t.mul(b, a, out=a),
    "where": lambda t, a, b: t.where(b > 0, a, b, out=a),
    "addcmul": lambda t, a, b: t.addcmul(a, b, b, out=a),
    "lerp": lambda t, a, b: t.lerp(a, b, 0.5, out=a),
    "lt": lambda t, a, b: t.lt(a, b, out=a),
    "pow": lambda t, a, b: t.pow(a, b, out=a),
    "ldexp": lambda t, a, b: t.ldexp(a, b, out=a),
    "abs": lambda t, a, b: t.abs(b, out=a),
    "itself": lambda t, a, b: t.add(b, b, out=b),
}


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
@pytest.mark.parametrize("name", WRITING_AN_ARGUMENT)
@pytest.mark.parametrize("shape", [(3, 1), (1, 4), (), (3, 4)])
def test_an_argument_that_is_written_keeps_its_shape(name, shape):
    def outcome(lib):
        try:
            return WRITING_AN_ARGUMENT[name](lib, lib.full(shape, 2.0), lib.full((3, 4), 3.0)).tolist()
        except RuntimeError as error:
            return str(error) if "broadcast shape" in str(error) else "refused"

    assert outcome(tenfold) == outcome(torch)
