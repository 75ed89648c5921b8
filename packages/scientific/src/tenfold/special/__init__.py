"""`tenfold.special`: special functions under PyTorch's names, those of `torch.special`."""

from __future__ import annotations

from tenfold.dispatch.operators import OPERATORS
from tenfold.scientific.namespaces import functions

# What is a function of `tenfold` itself: under another name, or the same.
_PLAIN = {
    "expit": "sigmoid", "gammaln": "lgamma", "psi": "digamma", "multigammaln": "mvlgamma", "gammainc": "igamma",
    "gammaincc": "igammac",
}  # fmt: skip
_SAME = "digamma erf erfc erfinv exp2 expm1 i0 log1p log_softmax logit logsumexp polygamma round sinc softmax xlogy".split()

_OWN = functions("special")
globals().update(_OWN)
globals().update({name: OPERATORS[name].fn for name in _SAME} | {name: OPERATORS[plain].fn for name, plain in _PLAIN.items()})
__all__ = sorted([name for name in _OWN if name[0] != "_"] + [*_SAME, *_PLAIN])  # noqa: PLE0605 - names of functions made above
