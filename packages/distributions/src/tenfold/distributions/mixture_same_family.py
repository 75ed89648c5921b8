"""Mixtures of distributions of one family."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Size, Tensor
from tenfold.distributions import constraints
from tenfold.distributions.categorical import Categorical
from tenfold.distributions.constraints import MixtureSameFamilyConstraint
from tenfold.distributions.distribution import Distribution

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """The components are the last batch dimension of one distribution; a categorical one chooses among them.

    >>> from tenfold.distributions import Categorical, MixtureSameFamily, Normal
    >>> components = Normal(tenfold.tensor([-1.0, 1.0]), tenfold.ones(2))
    >>> MixtureSameFamily(Categorical(tenfold.ones(2)), components).variance
    tensor(2.)
    """

    arg_constraints: dict[str, Any] = {}
    has_rsample = False

    def __init__(
        self, mixture_distribution: Categorical, component_distribution: Distribution, validate_args: bool | None = None
    ) -> None:
        self._mixture_distribution, self._component_distribution = mixture_distribution, component_distribution
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(" The Mixture distribution needs to be an  instance of torch.distributions.Categorical")
        if not isinstance(component_distribution, Distribution):
            raise ValueError("The Component distribution needs to be an instance of torch.distributions.Distribution")
        self._check_batches()
        self._num_component = mixture_distribution.logits.shape[-1]
        event_shape = component_distribution.event_shape
        self._event_ndims = len(event_shape)
        super().__init__(component_distribution.batch_shape[:-1], event_shape, validate_args=validate_args)

    def _check_batches(self) -> None:
        mixture, component = self._mixture_distribution.batch_shape, self._component_distribution.batch_shape
        for size1, size2 in zip(reversed(mixture), reversed(component[:-1])):
            if size1 != 1 and size2 != 1 and size1 != size2:
                raise ValueError(
                    f"`mixture_distribution.batch_shape` ({mixture}) is not compatible with "
                    f"`component_distribution.batch_shape`({component[:-1]})"
                )
        count, km = self._mixture_distribution.logits.shape[-1], component[-1]
        if count != km:
            raise ValueError(
                f"`mixture_distribution component` ({count}) does not equal `component_distribution.batch_shape[-1]` ({km})"
            )

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        batch_shape = Size(batch_shape)
        new = self._get_checked_instance(MixtureSameFamily, _instance)
        new._component_distribution = self._component_distribution.expand((*batch_shape, self._num_component))
        new._mixture_distribution = self._mixture_distribution.expand(batch_shape)
        new._num_component, new._event_ndims = self._num_component, self._event_ndims
        event_shape = new._component_distribution.event_shape
        super(MixtureSameFamily, new).__init__(batch_shape, event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @constraints.dependent_property
    def support(self) -> Any:
        return MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Categorical:
        """What chooses the component."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Distribution:
        """The components, in its last batch dimension."""
        return self._component_distribution

    @property
    def _weights(self) -> Tensor:
        return self._pad_mixture_dimensions(self.mixture_distribution.probs)

    @property
    def mean(self) -> Tensor:
        return tenfold.sum(self._weights * self.component_distribution.mean, dim=-1 - self._event_ndims)

    @property
    def variance(self) -> Tensor:
        """The mean of the variances plus the variance of the means."""
        dim, weights, component = -1 - self._event_ndims, self._weights, self.component_distribution
        within = tenfold.sum(weights * component.variance, dim=dim)
        between = tenfold.sum(weights * (component.mean - self._pad(self.mean)).pow(2.0), dim=dim)
        return within + between

    def cdf(self, x: Any) -> Tensor:
        x = self._pad(x)
        return tenfold.sum(self.component_distribution.cdf(x) * self.mixture_distribution.probs, dim=-1)

    def log_prob(self, x: Any) -> Tensor:
        if self._validate_args:
            self._validate_sample(x)
        log_prob_x = self.component_distribution.log_prob(self._pad(x))
        log_mix_prob = tenfold.log_softmax(self.mixture_distribution.logits, dim=-1)
        return tenfold.logsumexp(log_prob_x + log_mix_prob, dim=-1)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with tenfold.no_grad():
            sample_len, batch_len = len(sample_shape), len(self.batch_shape)
            gather_dim = sample_len + batch_len
            chosen = self.mixture_distribution.sample(sample_shape)
            components = self.component_distribution.sample(sample_shape)
            one_each = Size((1,) * (self._event_ndims + 1))
            chosen = chosen.reshape(chosen.shape + one_each)
            repeats = (1,) * len(chosen.shape[: -self._event_ndims or None])
            if self._event_ndims:
                chosen = chosen.repeat(repeats + tuple(self.event_shape))
            return tenfold.gather(components, gather_dim, chosen).squeeze(gather_dim)

    def _pad(self, x: Tensor) -> Tensor:
        return x.unsqueeze(-1 - self._event_ndims)

    def _pad_mixture_dimensions(self, x: Tensor) -> Tensor:
        """Of the mixture's probabilities: dimensions for the batch that it lacks, and for the event."""
        missing = len(self.batch_shape) - len(self.mixture_distribution.batch_shape)
        batch, rest = x.shape[:-1], x.shape[-1:]
        shape = batch + (1,) * missing + rest + (1,) * self._event_ndims
        return x.reshape(shape)

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"
