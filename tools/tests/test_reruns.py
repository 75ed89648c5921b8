"""What explains a gradient of a random program tells a right one from a wrong one."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).parents[1] / "parity"))

reruns: Any = importlib.import_module("reruns")
formulas: Any = importlib.import_module("formulas")


def test_units_at_nan() -> None:
    program = ["t0 = torch.tensor([1.5, float('nan')], requires_grad=True)", "F.hardtanh(t0).sum().backward()"]
    changed = formulas.units_with_one_slope_at_nan(torch)
    assert reruns.explains(torch, program, changed, torch.tensor([0.0, 1.0]))
    assert not reruns.explains(torch, program, changed, torch.tensor([1.0, 1.0]))
    assert torch.nn.functional.hardtanh not in changed.values()


def test_a_program_that_ends_its_process_explains_nothing() -> None:
    program = ["t0 = torch.ones(2, requires_grad=True)", "t0.sum().backward()"]
    assert reruns.explains(torch, program, {}, torch.ones(2))
    assert not reruns.explains(torch, [*program, "__import__('os').abort()"], {}, torch.ones(2))


def test_modes() -> None:
    def places(x: Any, dim: int) -> Any:
        return [3]

    program = ["t0 = torch.tensor([2.0, float('nan'), 1.0, 2.0], requires_grad=True)", "torch.mode(t0, 0)[0].backward()"]
    changed = formulas.mode_by_counting(torch, places)
    assert reruns.explains(torch, program, changed, torch.tensor([0.0, 0.0, 0.0, 1.0]))
    assert not reruns.explains(torch, program, changed, torch.tensor([0.0, 0.0, 1.0, 0.0]))


@pytest.mark.parametrize(("second", "near"), [(15.2, True), (15.5, False), (float("inf"), False)])
def test_roundings(second: float, near: bool) -> None:
    program = ["t0 = torch.tensor([1.5, 2.25], dtype=torch.float16, requires_grad=True)", "(t0 * t0 * t0).sum().backward()"]
    assert reruns.is_as_near(torch, program, torch.tensor([6.75, 15.19]), torch.tensor([6.75, second])) is near


@pytest.mark.parametrize(("second", "near"), [(0.6, True), (0.6000002, True), (0.61, False), (float("inf"), False)])
def test_roundings_in_single_precision(second: float, near: bool) -> None:
    program = ["t0 = torch.tensor([1.5, 0.3], dtype=torch.float32, requires_grad=True)", "(t0 * t0).sum().backward()"]
    assert reruns.is_as_near_in_single(torch, program, torch.tensor([3.0, 0.6]), torch.tensor([3.0, second])) is near


def test_another_gradient_of_the_same_shape_explains_no_rounding() -> None:
    program = ["t0 = torch.tensor([1.5, 0.3], requires_grad=True)", "(t0 * t0).sum().backward()"]
    assert not reruns.is_as_near_in_single(torch, program, torch.tensor([300.0, 7.0]), torch.tensor([3.0, 9.0]))


def test_complex_products_made_real() -> None:
    program = [
        "t0 = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)",
        "t1 = t0.cumprod(0, dtype=torch.float64)",
        "t1.sum().backward()",
    ]
    changed = formulas.real_before_products(torch)
    assert reruns.explains(torch, program, changed, torch.tensor([4.0, 1.0]))
    assert not reruns.explains(torch, program, {}, torch.tensor([4.0, 1.0]))


def test_shapes_changed_under_no_grad() -> None:
    program = [
        "t0 = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)",
        "t1 = t0.square()",
        "with torch.no_grad(): t1.transpose_(0, 1)",
        "(t1 * torch.tensor([[0.0, 1.0], [2.0, 3.0]])).sum().backward()",
    ]
    right = torch.tensor([[0.0, 8.0], [6.0, 24.0]])
    assert reruns.explains(torch, reruns.with_shapes_recorded(program), {}, right)
    assert not reruns.explains(torch, program, {}, right)


@pytest.mark.parametrize("write", ["t1.mul_(3)", "t1[0] = 5.0", "t1 *= 3", "torch.add(t1, 1, out=t1)"])
def test_views_written_under_no_grad_keep_their_hooks(write: str) -> None:
    program = [
        "t0 = torch.tensor([1.0, 2.0], requires_grad=True)",
        "t1 = t0.view(2)",
        "t1.register_hook(lambda g: g + 1)",
        f"with torch.no_grad(): {write}",
        "t1.sum().backward()",
    ]
    assert reruns.explains(torch, reruns.with_views_kept(program), {}, torch.tensor([2.0, 2.0]))
    assert not reruns.explains(torch, program, {}, torch.tensor([2.0, 2.0]))


@pytest.mark.parametrize(("given", "copied"), [("t0.transpose(0, 1)", True), ("t0", False), ("t0[0].t()", False)])
def test_a_batch_that_is_copied_for_a_product(given: str, copied: bool) -> None:
    program = ["t0 = torch.ones(3, 3, 3)", f"t1 = {given}", "t2 = t1 @ torch.ones(3, 2, requires_grad=True)"]
    assert reruns.multiplies_a_copy(torch, program) is copied


def test_a_program_that_finds_no_gradient() -> None:
    program = ["t0 = torch.ones(2, requires_grad=True)", "t1 = t0 * 2"]
    asked = "t2 = torch.autograd.grad(t1.sum(), [{}], allow_unused=True)"
    assert reruns.finds_nothing(torch, [*program, asked.format("torch.ones(1, requires_grad=True)")])
    assert not reruns.finds_nothing(torch, [*program, asked.format("t0")])


def test_a_statement_that_pytorch_does_not_survive() -> None:
    environment = {"t0": torch.tensor([2])}
    assert not reruns.crashes(torch, environment, "t0.lcm_(t0)")
    environment["t1"] = torch.tensor([-(2**63)])
    assert not reruns.crashes(torch, environment, "t1.add_(t0)")


def test_a_product_that_meets_infinity_has_the_gradient_of_its_definition() -> None:
    lines = [
        "t0 = torch.tensor([3.0, 0.0, -float('inf')], requires_grad=True)",
        "t1 = torch.cumprod(t0, 0)",
        "t1.sum().backward()",
    ]
    definition = torch.tensor([float("nan"), float("-inf"), 0.0])
    assert reruns.explains(torch, lines, formulas.products_by_steps(torch), definition)
    assert not reruns.explains(torch, lines, formulas.products_by_steps(torch), torch.ones(3))


def test_halves_are_held_against_float64() -> None:
    given = {"t0": torch.tensor([1.0, 3.0], dtype=torch.bfloat16)}
    theirs, near, far = (torch.tensor(v, dtype=torch.bfloat16) for v in ([0.33, 1.1], [0.3333, 1.0], [0.4, 1.3]))
    assert reruns.rounds_as_well(torch, given, "t1 = t0 / 3", theirs, near)
    assert not reruns.rounds_as_well(torch, given, "t1 = t0 / 3", theirs, far)


def test_a_conversion_that_widening_makes_needless_is_still_a_copy() -> None:
    program = [
        "t0 = torch.tensor([-0.471, 0.5], dtype=torch.float64, requires_grad=True)",
        "t1 = t0.float()",
        "t1.erfc_()",
        "t1.sum().backward()",
    ]
    theirs = torch.tensor([-0.9038987, -0.8787826], dtype=torch.float64)
    assert reruns.is_as_near_in_single(torch, program, theirs, theirs + 6e-8)
    assert not reruns.is_as_near_in_single(torch, program, theirs, theirs + 1e-2)


@pytest.mark.parametrize("write", ["t0.logical_not_()", "with torch.no_grad(): t2 = F.threshold(t1, 0.1, 2.0, inplace=True)"])
def test_what_is_asked_of_a_view_after_an_unrecorded_write(write: str) -> None:
    program = [
        "t0 = torch.tensor([-1.0, 2.0], requires_grad=True)",
        "t1 = t0[:1]",
        "t3 = t1 * 3",
        write,
        "t4 = torch.autograd.grad(t3.sum(), [t1], allow_unused=True)",
    ]
    kept = reruns.with_views_kept(program)
    for what, alike in (("kind of result NoneType / Tensor", kept), ("kind of result Tensor / NoneType", program)):
        assert reruns.ends_alike(torch, alike, what, "")
        assert not reruns.ends_alike(torch, program if alike is kept else kept, what, "")


def test_how_a_program_ends() -> None:
    program = ["t0 = torch.tensor([-1.0, 2.0], requires_grad=True)", "t0.sum().backward()"]
    assert reruns.ends_alike(torch, program, "grad is None True / False", "t0")
    assert not reruns.ends_alike(torch, program[:1], "grad is None True / False", "t0")
    assert reruns.ends_alike(torch, [*program, "t0.mul_(2)"], "error: None / RuntimeError", "")
    assert not reruns.ends_alike(torch, program, "error: None / RuntimeError", "")


@pytest.mark.parametrize(("view", "passes"), [("t0[...]", True), ("t1[...]", False)])
def test_a_view_whose_graph_was_not_looked_at(view: str, passes: bool) -> None:
    program = ["t0 = torch.ones(2)", "t1 = torch.ones(2, requires_grad=True)", f"t2 = {view}", "t2[...] += t1"]
    assert reruns.passes_when_seen(torch, program) is passes


@pytest.mark.parametrize("unit", ["elu", "celu", "selu", "softplus"])
def test_a_second_derivative_at_infinity(unit: str) -> None:
    program = [
        "t0 = torch.tensor([float('inf'), -2.0, 1.0], requires_grad=True)",
        f"t1 = F.{unit}(t0)",
        "t2 = torch.autograd.grad(t1.square().sum(), [t0], create_graph=True)",
        "t2_0.sum().backward()",
    ]
    scope, _ = reruns._run(torch, program, {})
    theirs = scope["t0"].grad
    assert theirs[0].isnan()
    straight = torch.cat([torch.tensor([2.0 * 1.0507009873554805**2 if unit == "selu" else 2.0]), theirs[1:]])
    changed = formulas.curves_by_parts(torch)
    assert reruns.explains(torch, program, changed, straight)
    assert not reruns.explains(torch, program, changed, theirs)
    assert not reruns.explains(torch, program, {}, straight)


def test_a_gradient_that_is_nothing_but_rounding() -> None:
    program = [
        "t0 = torch.tensor([[0.676, -0.579, -0.173]], dtype=torch.float32, requires_grad=True)",
        "(F.layer_norm(t0, (3,)) * 573.0).sum().backward()",
    ]
    scope, _ = reruns._run(torch, program, {})
    theirs = scope["t0"].grad
    assert reruns.is_noise_in_single(torch, program, theirs, theirs / 2)
    assert not reruns.is_noise_in_single(torch, program, theirs, theirs + 0.1)
    assert not reruns.is_noise_in_single(torch, program, torch.full((1, 3), 9.0), theirs)


@pytest.mark.parametrize(("write", "refused"), [("t1.mul_(2)", True), ("t1.detach().clone().mul_(2)", False)])
def test_a_kronecker_product_by_its_definition_knows_what_was_written(write: str, refused: bool) -> None:
    program = [
        "t0 = torch.ones(2, 3, requires_grad=True)", "t1 = t0 * 1", "t2 = torch.kron(t1, t1[:1])", write, "t2.sum().backward()",
    ]  # fmt: skip
    assert not reruns.refuses(torch, program, {})
    assert reruns.refuses(torch, program, formulas.kron_by_definition(torch)) is refused
    x, y = torch.rand(2, 3), torch.rand(4, 1, 2)
    assert torch.equal(formulas.kron_by_definition(torch)[torch, "kron"](x, y), torch.kron(x, y))


@pytest.mark.parametrize(("ours", "accepted"), [(float("inf"), True), (1.0, False), (float("nan"), False)])
def test_terms_of_a_product_beyond_the_range(ours: float, accepted: bool) -> None:
    given = {"t0": torch.tensor([[1.0, 3e38]]), "t1": torch.tensor([[float("inf"), -3.0], [1.0, 2.0]])}
    theirs, found = torch.tensor([[float("nan") if accepted else float("inf"), 6e38]]), torch.tensor([[ours, 6e38]])
    assert reruns.sums_overflow(torch, given, "t2 = torch.nn.functional.linear(t0, t1)", theirs, found) is accepted
    calm = {**given, "t0": torch.tensor([[1.0, 3.0]])}
    assert not reruns.sums_overflow(torch, calm, "t2 = torch.nn.functional.linear(t0, t1)", theirs, found)


def test_a_derivative_that_pytorch_lacks_is_a_tensor() -> None:
    program = [
        "t0 = torch.ones(2, requires_grad=True)",
        "t1 = torch.remainder(3, t0)",
        "torch.autograd.grad(t1.sum(), [t0], allow_unused=True)",
    ]
    assert reruns.ends_alike(torch, program, "kind of result NoneType / Tensor", "")
    assert not reruns.ends_alike(torch, program, "kind of result Tensor / NoneType", "")
