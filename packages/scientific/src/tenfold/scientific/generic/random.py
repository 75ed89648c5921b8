"""Gamma and Dirichlet samples and their derivatives on any device, computed on the host: the operators with a gradient.

A body has none of its own, as it works on arrays; a kernel's call is recorded. Other samples need no kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenfold.dispatch.kernels import ANY_DEVICE, kernel
from tenfold.dispatch.operators import op
from tenfold.random.generator import source
from tenfold.scientific import implicit, rejection


def _sampled(backend: Any, sampler: Callable[..., Any], input: Any, generator: Any) -> Any:
    if input.dtype.kind not in "fV":
        return NotImplemented
    index = backend.index_of(input)
    led = getattr(backend, "generator_on_the_host", None)  # of a backend with generators of its own
    words = source(generator) if led is None else led(index, source(generator))
    return backend.from_numpy(sampler(words, backend.to_numpy(input)), index)


def _computed(backend: Any, function: Callable[..., Any], *arrays: Any) -> Any:
    return backend.from_numpy(function(*map(backend.to_numpy, arrays)), backend.index_of(arrays[0]))


@kernel(op._standard_gamma, device=ANY_DEVICE)
def _standard_gamma(backend: Any, input: Any, generator: Any) -> Any:
    return _sampled(backend, rejection.standard_gamma, input, generator)


@kernel(op._sample_dirichlet, device=ANY_DEVICE)
def _sample_dirichlet(backend: Any, input: Any, generator: Any) -> Any:
    return _sampled(backend, rejection.dirichlet, input, generator)


@kernel(op._standard_gamma_grad, device=ANY_DEVICE)
def _standard_gamma_grad(backend: Any, input: Any, output: Any) -> Any:
    return _computed(backend, implicit.gamma_derivative, input, output)


@kernel(op._dirichlet_grad, device=ANY_DEVICE)
def _dirichlet_grad(backend: Any, x: Any, alpha: Any, total: Any) -> Any:
    return _computed(backend, implicit.dirichlet_derivative, x, alpha, total)
