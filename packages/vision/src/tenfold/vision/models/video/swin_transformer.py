"""Swin transformers for video, key for key with torchvision's checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import tenfold
from tenfold import Tensor, nn
from tenfold.vision.models.catalog.video import Swin3D_B_Weights, Swin3D_S_Weights, Swin3D_T_Weights
from tenfold.vision.models.registry import model
from tenfold.vision.models.swin_transformer import NORM, PatchMerging, SwinTransformerBlock
from tenfold.vision.models.weights import WeightsEnum, with_weights
from tenfold.vision.models.windows import NOT_SEEN, relative_index

Layer = Callable[..., nn.Module]
Box = tuple[int, int, int]


def _boxes(x: Tensor, window: Box) -> Tensor:
    """Windows one after the other: (N, T, H, W, C) -> (N * windows, positions, C)."""
    n, c = x.shape[0], x.shape[-1]
    t, h, w = (length // side for length, side in zip(x.shape[1:4], window, strict=True))
    tiles = x.reshape(n, t, window[0], h, window[1], w, window[2], c)
    return tiles.permute(0, 1, 3, 5, 2, 4, 6, 7).reshape(-1, window[0] * window[1] * window[2], c)


def _unboxed(windows: Tensor, window: Box, size: Box) -> Tensor:
    """The film of these windows: (N * windows, positions, C) -> (N, T, H, W, C)."""
    t, h, w = (length // side for length, side in zip(size, window, strict=True))
    tiles = windows.reshape(-1, t, h, w, *window, windows.shape[-1])
    return tiles.permute(0, 1, 4, 2, 5, 3, 6, 7).reshape(-1, *size, windows.shape[-1])


def _neighbours(size: Box, window: Box, shift: Box, like: Tensor) -> Tensor:
    """What is added to the logits after rolling by ``shift``, where windows hold parts that do not lie together."""
    regions = tenfold.zeros(*size, dtype=tenfold.int64, device=like.device)
    for axis, (length, side, step) in enumerate(zip(size, window, shift, strict=True)):
        place = tenfold.arange(length, device=like.device)
        band = (place >= length - side).long() + (place >= length - step).long() if step else place * 0
        regions = regions * 3 + band.view([-1 if other == axis else 1 for other in range(3)])
    parts = _boxes(regions[None, ..., None], window).squeeze(-1)  # (windows, P)
    return tenfold.where(parts[:, None, :] != parts[:, :, None], NOT_SEEN, 0.0).to(like.dtype)


class ShiftedWindowAttention3d(nn.Module):
    """Attention within windows of time and space, shifted in every other block, with a learned number for each difference of
    positions.

    Shape: (N, T, H, W, C) in and out. A window is not longer than the film.

    Raises:
        ValueError: ``window_size`` or ``shift_size`` does not have three numbers.

    Source: Z. Liu and others, Video Swin Transformer, arXiv:2106.13230, section 3.2.
    """

    relative_position_index: Tensor

    def __init__(
        self,
        dim: int,
        window_size: Sequence[int],
        shift_size: Sequence[int],
        num_heads: int,
        qkv_bias: bool = True,
        proj_bias: bool = True,
        attention_dropout: float = 0.0,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if len(window_size) != 3 or len(shift_size) != 3:
            raise ValueError(f"window_size and shift_size must be of length 3, but got {window_size} and {shift_size}")
        self.window_size, self.shift_size = list(window_size), list(shift_size)
        self.num_heads = num_heads
        self.attention_dropout, self.dropout = attention_dropout, dropout
        self.qkv = nn.Linear(dim, 3 * dim, bias=qkv_bias)
        self.proj = nn.Linear(dim, dim, bias=proj_bias)
        t, h, w = self.window_size
        self.relative_position_bias_table = nn.Parameter(tenfold.zeros((2 * t - 1) * (2 * h - 1) * (2 * w - 1), num_heads))
        nn.init.trunc_normal_(self.relative_position_bias_table, std=0.02)
        self.register_buffer("relative_position_index", relative_index(self.window_size).view(t * h * w, t * h * w))

    def forward(self, x: Tensor) -> Tensor:
        _, t, h, w, _ = x.shape
        wt, wh, ww = (min(side, length) for side, length in zip(self.window_size, (t, h, w), strict=True))
        # one window across a whole axis has nothing to be shifted against
        steps = zip(self.shift_size, self.window_size, (t, h, w), strict=True)
        st, sh, sw = (0 if length <= side else step for step, side, length in steps)
        window, shift = (wt, wh, ww), (st, sh, sw)
        x = nn.functional.pad(x, (0, 0, 0, -w % ww, 0, -h % wh, 0, -t % wt))
        size = (x.shape[1], x.shape[2], x.shape[3])
        if any(shift):
            x = tenfold.roll(x, shifts=(-st, -sh, -sw), dims=(1, 2, 3))
        attended = self._attend(_boxes(x, window), _neighbours(size, window, shift, x) if any(shift) else None)
        x = _unboxed(attended, window, size)
        if any(shift):
            x = tenfold.roll(x, shifts=shift, dims=(1, 2, 3))
        return x[:, :t, :h, :w]

    def _attend(self, windows: Tensor, mask: Tensor | None) -> Tensor:
        positions = windows.shape[1]
        q, k, v = self.qkv(windows).unflatten(-1, (3, self.num_heads, -1)).permute(2, 0, 3, 1, 4)
        # of a smaller window the first rows and columns: the published networks were trained so
        bias = self.relative_position_bias_table[self.relative_position_index[:positions, :positions]].permute(2, 0, 1)
        logits = q * q.shape[-1] ** -0.5 @ k.transpose(-2, -1) + bias
        if mask is not None:
            logits = (logits.unflatten(0, (-1, len(mask))) + mask[None, :, None]).flatten(0, 1)
        weights = nn.functional.dropout(logits.softmax(-1), self.attention_dropout, self.training)
        result: Tensor = self.proj((weights @ v).transpose(1, 2).flatten(2))
        return nn.functional.dropout(result, self.dropout, self.training)


class PatchEmbed3d(nn.Module):
    """A film as patches: (N, in_channels, T, H, W) -> (N, T / pt, H / ph, W / pw, embed_dim), padded where it does not divide."""

    def __init__(
        self, patch_size: Sequence[int], in_channels: int = 3, embed_dim: int = 96, norm_layer: Layer | None = None
    ) -> None:
        super().__init__()
        self.tuple_patch_size = (patch_size[0], patch_size[1], patch_size[2])
        self.proj = nn.Conv3d(in_channels, embed_dim, self.tuple_patch_size, stride=self.tuple_patch_size)
        self.norm = nn.Identity() if norm_layer is None else norm_layer(embed_dim)

    def forward(self, x: Tensor) -> Tensor:
        t, h, w = (-length % side for length, side in zip(x.shape[2:], self.tuple_patch_size, strict=True))
        result: Tensor = self.norm(self.proj(nn.functional.pad(x, (0, w, 0, h, 0, t))).permute(0, 2, 3, 4, 1))
        return result


class SwinTransformer3d(nn.Module):
    """Stages of blocks that attend within windows of time and space; between stages squares of four patches are merged.

    Shape: (N, 3, T, H, W) -> (N, num_classes).

    Source: Z. Liu and others, Video Swin Transformer, arXiv:2106.13230.
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
        num_classes: int = 400,
        norm_layer: Layer | None = None,
        block: Layer | None = None,
        downsample_layer: Layer = PatchMerging,
        patch_embed: Layer | None = None,
    ) -> None:
        super().__init__()
        self.num_classes = num_classes
        norm = NORM if norm_layer is None else norm_layer
        self.patch_embed = (patch_embed or PatchEmbed3d)(patch_size=patch_size, embed_dim=embed_dim, norm_layer=norm)
        self.pos_drop = nn.Dropout(dropout)
        make = partial(
            block or SwinTransformerBlock,
            mlp_ratio=mlp_ratio,
            dropout=dropout,
            attention_dropout=attention_dropout,
            norm_layer=norm,
            attn_layer=ShiftedWindowAttention3d,
        )
        parts: list[nn.Module] = []
        last, count, width = max(sum(depths) - 1, 1), 0, embed_dim
        for stage, (depth, heads) in enumerate(zip(depths, num_heads, strict=True)):
            blocks = []
            for i in range(depth):
                shift = [side // 2 if i % 2 else 0 for side in window_size]
                share = stochastic_depth_prob * (count + i) / last
                blocks.append(make(width, heads, window_size=window_size, shift_size=shift, stochastic_depth_prob=share))
            count += depth
            parts.append(nn.Sequential(*blocks))
            if stage < len(depths) - 1:
                parts.append(downsample_layer(width, norm))
                width *= 2
        self.features = nn.Sequential(*parts)
        self.num_features = width
        self.norm = norm(width)
        self.avgpool = nn.AdaptiveAvgPool3d(1)
        self.head = nn.Linear(width, num_classes)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.trunc_normal_(module.weight, std=0.02)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    def forward(self, x: Tensor) -> Tensor:
        maps = self.norm(self.features(self.pos_drop(self.patch_embed(x)))).permute(0, 4, 1, 2, 3)
        result: Tensor = self.head(self.avgpool(maps).flatten(1))
        return result


def _build(
    width: int,
    depths: Sequence[int],
    heads: Sequence[int],
    catalog: type[WeightsEnum],
    weights: Any,
    progress: bool,
    options: dict[str, Any],
) -> SwinTransformer3d:
    make = partial(
        SwinTransformer3d,
        patch_size=[2, 4, 4],
        embed_dim=width,
        depths=depths,
        num_heads=heads,
        window_size=[8, 7, 7],
        stochastic_depth_prob=0.1,
    )
    return with_weights(make, catalog, weights, progress, options)


@model(Swin3D_T_Weights)
def swin3d_t(*, weights: Swin3D_T_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> SwinTransformer3d:
    """Swin-T for video, 28,158,070 parameters."""
    return _build(96, (2, 2, 6, 2), (3, 6, 12, 24), Swin3D_T_Weights, weights, progress, kwargs)


@model(Swin3D_S_Weights)
def swin3d_s(*, weights: Swin3D_S_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> SwinTransformer3d:
    """Swin-S for video, 49,816,678 parameters."""
    return _build(96, (2, 2, 18, 2), (3, 6, 12, 24), Swin3D_S_Weights, weights, progress, kwargs)


@model(Swin3D_B_Weights)
def swin3d_b(*, weights: Swin3D_B_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> SwinTransformer3d:
    """Swin-B for video, 88,048,984 parameters."""
    return _build(128, (2, 2, 18, 2), (4, 8, 16, 32), Swin3D_B_Weights, weights, progress, kwargs)
