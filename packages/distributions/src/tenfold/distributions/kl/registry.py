"""`kl_divergence(p, q)` and the table of rules behind it, by the types of p and q."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from tenfold import Tensor
from tenfold.distributions.distribution import Distribution

_KL_REGISTRY: dict[tuple[type, type], Callable[..., Any]] = {}
_KL_MEMOIZE: dict[tuple[type, type], Any] = {}  # what types were found to take, their superclasses' rules included


def register_kl(type_p: Any, type_q: Any) -> Callable[[Any], Any]:
    """Decorator: the rule for KL(p || q) of these types and their subclasses; of several, the most specific is taken.

    Raises: TypeError if a type is no class.

    >>> from tenfold.distributions import Normal, kl_divergence, register_kl
    >>> class Shifted(Normal): ...
    >>> @register_kl(Shifted, Normal)
    ... def _(p, q):
    ...     return p.loc + 42
    >>> kl_divergence(Shifted(0.0, 1.0), Normal(0.0, 1.0))
    tensor(42.)
    """
    for name, given in (("type_p", type_p), ("type_q", type_q)):
        if not isinstance(given, type):  # any class, as in PyTorch: libraries have distributions of their own
            raise TypeError(f"Expected {name} to be a Distribution subclass but got {given}")

    def decorator(function: Any) -> Any:
        _KL_REGISTRY[type_p, type_q] = function
        _KL_MEMOIZE.clear()
        return function

    return decorator


def _dispatch_kl(type_p: type, type_q: type) -> Any:
    """The most specific rule, by p first; a warning where q first would say another."""
    ranks_p = {base: rank for rank, base in enumerate(type_p.__mro__)}
    ranks_q = {base: rank for rank, base in enumerate(type_q.__mro__)}
    fitting = [(p, q) for p, q in _KL_REGISTRY if p in ranks_p and q in ranks_q]
    if not fitting:
        return NotImplemented
    left = min(fitting, key=lambda pair: (ranks_p[pair[0]], ranks_q[pair[1]]))
    right = min(fitting, key=lambda pair: (ranks_q[pair[1]], ranks_p[pair[0]]))
    if _KL_REGISTRY[left] is not _KL_REGISTRY[right]:
        warnings.warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). Please register_kl({left[0].__name__}, "
            f"{right[1].__name__})",
            RuntimeWarning,
            stacklevel=3,
        )
    return _KL_REGISTRY[left]


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """The Kullback-Leibler divergence KL(p || q) = E_p[log p(x) - log q(x)]. Shape: the batch shapes, broadcast.

    Raises: NotImplementedError if there is no rule for the types.

    >>> from tenfold.distributions import Normal, kl_divergence
    >>> kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0))
    tensor(0.5000)
    """
    key = (type(p), type(q))
    function = _KL_MEMOIZE.get(key)
    if function is None:
        function = _KL_MEMOIZE[key] = _dispatch_kl(*key)
    if function is NotImplemented:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {p.__class__.__name__} and q type {q.__class__.__name__}"
        )
    return function(p, q)
