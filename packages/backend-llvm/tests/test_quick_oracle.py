"""The short ways before `x[...]`, `x[...] = value`, `tensor`, ranges, few draws and `flatten`, against PyTorch."""

from __future__ import annotations

import random

import numpy as np
import pytest

import tenfold
from tenfold.llvm import quick_subscripts

torch = pytest.importorskip("torch")
LIBRARIES = (tenfold, torch)


def _index(lib, spec):
    made = []
    for kind, value in spec:
        made.append(lib.tensor(value, dtype=lib.int64) if kind == "tensor" else slice(*value) if kind == "slice" else value)
    return made


def _entry(rng):
    kind = rng.choice(["int", "slice", "none", "dots", "tensor", "tensor", "tensor", "list"])
    if kind == "int":
        return "plain", rng.randint(-4, 3)
    if kind == "slice":
        return kind, (rng.choice([None, 0, 1, -2]), rng.choice([None, 2, -1, 9]), rng.choice([None, 1, 2]))
    if kind == "list":
        return "plain", [rng.randint(-2, 2) for _ in range(rng.randint(1, 2))]
    if kind == "tensor":
        shape = [rng.choice([1, 2]) for _ in range(rng.choice([0, 1, 2, 2]))]
        return kind, np.array([rng.randint(-2, 2) for _ in range(int(np.prod(shape)))]).reshape(shape).tolist()
    return "plain", None if kind == "none" else Ellipsis


VALUES = {
    "number": lambda lib, x, z, index: 7.0 if x.dtype.is_floating_point else 7,
    "whole": lambda lib, x, z, index: 3,
    "scalar": lambda lib, x, z, index: lib.tensor(5, dtype=x.dtype),
    "row": lambda lib, x, z, index: lib.arange(2).to(x.dtype),
    "selected": lambda lib, x, z, index: x[index] * 2,
    "itself": lambda lib, x, z, index: z[index],
}


def _outcome(call):
    try:
        return call()
    except Exception as error:  # noqa: BLE001 - its type is what is compared
        return type(error).__name__


def _read(x, index):
    y = x[index]
    return tuple(y.shape), y.tolist(), [s for n, s in zip(y.shape, y.stride(), strict=True) if n > 1] if y.numel() else None


@pytest.mark.parametrize("dtype", ["float32", "int64", "float64"])
@pytest.mark.parametrize("seed", range(6))
def test_indices(dtype, seed):
    rng = random.Random(f"{seed} {dtype}")
    for _ in range(150):
        shape = [rng.choice([1, 2, 3, 4]) for _ in range(rng.randint(1, 4))]
        base = np.arange(np.prod(shape)).astype(dtype).reshape(shape)
        spec = [_entry(rng) for _ in range(rng.randint(1, len(shape) + 1))]
        alone, value = rng.random() < 0.5, rng.choice(list(VALUES))
        found = []
        for lib in LIBRARIES:
            x = lib.from_numpy(base.copy())
            index = _index(lib, spec)
            index = index[0] if len(index) == 1 and alone else tuple(index)
            z = x.clone()

            def write(lib=lib, x=x, z=z, index=index, value=value):
                z[index] = VALUES[value](lib, x, z, index)
                return z.tolist(), z._version

            found.append((_outcome(lambda x=x, index=index: _read(x, index)), _outcome(write)))
        assert found[0] == found[1], (shape, spec, value)


CASES = {
    "a part by a row of places": lambda lib, x: x[:, :2][lib.tensor([2, 0, -1])],
    "beyond": lambda lib, x: x[lib.tensor([7])],
    "beyond in a part": lambda lib, x: x[:, :2][lib.tensor([7])],
    "a mask": lambda lib, x: _written(x, x > 5, -float("inf")),
    "a mask of rows": lambda lib, x: _written(x, x[:, 0] > 3, float("nan")),
    "a mask of another shape": lambda lib, x: _written(x, lib.ones(2, 2) > 0, 0.0),
    "many": lambda lib, x: _written(x, (lib.tensor([0, 0, 1]), 1), lib.tensor([1.0, 2.0, 3.0])),
    "in place": lambda lib, x: _added(x, 1),
    "in place at places": lambda lib, x: _added(x, lib.tensor([1, 1])),
    "its own rows": lambda lib, x: _written(x, 1, x[0]),
    "its own rows across": lambda lib, x: _written(x, slice(1, None), x[:-1]),
    "expanded": lambda lib, x: _written(x[0].expand(3, 4), (0, 1), 1.0),
    "a leaf": lambda lib, x: _written(x.requires_grad_(), (0, lib.tensor([1])), 1.0),
    "backwards": lambda lib, x: _written(x, slice(None, None, -1), 1.0),
    "backwards in a part": lambda lib, x: _written(x, (1, slice(None, None, -2)), 1.0),
    "no step": lambda lib, x: _written(x, (slice(None, None, 0), lib.tensor([1])), 1.0),
    "two steps": lambda lib, x: _written(x, (slice(None, None, 2), lib.tensor([1])), 1.0),
    "one dimension": lambda lib, x: x.flatten(1),
    "all": lambda lib, x: x.flatten(),
    "turned": lambda lib, x: x.t().flatten(0, 1),
    "wrong order": lambda lib, x: x.flatten(1, 0),
    "no such dimension": lambda lib, x: x.flatten(2),
    "several": lambda lib, x: x.view(1, 3, 2, 2).flatten(-3, -2),
    "none": lambda lib, x: x[:0].flatten(0, 1),
}


def _written(x, index, value):
    x[index] = value
    return x


def _added(x, index):
    x[index] += 1.0
    return x


@pytest.mark.parametrize("name", CASES)
def test_cases(name):
    found = []
    for lib in LIBRARIES:
        x = lib.from_numpy(np.arange(12, dtype=np.float32).reshape(3, 4))

        def call(lib=lib, x=x):
            y = CASES[name](lib, x)
            return y.tolist().__repr__(), tuple(y.shape), tuple(y.stride()), x._version

        found.append(_outcome(call))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "spec", [(slice(None), slice(None, 2)), (1,), (..., 2), (None, slice(1, None)), (slice(None), [0, 0, 1])], ids=str
)
def test_gradients_of_parts(spec):
    found = []
    for lib in LIBRARIES:
        x = lib.from_numpy(np.arange(12, dtype=np.float64).reshape(3, 4)).requires_grad_()
        for _ in range(2):  # the second finds the geometry of the first
            (x[spec] ** 2).sum().backward()
        (first,) = lib.autograd.grad((x[spec] ** 3).sum(), x, create_graph=True)
        first.sum().backward()
        found.append(x.grad.tolist())
    assert found[0] == found[1]


DATA = [
    3,
    1.5,
    True,
    [1, 2],
    [1.0, float("nan")],
    [float("inf"), -float("inf")],
    1e40,
    [1e40, 1.0],
    [],
    [[]],
    [[1, 2], [3, 4]],
    [[1.0], [2.0]],
    [True, False],
    [1, 2.0],
    [[1, 2], [3, 4.0]],
    -0.0,
    [-0.0],
    2**40,
    [[[1]]],
    1e-46,
    3.40282357e38,
    2**63,
    [[1], [1, 2]],
    "a",
    [1, "a"],
]


@pytest.mark.parametrize("data", DATA, ids=str)
@pytest.mark.parametrize(
    "options",
    [{}, *({"dtype": dtype} for dtype in ("float32", "int64", "float16", bool, float)), {"requires_grad": True}],
    ids=str,
)
def test_tensors_of_numbers(data, options):
    found = []
    for lib in LIBRARIES:
        given = {k: getattr(lib, v) if isinstance(v, str) else v for k, v in options.items()}

        def call(lib=lib, given=given):
            y = lib.tensor(data, **given)
            numbers = y.detach().numpy()
            return (
                str(y.dtype).split(".")[-1],
                tuple(y.shape),
                y.requires_grad,
                numbers.tobytes() if numbers.dtype.kind != "f" else (np.nan_to_num(numbers, nan=7.0).tobytes()),
            )

        found.append(_outcome(call))
    assert found[0] == found[1]


RANGES = [
    "linspace(0, 1, 10)",
    "linspace(0.1, 0.7, 101)",
    "linspace(-3, 5, 2)",
    "linspace(1, 1, 5)",
    "linspace(5, -2, 9)",
    "linspace(0, 1e-40, 5)",
    "linspace(1e30, -1e30, 6)",
    "linspace(-3e38, 3e38, 4)",
    "linspace(0, 1, 1)",
    "linspace(0, 1, 0)",
    "linspace(0, 1, -1)",
    "linspace(0, 1, 1000)",
    "arange(10)",
    "arange(0, 1, 0.1)",
    "arange(5, 1, -0.3)",
    "arange(5, 1, -1)",
    "arange(0)",
    "arange(3, 1)",
    "arange(1, 2, 0)",
    "arange(0.5)",
    "arange(4, dtype=lib.float32)",
    "arange(4, dtype=lib.int32)",
    "arange(1.5, dtype=lib.int64)",
    "arange(3, dtype=float)",
    "arange(3, device='cpu')",
    "arange(2**62, 2**62 + 2)",
    "arange('a')",
    "arange(3, device='meta')",
    "tensor(1, 2)",
    "tensor(1, foo=2)",
]


@pytest.mark.parametrize("text", RANGES)
def test_ranges(text):
    def call(lib):
        y = eval(f"lib.{text}", {"lib": lib})
        return str(y.dtype).split(".")[-1], repr(y.tolist()) if y.device.type != "meta" else list(y.shape)

    found = [_outcome(lambda lib=lib: call(lib)) for lib in LIBRARIES]
    assert found[0] == found[1]


def test_draws():
    for lib in LIBRARIES:
        lib.manual_seed(3)
    for _ in range(60):  # beyond a block of the generator
        for arguments in ((10, (4,)), (-5, 7, (2, 3)), (2**27, (5,)), (3, (40,)), (2**40, (3,)), (0, 5, (1,)), (2, (0,))):
            assert tenfold.randint(*arguments).tolist() == torch.randint(*arguments).tolist()
        for n in (0, 1, 2, 5, 32, 33, 100):
            assert tenfold.randperm(n).tolist() == torch.randperm(n).tolist()
        assert tenfold.randn(3).tolist() == torch.randn(3).tolist()
        assert tenfold.rand(5).tolist() == torch.rand(5).tolist()
    for bad in (lambda lib: lib.randint(5, 5, (2,)), lambda lib: lib.randint(0, (2,)), lambda lib: lib.randperm(-1)):
        assert _outcome(lambda bad=bad: bad(tenfold)) == _outcome(lambda bad=bad: bad(torch))


def test_surroundings():
    with tenfold.device("meta"):
        assert tenfold.tensor(1.0).device.type == tenfold.arange(3).device.type == tenfold.linspace(0, 1, 3).device.type == "meta"
    tenfold.set_default_dtype(tenfold.float64)
    try:
        assert tenfold.tensor(1.0).dtype is tenfold.arange(0, 1, 0.5).dtype is tenfold.linspace(0, 1, 3).dtype is tenfold.float64
    finally:
        tenfold.set_default_dtype(tenfold.float32)
    with tenfold.inference_mode():
        assert tenfold.tensor(1.0).is_inference()
        assert tenfold.arange(0, 1, 0.5).is_inference()


def test_a_tensor_in_its_own_places_is_left_to_the_ordinary_path():
    """Which refuses it, also where nothing but the tensor itself has its memory."""
    x = tenfold.tensor([0.0, 1.0, 2.0])
    assert quick_subscripts.write(x, tenfold.tensor([2, 1, 0]), x) is NotImplemented
    assert x.tolist() == [0.0, 1.0, 2.0]
