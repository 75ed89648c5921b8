"""Which operators autocast runs in a half type and which in float32: PyTorch's lists, one for the CPU, one for other devices."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Lists:
    """Operators by what autocast does with their arguments; those in none of the three take dtypes as they come."""

    lower: frozenset[str]  # products: fast and accurate enough with half inputs and wide accumulation
    float32: frozenset[str]  # sums of many terms and steep functions
    kept: frozenset[str]  # left alone, with everything in their bodies


_PRODUCTS = (
    "mm bmm matmul addmm addbmm baddbmm linear convolution conv1d conv2d conv3d conv_transpose1d conv_transpose2d "
    "conv_transpose3d scaled_dot_product_attention chain_matmul multi_dot linalg_multi_dot linalg_vecdot prelu "
    "fused_lstm fused_rnn"
)
_LOSSES = (
    "cross_entropy nll_loss mse_loss l1_loss smooth_l1_loss huber_loss kl_div binary_cross_entropy_with_logits ctc_loss "
    "cosine_embedding_loss hinge_embedding_loss margin_ranking_loss triplet_margin_loss poisson_nll_loss "
    "multilabel_margin_loss multi_margin_loss soft_margin_loss cdist prod"
)

CPU = Lists(
    lower=frozenset(_PRODUCTS.split()),
    float32=frozenset(
        f"{_LOSSES} binary_cross_entropy trace quantile nanquantile grid_sample avg_pool3d max_pool3d adaptive_avg_pool3d "
        "inverse pinverse cholesky stft polar".split()
    ),
    kept=frozenset("mv addmv dot bilinear outer tensordot kron".split()),
)
OTHER = Lists(
    lower=frozenset(f"{_PRODUCTS} mv addmv".split()),
    float32=frozenset(
        f"{_LOSSES} exp expm1 log log2 log10 log1p pow rsqrt reciprocal acos asin cosh sinh tan erfinv sum cumsum cumprod mean "
        "var std norm softmax log_softmax softmin softplus layer_norm group_norm native_layer_norm native_group_norm "
        "cosine_similarity logsumexp dist renorm pdist".split()
    ),
    kept=frozenset(),
)


def for_device(device_type: str) -> Lists:
    """The lists of a device type."""
    return CPU if device_type == "cpu" else OTHER
