"""Which parameters, groups and searches the optimizers accept that do not take every kind."""

from __future__ import annotations

from typing import Any

import pytest

import tenfold


def leaf(*values: float) -> Any:
    return tenfold.tensor(list(values) or [1.0, 2.0], requires_grad=True)


def test_lbfgs_accepts_one_group_and_known_line_searches() -> None:
    with pytest.raises(ValueError, match="parameter groups"):
        tenfold.optim.LBFGS([{"params": [leaf()]}, {"params": [leaf()]}])
    with pytest.raises(RuntimeError, match="only 'strong_wolfe' is supported"):
        tenfold.optim.LBFGS([leaf()], line_search_fn="armijo").step(lambda: 0.0)


def test_muon_accepts_matrices_only() -> None:
    with pytest.raises(ValueError, match="only supports 2D parameters"):
        tenfold.optim.Muon([leaf()])


def test_muon_refuses_complex_parameters() -> None:
    weight = tenfold.ones(2, 2, dtype=tenfold.complex64, requires_grad=True)
    weight.grad = tenfold.ones(2, 2, dtype=tenfold.complex64)
    with pytest.raises(RuntimeError, match="Muon does not support complex parameters"):
        tenfold.optim.Muon([weight]).step()
