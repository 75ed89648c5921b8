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


def test_units_at_nan() -> None:
    program = ["t0 = torch.tensor([1.5, float('nan')], requires_grad=True)", "F.hardtanh(t0).sum().backward()"]
    changed = reruns.units_with_one_slope_at_nan(torch)
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
    changed = reruns.mode_by_counting(torch, places)
    assert reruns.explains(torch, program, changed, torch.tensor([0.0, 0.0, 0.0, 1.0]))
    assert not reruns.explains(torch, program, changed, torch.tensor([0.0, 0.0, 1.0, 0.0]))


@pytest.mark.parametrize(("second", "near"), [(15.2, True), (15.5, False), (float("inf"), False)])
def test_roundings(second: float, near: bool) -> None:
    program = ["t0 = torch.tensor([1.5, 2.25], dtype=torch.float16, requires_grad=True)", "(t0 * t0 * t0).sum().backward()"]
    assert reruns.is_as_near(torch, program, torch.tensor([6.75, 15.19]), torch.tensor([6.75, second])) is near
