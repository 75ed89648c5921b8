"""`Distribution`: what every distribution has, shapes, checks of parameters and values, sampling without gradients."""

from __future__ import annotations

import warnings
from typing import Any

import tenfold
from tenfold import Size, Tensor
from tenfold.distributions import constraints
from tenfold.distributions.utils import lazy_property

__all__ = ["Distribution"]

_NO_SHAPE = Size()


class Distribution:
    """A distribution over events of shape `event_shape`, one for each index of `batch_shape`.

    A sample has the shape `sample_shape + batch_shape + event_shape`. Subclasses give `arg_constraints`, a constraint for each
    parameter, and `support`, the one that values lie in; both are checked unless `validate_args` is False.

    >>> from tenfold.distributions import Normal
    >>> Normal(tenfold.zeros(2), 1.0).sample((3,)).shape
    tenfold.Size([3, 2])
    """

    has_rsample: Any = False
    has_enumerate_support: Any = False
    _validate_args = __debug__

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether distributions made from now on check their parameters and values."""
        if value not in [True, False]:
            raise ValueError
        Distribution._validate_args = value

    def __init__(self, batch_shape: Any = _NO_SHAPE, event_shape: Any = _NO_SHAPE, validate_args: bool | None = None) -> None:
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()
        super().__init__()

    def _check_parameters(self) -> None:
        try:
            arg_constraints = self.arg_constraints
        except NotImplementedError:
            arg_constraints = {}
            warnings.warn(
                f"{self.__class__} does not define `arg_constraints`. Please set `arg_constraints = {{}}` or initialize the "
                f"distribution with `validate_args=False` to turn off validation.",
                stacklevel=3,
            )
        for name, constraint in arg_constraints.items():
            if constraints.is_dependent(constraint):
                continue  # it needs what is not known here
            if name not in self.__dict__ and isinstance(getattr(type(self), name), lazy_property):
                continue  # computed from what is checked
            value = getattr(self, name)
            valid = constraint.check(value)
            if not _all(valid):
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution {self!r} "
                    f"to satisfy the constraint {constraint!r}, but found invalid values:\n{value}"
                )

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution with its parameters expanded to a batch shape, without copies."""
        raise NotImplementedError

    @property
    def batch_shape(self) -> Size:
        """The shape over which parameters are batched."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one sample."""
        return self._event_shape

    @property
    def arg_constraints(self) -> dict[str, Any]:
        """The constraint of each parameter, by name."""
        raise NotImplementedError

    @property
    def support(self) -> Any:
        """The constraint that samples satisfy."""
        raise NotImplementedError

    @property
    def mean(self) -> Tensor:
        """The mean."""
        raise NotImplementedError

    @property
    def mode(self) -> Tensor:
        """Where the density, or the probability, is greatest."""
        raise NotImplementedError(f"{self.__class__} does not implement mode")

    @property
    def variance(self) -> Tensor:
        """The variance."""
        raise NotImplementedError

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Any = _NO_SHAPE) -> Tensor:
        """Samples without gradients. Shape: sample_shape + batch_shape + event_shape."""
        with tenfold.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = _NO_SHAPE) -> Tensor:
        """Samples that are differentiable functions of the parameters, where `has_rsample`."""
        raise NotImplementedError

    def sample_n(self, n: int) -> Tensor:
        """n samples; deprecated, `sample((n,))` is the same."""
        warnings.warn("sample_n will be deprecated. Use .sample((n,)) instead", UserWarning, stacklevel=2)
        return self.sample(Size((n,)))

    def log_prob(self, value: Any) -> Tensor:
        """The logarithm of the density, or of the probability, at a value."""
        raise NotImplementedError

    def cdf(self, value: Any) -> Tensor:
        """The probability of at most a value."""
        raise NotImplementedError

    def icdf(self, value: Any) -> Tensor:
        """The quantile of a probability."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values of a discrete distribution in a new first dimension; with batch dimensions of size 1 if not `expand`."""
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """The entropy, in nats. Shape: batch_shape."""
        raise NotImplementedError

    def perplexity(self) -> Tensor:
        """exp(entropy). Shape: batch_shape."""
        return tenfold.exp(self.entropy())

    def _extended_shape(self, sample_shape: Any = _NO_SHAPE) -> Size:
        """The shape of samples."""
        return Size((*sample_shape, *self._batch_shape, *self._event_shape))

    def _validate_sample(self, value: Any) -> None:
        """Refuse what `log_prob` and the like cannot take: other shapes, values outside the support."""
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        self._check_shape(value)
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{self.__class__} does not define `support` to enable sample validation. Please initialize the distribution "
                f"with `validate_args=False` to turn off validation.",
                stacklevel=3,
            )
            return
        assert support is not None
        if not _all(support.check(value)):
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to be within the support "
                f"({support!r}) of the distribution {self!r}, but found invalid values:\n{value}"
            )

    def _check_shape(self, value: Tensor) -> None:
        start = value.dim() - len(self._event_shape)
        if tuple(value.shape[start:]) != self._event_shape:
            raise ValueError(f"The right-most size of value must match event_shape: {value.shape} vs {self._event_shape}.")
        expected = Size(self._batch_shape + self._event_shape)
        for i, j in zip(reversed(value.shape), reversed(expected)):
            if i != 1 and j != 1 and i != j:
                raise ValueError(f"Value is not broadcastable with batch_shape+event_shape: {value.shape} vs {expected}.")

    def _get_checked_instance(self, cls: Any, _instance: Any = None) -> Any:
        """A new object for `expand` of class `cls` to fill; a subclass with its own __init__ has to write its own `expand`."""
        if _instance is None and type(self).__init__ != cls.__init__:
            raise NotImplementedError(
                f"Subclass {self.__class__.__name__} of {cls.__name__} that defines a custom __init__ method must also define "
                f"a custom .expand() method."
            )
        return self.__new__(type(self)) if _instance is None else _instance

    def _expanded(
        self, cls: Any, batch_shape: Any, instance: Any, *names: str, event_shape: Any = _NO_SHAPE, **shapes: Any
    ) -> Any:
        """What `expand` of class `cls` returns where these attributes, those that are there, are expanded to the batch shape.

        A keyword names an attribute with dimensions of its own behind the batch's.
        """
        new = self._get_checked_instance(cls, instance)
        batch_shape = Size(batch_shape)
        for name, own in {**dict.fromkeys(names, ()), **shapes}.items():
            if name in self.__dict__:
                setattr(new, name, self.__dict__[name].expand(batch_shape + tuple(own)))
        super(cls, new).__init__(batch_shape, event_shape, validate_args=False)  # type: ignore[call-arg]  # a Distribution
        new._validate_args = self._validate_args
        return new

    def __repr__(self) -> str:
        values = {name: self.__dict__[name] for name in self.arg_constraints if name in self.__dict__}
        shown = [f"{name}: {value if value.numel() == 1 else value.size()}" for name, value in values.items()]
        return f"{self.__class__.__name__}({', '.join(shown)})"


def _all(valid: Any) -> bool:
    return bool(valid.all()) if isinstance(valid, Tensor) else bool(valid)
