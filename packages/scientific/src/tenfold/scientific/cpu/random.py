"""Gamma and Dirichlet samples and their derivatives: the operators with a gradient. Other samples need no kernels."""

from __future__ import annotations

from typing import Any

from tenfold.dispatch.kernels import kernel
from tenfold.dispatch.operators import op
from tenfold.random.generator import source
from tenfold.scientific import implicit, rejection


@kernel(op._standard_gamma, device="cpu")
def _standard_gamma(input: Any, generator: Any) -> Any:
    return rejection.standard_gamma(source(generator), input) if input.dtype.kind in "fV" else NotImplemented


@kernel(op._sample_dirichlet, device="cpu")
def _sample_dirichlet(input: Any, generator: Any) -> Any:
    return rejection.dirichlet(source(generator), input) if input.dtype.kind in "fV" else NotImplemented


@kernel(op._standard_gamma_grad, device="cpu")
def _standard_gamma_grad(input: Any, output: Any) -> Any:
    return implicit.gamma_derivative(input, output)


@kernel(op._dirichlet_grad, device="cpu")
def _dirichlet_grad(x: Any, alpha: Any, total: Any) -> Any:
    return implicit.dirichlet_derivative(x, alpha, total)
