"""How a call's arguments stand in its node: where PyTorch's function is Python's, those that have defaults are given by name."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from tenfold.fx.names import public_name

# Functions in `torch.nn.functional` that are not Python's, and those in `torch` that are.
_BUILT_IN = frozenset(
    "linear bilinear conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d conv_tbc avg_pool1d avg_pool2d "
    "avg_pool3d gelu logsigmoid softplus softshrink hardshrink prelu one_hot scaled_dot_product_attention pixel_shuffle "
    "pixel_unshuffle channel_shuffle pdist cosine_similarity pairwise_distance".split()
)
_SEVERAL = frozenset(
    "einsum broadcast_tensors meshgrid block_diag cartesian_prod chain_matmul atleast_1d atleast_2d atleast_3d".split()
)
_OF_PYTHON = frozenset("tensordot split norm stft istft cdist unique unique_consecutive".split())


@functools.cache
def _signature(function: Any) -> inspect.Signature | None:
    """The signature of a function whose arguments go by name, else None."""
    name = public_name(function)
    if name is None:
        return None
    place, _, leaf = name.partition(".")[2].rpartition(".")
    by_name = (place == "nn.functional" and leaf not in _BUILT_IN) or (place == "" and leaf in _OF_PYTHON)
    return inspect.signature(function) if by_name else None


def as_passed(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call of an operator, as programs over graphs know them from PyTorch.

    >>> import tenfold
    >>> as_passed(tenfold.tensordot, (1, 2, 1), {})
    ((1, 2), {'dims': 1})
    """
    if args and type(args[-1]) is tuple and getattr(function, "__name__", None) in _SEVERAL:
        args = (*args[:-1], *args[-1])  # they were given one by one
    signature = _signature(function)
    if signature is None:
        return args, kwargs
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    first = tuple(bound.arguments[p.name] for p in signature.parameters.values() if p.default is p.empty)
    rest = {p.name: bound.arguments[p.name] for p in signature.parameters.values() if p.default is not p.empty}
    return first, rest
