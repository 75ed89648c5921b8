"""Swin transformers, versions 1 and 2, key for key with torchvision's checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import tenfold
from tenfold import Tensor, nn
from tenfold.vision.models.catalog.transformers import (
    Swin_B_Weights,
    Swin_S_Weights,
    Swin_T_Weights,
    Swin_V2_B_Weights,
    Swin_V2_S_Weights,
    Swin_V2_T_Weights,
)
from tenfold.vision.models.registry import model
from tenfold.vision.models.weights import WeightsEnum, with_weights
from tenfold.vision.models.windows import ShiftedWindowAttention, ShiftedWindowAttentionV2
from tenfold.vision.ops.dropping import StochasticDepth
from tenfold.vision.ops.misc import MLP, Permute

Layer = Callable[..., nn.Module]
NORM = partial(nn.LayerNorm, eps=1e-5)


def four_neighbours(x: Tensor) -> Tensor:
    """The channels of every square of four positions: (..., H, W, C) -> (..., H / 2, W / 2, 4 C), odd sides padded."""
    h, w = x.shape[-3:-1]
    x = nn.functional.pad(x, (0, 0, 0, w % 2, 0, h % 2))
    upper, lower = x[..., 0::2, :, :], x[..., 1::2, :, :]
    corners = [upper[..., 0::2, :], lower[..., 0::2, :], upper[..., 1::2, :], lower[..., 1::2, :]]
    return tenfold.cat(corners, -1)


class PatchMerging(nn.Module):
    """Half the size, twice the width: norm, then a linear layer on squares of four. Shape: (..., H, W, C) -> (..., H / 2, W /
    2, 2 C).
    """

    def __init__(self, dim: int, norm_layer: Layer = nn.LayerNorm) -> None:
        super().__init__()
        self.dim = dim
        self.reduction = nn.Linear(4 * dim, 2 * dim, bias=False)
        self.norm = norm_layer(4 * dim)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.reduction(self.norm(four_neighbours(x)))
        return result


class PatchMergingV2(nn.Module):
    """`PatchMerging` with the norm after the linear layer."""

    def __init__(self, dim: int, norm_layer: Layer = nn.LayerNorm) -> None:
        super().__init__()
        self.dim = dim
        self.reduction = nn.Linear(4 * dim, 2 * dim, bias=False)
        self.norm = norm_layer(2 * dim)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.norm(self.reduction(four_neighbours(x)))
        return result


class SwinTransformerBlock(nn.Module):
    """Attention within windows and an MLP, each after a norm and around a shortcut. Shape: (N, H, W, C) in and out."""

    def __init__(
        self,
        dim: int,
        num_heads: int,
        window_size: Sequence[int],
        shift_size: Sequence[int],
        mlp_ratio: float = 4.0,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        stochastic_depth_prob: float = 0.0,
        norm_layer: Layer = nn.LayerNorm,
        attn_layer: Layer = ShiftedWindowAttention,
    ) -> None:
        super().__init__()
        self.norm1 = norm_layer(dim)
        self.attn = attn_layer(dim, window_size, shift_size, num_heads, attention_dropout=attention_dropout, dropout=dropout)
        self.stochastic_depth = StochasticDepth(stochastic_depth_prob, "row")
        self.norm2 = norm_layer(dim)
        self.mlp = MLP(dim, [int(dim * mlp_ratio), dim], activation_layer=nn.GELU, inplace=None, dropout=dropout)
        for module in self.mlp.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.normal_(module.bias, std=1e-6)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.stochastic_depth(self.attn(self.norm1(x)))
        result: Tensor = x + self.stochastic_depth(self.mlp(self.norm2(x)))
        return result


class SwinTransformerBlockV2(SwinTransformerBlock):
    """Version 2: the norms come after attention and MLP."""

    def __init__(self, dim: int, num_heads: int, window_size: Sequence[int], shift_size: Sequence[int], **kwargs: Any) -> None:
        kwargs.setdefault("attn_layer", ShiftedWindowAttentionV2)
        super().__init__(dim, num_heads, window_size, shift_size, **kwargs)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.stochastic_depth(self.norm1(self.attn(x)))
        result: Tensor = x + self.stochastic_depth(self.norm2(self.mlp(x)))
        return result


class SwinTransformer(nn.Module):
    """Stages of blocks that attend within windows; between stages squares of four patches are merged.

    Shape: (N, 3, H, W) -> (N, num_classes).

    Source: Z. Liu and others, Swin Transformer, arXiv:2103.14030; Swin Transformer V2, arXiv:2111.09883.
    """

    def __init__(
        self,
        patch_size: Sequence[int],
        embed_dim: int,
        depths: Sequence[int],
        num_heads: Sequence[int],
        window_size: Sequence[int],
        mlp_ratio: float = 4.0,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        stochastic_depth_prob: float = 0.1,
        num_classes: int = 1000,
        norm_layer: Layer | None = None,
        block: Layer | None = None,
        downsample_layer: Layer = PatchMerging,
    ) -> None:
        super().__init__()
        self.num_classes = num_classes
        make = SwinTransformerBlock if block is None else block
        norm = NORM if norm_layer is None else norm_layer
        patch = (patch_size[0], patch_size[1])
        patches = nn.Sequential(nn.Conv2d(3, embed_dim, patch, stride=patch), Permute([0, 2, 3, 1]), norm(embed_dim))
        parts: list[nn.Module] = [patches]
        last = max(sum(depths) - 1, 1)
        common: dict[str, Any] = {
            "mlp_ratio": mlp_ratio,
            "dropout": dropout,
            "attention_dropout": attention_dropout,
            "norm_layer": norm,
        }
        width, count = embed_dim, 0
        for stage, (depth, heads) in enumerate(zip(depths, num_heads, strict=True)):
            blocks = []
            for i in range(depth):
                shift = [0 if i % 2 == 0 else side // 2 for side in window_size]
                share = stochastic_depth_prob * (count + i) / last
                blocks.append(make(width, heads, window_size, shift, stochastic_depth_prob=share, **common))
            parts.append(nn.Sequential(*blocks))
            count += depth
            if stage < len(depths) - 1:
                parts.append(downsample_layer(width, norm))
                width *= 2
        self.features = nn.Sequential(*parts)
        self.norm = norm(width)
        self.permute = Permute([0, 3, 1, 2])
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.flatten = nn.Flatten(1)
        self.head = nn.Linear(width, num_classes)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.trunc_normal_(module.weight, std=0.02)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    def forward(self, x: Tensor) -> Tensor:
        maps = self.permute(self.norm(self.features(x)))
        result: Tensor = self.head(self.flatten(self.avgpool(maps)))
        return result


def _build(
    width: int,
    depths: Sequence[int],
    heads: Sequence[int],
    depth_prob: float,
    version: int,
    catalog: type[WeightsEnum],
    weights: Any,
    progress: bool,
    options: dict[str, Any],
) -> SwinTransformer:
    make = partial(
        SwinTransformer,
        patch_size=[4, 4],
        embed_dim=width,
        depths=depths,
        num_heads=heads,
        window_size=options.pop("window_size", [7, 7] if version == 1 else [8, 8]),
        stochastic_depth_prob=options.pop("stochastic_depth_prob", depth_prob),
    )
    if version == 2:
        options = {"block": SwinTransformerBlockV2, "downsample_layer": PatchMergingV2, **options}
    return with_weights(make, catalog, weights, progress, options)


@model(Swin_T_Weights)
def swin_t(*, weights: Swin_T_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> SwinTransformer:
    """Swin-T, 28,288,354 parameters."""
    return _build(96, (2, 2, 6, 2), (3, 6, 12, 24), 0.2, 1, Swin_T_Weights, weights, progress, kwargs)


@model(Swin_S_Weights)
def swin_s(*, weights: Swin_S_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> SwinTransformer:
    """Swin-S, 49,606,258 parameters."""
    return _build(96, (2, 2, 18, 2), (3, 6, 12, 24), 0.3, 1, Swin_S_Weights, weights, progress, kwargs)


@model(Swin_B_Weights)
def swin_b(*, weights: Swin_B_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> SwinTransformer:
    """Swin-B, 87,768,224 parameters."""
    return _build(128, (2, 2, 18, 2), (4, 8, 16, 32), 0.5, 1, Swin_B_Weights, weights, progress, kwargs)


@model(Swin_V2_T_Weights)
def swin_v2_t(*, weights: Swin_V2_T_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> SwinTransformer:
    """Swin-T of version 2, 28,351,570 parameters."""
    return _build(96, (2, 2, 6, 2), (3, 6, 12, 24), 0.2, 2, Swin_V2_T_Weights, weights, progress, kwargs)


@model(Swin_V2_S_Weights)
def swin_v2_s(*, weights: Swin_V2_S_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> SwinTransformer:
    """Swin-S of version 2, 49,737,442 parameters."""
    return _build(96, (2, 2, 18, 2), (3, 6, 12, 24), 0.3, 2, Swin_V2_S_Weights, weights, progress, kwargs)


@model(Swin_V2_B_Weights)
def swin_v2_b(*, weights: Swin_V2_B_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> SwinTransformer:
    """Swin-B of version 2, 87,930,848 parameters."""
    return _build(128, (2, 2, 18, 2), (4, 8, 16, 32), 0.5, 2, Swin_V2_B_Weights, weights, progress, kwargs)
