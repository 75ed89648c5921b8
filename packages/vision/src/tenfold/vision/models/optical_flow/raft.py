"""RAFT, which finds where every pixel of one picture is in the next; key for key with torchvision's checkpoints.

Source: Z. Teed, J. Deng, RAFT: Recurrent All-Pairs Field Transforms for Optical Flow, arXiv:2003.12039.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tenfold
from tenfold import Tensor, nn
from tenfold.nn.functional import avg_pool2d, grid_sample, interpolate, unfold
from tenfold.vision.models.catalog.flow import Raft_Large_Weights, Raft_Small_Weights
from tenfold.vision.models.registry import model
from tenfold.vision.ops.misc import Conv2dNormActivation

Layer = Callable[..., nn.Module]
FACTOR = 8  # features are that much smaller than pictures, each way


class _Block(nn.Module):
    """Convolutions, each with a norm and an activation, around a shortcut."""

    def __init__(self, widths: Sequence[int], kernels: Sequence[int], strides: Sequence[int], norm: Layer | None) -> None:
        super().__init__()
        for i, (kernel, stride) in enumerate(zip(kernels, strides, strict=True)):
            layer = Conv2dNormActivation(widths[i], widths[i + 1], kernel, stride, norm_layer=norm, bias=True)
            self.add_module(f"convnormrelu{i + 1}", layer)
        self._count = len(kernels)
        self.downsample: nn.Module = nn.Identity()
        if math.prod(strides) != 1:
            shortcut = {"stride": math.prod(strides), "norm_layer": norm, "bias": True, "activation_layer": None}
            self.downsample = Conv2dNormActivation(widths[0], widths[-1], 1, **shortcut)  # type: ignore[arg-type]

    def forward(self, x: Tensor) -> Tensor:
        hidden = x
        for i in range(self._count):
            hidden = getattr(self, f"convnormrelu{i + 1}")(hidden)
        result: Tensor = (self.downsample(x) + hidden).relu()
        return result


class ResidualBlock(_Block):
    """Two 3x3 convolutions around a shortcut."""

    def __init__(self, in_channels: int, out_channels: int, *, norm_layer: Layer | None, stride: int = 1) -> None:
        super().__init__([in_channels, out_channels, out_channels], [3, 3], [stride, 1], norm_layer)


class BottleneckBlock(_Block):
    """A 3x3 convolution of a quarter of the width between two 1x1 ones, around a shortcut."""

    def __init__(self, in_channels: int, out_channels: int, *, norm_layer: Layer | None, stride: int = 1) -> None:
        narrow = out_channels // 4
        super().__init__([in_channels, narrow, narrow, out_channels], [1, 3, 1], [1, stride, 1], norm_layer)


class FeatureEncoder(nn.Module):
    """A picture's features at an eighth of its size: (N, 3, H, W) -> (N, layers[4], H / 8, W / 8)."""

    def __init__(self, *, block: Layer = ResidualBlock, layers: Sequence[int] = (64, 64, 96, 128, 256),
                 strides: Sequence[int] = (2, 1, 2, 2), norm_layer: Layer | None = nn.BatchNorm2d) -> None:  # fmt: skip
        super().__init__()
        if len(layers) != 5:
            raise ValueError(f"FeatureEncoder: the expected number of layers is 5, instead got {len(layers)}")
        self.convnormrelu = Conv2dNormActivation(3, layers[0], 7, strides[0], norm_layer=norm_layer, bias=True)
        for i in (1, 2, 3):
            first = block(layers[i - 1], layers[i], norm_layer=norm_layer, stride=strides[i])
            self.add_module(f"layer{i}", nn.Sequential(first, block(layers[i], layers[i], norm_layer=norm_layer)))
        self.conv = nn.Conv2d(layers[3], layers[4], 1)
        self.output_dim, self.downsample_factor = layers[-1], math.prod(strides)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, x: Tensor) -> Tensor:
        x = self.convnormrelu(x)
        for i in (1, 2, 3):
            x = getattr(self, f"layer{i}")(x)
        features: Tensor = self.conv(x)
        return features


class MotionEncoder(nn.Module):
    """What the correlations and the flow so far tell of motion; the flow itself is among it."""

    def __init__(self, *, in_channels_corr: int, corr_layers: Sequence[int] = (256, 192), flow_layers: Sequence[int] = (128, 64),
                 out_channels: int = 128) -> None:  # fmt: skip
        super().__init__()
        self.convcorr1 = _plain(in_channels_corr, corr_layers[0], 1)
        self.convcorr2: nn.Module = nn.Identity() if len(corr_layers) == 1 else _plain(corr_layers[0], corr_layers[1], 3)
        self.convflow1 = _plain(2, flow_layers[0], 7)
        self.convflow2 = _plain(flow_layers[0], flow_layers[1], 3)
        self.conv = _plain(corr_layers[-1] + flow_layers[-1], out_channels - 2, 3)
        self.out_channels = out_channels

    def forward(self, flow: Tensor, corr_features: Tensor) -> Tensor:
        both = [self.convcorr2(self.convcorr1(corr_features)), self.convflow2(self.convflow1(flow))]
        return tenfold.cat([self.conv(tenfold.cat(both, 1)), flow], 1)


def _plain(inputs: int, outputs: int, kernel: int) -> nn.Module:
    return Conv2dNormActivation(inputs, outputs, kernel, norm_layer=None)


class ConvGRU(nn.Module):
    """A gated recurrent unit whose matrices are convolutions."""

    def __init__(self, *, input_size: int, hidden_size: int, kernel_size: Any, padding: Any) -> None:
        super().__init__()
        for gate in ("convz", "convr", "convq"):
            self.add_module(gate, nn.Conv2d(hidden_size + input_size, hidden_size, kernel_size, padding=padding))

    def forward(self, h: Tensor, x: Tensor) -> Tensor:
        both = tenfold.cat([h, x], 1)
        update, reset = self.convz(both).sigmoid(), self.convr(both).sigmoid()
        new: Tensor = self.convq(tenfold.cat([reset * h, x], 1)).tanh()
        return (1 - update) * h + update * new


class RecurrentBlock(nn.Module):
    """One recurrent unit, or two, one after the other."""

    def __init__(self, *, input_size: int, hidden_size: int, kernel_size: Sequence[Any] = ((1, 5), (5, 1)),
                 padding: Sequence[Any] = ((0, 2), (2, 0))) -> None:  # fmt: skip
        super().__init__()
        if len(kernel_size) != len(padding) or len(kernel_size) not in (1, 2):
            raise ValueError(
                f"RecurrentBlock: expected one or two kernels and as many paddings, got {len(kernel_size)} and {len(padding)}"
            )
        self._names = [f"convgru{i + 1}" for i in range(len(kernel_size))]
        for name, kernel, around in zip(self._names, kernel_size, padding, strict=True):
            self.add_module(name, ConvGRU(input_size=input_size, hidden_size=hidden_size, kernel_size=kernel, padding=around))
        self.hidden_size = hidden_size

    def forward(self, h: Tensor, x: Tensor) -> Tensor:
        for name in self._names:
            h = getattr(self, name)(h, x)
        return h


class FlowHead(nn.Module):
    """The step of the flow that a hidden state says."""

    def __init__(self, *, in_channels: int, hidden_size: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, hidden_size, 3, padding=1)
        self.conv2 = nn.Conv2d(hidden_size, 2, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        step: Tensor = self.conv2(self.conv1(x).relu())
        return step


class UpdateBlock(nn.Module):
    """A step of the hidden state and of the flow."""

    def __init__(self, *, motion_encoder: nn.Module, recurrent_block: nn.Module, flow_head: nn.Module) -> None:
        super().__init__()
        self.motion_encoder, self.recurrent_block, self.flow_head = motion_encoder, recurrent_block, flow_head
        self.hidden_state_size: Any = recurrent_block.hidden_size

    def forward(self, hidden_state: Tensor, context: Tensor, corr_features: Tensor, flow: Tensor) -> tuple[Tensor, Tensor]:
        motion = self.motion_encoder(flow, corr_features)
        hidden = self.recurrent_block(hidden_state, tenfold.cat([context, motion], 1))
        return hidden, self.flow_head(hidden)


class MaskPredictor(nn.Module):
    """How each of 8x8 pixels mixes the flows of the nine cells around its own: (N, 576, H / 8, W / 8), before the softmax."""

    def __init__(self, *, in_channels: int, hidden_size: int, multiplier: float = 0.25) -> None:
        super().__init__()
        self.convrelu = Conv2dNormActivation(in_channels, hidden_size, 3, norm_layer=None)
        self.conv = nn.Conv2d(hidden_size, FACTOR * FACTOR * 9, 1)
        self.multiplier = multiplier  # of gradients against those of the flow

    def forward(self, x: Tensor) -> Tensor:
        weights: Tensor = self.conv(self.convrelu(x)) * self.multiplier
        return weights


class CorrBlock(nn.Module):
    """Products of all features of one picture with all of the other, in ``num_levels`` resolutions, read around places.

    Section 3.2 of the paper.
    """

    def __init__(self, *, num_levels: int = 4, radius: int = 4) -> None:
        super().__init__()
        self.num_levels, self.radius = num_levels, radius
        self.out_channels = num_levels * (2 * radius + 1) ** 2
        self.corr_pyramid: list[Tensor] = []

    def build_pyramid(self, fmap1: Tensor, fmap2: Tensor) -> None:
        """Multiply two maps of features (N, C, h, w).

        Raises:
            ValueError: their sizes differ, or are too small to be halved so often.
        """
        if fmap1.shape != fmap2.shape:
            raise ValueError(f"CorrBlock: both maps should have the same shape, got {tuple(fmap1.shape)}, {tuple(fmap2.shape)}")
        N, C, h, w = fmap1.shape
        least = 2**self.num_levels
        if min(h, w) < least:
            raise ValueError(
                f"CorrBlock: features of {h}x{w} are too small for {self.num_levels} levels; they should be at least "
                f"{least}x{least}, and pictures {FACTOR * least}x{FACTOR * least}"
            )
        products = fmap1.flatten(2).transpose(1, 2) @ fmap2.flatten(2) / math.sqrt(C)  # (N, h w, h w)
        self.corr_pyramid = [products.reshape(N * h * w, 1, h, w)]
        for _ in range(self.num_levels - 1):
            self.corr_pyramid.append(avg_pool2d(self.corr_pyramid[-1], 2, 2))

    def index_pyramid(self, centroids_coords: Tensor) -> Tensor:
        """What the levels have around places (N, 2, h, w), x and y: (N, out_channels, h, w)."""
        N, _, h, w = centroids_coords.shape
        steps = tenfold.arange(-self.radius, self.radius + 1, dtype=centroids_coords.dtype, device=centroids_coords.device)
        around = tenfold.stack(tenfold.meshgrid(steps, steps, indexing="ij"), -1)  # the first axis is x's, as checkpoints have it
        centres = centroids_coords.permute(0, 2, 3, 1).reshape(N * h * w, 1, 1, 2)
        found = []
        for level, products in enumerate(self.corr_pyramid):
            last = centroids_coords.new_tensor([max(products.shape[-1] - 1, 1), max(products.shape[-2] - 1, 1)])
            places = (centres / 2**level + around) * 2 / last - 1  # -1..1 from the first value to the last
            found.append(grid_sample(products, places, align_corners=True).reshape(N, h, w, -1))
        return tenfold.cat(found, -1).permute(0, 3, 1, 2).contiguous()


class RAFT(nn.Module):
    """The flow from one picture to the next, found in steps: a list of (N, 2, H, W), of which the last is the best.

    Shape: two of (N, 3, H, W), values from -1 to 1, H and W divisible by 8 and at least 128.

    Raises:
        ValueError: pictures of different sizes, or of sizes that 8 does not divide, or that are too small.

    Source: Z. Teed, J. Deng, arXiv:2003.12039.
    """

    def __init__(
        self,
        *,
        feature_encoder: nn.Module,
        context_encoder: nn.Module,
        corr_block: Any,
        update_block: nn.Module,
        mask_predictor: nn.Module | None = None,
    ) -> None:
        super().__init__()
        if not hasattr(update_block, "hidden_state_size"):
            raise ValueError("RAFT: the update_block should have an attribute hidden_state_size")
        self.feature_encoder, self.context_encoder = feature_encoder, context_encoder
        self.corr_block, self.update_block, self.mask_predictor = corr_block, update_block, mask_predictor

    def forward(self, image1: Tensor, image2: Tensor, num_flow_updates: int = 12) -> list[Tensor]:
        H, W = image1.shape[-2:]
        if image1.shape[-2:] != image2.shape[-2:]:
            raise ValueError(f"RAFT: both images should have the same size, got {(H, W)} and {tuple(image2.shape[-2:])}")
        if H % FACTOR or W % FACTOR:
            raise ValueError(f"RAFT: height and width of images should be divisible by {FACTOR}, got {(H, W)}")
        first, second = self.feature_encoder(tenfold.cat([image1, image2])).chunk(2)
        self.corr_block.build_pyramid(first, second)
        hidden, context = self._context(image1)
        start = _places(first)
        places, flows = start, []
        for _ in range(num_flow_updates):
            places = places.detach()  # each step learns by itself
            nearby = self.corr_block.index_pyramid(places)
            hidden, step = self.update_block(hidden, context, nearby, places - start)
            places = places + step
            weights = None if self.mask_predictor is None else self.mask_predictor(hidden)
            flows.append(enlarged(places - start, weights))
        return flows

    def _context(self, image: Tensor) -> tuple[Tensor, Tensor]:
        """The first hidden state, and what the picture says besides."""
        both = self.context_encoder(image)
        size: Any = self.update_block.hidden_state_size
        if both.shape[1] <= size:
            raise ValueError(
                f"RAFT: the context encoder should give more than {size} channels, the hidden state's; got {both.shape[1]}"
            )
        return both[:, :size].tanh(), both[:, size:].relu()


def _places(features: Tensor) -> Tensor:
    """Where each cell is: (N, 2, h, w), x and y."""
    N, _, h, w = features.shape
    x, y = (tenfold.arange(size, dtype=features.dtype, device=features.device) for size in (w, h))
    return tenfold.stack([x.expand(h, w), y[:, None].expand(h, w)]).expand(N, 2, h, w)


def enlarged(flow: Tensor, weights: Tensor | None) -> Tensor:
    """A flow at eight times the size: mixed by weights (section 3.3 of the paper), or else interpolated."""
    N, _, h, w = flow.shape
    if weights is None:
        return interpolate(flow, size=(FACTOR * h, FACTOR * w), mode="bilinear", align_corners=True) * FACTOR
    shares = weights.reshape(N, 1, 9, FACTOR, FACTOR, h, w).softmax(2)
    around = unfold(flow * FACTOR, 3, padding=1).reshape(N, 2, 9, 1, 1, h, w)
    mixed = (shares * around).sum(2)  # (N, 2, 8, 8, h, w)
    return mixed.permute(0, 1, 4, 2, 5, 3).reshape(N, 2, FACTOR * h, FACTOR * w)


class _Sizes(NamedTuple):
    """What the two published networks differ in."""

    block: Layer
    features: Sequence[int]
    context: Sequence[int]
    context_norm: Layer | None
    radius: int
    corr: Sequence[int]
    flow: Sequence[int]
    motion: int
    hidden: int
    kernels: Sequence[Any]
    paddings: Sequence[Any]
    head: int
    mixes: bool


LARGE = _Sizes(ResidualBlock, (64, 64, 96, 128, 256), (64, 64, 96, 128, 256), nn.BatchNorm2d, 4, (256, 192), (128, 64), 128, 128,
               ((1, 5), (5, 1)), ((0, 2), (2, 0)), 256, True)  # fmt: skip
SMALL = _Sizes(
    BottleneckBlock, (32, 32, 64, 96, 128), (32, 32, 64, 96, 160), None, 3, (96,), (64, 32), 82, 96, (3,), (1,), 128, False
)


def _build(sizes: _Sizes, given: dict[str, Any]) -> RAFT:
    """The network, of whose parts some may be given."""
    parts = dict(given)
    if parts.get("feature_encoder") is None:
        parts["feature_encoder"] = FeatureEncoder(block=sizes.block, layers=sizes.features, norm_layer=nn.InstanceNorm2d)
    if parts.get("context_encoder") is None:
        parts["context_encoder"] = FeatureEncoder(block=sizes.block, layers=sizes.context, norm_layer=sizes.context_norm)
    if parts.get("corr_block") is None:
        parts["corr_block"] = CorrBlock(num_levels=4, radius=sizes.radius)
    if parts.get("update_block") is None:
        count = parts["corr_block"].out_channels
        motion = MotionEncoder(in_channels_corr=count, corr_layers=sizes.corr, flow_layers=sizes.flow, out_channels=sizes.motion)
        inputs = sizes.motion + sizes.context[-1] - sizes.hidden
        recurrent = RecurrentBlock(input_size=inputs, hidden_size=sizes.hidden, kernel_size=sizes.kernels, padding=sizes.paddings)
        head = FlowHead(in_channels=sizes.hidden, hidden_size=sizes.head)
        parts["update_block"] = UpdateBlock(motion_encoder=motion, recurrent_block=recurrent, flow_head=head)
    if sizes.mixes and parts.get("mask_predictor") is None:
        parts["mask_predictor"] = MaskPredictor(in_channels=sizes.hidden, hidden_size=256)
    return RAFT(**parts)


def _loaded(network: RAFT, chosen: Any, progress: bool) -> RAFT:
    if chosen is not None:
        network.load_state_dict(chosen.get_state_dict(progress=progress, check_hash=True))
    return network


@model(Raft_Large_Weights)
def raft_large(*, weights: Raft_Large_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> RAFT:
    """RAFT, 5,257,536 parameters.

    >>> sum(parameter.numel() for parameter in raft_large().parameters())
    5257536
    """
    return _loaded(_build(LARGE, kwargs), Raft_Large_Weights.verify(weights), progress)


@model(Raft_Small_Weights)
def raft_small(*, weights: Raft_Small_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> RAFT:
    """RAFT of fewer channels, 990,162 parameters.

    >>> sum(parameter.numel() for parameter in raft_small().parameters())
    990162
    """
    return _loaded(_build(SMALL, kwargs), Raft_Small_Weights.verify(weights), progress)
