"""Samples of distributions: Poisson, binomial, gamma, Dirichlet, fills of Cauchy, geometric, log-normal, integers like a tensor.

They are drawn on the CPU, but for fills of a device that has such samplers.

The names with an underscore are PyTorch's, which its distributions build on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from tenfold.dispatch.devices import META
from tenfold.dispatch.operators import composite
from tenfold.dispatch.shape_rules import broadcast_shapes
from tenfold.ops.creation.factories import empty_on, place
from tenfold.ops.creation.like import empty_like
from tenfold.ops.random import INDEPENDENT, fill, randint, random_, unmoved
from tenfold.random.generator import Generator, source
from tenfold.tensor.tensor import Tensor, host

_COUNT = "its result is a number of events"


@cache
def _rejection() -> Any:
    from tenfold.scientific import rejection  # loads numpy.random, which `import tenfold` does without

    return rejection


@cache
def _variates() -> Any:
    from tenfold.scientific import variates  # loads numpy.random, which `import tenfold` does without

    return variates


@cache
def _implicit() -> Any:
    from tenfold.scientific import implicit  # rarely used

    return implicit


def _source(generator: Any, tensor: Tensor) -> Generator:
    """The CPU's generator to draw from for a tensor of any device; a backend with generators of its own says where they lead."""
    led: Callable[[Any, Any], Generator] = getattr(tensor.device.backend, "generator_on_the_host", _given)
    return led(tensor.device.index, source(generator))


def _given(index: int, generator: Generator) -> Generator:
    return generator


def _check_floating(name: str, tensor: Tensor) -> None:
    if tensor.dtype.category != 2:
        raise NotImplementedError(f"{name}: got a tensor of {tensor.dtype.name}, accepted are floating point dtypes")


def _drawn(sampler: str, generator: Any, *parameters: Tensor) -> Tensor:
    """A sample for each element of the parameters, broadcast together, in the first one's dtype."""
    first = parameters[0]
    shape = broadcast_shapes(sampler, [p.shape for p in parameters])
    if first.device is META:
        return empty_on(shape, first.dtype, META)
    arrays = [np.broadcast_to(host(p.detach()), shape) for p in parameters]
    samples = getattr(_rejection(), sampler)(_source(generator, first), *arrays)
    return place(samples.astype(first.dtype.numpy), first.device)


def _computed(name: str, tensors: Sequence[Tensor], on_arrays: Callable[..., Any]) -> Tensor:
    """The body, on the host's arrays, and back. The kernels in `generic` do the same, and their calls carry the gradients."""
    for tensor in tensors:
        _check_floating(name, tensor)
    first = tensors[0]
    if first.device is META:
        return empty_on(broadcast_shapes(name, [t.shape for t in tensors]), first.dtype, META)
    return place(on_arrays(*(host(t.detach()) for t in tensors)), first.device)


@composite("random", method=None, random=True)
def poisson(input: Tensor, generator: Any = None) -> Tensor:
    """Poisson samples with a rate for each element. Shape: that of `input`. Dtype: its, floating point.

    Raises: RuntimeError for a negative rate.
    Source: D. Knuth, The Art of Computer Programming 2, 3.4.1; W. Hörmann (1993), algorithm PTRS, from rate 10 on.

    >>> import tenfold
    >>> tenfold.poisson(tenfold.zeros(2))
    tensor([0., 0.])
    """
    _check_floating("poisson", input)
    if input.device is not META and input.numel() and not bool((host(input.detach()) >= 0).all()):
        raise RuntimeError("poisson: invalid Poisson rate, expected rate to be non-negative")
    return unmoved(_drawn("poisson", generator, input), input)


@composite("random", method=None, random=True, nondifferentiable=_COUNT)
def binomial(count: Tensor, prob: Tensor, generator: Any = None) -> Tensor:
    """Binomial samples: successes of `count` trials with probability `prob`. Shape: broadcast. Dtype: that of both, floating.

    Raises: ValueError for a count of integers, RuntimeError for two dtypes.
    Source: W. Hörmann, "The generation of binomial random variates" (1993), algorithm BTRS, from 10 expected successes on.

    >>> import tenfold
    >>> tenfold.binomial(tenfold.tensor([5.0]), tenfold.tensor([1.0]))
    tensor([5.])
    """
    for name, tensor in (("count", count), ("prob", prob)):
        if tensor.dtype.category != 2:
            raise ValueError(f"binomial only supports floating-point dtypes for {name}, got: {tensor.dtype.name}")
    if prob.dtype is not count.dtype:
        raise RuntimeError(f"binomial: prob has dtype {prob.dtype.name} but expected {count.dtype.name}, that of count")
    return _drawn("binomial", generator, count, prob)


@composite("random", method=None, random=True)
def _standard_gamma(input: Tensor, generator: Any = None) -> Tensor:
    """Gamma samples of scale 1, with the shape parameter for each element. Shape: that of `input`. Dtype: its, floating point.

    Source: G. Marsaglia, W. Tsang, "A simple method for generating gamma variables" (2000).

    >>> import tenfold
    >>> bool((tenfold._standard_gamma(tenfold.ones(2)) > 0).all())
    True
    """
    return _computed("_standard_gamma", [input], lambda a: _rejection().standard_gamma(_source(generator, input), a))


@composite("random", method=None)
def _standard_gamma_grad(input: Tensor, output: Tensor) -> Tensor:
    """d output / d input of `_standard_gamma`, the probability below `output` being fixed. Shape: broadcast.

    Source: M. Figurnov, S. Mohamed, A. Mnih, "Implicit reparameterization gradients" (2018).

    >>> import tenfold
    >>> tenfold._standard_gamma_grad(tenfold.ones(1), tenfold.ones(1))
    tensor([1.1736])
    """
    return _computed("_standard_gamma_grad", [input, output], _implicit().gamma_derivative)


@composite("random", method=None, random=True)
def _sample_dirichlet(input: Tensor, generator: Any = None) -> Tensor:
    """Dirichlet samples with the parameters in the last dimension. Shape: that of `input`. Dtype: its, floating point.

    Gamma samples of these shape parameters, divided by their sum.
    Source: L. Devroye, Non-Uniform Random Variate Generation (1986), theorem XI.4.1.

    >>> import tenfold
    >>> tenfold._sample_dirichlet(tenfold.ones(3)).sum().round(decimals=4)
    tensor(1.)
    """
    return _computed("_sample_dirichlet", [input], lambda a: _rejection().dirichlet(_source(generator, input), a))


@composite("random", method=None)
def _dirichlet_grad(x: Tensor, alpha: Tensor, total: Tensor) -> Tensor:
    """d x / d alpha / (1 - x) for x of the beta distribution of alpha and total - alpha, the second being fixed.

    It is what the gradient of `_sample_dirichlet` is made of. Shape: broadcast.
    Source: M. Jankowiak, F. Obermeyer, "Pathwise derivatives beyond the reparameterization trick" (2018).

    >>> import tenfold
    >>> tenfold._dirichlet_grad(tenfold.tensor([0.5]), tenfold.ones(1), tenfold.tensor([2.0]))
    tensor([0.6931])
    """
    return _computed("_dirichlet_grad", [x, alpha, total], _implicit().dirichlet_derivative)


# In-place fills


def _variate(law: str, generator: Any, tensor: Tensor, to: tuple[Any, ...], *numbers: float) -> Any:
    """Samples for `to`, the samplers of the tensor's device, a shape and a dtype; by the CPU's where they lack the law."""
    sampling, shape, dtype = to
    on_the_host, own = getattr(_variates(), law), getattr(sampling, law, None)
    if own is None:
        return on_the_host(_source(generator, tensor), shape, dtype, *numbers)
    on_the_host(Generator(), 0, dtype, *numbers)  # refuses dtypes and numbers that it has none for
    return own(source(generator), shape, dtype, *numbers)


@composite("random", random=True, nondifferentiable=INDEPENDENT, accepts="integer floating")
def geometric_(input: Tensor, p: float, *, generator: Any = None) -> Tensor:
    """Fill with the number of trials up to the first success of probability p.

    >>> import tenfold
    >>> bool((tenfold.zeros(2).geometric_(0.5) >= 1).all())
    True
    """
    return fill("geometric_", input, lambda *to: _variate("geometric", generator, input, to, p))


@composite("random", random=True, nondifferentiable=INDEPENDENT)
def cauchy_(input: Tensor, median: float = 0.0, sigma: float = 1.0, *, generator: Any = None) -> Tensor:
    """Fill with Cauchy samples.

    >>> import tenfold
    >>> tenfold.zeros(2).cauchy_().shape
    tenfold.Size([2])
    """
    return fill("cauchy_", input, lambda *to: _variate("cauchy", generator, input, to, median, sigma))


@composite("random", random=True, nondifferentiable=INDEPENDENT, accepts="floating")
def log_normal_(input: Tensor, mean: float = 1.0, std: float = 2.0, *, generator: Any = None) -> Tensor:
    """Fill with samples whose logarithm is normal with this mean and standard deviation.

    >>> import tenfold
    >>> bool((tenfold.zeros(2).log_normal_() > 0).all())
    True
    """
    return fill("log_normal_", input, lambda *to: _variate("log_normal", generator, input, to, mean, std))


@composite("random", method=None, random=True, nondifferentiable=INDEPENDENT)
def randint_like(
    input: Tensor, low: Any = None, high: Any = None, *, generator: Any = None, dtype: Any = None, layout: Any = None,
    device: Any = None, requires_grad: bool = False, memory_format: Any = None, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Uniform integers in [low, high), or [0, high), with the shape, dtype and device of another tensor.

    >>> import tenfold
    >>> tenfold.randint_like(tenfold.ones(2), 5, 6)
    tensor([5., 5.])
    """
    if high is None:
        low, high = 0, low
    if not input.is_contiguous():
        made = random_(
            empty_like(input, dtype=dtype, device=device, memory_format=memory_format), low or 0, high, generator=generator
        )
        return made.requires_grad_(requires_grad)
    drawn: Tensor = randint(
        0 if low is None else low, high, input.shape, generator=generator, dtype=dtype or input.dtype,
        device=input.device if device is None else device, requires_grad=requires_grad,
    )  # fmt: skip
    return drawn
