"""Which operators autocast runs in a half type and which in float32: PyTorch's lists, one for the CPU, one for other devices."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Lists:
    """Operators by what autocast does with their arguments; those in none of these take dtypes as they come."""

    lower: frozenset[str]  # products: fast and accurate enough with half inputs and wide accumulation
    float32: frozenset[str]  # sums of many terms, steep functions, decompositions
    widest: frozenset[str]  # arguments that have to agree: float32 if one of them is
    kept: frozenset[str]  # left alone, with everything in their bodies
    banned: frozenset[str] = frozenset()  # refused: in half precision their results are wrong

    @cached_property
    def kinds(self) -> dict[str, str]:
        """Which of these an operator is in."""
        order = ("widest", "float32", "lower", "kept", "banned")  # the later ones come first
        return dict.fromkeys(QUIET, "kept") | {name: kind for kind in order for name in getattr(self, kind)}


# Operators made of others, or with other forms of call, in which nothing is cast: what they call need not be looked at.
QUIET = frozenset(
    "reshape reshape_as flatten unflatten ravel view_as type_as expand_as broadcast_to narrow chunk split tensor_split "
    "unsafe_chunk unsafe_split swapaxes swapdims movedim moveaxis t contiguous to repeat tile clamp masked_fill "
    "index_select max min sort topk hardtanh relu6 leaky_relu hardswish hardsigmoid gelu silu dropout feature_dropout "
    "batch_norm max_pool1d max_pool2d avg_pool1d avg_pool2d adaptive_avg_pool1d adaptive_avg_pool2d adaptive_max_pool1d "
    "adaptive_max_pool2d pixel_shuffle pixel_unshuffle channel_shuffle constant_pad_nd zeros ones full empty arange "
    "zeros_like ones_like full_like empty_like rand_like randn_like new_zeros new_ones new_full new_empty add sub rsub mul "
    "div embedding embedding_rows".split()
)
_PRODUCTS = (
    "mm bmm matmul addmm addbmm baddbmm linear conv1d conv2d conv3d conv_transpose1d conv_transpose2d "
    "conv_transpose3d scaled_dot_product_attention linalg_vecdot prelu fused_lstm fused_rnn affine_grid_generator"
)
_LOSSES = (
    "cross_entropy nll_loss mse_loss l1_loss smooth_l1_loss huber_loss kl_div binary_cross_entropy_with_logits ctc_loss "
    "cosine_embedding_loss hinge_embedding_loss margin_ranking_loss triplet_margin_loss poisson_nll_loss "
    "multilabel_margin_loss multi_margin_loss soft_margin_loss cdist prod"
)
_POOLS = (
    "avg_pool3d max_pool3d lp_pool3d adaptive_avg_pool3d adaptive_max_pool3d fractional_max_pool2d fractional_max_pool3d "
    "max_unpool1d max_unpool2d max_unpool3d"
)
_DECOMPOSITIONS = (
    "inverse pinverse cholesky cholesky_inverse cholesky_solve lu lu_solve linalg_lu_solve linalg_householder_product ormqr "
    "geqrf qr svd triangular_solve linalg_qr linalg_svd linalg_svdvals linalg_eig linalg_eigvals linalg_eigh linalg_eigvalsh "
    "linalg_cholesky linalg_cholesky_ex linalg_inv linalg_inv_ex linalg_solve linalg_lstsq linalg_matrix_rank linalg_cond "
    "linalg_tensorinv linalg_tensorsolve linalg_matrix_exp"
)
_TRANSFORMS = (
    "stft fft_fft fft_ifft fft_rfft fft_irfft fft_hfft fft_ihfft fft_fft2 fft_ifft2 fft_rfft2 fft_irfft2 fft_fftn fft_ifftn "
    "fft_rfftn fft_irfftn"
)

CPU = Lists(
    lower=frozenset(_PRODUCTS.split()),
    float32=frozenset(
        f"{_LOSSES} {_POOLS} {_DECOMPOSITIONS} {_TRANSFORMS} binary_cross_entropy trace quantile nanquantile grid_sample polar "
        "view_as_complex".split()
    ),
    widest=frozenset("stack cat index_copy".split()),
    kept=frozenset("mv addmv dot bilinear outer kron convolution".split()),
)
OTHER = Lists(
    lower=frozenset(f"{_PRODUCTS} convolution mv addmv addr einsum chain_matmul multi_dot linalg_multi_dot fused_gru".split()),
    float32=frozenset(
        f"{_LOSSES} exp expm1 log log2 log10 log1p pow rsqrt reciprocal acos asin cosh sinh tan erfinv sum cumsum cumprod "
        "norm linalg_vector_norm linalg_matrix_norm softmax log_softmax softmin softplus layer_norm rms_norm group_norm "
        "native_layer_norm native_group_norm cosine_similarity logsumexp dist renorm pdist interpolate".split()
    ),
    widest=frozenset("addcdiv addcmul atan2 bilinear cross dot vdot grid_sample index_put tensordot scatter_add".split()),
    kept=frozenset(),
    banned=frozenset(("binary_cross_entropy",)),
)


def for_device(device_type: str) -> Lists:
    """The lists of a device type."""
    return CPU if device_type == "cpu" else OTHER
