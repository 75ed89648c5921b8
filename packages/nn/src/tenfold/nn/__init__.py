# ruff: noqa: I001 - a name a line would hide the plan
"""Neural networks: modules, layers, losses, initialisation.

`tenfold.nn.functional` (usually imported as F) has the same operations as functions.
"""

from __future__ import annotations

import importlib
from typing import Any

# `X as X` makes a name public to type checkers.
# fmt: off
from tenfold.nn import functional as functional, grad as grad, init as init, parameter as parameter, utils as utils
from tenfold.nn.arguments import factory_kwargs as factory_kwargs
from tenfold.nn.container import (
    Container as Container, ModuleDict as ModuleDict, ModuleList as ModuleList, Sequential as Sequential,
)
from tenfold.nn.functional.linear_loss import LinearCrossEntropyOptions as LinearCrossEntropyOptions
from tenfold.nn.layers.activation.layers import (
    CELU as CELU, ELU as ELU, GELU as GELU, GLU as GLU, SELU as SELU, Hardshrink as Hardshrink, Hardsigmoid as Hardsigmoid,
    Hardswish as Hardswish, Hardtanh as Hardtanh, LogSigmoid as LogSigmoid, Mish as Mish,
    ReLU as ReLU, ReLU6 as ReLU6, Sigmoid as Sigmoid, SiLU as SiLU, Softplus as Softplus,
    Softshrink as Softshrink, Softsign as Softsign, Tanh as Tanh, Tanhshrink as Tanhshrink, Threshold as Threshold,
)
from tenfold.nn.layers.activation.leaky import LeakyReLU as LeakyReLU, PReLU as PReLU, RReLU as RReLU
from tenfold.nn.layers.activation.softmax import (
    LogSoftmax as LogSoftmax, Softmax as Softmax, Softmax2d as Softmax2d, Softmin as Softmin,
)
from tenfold.nn.layers.adaptive_softmax import AdaptiveLogSoftmaxWithLoss as AdaptiveLogSoftmaxWithLoss
from tenfold.nn.layers.attention.decoder import (
    TransformerDecoder as TransformerDecoder, TransformerDecoderLayer as TransformerDecoderLayer,
)
from tenfold.nn.layers.attention.encoder import (
    TransformerEncoder as TransformerEncoder, TransformerEncoderLayer as TransformerEncoderLayer,
)
from tenfold.nn.layers.attention.multihead import MultiheadAttention as MultiheadAttention
from tenfold.nn.layers.attention.transformer import Transformer as Transformer
from tenfold.nn.layers.conv.layers import (
    Conv1d as Conv1d, Conv2d as Conv2d, Conv3d as Conv3d, ConvTranspose1d as ConvTranspose1d,
    ConvTranspose2d as ConvTranspose2d, ConvTranspose3d as ConvTranspose3d,
)
from tenfold.nn.layers.conv.lazy import (
    LazyConv1d as LazyConv1d, LazyConv2d as LazyConv2d, LazyConv3d as LazyConv3d, LazyConvTranspose1d as LazyConvTranspose1d,
    LazyConvTranspose2d as LazyConvTranspose2d, LazyConvTranspose3d as LazyConvTranspose3d,
)
from tenfold.nn.layers.distance import CosineSimilarity as CosineSimilarity, PairwiseDistance as PairwiseDistance
from tenfold.nn.layers.dropout import (
    AlphaDropout as AlphaDropout, Dropout as Dropout, Dropout1d as Dropout1d, Dropout2d as Dropout2d, Dropout3d as Dropout3d,
    FeatureAlphaDropout as FeatureAlphaDropout,
)
from tenfold.nn.layers.embedding import Embedding as Embedding, EmbeddingBag as EmbeddingBag
from tenfold.nn.layers.linear import Bilinear as Bilinear, Identity as Identity, LazyLinear as LazyLinear, Linear as Linear
from tenfold.nn.layers.loss.layers import (
    BCELoss as BCELoss, BCEWithLogitsLoss as BCEWithLogitsLoss, CrossEntropyLoss as CrossEntropyLoss, CTCLoss as CTCLoss,
    GaussianNLLLoss as GaussianNLLLoss, HuberLoss as HuberLoss, KLDivLoss as KLDivLoss, L1Loss as L1Loss, MSELoss as MSELoss,
    NLLLoss as NLLLoss, NLLLoss2d as NLLLoss2d, PoissonNLLLoss as PoissonNLLLoss, SmoothL1Loss as SmoothL1Loss,
)
from tenfold.nn.layers.loss.linear import LinearCrossEntropyLoss as LinearCrossEntropyLoss
from tenfold.nn.layers.loss.margin import (
    CosineEmbeddingLoss as CosineEmbeddingLoss, HingeEmbeddingLoss as HingeEmbeddingLoss,
    MarginRankingLoss as MarginRankingLoss, MultiLabelMarginLoss as MultiLabelMarginLoss,
    MultiLabelSoftMarginLoss as MultiLabelSoftMarginLoss, MultiMarginLoss as MultiMarginLoss,
    SoftMarginLoss as SoftMarginLoss, TripletMarginLoss as TripletMarginLoss,
    TripletMarginWithDistanceLoss as TripletMarginWithDistanceLoss,
)
from tenfold.nn.layers.norm.layers import (
    BatchNorm1d as BatchNorm1d, BatchNorm2d as BatchNorm2d, BatchNorm3d as BatchNorm3d, GroupNorm as GroupNorm,
    InstanceNorm1d as InstanceNorm1d, InstanceNorm2d as InstanceNorm2d, InstanceNorm3d as InstanceNorm3d,
    LayerNorm as LayerNorm, RMSNorm as RMSNorm, SyncBatchNorm as SyncBatchNorm,
)
from tenfold.nn.layers.norm.lazy import (
    LazyBatchNorm1d as LazyBatchNorm1d, LazyBatchNorm2d as LazyBatchNorm2d, LazyBatchNorm3d as LazyBatchNorm3d,
    LazyInstanceNorm1d as LazyInstanceNorm1d, LazyInstanceNorm2d as LazyInstanceNorm2d,
    LazyInstanceNorm3d as LazyInstanceNorm3d,
)
from tenfold.nn.layers.norm.local_response import CrossMapLRN2d as CrossMapLRN2d, LocalResponseNorm as LocalResponseNorm
from tenfold.nn.layers.padding import (
    CircularPad1d as CircularPad1d, CircularPad2d as CircularPad2d, CircularPad3d as CircularPad3d,
    ConstantPad1d as ConstantPad1d, ConstantPad2d as ConstantPad2d, ConstantPad3d as ConstantPad3d,
    ReflectionPad1d as ReflectionPad1d, ReflectionPad2d as ReflectionPad2d, ReflectionPad3d as ReflectionPad3d,
    ReplicationPad1d as ReplicationPad1d, ReplicationPad2d as ReplicationPad2d, ReplicationPad3d as ReplicationPad3d,
    ZeroPad1d as ZeroPad1d, ZeroPad2d as ZeroPad2d, ZeroPad3d as ZeroPad3d,
)
from tenfold.nn.layers.pool.adaptive import (
    AdaptiveAvgPool1d as AdaptiveAvgPool1d, AdaptiveAvgPool2d as AdaptiveAvgPool2d, AdaptiveAvgPool3d as AdaptiveAvgPool3d,
    AdaptiveMaxPool1d as AdaptiveMaxPool1d, AdaptiveMaxPool2d as AdaptiveMaxPool2d, AdaptiveMaxPool3d as AdaptiveMaxPool3d,
)
from tenfold.nn.layers.pool.windows import (
    AvgPool1d as AvgPool1d, AvgPool2d as AvgPool2d, AvgPool3d as AvgPool3d, FractionalMaxPool2d as FractionalMaxPool2d,
    FractionalMaxPool3d as FractionalMaxPool3d, LPPool1d as LPPool1d, LPPool2d as LPPool2d, LPPool3d as LPPool3d,
    MaxPool1d as MaxPool1d, MaxPool2d as MaxPool2d, MaxPool3d as MaxPool3d, MaxUnpool1d as MaxUnpool1d,
    MaxUnpool2d as MaxUnpool2d, MaxUnpool3d as MaxUnpool3d,
)
from tenfold.nn.layers.rnn.cells import (
    GRUCell as GRUCell, LSTMCell as LSTMCell, RNNCell as RNNCell, RNNCellBase as RNNCellBase,
)
from tenfold.nn.layers.rnn.layers import GRU as GRU, LSTM as LSTM, RNN as RNN, RNNBase as RNNBase
from tenfold.nn.layers.shape import (
    ChannelShuffle as ChannelShuffle, Flatten as Flatten, Fold as Fold, PixelShuffle as PixelShuffle,
    PixelUnshuffle as PixelUnshuffle, Unflatten as Unflatten, Unfold as Unfold, Upsample as Upsample,
    UpsamplingBilinear2d as UpsamplingBilinear2d, UpsamplingNearest2d as UpsamplingNearest2d,
)
from tenfold.nn.module import Module as Module
from tenfold.nn.parameter import (
    Buffer as Buffer, Parameter as Parameter, UninitializedBuffer as UninitializedBuffer,
    UninitializedParameter as UninitializedParameter,
)
from tenfold.nn.parameter_container import ParameterDict as ParameterDict, ParameterList as ParameterList
# fmt: on

__all__ = [name for name, item in globals().items() if getattr(item, "__module__", "").startswith(("tenfold.nn.", "torch.nn."))]
__all__ += ["functional", "grad", "init", "parameter", "utils"]


def __getattr__(name: str) -> Any:
    if name in ("modules", "parallel", "attention"):  # needed rarely, so they are made on demand
        return importlib.import_module(f"tenfold.nn.{name}")
    if name in ("common_types", "_reduction"):
        return importlib.import_module(f"tenfold.nn.{name}")
    if name == "DataParallel":
        return importlib.import_module("tenfold.nn.parallel").DataParallel
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
