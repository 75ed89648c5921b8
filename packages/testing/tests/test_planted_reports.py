"""What checks and reports say of an operator: what is missing, where it is looked for, what differs; and what they leave."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from planting import plant, square_rule, squared

import tenfold
from tenfold import plugins
from tenfold.autograd import gradient
from tenfold.dispatch.kernels import KERNELS, kernel
from tenfold.dispatch.operators import OPERATORS, primitive
from tenfold.inspection.cards import card
from tenfold.tensor.tensor import Tensor
from tenfold.testing import Make, Report, check_operator, completeness, temporary_registrations
from tenfold.testing.checks import CHECKS
from tenfold.testing.checks.case import Result
from tenfold.testing.registries import refresh

pytestmark = pytest.mark.usefixtures("own_registries")


def test_missing_parts_are_named() -> None:
    @primitive("pointwise", name="planted")
    def declared(input: Tensor) -> Tensor:
        """An operator with nothing else."""

    missing = " ".join(completeness(declared))
    for part in ("example", "samples", "error samples", "shape rule", "kernel", "gradient"):
        assert part in missing


def test_nothing_is_left_behind() -> None:
    kernels_before = {key: list(entries) for key, entries in KERNELS.items()}
    with temporary_registrations():
        plant(inplace=True)
        kernel(OPERATORS["add"], device="cpu", when=lambda input, other: True)(lambda input, other: input * 0)
        assert tenfold.tensor([1.0]).add(1).item() == 0
        assert tenfold.tensor([3.0]).planted().item() == 9
    assert "planted" not in OPERATORS
    assert not hasattr(Tensor, "planted")
    assert {key: entries for key, entries in KERNELS.items() if entries} == {k: e for k, e in kernels_before.items() if e}
    assert tenfold.tensor([1.0]).add(1).item() == 2


def test_an_existing_gradient_may_be_exchanged() -> None:
    from tenfold.autograd.gradients import GRADIENTS

    assert check_operator(OPERATORS["exp"], checks=["first_gradient"]).of("passed")
    with temporary_registrations():
        del GRADIENTS["exp"]
        gradient(OPERATORS["exp"], input=lambda g, out: g * out * 1.0005)
        refresh("exp")
        assert check_operator(OPERATORS["exp"], checks=["first_gradient"]).failures
    x = tenfold.tensor([0.0], dtype=tenfold.float64, requires_grad=True)
    x.exp().backward()
    assert x.grad is not None
    assert x.grad.item() == 1.0


def test_every_check_has_a_docstring_and_a_name() -> None:
    assert all(check.__doc__ and check.__name__ == name for name, check in CHECKS.items())


def test_samples_are_the_same_on_every_call() -> None:
    first, second = Make(seed=3)(5), Make(seed=3)(5)
    assert (first == second).tolist() == [True] * 5


def test_checks_that_mean_nothing_are_not_made() -> None:
    report = check_operator(plant(nondifferentiable="for the test"))
    assert {r.check for r in report.results}.isdisjoint({"out", "inplace", "python_operator", "conditions", "second_gradient"})
    assert not report.of("skipped")


def test_an_elements_difference_is_told_as_a_call() -> None:
    operator = plant(lambda input: np.where(np.isinf(input), np.nan, squared(input)).astype(input.dtype))
    reasons = [failure.reason for failure in check_operator(operator, checks=["special"]).failures]
    assert "The first of them: planted(inf) is nan, the reference says inf" in reasons[0]
    assert all("inf) is nan, the reference says inf" in reason for reason in reasons)


def test_operators_are_named_by_themselves_their_function_or_their_name() -> None:
    for target in ("exp", tenfold.exp, OPERATORS["exp"]):
        assert completeness(target) == []
        assert not check_operator(target, checks=["unchanged"]).failures
    with pytest.raises(AttributeError, match="there is no operator 'expp'"):
        check_operator("expp")


def test_the_first_complaint_names_the_reference_too() -> None:
    @primitive("pointwise", name="planted", rule=square_rule)
    def declared(input: Tensor) -> Tensor:
        """The square."""

    missing = " ".join(completeness(declared))
    assert "samples (tenfold.testing.samples)" in missing
    assert "a reference for its values" in missing


def test_a_kernel_and_a_gradient_in_another_familys_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    operator = declare_activation()
    for module, text in {
        "planted_kernels": "from tenfold.dispatch.kernels import kernel\nkernel(op.planted, device='cpu')(lambda input: input)",
        "planted_rules": "from tenfold.autograd import gradient\ngradient(op.planted, input=lambda g: g)",
    }.items():
        (tmp_path / f"{module}.py").write_text(f"from tenfold import op\n{text}\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    plugins.register(WrongFamily(), "wrong_family")
    try:
        plugins.load_kernels("cpu", "pointwise")
        plugins.load_family("tenfold_gradients", "pointwise")
        missing = " ".join(completeness(operator))
    finally:
        plugins.unregister("wrong_family")
    for what, hook in (("kernel", "tenfold_kernels"), ("gradient rule", "tenfold_gradients")):
        assert f"a {what} where it is looked for" in missing
        assert f"names for the family 'activation' ({hook})" in missing


@pytest.mark.parametrize(
    ("name", "expected"),
    [("sum", "kinds.py:"), ("add", "kinds.py:"), ("addmm", "through its body"), ("planted", "a loop over the examples")],
)
def test_an_operators_card_says_how_vmap_treats_it(name: str, expected: str) -> None:
    @primitive("reduction", name="planted")
    def declared(input: Tensor) -> Tensor:
        """Nothing yet."""

    (row,) = [line for line in card(name).splitlines() if line.startswith("  vmap ")]
    assert expected in row


def test_a_backward_pass_without_a_rule_says_where_one_is_looked_for() -> None:
    operator = declare_activation()
    kernel(operator, device="cpu")(lambda input: input.copy())
    x = tenfold.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="in a module that its plugin names for the family 'activation'"):
        operator(x).sum().backward()


def declare_activation() -> Any:
    @primitive("activation", name="planted", rule=square_rule)
    def declared(input: Tensor) -> Tensor:
        """The same."""

    return declared.op


class WrongFamily:
    """A plugin whose kernel and gradient are in modules for another family than their operator's."""

    TENFOLD_PLUGIN_API = 1

    @plugins.hookimpl()
    def tenfold_kernels(self, device: str) -> dict[str, str]:
        return {"pointwise": "planted_kernels"} if device == "cpu" else {}

    @plugins.hookimpl()
    def tenfold_gradients(self) -> dict[str, str]:
        return {"pointwise": "planted_rules"}


def test_a_report_says_once_what_differs_in_numbers_only() -> None:
    results = [
        Result("f", "value", f"({dtype}[{n}])", "failed", f"Tensor-likes are not close!\n{n} / 9")
        for dtype in ("float32", "float64") for n in range(5)
    ]  # fmt: skip
    report = Report("cpu", [*results, Result("f", "value", "(float32[2])", "failed", "dtype float64, the rule gives float32")])
    assert str(report).count("FAILED") == 3
    assert str(report).count("and 4 more samples like it") == 2
    assert len(report.failures) == 11
