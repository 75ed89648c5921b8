"""The checks catch what they are for: each test plants one error in an operator of its own, and names the check."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from planting import doubled, failing, plant, squared

import tenfold
from tenfold.autograd import engine, gradient, other_walks
from tenfold.autograd.batching import BATCHING, batching
from tenfold.autograd.tangents import TANGENTS, jvp_rule
from tenfold.cpu.half import widened
from tenfold.cpu.quiet import quiet
from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.meta import Meta
from tenfold.dispatch.operators import OPERATORS, composite, primitive
from tenfold.dispatch.shape_rules import pointwise
from tenfold.inspection.cards import card
from tenfold.tensor.tensor import Tensor
from tenfold.testing import ErrorSample, Sample, check_operator, completeness, temporary_registrations
from tenfold.testing.generators import binary, unary
from tenfold.testing.samples import error_samples, samples

pytestmark = pytest.mark.usefixtures("own_registries")


def test_an_operator_without_error_passes_every_check() -> None:
    operator = plant(inplace=True, out=True)
    assert not failing(operator)
    assert completeness(operator) == []


@pytest.mark.parametrize("factor", [1.0005, 0.9995])
def test_a_gradient_off_by_a_twentieth_of_a_percent(factor: float) -> None:
    assert "first_gradient" in failing(plant(slope=lambda g, input: g * (2 * factor) * input))


def test_one_entry_of_a_gradient_off_in_a_big_tensor() -> None:
    def slope(g: Any, input: Any) -> Any:
        right = np.full(tuple(input.shape), 2.0)
        right.reshape(-1)[-1:] *= 1.0005
        return g * tenfold.tensor(right) * input

    assert "first_gradient" in failing(plant(slope=slope, samples_from=lambda make: [Sample(make(67))]))


def test_a_missing_gradient_of_one_argument() -> None:
    @primitive("pointwise", name="planted", promote="common", rule=pointwise)
    def declared(input: Tensor, other: Tensor) -> Tensor:
        """A product."""

    kernel(declared, device="cpu")(np.multiply)
    gradient(declared, input=lambda g, other: g * other)
    samples(declared, dtypes=(tenfold.float64,))(lambda make: [Sample(make(3), make(3))])
    assert "first_gradient" in failing(declared.op)


@pytest.mark.parametrize(("constants", "expected"), [(("scale",), set()), ((), {"first_gradient"})])
def test_only_what_is_named_a_constant_goes_without_a_gradient(constants: tuple[str, ...], expected: set[str]) -> None:
    @primitive("pointwise", name="planted")
    def declared(input: Tensor, scale: Tensor) -> Tensor:
        """A product."""

    declared.rule(pointwise)
    kernel(declared, device="cpu")(lambda input, scale: input * scale)
    gradient(declared, input=lambda g, scale: g * scale)
    samples(declared, dtypes=(tenfold.float64,), constants=constants)(lambda make: [Sample(make(3), make(3))])
    assert {f.check for f in check_operator(declared.op, checks=["first_gradient"]).failures} == expected


@pytest.mark.parametrize("factor", [1.0, 1.0005])
def test_a_gradient_is_compared_where_before_puts_the_arguments_for_what_stable_keeps(factor: float) -> None:
    @primitive("linalg", name="planted", method=None)
    def declared(A: Tensor) -> Tensor:
        """The square of the lower triangle, with a sign that depends on nothing that has derivatives."""

    declared.rule(lambda A: Meta(A.shape, A.dtype))
    kernel(declared, device="cpu")(lambda A: np.tril(A) ** 2 * (1 if A.sum() > 0 else -1))
    gradient(declared, A=lambda g, A, out: g * 2 * A * factor * out.sum().sign())  # right for triangular matrices only
    samples(declared, dtypes=(tenfold.float64,), before=lambda A: (A.tril(),), stable=lambda result: result.abs())(
        lambda make: [Sample(make(2, 2)), Sample(-make(2, 2))]
    )
    found = {f.check for f in check_operator(declared.op, checks=["first_gradient"]).failures}
    assert found == (set() if factor == 1.0 else {"first_gradient"})


def test_a_gradient_that_cannot_be_differentiated_again() -> None:
    found = failing(plant(slope=lambda g, input: g * 2 * input.detach()))
    assert "second_gradient" in found
    assert "first_gradient" not in found


def test_a_gradient_rule_that_writes_the_incoming_gradient() -> None:
    def slope(g: Any, input: Any) -> Any:
        g.mul_(2)
        return g * input

    assert "gradient_memory" in failing(plant(slope=slope))


def test_two_gradients_that_share_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def accumulate(node: Any, g: Any, create_graph: bool) -> None:
        node.ref()._grad = g

    def shared() -> bool:
        report = check_operator(OPERATORS["add"], checks=["gradient_memory"])
        return any("share" in failure.reason for failure in report.failures)

    assert not shared()
    monkeypatch.setattr(engine, "_accumulate", accumulate)
    monkeypatch.setattr(other_walks, "WALKS", [])  # which accumulate by themselves
    assert shared()


def test_a_result_that_asks_for_gradients_of_a_nondifferentiable_operator() -> None:
    assert not failing(plant(nondifferentiable="for the test"))


def test_a_kernel_that_writes_its_input() -> None:
    def compute(input: Any) -> Any:
        result = input * input
        if input.size:
            input[...] = 0
        return result

    assert "unchanged" in failing(plant(compute))


def test_a_kernel_that_writes_beside_its_strided_input() -> None:
    def compute(input: Any) -> Any:
        if input.base is not None and input.size:
            owner = input.base
            while owner.base is not None:
                owner = owner.base
            owner.reshape(-1)[0] += 1
        return input * input

    assert "unchanged" in failing(plant(compute, samples_from=lambda make: [Sample(make(3, layout="strided"))]))


def test_a_kernel_that_returns_its_input() -> None:
    assert "memory" in failing(plant(lambda input: input))


@pytest.mark.parametrize("declared", [False, True])
def test_an_overload_that_returns_its_argument(declared: bool) -> None:
    """It has to be declared: nobody else sees that a write to the result would change the argument."""
    planted = plant(returns_argument=declared)
    planted.overload(lambda input: input)
    assert ("memory" in failing(planted)) is not declared


@pytest.mark.parametrize(
    "compute",
    [
        lambda input: (input * input)[..., None],
        lambda input: (input * input).astype(np.complex128),
        lambda input: np.asarray(input * input, np.float64 if input.dtype == np.float32 else np.float32),
    ],
    ids=["shape", "kind", "width"],
)
def test_a_kernel_of_another_shape_or_dtype_than_declared(compute: Any) -> None:
    assert "shape_rule" in failing(plant(compute))


def test_a_wrong_dtype_from_a_rule() -> None:
    assert "shape_rule" in failing(plant(rule=lambda input: Meta(input.shape, np.float64)))


def test_a_wrong_shape_from_a_rule() -> None:
    assert "shape_rule" in failing(plant(rule=lambda input: Meta((*input.shape, 1), input.dtype)))


def test_a_wrong_value_in_one_layout() -> None:
    def compute(input: Any) -> Any:
        return input * input if input.flags.c_contiguous else input + input

    found = failing(plant(compute))
    assert {"value", "layouts"} <= found


def test_a_dtype_that_the_rule_refuses_and_the_kernel_takes() -> None:
    def rule(input: Any) -> Meta:
        if input.dtype == np.float64:
            raise RuntimeError("planted: float64 is not accepted")
        return pointwise(input)

    assert "dtypes" in failing(plant(rule=rule))


def test_a_dtype_that_the_rule_accepts_and_the_kernel_refuses() -> None:
    def compute(input: Any) -> Any:
        if input.dtype == np.float64:
            raise TypeError("planted: no float64 here")
        return input * input

    assert "dtypes" in failing(plant(compute))


def test_an_inplace_form_that_disagrees() -> None:
    def compute(input: Any, out: Any = None) -> Any:
        return np.multiply(input, input) if out is None else np.add(input, input, out=out)

    assert "inplace" in failing(plant(compute, inplace=True, kernel_options={"into": True}))


def test_a_method_that_disagrees(monkeypatch: pytest.MonkeyPatch) -> None:
    operator = plant()

    def planted(self: Any) -> Any:
        return self + self

    planted.op = operator  # type: ignore[attr-defined]
    monkeypatch.setattr(Tensor, "planted", planted)
    assert "method" in failing(operator)


def test_a_python_operator_that_disagrees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Tensor, "__sub__", lambda self, other: tenfold.add(self, other))
    assert "python_operator" in {f.check for f in check_operator(OPERATORS["sub"], checks=["python_operator"]).failures}


def test_an_error_of_another_type() -> None:
    operator = plant()
    error_samples(operator)(lambda make: [ErrorSample([1.0], error=RuntimeError)])
    assert "errors" in failing(operator)


def test_an_error_that_does_not_name_the_operator() -> None:
    # In a body: the words of a kernel's error get the operator's name from the dispatch.
    @composite("pointwise", name="planted", method=None)
    def declared(input: Tensor) -> Tensor:
        """The square of each element.

        >>> 3 * 3
        9
        """
        if input.dim() == 3:
            raise RuntimeError("too many dimensions")
        return input * input

    samples(declared, dtypes=(tenfold.float32, tenfold.float64))(lambda make: [Sample(make(3))])
    error_samples(declared)(lambda make: [ErrorSample(make(1, 1, 1), error=RuntimeError, match="too many")])
    assert "errors" in failing(declared.op)


def test_a_call_that_is_not_refused() -> None:
    operator = plant()
    error_samples(operator)(lambda make: [ErrorSample(make(3), error=RuntimeError)])
    assert "errors" in failing(operator)


def test_a_rule_that_nobody_asked_is_named_where_a_kernel_accepts_what_it_refuses() -> None:
    def rule(input: Any) -> Meta:
        if len(input.shape) == 5:
            raise RuntimeError("planted: five dimensions")
        return pointwise(input)

    operator = plant(rule=rule)
    error_samples(operator)(lambda make: [ErrorSample(make(1, 1, 1, 1, 1), error=RuntimeError)])
    (failure,) = check_operator(operator, checks=["errors"]).failures
    hint = "a kernel that begins with op.planted.shape_rule(...), of a Meta(shape, dtype) for each array, refuses it"
    assert failure.reason == f"planted accepted what it must refuse; {hint} as the rule does: planted: five dimensions"


def test_a_kernel_that_warns_and_one_that_widens_are_told_what_to_do() -> None:
    def loud(input: Any) -> Any:
        return input * input

    def wide(input: Any) -> Any:
        with np.errstate(all="ignore"):
            return input * input * np.float64(1)

    for compute, check, hint in (
        (loud, "special", "a kernel is silent about infinities and NaN: compute under np.errstate(all='ignore')"),
        (wide, "shape_rule", "a NumPy scalar such as np.log(2) widens what it meets, a Python number does not"),
    ):
        with temporary_registrations():
            assert all(hint in failure.reason for failure in check_operator(plant(compute), checks=[check]).failures)
            assert check_operator("planted", checks=[check]).failures


def test_a_kernels_card_and_errors_say_where_it_is_written_not_its_decorators() -> None:
    operator = plant(widened(quiet(squared)))
    (row,) = [line for line in card("planted").splitlines() if line.startswith("  kernel    cpu")]
    code = squared.__code__
    assert f"{code.co_filename}:{code.co_firstlineno} " in row
    assert not failing(operator)


def accelerated(function: Any, when: Any = None) -> Any:
    @composite("pointwise", name="planted")
    def declared(input: Tensor) -> Tensor:
        """The double of each element."""
        return input + input

    kernel(declared, device="cpu", when=when)(function)
    samples(declared, dtypes=(tenfold.float32, tenfold.float64))(unary())
    return declared.op


def test_an_accelerated_kernel_that_is_wrong_for_one_layout() -> None:
    assert not failing(accelerated(doubled))


def test_an_accelerated_kernel_wrong_for_transposed_memory() -> None:
    def wrong(input: Any) -> Any:
        return (
            2 * input
            if input.flags.c_contiguous or input.ndim < 2
            else 2 * np.ascontiguousarray(input).reshape(input.shape[::-1]).T
        )

    found = failing(accelerated(wrong))
    assert "value" in found


def test_a_conditional_kernel_that_is_wrong() -> None:
    assert "conditions" in failing(accelerated(lambda input: 3 * input, when=lambda input: input.ndim == 2))


def test_a_condition_that_no_sample_meets() -> None:
    assert failing(accelerated(doubled, when=lambda input: input.ndim == 9)) == {"conditions"}


def test_a_conditional_kernel_that_is_right() -> None:
    assert not failing(accelerated(doubled, when=lambda input: input.ndim == 2))


def plant_logaddexp10(reference: Any) -> Any:
    """log10(10^a + 10^b), written so that it subtracts infinities where both arguments are one."""

    @composite("pointwise", name="planted", method=None, promote="float")
    def declared(input: Tensor, other: Tensor) -> Tensor:
        """The logarithm of the sum of two powers of ten.

        >>> 3 * 3
        9
        """
        largest = input.maximum(other)
        return largest + ((10 ** (input - largest)) + 10 ** (other - largest)).log10()

    samples(declared, reference=reference, dtypes=(tenfold.float32, tenfold.float64))(binary(numbers=()))
    return declared.op


def test_a_value_that_is_wrong_where_both_arguments_are_infinite() -> None:
    found = failing(plant_logaddexp10(lambda a, b: np.logaddexp(a * np.log(10), b * np.log(10)) / np.log(10)))
    assert found == {"special"}


def test_a_kernel_that_loses_nan_in_one_place() -> None:
    found = failing(plant(lambda input: np.where(np.isnan(input), 0, input * input).astype(input.dtype)))
    assert found == {"special"}


def test_a_batching_rule_that_mixes_the_examples() -> None:
    operator = plant()

    @batching(operator)
    def rule(batch: Any) -> Any:
        return batch.call(input=batch.front("input").flip(0)), 0

    try:
        assert "batching" in failing(operator)
    finally:
        BATCHING.pop("planted")


def test_a_forward_rule_off_by_a_twentieth_of_a_percent() -> None:
    operator = plant()
    jvp_rule(operator, lambda operator, values, tangents: (values["input"] ** 2, 2.001 * values["input"] * tangents["input"]))
    try:
        assert {"forward_mode"} <= failing(operator)
    finally:
        TANGENTS.pop("planted")


def test_a_wrong_forward_rule_of_an_operator_in_a_gradient() -> None:
    @primitive("pointwise", name="planted_slope", promote="common", rule=pointwise)
    def slope(grad: Tensor, input: Tensor) -> Tensor:
        """Twice the product."""

    kernel(slope, device="cpu")(lambda grad, input: doubled(grad * input))
    gradient(slope, grad=lambda g, input: 2 * g * input, input=lambda g, grad: 2 * g * grad)

    def pushed(operator: Any, values: Any, tangents: Any) -> Any:
        parts = {**values, **tangents}
        return 2 * values["grad"] * values["input"], 2.001 * values["grad"] * parts["input"]

    jvp_rule(slope.op, pushed)
    try:
        found = failing(plant(slope=lambda g, input: slope(g, input)))
        assert "forward_over_reverse" in found
        assert "forward_mode" not in found
    finally:
        TANGENTS.pop("planted_slope")
