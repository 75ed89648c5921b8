"""MaxViT: convolution, attention within windows and attention over a grid, key for key with torchvision's checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import tenfold
from tenfold import Tensor, nn
from tenfold.vision.models.catalog.transformers import MaxVit_T_Weights
from tenfold.vision.models.registry import model
from tenfold.vision.models.weights import with_weights
from tenfold.vision.models.windows import relative_index
from tenfold.vision.ops.dropping import StochasticDepth
from tenfold.vision.ops.misc import Conv2dNormActivation, SqueezeExcitation

Layer = Callable[..., nn.Module]
NORM = partial(nn.BatchNorm2d, eps=1e-3, momentum=0.01)


class MBConv(nn.Module):
    """1x1 to more channels, 3x3 of each channel by itself, squeeze and excitation, 1x1 back, around a shortcut.

    Shape: (N, C, H, W) -> (N, out_channels, H / stride, W / stride).
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        expansion_ratio: float,
        squeeze_ratio: float,
        stride: int,
        activation_layer: Layer,
        norm_layer: Layer,
        p_stochastic_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        shortcut: list[nn.Module] = [nn.AvgPool2d(3, stride, padding=1)] if stride == 2 else []
        shortcut.append(nn.Conv2d(in_channels, out_channels, 1))
        same = stride == 1 and in_channels == out_channels
        self.proj = nn.Identity() if same else nn.Sequential(*shortcut)
        self.stochastic_depth = StochasticDepth(p_stochastic_dropout, "row") if p_stochastic_dropout else nn.Identity()
        wide = int(out_channels * expansion_ratio)
        unit = partial(Conv2dNormActivation, activation_layer=activation_layer, norm_layer=norm_layer, inplace=None)
        self.layers = nn.Sequential()
        for name, part in (
            ("pre_norm", norm_layer(in_channels)),
            ("conv_a", unit(in_channels, wide, 1)),
            ("conv_b", unit(wide, wide, 3, stride=stride, groups=wide)),
            ("squeeze_excitation", SqueezeExcitation(wide, int(out_channels * squeeze_ratio), activation=nn.SiLU)),
            ("conv_c", nn.Conv2d(wide, out_channels, 1)),
        ):
            self.layers.add_module(name, part)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.proj(x) + self.stochastic_depth(self.layers(x))
        return result


class RelativePositionalMultiHeadAttention(nn.Module):
    """Attention within each group of ``max_seq_len`` positions, a square, with a learned number for each difference of positions.

    Keys are scaled by 1 / sqrt(feat_dim). Shape: (N, groups, positions, feat_dim) in and out.

    Raises:
        ValueError: ``head_dim`` does not divide ``feat_dim``.
    """

    relative_position_index: Tensor

    def __init__(self, feat_dim: int, head_dim: int, max_seq_len: int) -> None:
        super().__init__()
        if feat_dim % head_dim:
            raise ValueError(f"feat_dim: {feat_dim} must be divisible by head_dim: {head_dim}")
        self.n_heads, self.max_seq_len = feat_dim // head_dim, max_seq_len
        self.scale_factor = feat_dim**-0.5
        side = int(max_seq_len**0.5)
        self.to_qkv = nn.Linear(feat_dim, 3 * feat_dim)
        self.merge = nn.Linear(feat_dim, feat_dim)
        self.relative_position_bias_table = nn.Parameter(tenfold.empty((2 * side - 1) ** 2, self.n_heads))
        self.register_buffer("relative_position_index", relative_index((side, side)).view(side**2, side**2))
        nn.init.trunc_normal_(self.relative_position_bias_table, std=0.02)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.to_qkv(x).unflatten(-1, (3, self.n_heads, -1)).permute(3, 0, 1, 4, 2, 5)  # (N, groups, heads, P, width)
        bias = self.relative_position_bias_table[self.relative_position_index].permute(2, 0, 1)  # (heads, P, P)
        weights = (q @ (k * self.scale_factor).transpose(-2, -1) + bias).softmax(-1)
        result: Tensor = self.merge((weights @ v).transpose(2, 3).flatten(-2))
        return result


class PartitionAttentionLayer(nn.Module):
    """Attention and an MLP on groups of positions: squares that lie together ("window"), or squares of positions that lie as far
    apart as the picture allows ("grid"). Shape: (N, C, H, W) in and out.

    Raises:
        ValueError: another ``partition_type``, or ``partition_size`` does not divide ``grid_size``.

    Source: Z. Tu and others, MaxViT, arXiv:2204.01697, section 3.2.
    """

    def __init__(
        self,
        in_channels: int,
        head_dim: int,
        partition_size: int,
        partition_type: str,
        grid_size: Sequence[int],
        mlp_ratio: int,
        activation_layer: Layer,
        norm_layer: Layer,
        attention_dropout: float,
        mlp_dropout: float,
        p_stochastic_dropout: float,
    ) -> None:
        super().__init__()
        if partition_type not in ("grid", "window"):
            raise ValueError(f"partition_type must be either 'grid' or 'window', but got {partition_type!r}")
        if grid_size[0] % partition_size or grid_size[1] % partition_size:
            raise ValueError(
                f"Grid size must be divisible by partition size. Got grid size of {grid_size} "
                f"and partition size of {partition_size}"
            )
        self.partition_size, self.partition_type, self.grid_size = partition_size, partition_type, grid_size
        attention = RelativePositionalMultiHeadAttention(in_channels, head_dim, partition_size**2)
        self.attn_layer = nn.Sequential(norm_layer(in_channels), attention, nn.Dropout(attention_dropout))
        self.mlp_layer = nn.Sequential(
            nn.LayerNorm(in_channels),
            nn.Linear(in_channels, in_channels * mlp_ratio),
            activation_layer(),
            nn.Linear(in_channels * mlp_ratio, in_channels),
            nn.Dropout(mlp_dropout),
        )
        self.stochastic_dropout = StochasticDepth(p_stochastic_dropout, "row")

    def forward(self, x: Tensor) -> Tensor:
        n, c, h, w = x.shape
        side = self.partition_size
        if self.partition_type == "window":
            groups = x.reshape(n, c, h // side, side, w // side, side).permute(0, 2, 4, 3, 5, 1)
        else:
            groups = x.reshape(n, c, side, h // side, side, w // side).permute(0, 3, 5, 2, 4, 1)
        x = groups.reshape(n, -1, side * side, c)
        x = x + self.stochastic_dropout(self.attn_layer(x))
        x = x + self.stochastic_dropout(self.mlp_layer(x))
        groups = x.reshape(n, h // side, w // side, side, side, c)
        order = (0, 5, 1, 3, 2, 4) if self.partition_type == "window" else (0, 5, 3, 1, 4, 2)
        return groups.permute(*order).reshape(n, c, h, w)


class MaxVitLayer(nn.Module):
    """`MBConv`, then attention within windows, then over the grid."""

    def __init__(
        self, in_channels: int, out_channels: int, stride: int, p_stochastic_dropout: float,
        convolution: dict[str, Any], attention: dict[str, Any],
    ) -> None:  # fmt: skip
        super().__init__()
        self.layers = nn.Sequential()
        depth: dict[str, Any] = {"p_stochastic_dropout": p_stochastic_dropout}
        self.layers.add_module("MBconv", MBConv(in_channels, out_channels, stride=stride, **convolution, **depth))
        for kind in ("window", "grid"):
            part = PartitionAttentionLayer(out_channels, partition_type=kind, norm_layer=nn.LayerNorm, **attention, **depth)
            self.layers.add_module(f"{kind}_attention", part)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.layers(x)
        return result


class MaxVitBlock(nn.Module):
    """A stage of layers, of which the first halves the picture."""

    def __init__(
        self, in_channels: int, out_channels: int, depths: Sequence[float],
        convolution: dict[str, Any], attention: dict[str, Any],
    ) -> None:  # fmt: skip
        super().__init__()
        self.layers = nn.ModuleList()
        for number, share in enumerate(depths):
            first = number == 0
            layer = MaxVitLayer(
                in_channels if first else out_channels, out_channels, 2 if first else 1, share, convolution, attention
            )
            self.layers.append(layer)

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


class MaxVit(nn.Module):
    """Stages of convolution and of attention, near and far.

    Shape: (N, 3, *input_size) -> (N, num_classes).

    Raises:
        ValueError: ``partition_size`` does not divide a stage's picture.

    Source: Z. Tu and others, MaxViT: Multi-Axis Vision Transformer, arXiv:2204.01697.
    """

    def __init__(
        self,
        input_size: Sequence[int],
        stem_channels: int,
        partition_size: int,
        block_channels: Sequence[int],
        block_layers: Sequence[int],
        head_dim: int,
        stochastic_depth_prob: float,
        norm_layer: Layer | None = None,
        activation_layer: Layer = nn.GELU,
        squeeze_ratio: float = 0.25,
        expansion_ratio: float = 4,
        mlp_ratio: int = 4,
        mlp_dropout: float = 0.0,
        attention_dropout: float = 0.0,
        num_classes: int = 1000,
    ) -> None:
        super().__init__()
        norm = NORM if norm_layer is None else norm_layer
        sizes = _stages(input_size, len(block_channels))
        for number, size in enumerate(sizes):
            if size[0] % partition_size or size[1] % partition_size:
                raise ValueError(
                    f"Input size {size} of block {number} is not divisible by partition size {partition_size}. Consider changing "
                    f"the partition size or the input size. The blocks' input sizes are {sizes}."
                )
        self.partition_size = partition_size
        first = Conv2dNormActivation(
            3, stem_channels, 3, stride=2, norm_layer=norm, activation_layer=activation_layer, bias=False, inplace=None
        )
        second = Conv2dNormActivation(stem_channels, stem_channels, 3, norm_layer=None, activation_layer=None, bias=True)
        self.stem = nn.Sequential(first, second)
        convolution = {"expansion_ratio": expansion_ratio, "squeeze_ratio": squeeze_ratio, "norm_layer": norm}
        convolution["activation_layer"] = activation_layer
        attention = {
            "head_dim": head_dim, "partition_size": partition_size, "mlp_ratio": mlp_ratio, "mlp_dropout": mlp_dropout,
            "activation_layer": activation_layer, "attention_dropout": attention_dropout,
        }  # fmt: skip
        count = sum(block_layers)
        shares = iter([stochastic_depth_prob * i / max(count - 1, 1) for i in range(count)])
        self.blocks = nn.ModuleList()
        width = stem_channels
        for channels, layers, size in zip(block_channels, block_layers, sizes, strict=True):
            depths = [next(shares) for _ in range(layers)]
            self.blocks.append(MaxVitBlock(width, channels, depths, convolution, {**attention, "grid_size": size}))
            width = channels
        self.classifier = nn.Sequential(
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.LayerNorm(width),
            nn.Linear(width, width),
            nn.Tanh(),
            nn.Linear(width, num_classes, bias=False),
        )
        for module in self.modules():
            if isinstance(module, (nn.Conv2d, nn.Linear)):
                nn.init.normal_(module.weight, std=0.02)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        result: Tensor = self.classifier(x)
        return result


def _stages(input_size: Sequence[int], count: int) -> list[tuple[int, int]]:
    """The picture's size in each stage: halved by the stem, and by each stage again."""
    sizes = [((input_size[0] + 1) // 2, (input_size[1] + 1) // 2)]
    for _ in range(count):
        sizes.append(((sizes[-1][0] + 1) // 2, (sizes[-1][1] + 1) // 2))
    return sizes[1:]


@model(MaxVit_T_Weights)
def maxvit_t(*, weights: MaxVit_T_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> MaxVit:
    """MaxViT-T, 30,919,624 parameters; ``input_size`` (224, 224) says for which pictures."""
    make = partial(
        MaxVit,
        input_size=kwargs.pop("input_size", (224, 224)),
        stem_channels=64,
        block_channels=[64, 128, 256, 512],
        block_layers=[2, 2, 5, 2],
        head_dim=32,
        stochastic_depth_prob=0.2,
        partition_size=7,
    )
    return with_weights(make, MaxVit_T_Weights, weights, progress, kwargs)
