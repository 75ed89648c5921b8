"""Random factories and in-place fills, with PyTorch's own numbers for a seed.

A device whose backend has `sampling` draws by itself; for others samples come from the CPU. On "meta" nothing is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from tenfold.dispatch import devices
from tenfold.dispatch.devices import CPU, META
from tenfold.dispatch.inplace import check_writable, write_back
from tenfold.dispatch.operators import composite
from tenfold.dispatch.services import SERVICES
from tenfold.dispatch.shape_rules import broadcast_shapes
from tenfold.dispatch.spellings import as_float, as_int
from tenfold.ops.creation._data import too_large
from tenfold.ops.creation.factories import checked_size, empty_on, place
from tenfold.ops.creation.like import empty_like
from tenfold.ops.pointwise.complex_numbers import view_as_complex, view_as_real
from tenfold.random.ahead import few
from tenfold.random.generator import default_generator, source, unused
from tenfold.tensor.tensor import Tensor, host, wrap
from tenfold.types import dtypes
from tenfold.types.dtypes import get_default_dtype, type_name

Ints = Sequence[int]
INDEPENDENT = "its result does not depend on its input's values"


@cache
def _sampling(key: Any = CPU) -> Any:
    from tenfold.random import sampling  # loads numpy.random, which `import tenfold` does without

    SERVICES.load_kernels("cpu", "random")
    return key.backend.sampling(key.index) or sampling


def _values(t: Tensor) -> Any:
    return t._array if t._key.backend.sampling(0) else host(t.detach())


def drawn(draw: str, generator: Any, shape: Any, dtype: Any, device: Any, requires_grad: bool, *parameters: Any) -> Tensor:
    """A new tensor of samples."""
    shape, key = checked_size(shape), devices.located(device)
    if dtype is dtypes.complex32:
        return _drawn_pairs(draw, generator, shape, device, requires_grad, *parameters)
    if key is META:
        getattr(_sampling(), draw)(unused(), (0,), dtype.numpy, *parameters)  # refuses what it refuses elsewhere
        return empty_on(shape, dtype, device, requires_grad)
    try:
        array = getattr(_sampling(key), draw)(source(generator), shape, dtype.numpy, *parameters)
    except devices.OutOfMemoryError:
        raise
    except MemoryError as error:
        raise too_large(shape, dtype.numpy) from error
    result = wrap(key.backend.from_numpy(array, key.index), key)
    return result.requires_grad_(True) if requires_grad else result


def _drawn_pairs(draw: str, generator: Any, shape: Any, device: Any, requires_grad: bool, *parameters: Any) -> Tensor:
    """Samples whose parts are drawn in half precision; normal ones have half of the variance in each part."""
    pairs = drawn(draw, generator, (*shape, 2), dtypes.float16, device, False, *parameters)
    view = view_as_complex(pairs * 0.5**0.5 if draw == "normal" else pairs)
    result = wrap(view._array, view._key)
    return result.requires_grad_(True) if requires_grad else result


def fill(name: str, target: Tensor, draw: Callable[..., Any]) -> Tensor:
    """Write what `draw(sampling, shape, dtype)` gives into a tensor, in the order of its memory."""
    check_writable(name, target)
    key = target._key
    if key.device is META:
        return target
    shape, dtype, s = target._array.shape, target._array.dtype, _sampling(key)
    if target.is_contiguous():
        array = draw(getattr(s, "into", lambda _: s)(target._array), shape, dtype)
    else:
        order, back = s.memory_order(target._array.strides)
        array = draw(s, [shape[d] for d in order], dtype).transpose(back)
    return write_back(name, target, wrap(key.backend.from_numpy(array, key.index), key.device))


# Factories


@composite("random", method=None, out=True, random=True)
def rand(
    size: Ints, *, generator: Any = None, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Uniform samples in [0, 1).

    >>> import tenfold
    >>> _ = tenfold.manual_seed(0)
    >>> tenfold.rand(3)
    tensor([0.4963, 0.7682, 0.0885])
    """
    if generator is device is dtype is None and not requires_grad and _sampling() and (count := few(size)):
        return wrap(default_generator.few_units32(count), CPU)
    return drawn("uniform", generator, size, dtype or get_default_dtype(), device, requires_grad)


@composite("random", method=None, out=True, random=True)
def randn(
    size: Ints, *, generator: Any = None, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Standard normal samples.

    >>> import tenfold
    >>> _ = tenfold.manual_seed(0)
    >>> tenfold.randn(2)
    tensor([ 1.5410, -0.2934])
    """
    if generator is device is dtype is None and not requires_grad and (count := few(size)):
        z = default_generator.few_normals32(count)
        return wrap(np.array(_sampling().few_normals(default_generator, count), np.float32) if z is None else z, CPU)
    return drawn("normal", generator, size, dtype or get_default_dtype(), device, requires_grad)


def _whole(value: Any) -> Any:
    return value.item() if isinstance(value, (Tensor, np.generic)) else value


def _integers(low: int, high: int, shape: Any, generator: Any, dtype: Any, device: Any, requires_grad: bool) -> Tensor:
    shape, low, high = checked_size(shape), _whole(low), _whole(high)
    if devices.located(device) is META:
        _sampling().randint(unused(), low, high, (0,), dtype.numpy)
        return empty_on(shape, dtype, device, requires_grad)
    return place(
        _sampling(devices.located(device)).randint(source(generator), low, high, shape, dtype.numpy), device, requires_grad
    )


@composite("random", method=None, out=True, random=True)
def randint(
    low: Any = None, high: Any = None, size: Any = None, *, generator: Any = None, dtype: Any = None, layout: Any = None,
    device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Uniform integers in [low, high): randint(high, size) or randint(low, high, size). Dtype: int64 by default.

    >>> import tenfold
    >>> _ = tenfold.manual_seed(0)
    >>> tenfold.randint(10, (5,))
    tensor([4, 9, 3, 0, 3])
    """
    if size is None:
        low, high, size = None, low, high
    elif high is None:
        low, high = None, low
    if size is None or high is None:
        raise TypeError("randint(): expected (high, size) or (low, high, size)")
    low, high = (as_int(0 if n is None else n, "randint", name) for n, name in ((low, "low"), (high, "high")))
    return _integers(low, high, size, generator, dtype or dtypes.int64, device, requires_grad)


@composite("random", method=None, out=True, random=True)
def randperm(
    n: int, *, generator: Any = None, dtype: Any = dtypes.int64, layout: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A random permutation of 0 to n - 1.

    >>> import tenfold
    >>> _ = tenfold.manual_seed(0)
    >>> tenfold.randperm(5)
    tensor([4, 0, 1, 3, 2])
    """
    if devices.located(device) is META:
        return empty_on((n,), dtype, device, requires_grad)
    if dtype.category in (0, 3):
        raise NotImplementedError(f"\"randperm\" not implemented for '{type_name(dtype)}'; make int64 and convert with .to()")
    if not n:
        return place(np.empty(0, dtype.numpy), device, requires_grad)
    return place(_sampling(devices.located(device)).randperm(source(generator), n, dtype.numpy), device, requires_grad)


def _like(draw: str, fill_: Any, input: Tensor, generator: Any, grad: bool, dtype: Any, device: Any, format: Any) -> Tensor:
    if not input.is_contiguous():
        made = empty_like(input, dtype=dtype, device=device, memory_format=format)
        return fill_(made, generator=generator).requires_grad_(grad)
    return drawn(draw, generator, input.shape, dtype or input.dtype, input.device if device is None else device, grad)


@composite("random", method=None, random=True, nondifferentiable=INDEPENDENT)
def rand_like(
    input: Tensor, *, generator: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False, memory_format: Any = None, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Uniform samples in [0, 1) with the shape, dtype and device of another tensor.

    >>> import tenfold
    >>> tenfold.rand_like(tenfold.ones(2, 3)).shape
    tenfold.Size([2, 3])
    """
    return _like("uniform", uniform_, input, generator, requires_grad, dtype, device, memory_format)


@composite("random", method=None, random=True, nondifferentiable=INDEPENDENT)
def randn_like(
    input: Tensor, *, generator: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False, memory_format: Any = None, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Standard normal samples with the shape, dtype and device of another tensor.

    >>> import tenfold
    >>> tenfold.randn_like(tenfold.ones(2, 3)).shape
    tenfold.Size([2, 3])
    """
    return _like("normal", normal_, input, generator, requires_grad, dtype, device, memory_format)


@composite("random", method=None, out=True, random=True)
def normal(
    mean: Any = 0.0, std: Any = 1.0, size: Any = None, *, generator: Any = None, dtype: Any = None, layout: Any = None,
    device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Normal samples with a mean and a standard deviation, each a number or a tensor; two numbers need a size.

    >>> import tenfold
    >>> _ = tenfold.manual_seed(0)
    >>> tenfold.normal(2.0, tenfold.zeros(2))
    tensor([2., 2.])
    """
    if size is not None:
        mean, std = as_float(mean, "normal", "mean"), as_float(std, "normal", "std")
    first = mean if isinstance(mean, Tensor) else std
    if not isinstance(first, Tensor):
        if size is None:
            raise TypeError("normal(): two numbers need a size")
        return drawn("normal", generator, size, dtype or get_default_dtype(), device, requires_grad, mean, std)
    size = first.shape
    factor: Any = 1.0
    if isinstance(std, Tensor):
        if std.dtype.is_complex:
            raise RuntimeError("normal expects standard deviation to be non-complex")
        if std.device is not META and not (host(std.detach()) >= 0).all():
            raise RuntimeError("normal expects all elements of std >= 0.0")
        size, factor, std = broadcast_shapes("normal", [size, std.shape]), std, 1.0
    found = (drawn("normal", generator, size, first.dtype, first.device, False, 0.0, std) * factor + mean).to(first.dtype)
    return unmoved(found.detach(), found)


def unmoved(sample: Tensor, by: Tensor) -> Tensor:
    return sample + by.sgn() * 0 if by.requires_grad else sample  # gradient 0


@composite("random", out=True, random=True)
def bernoulli(input: Tensor, p: Any = None, *, generator: Any = None) -> Tensor:
    """Ones with the probabilities that the tensor holds (or all with probability p), else zeros.

    >>> import tenfold
    >>> tenfold.bernoulli(tenfold.tensor([0.0, 1.0]))
    tensor([0., 1.])
    """
    if input.dtype.category != 2 and p is None:
        raise RuntimeError(f"bernoulli: expected probabilities of a floating point dtype, got {input.dtype.name}")
    if p is not None:
        return bernoulli_(empty_on(input.shape, input.dtype, input.device), p, generator=generator)
    if input.device is META:
        return empty_on(input.shape, input.dtype, META)
    return unmoved(place(_sampling(input._key).bernoulli(source(generator), _values(input)), input.device), input)


@bernoulli.overload
def _(input: Any, p: Any, generator: Any, out: Any = None) -> Any:
    if out is None or not isinstance(input, Tensor) or p is not None:
        return NotImplemented
    if out.shape != input.shape:
        out.resize_(input.shape)
    return bernoulli_(out, input, generator=generator)  # an output of any dtype takes zeros and ones


@composite("random", out="long", random=True, nondifferentiable="its result is a position")
def multinomial(input: Tensor, num_samples: int, replacement: bool = False, *, generator: Any = None) -> Tensor:
    """Positions drawn with probabilities in proportion to each row. Shape: (K) or (N, K) -> (..., num_samples).

    >>> import tenfold
    >>> tenfold.multinomial(tenfold.tensor([0.0, 1.0]), 1)
    tensor([1])
    """
    _sampling().check_multinomial(input.shape, input.dtype.numpy, num_samples, replacement)
    if input.device is META:
        return empty_on((*input.shape[:-1], num_samples), dtypes.int64, META)
    return place(_sampling(input._key).multinomial(source(generator), _values(input), num_samples, replacement), input.device)


# In-place fills


@composite("random", random=True, nondifferentiable=INDEPENDENT)
def uniform_(input: Tensor, from_: float = 0.0, to: float = 1.0, *, generator: Any = None) -> Tensor:
    """Fill with uniform samples in [from, to).

    >>> import tenfold
    >>> tenfold.zeros(2).uniform_(3, 3)
    tensor([3., 3.])
    """
    return fill("uniform_", input, lambda s, shape, dtype: s.uniform(source(generator), shape, dtype, from_, to))


@composite("random", random=True, nondifferentiable=INDEPENDENT)
def normal_(input: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Any = None) -> Tensor:
    """Fill with normal samples.

    >>> import tenfold
    >>> tenfold.zeros(2).normal_(3, 0)
    tensor([3., 3.])
    """
    if input.dtype is dtypes.complex32:
        normal_(view_as_real(input), mean, std * 0.5**0.5, generator=generator)
        return input
    whole = input.is_contiguous()
    return fill("normal_", input, lambda s, shape, dtype: s.normal(source(generator), shape, dtype, mean, std, contiguous=whole))


@composite("random", random=True, nondifferentiable=INDEPENDENT, accepts="bool integer floating")
def random_(input: Tensor, from_: Any = None, to: Any = None, *, generator: Any = None) -> Tensor:
    """Fill with uniform integers: of the dtype's range, from 0 to below `from_`, or from `from_` to below `to`.

    >>> import tenfold
    >>> tenfold.zeros(2).random_(4, 5)
    tensor([4., 4.])
    """
    if from_ is None and to is None:
        return fill("random_", input, lambda s, shape, dtype: s.random(source(generator), shape, dtype))
    low, high = (0, from_) if to is None else (from_ or 0, to)
    return fill("random_", input, lambda s, shape, dtype: s.randint(source(generator), _whole(low), _whole(high), shape, dtype))


def _random_from(self: Tensor, *bounds: Any, **options: Any) -> Tensor:
    """`random_(from, None)` goes up to the greatest number of the dtype, or to which a float is exact."""
    if len(bounds) == 2 and bounds[1] is None and bounds[0] is not None:
        bounds = (bounds[0], _sampling().greatest_whole(self._array.dtype) + 1)
    return random_(self, *bounds, **options)


Tensor.random_ = _random_from  # type: ignore[method-assign, assignment]


@composite("random", random=True, nondifferentiable=INDEPENDENT)
def exponential_(input: Tensor, lambd: float = 1.0, *, generator: Any = None) -> Tensor:
    """Fill with exponential samples: density lambd * exp(-lambd * x).

    >>> import tenfold
    >>> bool((tenfold.zeros(2).exponential_() >= 0).all())
    True
    """
    return fill("exponential_", input, lambda s, shape, dtype: s.exponential(source(generator), shape, dtype, lambd))


@composite("random", random=True, nondifferentiable=INDEPENDENT, accepts="bool integer floating")
def bernoulli_(input: Tensor, p: Any = 0.5, *, generator: Any = None) -> Tensor:
    """Fill with ones with probability p (a number, or a tensor that broadcasts), else zeros.

    >>> import tenfold
    >>> tenfold.zeros(2).bernoulli_(1.0)
    tensor([1., 1.])
    """
    if not isinstance(p, Tensor):
        return fill("bernoulli_", input, lambda s, shape, dtype: s.bernoulli(source(generator), p, shape, dtype))

    def draw(s: Any, shape: Any, dtype: Any) -> Any:
        if not p.is_floating_point():
            raise NotImplementedError(f"\"bernoulli_\" not implemented for probabilities of '{type_name(p.dtype)}'")
        wanted = np.broadcast_to(_values(p), input._array.shape)
        if not input.is_contiguous():
            wanted = wanted.transpose(s.memory_order(input._array.strides)[0])
        return s.bernoulli(source(generator), wanted, None, dtype)

    return fill("bernoulli_", input, draw)
