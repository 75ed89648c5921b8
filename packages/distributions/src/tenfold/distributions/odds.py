"""What distributions of trials share: a probability or its log odds is given, and the other follows."""

from __future__ import annotations

from typing import Any

from tenfold import Size, Tensor
from tenfold.distributions.utils import lazy_property, logits_to_probs, probs_to_logits


def given_of(probs: Any, logits: Any) -> Any:
    """The one of the two that is given; ValueError for both or none."""
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")
    return logits if probs is None else probs


class ByOdds:
    """A part of distributions with the parameters `probs` and `logits`; `_param` is the one that was given."""

    _param: Tensor

    def _keep_odds(self, param: Tensor, probs: Any) -> None:
        """Keep what was given, broadcast, under its name."""
        self._param = self.__dict__["logits" if probs is None else "probs"] = param

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._param.new(*args, **kwargs)

    @lazy_property
    def logits(self) -> Tensor:
        """The log odds of 1, or of success."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Tensor:
        """The probability of 1, or of success."""
        return logits_to_probs(self.logits, is_binary=True)

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter."""
        return self._param.size()
