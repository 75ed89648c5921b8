"""`__constants__` of layers: the settings that PyTorch's compiler takes for constants; subclasses add theirs."""

from __future__ import annotations

from typing import Any

_CONSTANTS = {
    "inplace": "Hardsigmoid Hardswish Mish ReLU SELU SiLU",
    "alpha inplace": "CELU ELU",
    "min_val max_val inplace": "Hardtanh",
    "inplace negative_slope": "LeakyReLU",
    "approximate": "GELU",
    "dim": "GLU LogSoftmax Softmax Softmin",
    "batch_first": "MultiheadAttention",
    "num_parameters": "PReLU",
    "beta threshold": "Softplus",
    "lambd": "Hardshrink Softshrink",
    "threshold value inplace": "Threshold",
    "track_running_stats momentum eps num_features affine": "_NormBase",
    "stride padding dilation groups padding_mode output_padding in_channels out_channels kernel_size": "_ConvNd",
    "dim eps": "CosineSimilarity",
    "norm eps keepdim": "PairwiseDistance",
    "p inplace": "_DropoutNd",
    "start_dim end_dim": "Flatten",
    "dim unflattened_size": "Unflatten",
    "output_size kernel_size dilation padding stride": "Fold",
    "kernel_size dilation padding stride": "Unfold",
    "in1_features in2_features out_features": "Bilinear",
    "in_features out_features": "Linear",
    "reduction": "BCELoss KLDivLoss L1Loss MSELoss MultiLabelMarginLoss MultiLabelSoftMarginLoss SmoothL1Loss SoftMarginLoss",
    "blank reduction": "CTCLoss",
    "margin reduction": "CosineEmbeddingLoss HingeEmbeddingLoss MarginRankingLoss",
    "ignore_index reduction label_smoothing": "CrossEntropyLoss",
    "reduction delta": "HuberLoss",
    "p margin reduction": "MultiMarginLoss",
    "ignore_index reduction": "NLLLoss",
    "margin p eps swap reduction": "TripletMarginLoss",
    "num_groups num_channels eps affine": "GroupNorm",
    "normalized_shape eps elementwise_affine": "LayerNorm RMSNorm",
    "size alpha beta k": "LocalResponseNorm",
    "upscale_factor": "PixelShuffle",
    "downscale_factor": "PixelUnshuffle",
    "kernel_size stride padding ceil_mode count_include_pad divisor_override": "AvgPool2d AvgPool3d",
    "output_size": "_AdaptiveAvgPoolNd",
    "output_size return_indices": "_AdaptiveMaxPoolNd",
    "norm_type kernel_size stride ceil_mode": "_LPPoolNd",
    "kernel_size stride padding dilation return_indices ceil_mode": "_MaxPoolNd",
    "mode input_size hidden_size num_layers bias batch_first dropout bidirectional proj_size": "RNNBase",
    "input_size hidden_size bias": "RNNCellBase",
    "num_embeddings embedding_dim padding_idx max_norm norm_type scale_grad_by_freq sparse": "Embedding",
    "norm": "TransformerDecoder TransformerEncoder",
    "norm_first": "TransformerDecoderLayer TransformerEncoderLayer",
    "size scale_factor mode align_corners name recompute_scale_factor": "Upsample",
}
_OF = {layer: settings.split() for settings, layers in _CONSTANTS.items() for layer in layers.split()}


def give_constants(layer: Any) -> None:
    """Give a layer's class its `__constants__`, a list of its own, if PyTorch's has them."""
    if layer.__name__ in _OF:
        layer.__constants__ = list(_OF[layer.__name__])
