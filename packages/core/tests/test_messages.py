"""Messages name the operator, also where a device's kernel is what fails."""

from __future__ import annotations

import builtins
import dis
import re

import pytest

import tenfold
from tenfold import from_numpy, ones, op, plugins, tensor, zeros
from tenfold.dispatch.callpath import specialise
from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import OPERATORS, composite, primitive
from tenfold.dispatch.runtime import RUNTIME

WRONG = [
    (lambda: ones(2, 3).mean(2), IndexError, r"Dimension out of range \(expected to be in range of \[-2, 1\], but got 2\)"),
    (lambda: ones(2, 3).mean((0, 0)), RuntimeError, "dim 0 appears multiple times"),
    (lambda: ones(2, 3).logsumexp(-3), IndexError, "Dimension out of range"),
    (lambda: ones(2, 3).var((1, 1)), RuntimeError, "var: dim 1 appears multiple times"),
    (lambda: tenfold.std(ones(2, 3), 2), IndexError, "Dimension out of range"),
    (lambda: zeros(2).masked_fill(tensor([True, False, True]), 1.0), RuntimeError, "must match the size of tensor b"),
    (lambda: zeros(2).add(zeros(3), alpha=2), RuntimeError, "must match the size of tensor b"),
    (lambda: zeros(6).as_strided((4, 4), (4, 1)), RuntimeError, "as_strided: setStorage"),
    (lambda: zeros(-1), RuntimeError, "zeros: Trying to create tensor with negative dimension -1"),
    (lambda: zeros(2).new_full((-1,), 1), RuntimeError, "full: Trying to create"),
    (lambda: from_numpy([1.0]), TypeError, "from_numpy: expected np.ndarray"),
    (lambda: tenfold.multinomial(ones(3), 4), RuntimeError, "multinomial: cannot sample n_sample > prob_dist"),
    (lambda: zeros(3).index_put((tensor([3]),), ones(1)), IndexError, "index_put: index 3 is out of bounds"),
    (lambda: zeros(2, 3).expand_as(zeros(4, 2)), RuntimeError, "expand: The expanded size"),
    (lambda: zeros(2, 3).unique(dim=2), IndexError, "unique: Dimension out of range"),
    (lambda: tensor([1.0])[0, 0], IndexError, "too many indices for tensor of dimension 1"),
    (lambda: zeros(2, 3).stride(2), IndexError, "Dimension out of range"),
    (lambda: ones(1).cuda("cpu"), RuntimeError, "must be cuda device, got cpu"),
]


@pytest.mark.parametrize(("call", "kind", "words"), WRONG)
def test_wrong_calls(call, kind, words):
    with pytest.raises(kind, match=words) as caught:
        call()
    assert type(caught.value) is kind


def test_an_error_of_a_kernel_keeps_where_it_came_from():
    with pytest.raises(IndexError, match="index_put: index 3") as caught:
        zeros(3).index_put((tensor([3]),), ones(1))
    assert caught.traceback[-1].path.name == "indexing.py"


def test_generated_code_knows_its_names_and_sets_none_that_a_parameter_may_have():
    plugins.load_operators()
    for operator in list(OPERATORS.values()):
        if not operator.declared.__module__.startswith("tenfold."):
            continue
        specialise(operator)
        code, parameters = operator.fn.__code__, {p.name for p in operator.params}
        read = {i.argval for i in dis.get_instructions(code) if i.opname == "LOAD_GLOBAL"}
        assert read <= RUNTIME.keys() | vars(builtins).keys(), operator.name
        assert all(n.endswith("_") or n[:2] in ("a_", "n_") for n in set(code.co_varnames) - parameters - {"out"}), operator.name


@pytest.mark.parametrize("name", ["key_", "slow_", "type", "dispatch", "a_input"])
def test_names_of_generated_code_are_no_parameters(name):
    made: dict[str, object] = {"Tensor": tenfold.Tensor}
    exec(f"def probe(input: Tensor, {name}: int = 1) -> Tensor:\n    return input", made)
    probe = composite("pointwise", method=None, name=f"named_{name}")(made["probe"])
    with pytest.raises(TypeError, match=re.escape(f"no parameter may be named {name!r}")):
        probe(ones(2))


def test_short_parameter_names_are_free():
    @primitive("view", view=True, method=None, name="short_names_probe", nondifferentiable="a probe")
    def probe(
        input: tenfold.Tensor, r: int, t: int, s: int, d: int, b: int, x: int, T: int, slow: int, kernel: int, error: int
    ) -> tenfold.Tensor:
        """The memory of the input."""

    kernel(op.short_names_probe, device="cpu")(
        lambda input, r, t, s, d, b, x, T, slow, kernel, error: input[r : t * s * d * b * x * T * slow * kernel * error]
    )
    assert probe(tensor([1.0, 2.0, 3.0]), 0, 2, 1, 1, 1, 1, 1, 1, 1, 1).tolist() == [1.0, 2.0]
