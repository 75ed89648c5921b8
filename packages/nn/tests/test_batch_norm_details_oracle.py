"""Batch norm's statistics beside PyTorch's: taken alone, and in forward mode, where they are constants."""

from __future__ import annotations

from typing import Any

import pytest

import tenfold as tf
from tenfold.autograd import forward_ad

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")  # PyTorch's, of its own forward mode


@pytest.mark.parametrize("shape", [(2, 3, 4), (5, 3), (1, 3, 2, 2), (2, 3, 0)], ids=str)
def test_statistics_alone(shape: tuple[int, ...]) -> None:
    def found(t: Any) -> Any:
        x = t.arange(float(torch.Size(shape).numel())).sin().reshape(shape)
        running = t.zeros(3), t.ones(3)
        try:
            return [part.tolist() for part in (*t.batch_norm_update_stats(x, *running, 0.3), *running)]
        except RuntimeError as error:
            return str(error).removeprefix("batch_norm_update_stats: ")

    ours, theirs = found(tf), found(torch)
    assert ours == (theirs if isinstance(theirs, str) else [pytest.approx(part, rel=1e-5) for part in theirs])


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("with_tangents", [(0,), (1,), (2,), (1, 2), (0, 1), (0, 2), (0, 1, 2)], ids=str)
def test_running_statistics_are_constants_in_forward_mode(with_tangents: tuple[int, ...], training: bool) -> None:
    def outcome(t: Any, level: Any) -> str:
        given = [t.ones(3, 2, 5), t.ones(2), t.ones(2)]
        with level.dual_level():
            duals = [level.make_dual(x, t.ones_like(x)) if i in with_tangents else x for i, x in enumerate(given)]
            try:
                t.nn.functional.batch_norm(*duals, training=training)
            except RuntimeError as error:
                return str(error).partition(":")[0]
        return "computed"

    ours, theirs = outcome(tf, forward_ad), outcome(torch, torch.autograd.forward_ad)
    assert ours.startswith("batch_norm is not differentiable wrt" if theirs != "computed" else "computed")
