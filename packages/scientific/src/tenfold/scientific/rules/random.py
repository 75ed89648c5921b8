"""Gradients of random samples by their parameters, the underlying random numbers being fixed.

Source: M. Figurnov, S. Mohamed, A. Mnih, "Implicit reparameterization gradients" (2018).
"""

from __future__ import annotations

from typing import Any

from tenfold import op
from tenfold.autograd.gradients import gradient
from tenfold.scientific.rules.special import refuse


def _through_shares(g: Any, input: Any, out: Any) -> Any:
    """Each share grows at the cost of all: d x_j / d alpha_i = (delta_ij - x_j) * dx_i / d alpha_i / (1 - x_i)."""
    total = input.sum(-1, True).expand_as(input)
    return op._dirichlet_grad(out, input, total) * (g - (out * g).sum(-1, True))


gradient(op._standard_gamma, input=lambda g, input, out: g * op._standard_gamma_grad(input, out), node="StandardGammaBackward0")
gradient(op._sample_dirichlet, input=_through_shares, node="SampleDirichletBackward0")


def _refused(name: str) -> Any:
    return lambda g: refuse(name)


for _name, _parameters in (("_standard_gamma_grad", ("input", "output")), ("_dirichlet_grad", ("x", "alpha", "total"))):
    gradient(getattr(op, _name), **dict.fromkeys(_parameters, _refused(_name)))
