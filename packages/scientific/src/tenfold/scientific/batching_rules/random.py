"""Gamma, Dirichlet, Poisson and binomial samples under vmap and forward mode."""

from __future__ import annotations

from typing import Any

from tenfold.autograd.batching import batching_by_name
from tenfold.autograd.batching_rules.kinds import pointwise
from tenfold.autograd.batching_rules.random import drawing, in_place, shaped
from tenfold.autograd.tangents import jvp_rule
from tenfold.dispatch.operators import Operator, op


@jvp_rule(op._standard_gamma)  # type: ignore[untyped-decorator]
def _gamma_tangent(operator: Operator, values: dict[str, Any], tangents: dict[str, Any]) -> tuple[Any, Any]:
    out = operator.fn(**values)
    return out, tangents["input"] * op._standard_gamma_grad(values["input"], out)


@jvp_rule(op._sample_dirichlet)  # type: ignore[untyped-decorator]
def _dirichlet_tangent(operator: Operator, values: dict[str, Any], tangents: dict[str, Any]) -> tuple[Any, Any]:
    """Each share grows at the cost of all, as in the gradient rule."""
    alpha, out = values["input"], operator.fn(**values)
    grown = tangents["input"] * op._dirichlet_grad(out, alpha, alpha.sum(-1, True).expand_as(alpha))
    return out, grown - out * grown.sum(-1, True)


batching_by_name("randint_like", drawing(shaped))
batching_by_name("geometric_ cauchy_ log_normal_", in_place)
batching_by_name("poisson binomial _standard_gamma _sample_dirichlet", drawing(shaped, by_shape=False))
batching_by_name("_standard_gamma_grad _dirichlet_grad", pointwise)
