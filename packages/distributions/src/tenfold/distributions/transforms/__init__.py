"""Invertible maps between random variables, with the logarithms of their Jacobians."""

from tenfold.distributions.transforms.base import (
    ComposeTransform,
    IndependentTransform,
    ReshapeTransform,
    Transform,
    _InverseTransform,
    identity_transform,
)
from tenfold.distributions.transforms.elementwise import (
    AbsTransform,
    AffineTransform,
    CumulativeDistributionTransform,
    ExpTransform,
    PowerTransform,
    SigmoidTransform,
    SoftplusTransform,
    TanhTransform,
)
from tenfold.distributions.transforms.joined import CatTransform, StackTransform
from tenfold.distributions.transforms.matrices import CorrCholeskyTransform, LowerCholeskyTransform, PositiveDefiniteTransform
from tenfold.distributions.transforms.simplexes import (
    SoftmaxTransform,
    StickBreakingTransform,
    _clipped_sigmoid as _clipped_sigmoid,  # libraries import it
)

__all__ = [
    "AbsTransform", "AffineTransform", "CatTransform", "ComposeTransform", "CorrCholeskyTransform",
    "CumulativeDistributionTransform", "ExpTransform", "IndependentTransform", "LowerCholeskyTransform",
    "PositiveDefiniteTransform", "PowerTransform", "ReshapeTransform", "SigmoidTransform", "SoftmaxTransform",
    "SoftplusTransform", "StackTransform", "StickBreakingTransform", "TanhTransform", "Transform", "identity_transform",
]  # fmt: skip
