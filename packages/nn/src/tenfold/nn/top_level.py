"""Functions of PyTorch's own namespace, `tenfold.batch_norm`, that are called otherwise than those of `nn.functional`.

The orders of arguments are others; a loss's `reduction` is a number (0 none, 1 mean, 2 sum), an embedding bag's `mode`, too
(0 sum, 1 mean, 2 max). Losses are not reduced unless told: PyTorch declares the mean there and reduces nothing.
"""

from __future__ import annotations

from typing import Any

import tenfold as tf
from tenfold.dispatch.spellings import as_int
from tenfold.nn import functional as F
from tenfold.nn.ops.loss.reduction import reduced
from tenfold.tensor.tensor import Tensor

__all__ = [
    "batch_norm", "binary_cross_entropy_with_logits", "cosine_embedding_loss", "ctc_loss", "embedding", "embedding_bag",
    "group_norm", "hinge_embedding_loss", "instance_norm", "kl_div", "layer_norm", "margin_ranking_loss", "poisson_nll_loss",
    "rrelu", "rrelu_", "triplet_margin_loss",
]  # fmt: skip
MEAN = 1  # an embedding bag's mode


def _named(number: Any, names: tuple[str, ...], operator: str, parameter: str) -> str:
    """The name that a number stands for; TypeError for text, RuntimeError for another number."""
    if type(number) is not int:
        raise TypeError(f"{operator}(): argument '{parameter}' must be int, not {type(number).__name__}; one of {_listed(names)}")
    if not 0 <= number < len(names):
        raise RuntimeError(f"{operator}: {parameter} must be one of {_listed(names)}, got {number}")
    return names[number]


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(f"{i} ({name})" for i, name in enumerate(names))


def _reduction(operator: str, number: Any) -> str:
    return _named(number, ("none", "mean", "sum"), operator, "reduction")


# Normalisation


def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """`nn.functional.batch_norm` with weight and bias before the running statistics; `cudnn_enabled` changes nothing.

    >>> import tenfold
    >>> x, two = tenfold.tensor([[1.0], [3.0]]), tenfold.tensor([2.0])
    >>> tenfold.batch_norm(x, two, two, None, None, True, 0.1, 0.0, True)
    tensor([[0.],
            [4.]])
    """
    return F.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """`nn.functional.instance_norm` with weight and bias before the running statistics; `cudnn_enabled` changes nothing.

    >>> import tenfold
    >>> tenfold.instance_norm(tenfold.tensor([[[1.0, 3.0]]]), None, None, None, None, True, 0.1, 0.0, True)
    tensor([[[-1.,  1.]]])
    """
    return F.instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)


def layer_norm(
    input: Tensor,
    normalized_shape: Any,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
    cudnn_enable: bool = True,
) -> Tensor:
    """`nn.functional.layer_norm`; `cudnn_enable` changes nothing.

    >>> import tenfold
    >>> tenfold.layer_norm(tenfold.tensor([1.0, 3.0]), (2,), None, None, 0.0, False)
    tensor([-1.,  1.])
    """
    return F.layer_norm(input, normalized_shape, weight, bias, eps)


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
    cudnn_enabled: bool = True,
) -> Tensor:
    """`nn.functional.group_norm`; `cudnn_enabled` changes nothing.

    >>> import tenfold
    >>> tenfold.group_norm(tenfold.tensor([[1.0, 3.0]]), 1, None, None, 0.0, False)
    tensor([[-1.,  1.]])
    """
    return F.group_norm(input, num_groups, weight, bias, eps)


# Embedding


def embedding(
    weight: Tensor, indices: Tensor, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False
) -> Tensor:
    """`nn.functional.embedding` with the table first; a negative `padding_idx` is none.

    >>> import tenfold
    >>> tenfold.embedding(tenfold.tensor([[1.0, 2.0], [3.0, 4.0]]), tenfold.tensor([1]))
    tensor([[3., 4.]])
    """
    padding = as_int(padding_idx, "embedding", "padding_idx")
    return F.embedding(indices, weight, padding if padding >= 0 else None, scale_grad_by_freq=scale_grad_by_freq, sparse=sparse)


def embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """`nn.functional.embedding_bag` with the table first, and what it counts: (bags, offset2bag, bag_size, max_indices).

    offset2bag: the bag of each index. bag_size: the indices of each bag that are no padding. max_indices: where `mode` is 2 the
    table's row that each element comes from, else bag_size. As PyTorch counts nothing for sums, they are zeros or empty there.

    >>> import tenfold
    >>> table, indices, offsets = tenfold.tensor([[1.0], [3.0]]), tenfold.tensor([0, 1, 1]), tenfold.tensor([0, 2])
    >>> tenfold.embedding_bag(table, indices, offsets, False, 1)
    (tensor([[2.],
            [3.]]), tensor([0, 0, 1]), tensor([2, 1]), tensor([2, 1]))
    """
    name = _named(mode, ("sum", "mean", "max"), "embedding_bag", "mode")
    bags = F.embedding_bag(
        indices,
        weight,
        offsets,
        scale_grad_by_freq=scale_grad_by_freq,
        mode=name,
        sparse=sparse,
        per_sample_weights=per_sample_weights,
        include_last_offset=include_last_offset,
        padding_idx=padding_idx,
    )
    count = bags.size(0)
    places = tf.arange(indices.numel(), device=indices.device)
    bag_of = (tf.searchsorted(offsets.contiguous(), places, right=True) - 1).clamp(max=max(count - 1, 0))
    if mode == 0:
        nothing = tf.zeros(offsets.numel(), dtype=tf.int64, device=indices.device)
        return bags, bag_of if padding_idx is not None else nothing[:0], nothing, nothing.clone()
    kept = tf.ones_like(indices, dtype=tf.bool) if padding_idx is None else indices != padding_idx
    sizes = tf.bincount(bag_of[kept], minlength=count)
    if mode == MEAN:
        return bags, bag_of, sizes, sizes.clone()
    sources = tf.zeros(bags.shape, dtype=tf.int64, device=indices.device)
    rows, chosen, bag = weight.detach()[indices[kept]], indices[kept], bag_of[kept]
    for k in range(count):
        inside = bag == k
        if bool(inside.any()):
            sources[k] = chosen[inside][rows[inside].argmax(0)]
    return bags, bag_of, sizes, sources


# Losses


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: int = 0,
) -> Tensor:
    """`nn.functional.binary_cross_entropy_with_logits` with `pos_weight` behind `weight`.

    >>> import tenfold
    >>> tenfold.binary_cross_entropy_with_logits(tenfold.tensor([0.0]), tenfold.tensor([1.0]), None, None, 0)
    tensor([0.6931])
    """
    named = _reduction("binary_cross_entropy_with_logits", reduction)
    return F.binary_cross_entropy_with_logits(input, target, weight, reduction=named, pos_weight=pos_weight)


def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 0) -> Tensor:
    """`nn.functional.cosine_embedding_loss` with a number as reduction.

    >>> import tenfold
    >>> tenfold.cosine_embedding_loss(tenfold.ones(1, 2), tenfold.ones(1, 2), tenfold.tensor([-1]), 0.5, 0)
    tensor([0.5000])
    """
    named = _reduction("cosine_embedding_loss", reduction)
    return F.cosine_embedding_loss(input1, input2, target, margin, reduction=named)


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: int = 0,
    zero_infinity: bool = False,
) -> Tensor:
    """`nn.functional.ctc_loss` with a number as reduction.

    >>> import tenfold
    >>> log_probs = tenfold.zeros(2, 1, 3).log_softmax(2)
    >>> tenfold.ctc_loss(log_probs, tenfold.tensor([[1]]), (2,), (1,), 0, 2)
    tensor(1.0986)
    """
    named = _reduction("ctc_loss", reduction)
    return F.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, named, zero_infinity)


def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, reduction: int = 0) -> Tensor:
    """`nn.functional.hinge_embedding_loss` with a number as reduction.

    >>> import tenfold
    >>> tenfold.hinge_embedding_loss(tenfold.tensor([0.5, 0.5]), tenfold.tensor([1, -1]), 2.0, 0)
    tensor([0.5000, 1.5000])
    """
    return F.hinge_embedding_loss(input, target, margin, reduction=_reduction("hinge_embedding_loss", reduction))


def kl_div(input: Tensor, target: Tensor, reduction: int = 0, *, log_target: bool = False) -> Tensor:
    """`nn.functional.kl_div` with a number as reduction.

    >>> import tenfold
    >>> tenfold.kl_div(tenfold.tensor([0.0]), tenfold.tensor([1.0]), 2)
    tensor(0.)
    """
    losses = F.kl_div(input, target, reduction="none", log_target=log_target)
    named = _reduction("kl_div", reduction)  # without the warning of how F's mean divides
    return losses if named == "none" else losses.mean() if named == "mean" else losses.sum()


def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 0) -> Tensor:
    """`nn.functional.margin_ranking_loss` with a number as reduction.

    >>> import tenfold
    >>> tenfold.margin_ranking_loss(tenfold.tensor([1.0]), tenfold.tensor([3.0]), tenfold.tensor([1.0]), 0.5, 0)
    tensor([2.5000])
    """
    named = _reduction("margin_ranking_loss", reduction)
    if input1.dim() == input2.dim() == target.dim():  # which only the function of the same name in F asks for
        return F.margin_ranking_loss(input1, input2, target, margin, reduction=named)
    if input1.device.type in ("cpu", "cuda") and tf.is_autocast_enabled(input1.device.type):  # which does so with that function
        narrow = (tf.float16, tf.bfloat16)
        input1, input2, target = (x.float() if x.dtype in narrow else x for x in (input1, input2, target))
    return reduced((-target * (input1 - input2) + float(margin)).clamp_min(0), named)


def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int) -> Tensor:
    """`nn.functional.poisson_nll_loss` with a number as reduction, without defaults.

    >>> import tenfold
    >>> tenfold.poisson_nll_loss(tenfold.zeros(1), tenfold.ones(1), True, False, 1e-8, 1)
    tensor(1.)
    """
    named = _reduction("poisson_nll_loss", reduction)
    return F.poisson_nll_loss(input, target, log_input, full, eps=eps, reduction=named)


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-06,
    swap: bool = False,
    reduction: int = 0,
) -> Tensor:
    """`nn.functional.triplet_margin_loss` with a number as reduction.

    >>> import tenfold
    >>> tenfold.triplet_margin_loss(tenfold.zeros(1, 1), tenfold.ones(1, 1), tenfold.ones(1, 1), 2.0, reduction=0)
    tensor([2.])
    """
    named = _reduction("triplet_margin_loss", reduction)
    return F.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction=named)


# Units


def rrelu(input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False, generator: Any = None) -> Tensor:
    """`nn.functional.rrelu`, which draws from the default generator: TypeError for another one.

    >>> import tenfold
    >>> tenfold.rrelu(tenfold.tensor([-24.0, 1.0]))
    tensor([-5.5000,  1.0000])
    """
    _refuse("rrelu", generator)
    return F.rrelu(input, lower, upper, training)


def rrelu_(
    input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False, generator: Any = None
) -> Tensor:
    """In-place version of `rrelu`."""
    _refuse("rrelu_", generator)
    return F.rrelu_(input, lower, upper, training)


def _refuse(operator: str, generator: Any) -> None:
    if generator is not None:
        raise TypeError(f"{operator}(): draws from the default generator only, got {generator!r}; seed it with manual_seed")
