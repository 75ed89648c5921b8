"""Losses that are the negative logarithm of a likelihood: Poisson's and the normal distribution's."""

from __future__ import annotations

import math
from typing import Any

import tenfold as tf
from tenfold.dispatch.operators import composite
from tenfold.nn.ops.loss.pointwise import divisor, fused_pointwise_loss, in_one_pass, stirling
from tenfold.nn.ops.loss.reduction import reduced, reduction_of
from tenfold.tensor.tensor import Tensor


@composite("loss", method=None)
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: Any = None,
    eps: float = 1e-08,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """Poisson likelihood: exp(input) - target input, or input - target log(input + eps); `full` adds Stirling's term.

    >>> import tenfold
    >>> tenfold.op.poisson_nll_loss(tenfold.zeros(1), tenfold.ones(1))
    tensor(1.)
    """
    reduction = reduction_of("poisson_nll_loss", size_average, reduce, reduction)
    if target.dtype is input.dtype and in_one_pass("poisson", input, target):
        kind = f"{'full_' * bool(full)}{'log_' * bool(log_input)}poisson"
        return fused_pointwise_loss(input, target, None, None, kind, float(eps), 0.0, divisor(input, reduction))
    losses = input.exp() - target * input if log_input else input - target * (input + eps).log()
    return reduced(losses + stirling(target) if full else losses, reduction)


@composite("loss", method=None)
def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool | int = False,
    eps: float | Tensor = 1e-06,
    reduction: str = "mean",
) -> Tensor:
    """Gaussian likelihood: 0.5 (log(var) + (input - target)^2 / var), var at least eps; `full` adds 0.5 log(2 pi).

    Raises: ValueError for a variance of another size or below 0.

    >>> import tenfold
    >>> tenfold.op.gaussian_nll_loss(tenfold.ones(1), tenfold.zeros(1), tenfold.ones(1))
    tensor(0.5000)
    """
    reduction = reduction_of("gaussian_nll_loss", None, None, reduction)
    if isinstance(var, (int, float)):
        if var < 0:
            raise ValueError(f"gaussian_nll_loss: var has negative entry {var}")
        var = tf.full(tuple(input.shape), float(var), dtype=input.dtype, device=input.device)
    if var.shape != input.shape:
        if input.shape[:-1] == var.shape:
            var = var.unsqueeze(-1)
        elif input.dim() != var.dim() or [v for n, v in zip(input.shape, var.shape, strict=True) if n != v] != [1]:
            raise ValueError(
                f"gaussian_nll_loss: var is of incorrect size {list(var.shape)} for an input of size {list(input.shape)}"
            )
    if var._key.level is None and var._key.device.type != "meta" and bool((var < 0).any()):
        raise ValueError("gaussian_nll_loss: var has negative entry/entries")
    if not (var.is_floating_point() or var.is_complex()):
        raise RuntimeError(f"gaussian_nll_loss: var has to be floating point, but got {var.dtype.name}; convert it with .float()")
    plain = var._key is input._key and var.dtype is input.dtype and isinstance(eps, float)
    if plain and target.dtype is input.dtype and in_one_pass("gaussian", input, target):
        constant = 0.5 * math.log(2 * math.pi) if full else 0.0
        return fused_pointwise_loss(input, target, None, var, "gaussian", eps, constant, divisor(input, reduction))
    with tf.no_grad():
        excess = tf.clamp_min(var, eps) - var
    var = var + excess  # the gradient passes as if nothing were cut
    losses = 0.5 * (var.log() + (input - target) ** 2 / var)
    return reduced(losses + 0.5 * math.log(2 * math.pi) if full else losses, reduction)
