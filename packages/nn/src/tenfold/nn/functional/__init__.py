"""`torch.nn.functional` for Tenfold: neural-network operators as functions, usually imported as F."""

from __future__ import annotations

import importlib
from typing import Any

from tenfold.nn import grad as grad
from tenfold.nn.functional.activation import (
    celu,
    celu_,
    elu,
    elu_,
    gelu,
    glu,
    gumbel_softmax,
    hardshrink,
    hardsigmoid,
    hardswish,
    hardtanh,
    hardtanh_,
    leaky_relu,
    leaky_relu_,
    log_softmax,
    logsigmoid,
    mish,
    prelu,
    relu,
    relu6,
    relu_,
    rrelu,
    rrelu_,
    selu,
    selu_,
    sigmoid,
    silu,
    softmax,
    softmin,
    softplus,
    softshrink,
    softsign,
    tanh,
    tanhshrink,
    threshold,
    threshold_,
)
from tenfold.nn.functional.attention import multi_head_attention_forward, scaled_dot_product_attention
from tenfold.nn.functional.dropout import alpha_dropout, dropout, dropout1d, dropout2d, dropout3d, feature_alpha_dropout
from tenfold.nn.functional.linear_loss import linear_cross_entropy
from tenfold.nn.functional.with_indices import (
    adaptive_max_pool1d_with_indices,
    adaptive_max_pool2d_with_indices,
    adaptive_max_pool3d_with_indices,
    fractional_max_pool2d_with_indices,
    fractional_max_pool3d_with_indices,
    max_pool1d_with_indices,
    max_pool2d_with_indices,
    max_pool3d_with_indices,
)
from tenfold.nn.ops.conv.functions import (
    conv1d,
    conv2d,
    conv3d,
    conv_tbc,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
)
from tenfold.nn.ops.distance import (
    cosine_similarity,
    pairwise_distance,
    pdist,
)
from tenfold.nn.ops.embedding import (
    embedding,
    embedding_bag,
    one_hot,
)
from tenfold.nn.ops.fold import (
    fold,
    unfold,
)
from tenfold.nn.ops.grouped import grouped_mm
from tenfold.nn.ops.linear import (
    bilinear,
    linear,
)
from tenfold.nn.ops.loss.classes import (
    cross_entropy,
    nll_loss,
)
from tenfold.nn.ops.loss.ctc import (
    ctc_loss,
)
from tenfold.nn.ops.loss.elementwise import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    huber_loss,
    kl_div,
    l1_loss,
    mse_loss,
    smooth_l1_loss,
)
from tenfold.nn.ops.loss.likelihood import gaussian_nll_loss, poisson_nll_loss
from tenfold.nn.ops.loss.margin import (
    cosine_embedding_loss,
    hinge_embedding_loss,
    margin_ranking_loss,
    multi_margin_loss,
    multilabel_margin_loss,
    multilabel_soft_margin_loss,
    soft_margin_loss,
    triplet_margin_loss,
    triplet_margin_with_distance_loss,
)
from tenfold.nn.ops.norm.batch import batch_norm, instance_norm
from tenfold.nn.ops.norm.group import group_norm
from tenfold.nn.ops.norm.layer import layer_norm, rms_norm
from tenfold.nn.ops.norm.lengths import local_response_norm, normalize
from tenfold.nn.ops.padding import (
    pad,
)
from tenfold.nn.ops.pool.adaptive import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    adaptive_max_pool3d,
)
from tenfold.nn.ops.pool.fractional import (
    fractional_max_pool2d,
    fractional_max_pool3d,
)
from tenfold.nn.ops.pool.unpool import max_unpool1d, max_unpool2d, max_unpool3d
from tenfold.nn.ops.pool.windows import (
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    lp_pool1d,
    lp_pool2d,
    lp_pool3d,
    max_pool1d,
    max_pool2d,
    max_pool3d,
)
from tenfold.nn.ops.resize.grid import (
    affine_grid,
    grid_sample,
)
from tenfold.nn.ops.resize.interpolate import (
    interpolate,
    upsample,
    upsample_bilinear,
    upsample_nearest,
)
from tenfold.nn.ops.resize.shuffle import channel_shuffle, pixel_shuffle, pixel_unshuffle
from tenfold.nn.ops.scaled import ScalingType, SwizzleType, scaled_grouped_mm, scaled_mm

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices", "adaptive_max_pool2d", "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d", "adaptive_max_pool3d_with_indices", "affine_grid", "alpha_dropout", "avg_pool1d",
    "avg_pool2d", "avg_pool3d", "batch_norm", "bilinear", "binary_cross_entropy", "binary_cross_entropy_with_logits",
    "celu", "celu_", "channel_shuffle", "conv1d", "conv2d", "conv3d", "conv_tbc", "conv_transpose1d", "conv_transpose2d",
    "conv_transpose3d", "cosine_embedding_loss", "cosine_similarity", "cross_entropy", "ctc_loss", "dropout",
    "dropout1d", "dropout2d", "dropout3d", "elu", "elu_", "embedding", "embedding_bag", "feature_alpha_dropout",
    "fold", "fractional_max_pool2d", "fractional_max_pool2d_with_indices", "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices", "gaussian_nll_loss", "gelu", "glu", "grid_sample", "group_norm", "grouped_mm",
    "gumbel_softmax", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "hardtanh_", "hinge_embedding_loss",
    "huber_loss", "instance_norm", "interpolate", "kl_div", "l1_loss", "layer_norm", "leaky_relu", "leaky_relu_",
    "linear_cross_entropy",
    "linear", "local_response_norm", "log_softmax", "logsigmoid", "lp_pool1d", "lp_pool2d", "lp_pool3d",
    "margin_ranking_loss", "max_pool1d", "max_pool1d_with_indices", "max_pool2d", "max_pool2d_with_indices",
    "max_pool3d", "max_pool3d_with_indices", "max_unpool1d", "max_unpool2d", "max_unpool3d", "mish", "mse_loss",
    "multi_head_attention_forward", "multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss",
    "nll_loss", "normalize", "one_hot", "pad", "pairwise_distance", "pdist", "pixel_shuffle", "pixel_unshuffle",
    "poisson_nll_loss", "prelu", "relu", "relu6", "relu_", "rms_norm", "rrelu", "rrelu_",
    "scaled_dot_product_attention", "scaled_grouped_mm", "scaled_mm", "ScalingType", "selu", "selu_", "sigmoid", "silu",
    "smooth_l1_loss", "soft_margin_loss",
    "softmax", "softmin", "softplus", "softshrink", "softsign", "SwizzleType", "tanh", "tanhshrink", "threshold", "threshold_",
    "triplet_margin_loss", "triplet_margin_with_distance_loss", "unfold", "upsample", "upsample_bilinear",
    "upsample_nearest",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if not name.startswith("__"):
        private = importlib.import_module("tenfold.nn.functional.private_names")  # needed rarely, so on demand
        if name in private.__all__:
            return getattr(private, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
