"""Multiscale vision transformers for video, key for key with torchvision's checkpoints.

Queries, keys and values are pooled over time and space, so that resolution falls and width grows from stage to stage.

Source: H. Fan and others, Multiscale Vision Transformers, arXiv:2104.11227; Y. Li and others, MViTv2, arXiv:2112.01526.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import tenfold
from tenfold import Tensor, nn
from tenfold.nn.functional import interpolate
from tenfold.vision.models.catalog.video import MViT_V1_B_Weights, MViT_V2_S_Weights
from tenfold.vision.models.registry import model
from tenfold.vision.models.weights import require
from tenfold.vision.ops.dropping import StochasticDepth
from tenfold.vision.ops.misc import MLP

Layer = Callable[..., nn.Module]
Size = tuple[int, int, int]  # of time, height and width
Triple = Sequence[int]  # empty where nothing is pooled


class MSBlockConfig(NamedTuple):
    """A block: its heads and widths, and how queries, and keys and values, are pooled."""

    num_heads: int
    input_channels: int
    output_channels: int
    kernel_q: Triple
    kernel_kv: Triple
    stride_q: Triple
    stride_kv: Triple


class Pool(nn.Module):
    """Pool tokens in time and space; the first, the class's, is left out, but normalized like the others.

    Shape: (N, heads, 1 + T H W, C) or (N, 1 + T H W, C).
    """

    def __init__(self, pool: nn.Module, norm: nn.Module | None) -> None:
        super().__init__()
        self.pool = pool
        self.norm_act = None if norm is None else nn.Sequential(norm)

    def forward(self, x: Tensor, size: Size) -> tuple[Tensor, Size]:
        heads = x.ndim == 4
        tokens = x if heads else x.unsqueeze(1)
        N, M, _, C = tokens.shape
        grid = tokens[:, :, 1:].transpose(2, 3).reshape(N * M, C, *size)
        pooled = self.pool(grid)
        rest = pooled.reshape(N, M, C, -1).transpose(2, 3)
        joined = tenfold.cat([tokens[:, :, :1], rest], 2)
        result = joined if self.norm_act is None else self.norm_act(joined)
        t, h, w = pooled.shape[2:]
        return (result if heads else result.squeeze(1)), (t, h, w)


def _convolution(width: int, kernel: Triple, stride: Triple, norm: Layer) -> Pool | None:
    """Pooling by a convolution of each channel, or None where it would change nothing."""
    if math.prod(kernel) <= 1 and math.prod(stride) <= 1:
        return None
    around = [side // 2 for side in kernel]
    layer = nn.Conv3d(width, width, tuple(kernel), tuple(stride), tuple(around), groups=width, bias=False)
    return Pool(layer, norm(width))


def _between(queries: int, keys: int, table: Tensor) -> Tensor:
    """The row of a table for the distance of each query from each key on one axis: (queries, keys, C).

    The coarser grid's cells lie as far apart as several of the finer; the table is interpolated if it is for other sizes.
    """
    wanted = 2 * max(queries, keys) - 1
    rows = table
    if len(table) != wanted:
        rows = interpolate(table.T[None], size=wanted, mode="linear")[0].T
    q = tenfold.arange(queries)[:, None] * max(keys / queries, 1.0)
    k = tenfold.arange(keys)[None, :] * max(queries / keys, 1.0)
    shift = (keys - 1) * max(queries / keys, 1.0)
    return rows[(q - k + shift).long().to(table.device)]


class MultiscaleAttention(nn.Module):
    """Attention between pooled queries, keys and values; with ``rel_pos_embed`` it knows how far they are apart."""

    def __init__(
        self,
        input_size: Sequence[int],
        embed_dim: int,
        output_dim: int,
        num_heads: int,
        kernel_q: Triple,
        kernel_kv: Triple,
        stride_q: Triple,
        stride_kv: Triple,
        residual_pool: bool,
        residual_with_cls_embed: bool,
        rel_pos_embed: bool,
        dropout: float = 0.0,
        norm_layer: Layer = nn.LayerNorm,
    ) -> None:
        super().__init__()
        self.output_dim, self.num_heads, self.head_dim = output_dim, num_heads, output_dim // num_heads
        self.residual_pool, self.residual_with_cls_embed = residual_pool, residual_with_cls_embed
        self.qkv = nn.Linear(embed_dim, 3 * output_dim)
        self.project = nn.Sequential(nn.Linear(output_dim, output_dim), *([nn.Dropout(dropout, inplace=True)] if dropout else []))
        self.pool_q = _convolution(self.head_dim, kernel_q, stride_q, norm_layer)
        self.pool_k = _convolution(self.head_dim, kernel_kv, stride_kv, norm_layer)
        self.pool_v = _convolution(self.head_dim, kernel_kv, stride_kv, norm_layer)
        self.rel_pos_embed = rel_pos_embed
        if rel_pos_embed:
            side = max(input_size[1:])
            finest = max(side // (stride[1] if len(stride) else 1) for stride in (stride_q, stride_kv))
            for axis, count in (("h", finest), ("w", finest), ("t", input_size[0])):
                table = nn.Parameter(tenfold.zeros(2 * count - 1, self.head_dim))
                nn.init.trunc_normal_(table, std=0.02)
                self.register_parameter(f"rel_pos_{axis}", table)

    def forward(self, x: Tensor, size: Size) -> tuple[Tensor, Size]:
        N, L, _ = x.shape
        split = self.qkv(x).reshape(N, L, 3, self.num_heads, self.head_dim).permute(2, 0, 3, 1, 4)
        (q, q_size), (k, k_size), (v, _) = (
            (part, size) if pool is None else pool(part, size)
            for part, pool in zip(split, (self.pool_q, self.pool_k, self.pool_v), strict=True)
        )
        logits = (q / math.sqrt(self.head_dim)) @ k.transpose(2, 3)  # (N, heads, queries, keys)
        if self.rel_pos_embed:
            near = self._nearness(q[:, :, 1:], q_size, k_size)
            logits = logits + nn.functional.pad(near, (1, 0, 1, 0))  # the class's token is nowhere
        mixed = logits.softmax(-1) @ v
        if self.residual_pool:
            kept = q if self.residual_with_cls_embed else nn.functional.pad(q[:, :, 1:], (0, 0, 1, 0))
            mixed = mixed + kept
        result: Tensor = self.project(mixed.transpose(1, 2).reshape(N, -1, self.output_dim))
        return result, q_size

    def _nearness(self, q: Tensor, q_size: Size, k_size: Size) -> Tensor:
        """What each query says to the distance from each key: the sum of what it says to that on each axis."""
        N, M, _, C = q.shape
        grid = q.reshape(N, M, *q_size, C)
        tables: tuple[Any, ...] = (self.rel_pos_t, self.rel_pos_h, self.rel_pos_w)
        t, h, w = (_between(q_size[axis], k_size[axis], tables[axis]) for axis in range(3))
        on_t = tenfold.einsum("nmthwc,tkc->nmthwk", grid, t)[..., :, None, None]
        on_h = tenfold.einsum("nmthwc,hkc->nmthwk", grid, h)[..., None, :, None]
        on_w = tenfold.einsum("nmthwc,wkc->nmthwk", grid, w)[..., None, None, :]
        return (on_h + on_w + on_t).reshape(N, M, math.prod(q_size), math.prod(k_size))


class MultiscaleBlock(nn.Module):
    """Attention and a network of two layers around shortcuts, pooled as the queries are.

    The width grows in the network, or with ``proj_after_attn`` in the attention.
    """

    def __init__(
        self,
        input_size: Sequence[int],
        cnf: MSBlockConfig,
        residual_pool: bool,
        residual_with_cls_embed: bool,
        rel_pos_embed: bool,
        proj_after_attn: bool,
        dropout: float = 0.0,
        stochastic_depth_prob: float = 0.0,
        norm_layer: Layer = nn.LayerNorm,
    ) -> None:
        super().__init__()
        self.proj_after_attn = proj_after_attn
        self.pool_skip: Pool | None = None
        if math.prod(cnf.stride_q) > 1:
            kernel = [stride + 1 if stride > 1 else stride for stride in cnf.stride_q]
            around = [side // 2 for side in kernel]
            self.pool_skip = Pool(nn.MaxPool3d(tuple(kernel), tuple(cnf.stride_q), tuple(around)), None)
        width = cnf.output_channels if proj_after_attn else cnf.input_channels
        self.norm1, self.norm2 = norm_layer(cnf.input_channels), norm_layer(width)
        pooling = (cnf.kernel_q, cnf.kernel_kv, cnf.stride_q, cnf.stride_kv)
        kinds = (residual_pool, residual_with_cls_embed, rel_pos_embed)
        self.attn = MultiscaleAttention(
            input_size, cnf.input_channels, width, cnf.num_heads, *pooling, *kinds, dropout=dropout, norm_layer=norm_layer
        )
        hidden = [4 * width, cnf.output_channels]
        self.mlp = MLP(width, hidden, activation_layer=nn.GELU, dropout=dropout, inplace=None)
        self.stochastic_depth = StochasticDepth(stochastic_depth_prob, "row")
        self.project: nn.Module | None = None
        if cnf.input_channels != cnf.output_channels:
            self.project = nn.Linear(cnf.input_channels, cnf.output_channels)

    def forward(self, x: Tensor, size: Size) -> tuple[Tensor, Size]:
        normed = self.norm1(x)
        attended, new_size = self.attn(normed, size)
        kept = self.project(normed) if self.project is not None and self.proj_after_attn else x
        if self.pool_skip is not None:
            kept, _ = self.pool_skip(kept, size)
        x = kept + self.stochastic_depth(attended)
        normed = self.norm2(x)
        kept = self.project(normed) if self.project is not None and not self.proj_after_attn else x
        return kept + self.stochastic_depth(self.mlp(normed)), new_size


class PositionalEncoding(nn.Module):
    """A token for the class before all others and, without relative positions, where each token is."""

    def __init__(self, embed_size: int, spatial_size: tuple[int, int], temporal_size: int, rel_pos_embed: bool) -> None:
        super().__init__()
        self.spatial_size, self.temporal_size = spatial_size, temporal_size
        self.class_token = nn.Parameter(tenfold.zeros(embed_size))
        self.absolute = not rel_pos_embed
        if self.absolute:
            self.spatial_pos = nn.Parameter(tenfold.zeros(math.prod(spatial_size), embed_size))
            self.temporal_pos = nn.Parameter(tenfold.zeros(temporal_size, embed_size))
            self.class_pos = nn.Parameter(tenfold.zeros(embed_size))

    def forward(self, x: Tensor) -> Tensor:
        N, _, C = x.shape
        tokens = tenfold.cat([self.class_token.expand(N, 1, C), x], 1)
        if not self.absolute:
            return tokens
        places = (self.temporal_pos[:, None] + self.spatial_pos).reshape(-1, C)
        return tokens + tenfold.cat([self.class_pos[None], places])


class MViT(nn.Module):
    """A multiscale vision transformer, which says what happens in a film.

    Shape: (N, 3, temporal_size, *spatial_size) -> (N, num_classes).

    Raises:
        ValueError: ``block_setting`` is empty.

    Source: arXiv:2104.11227 and arXiv:2112.01526.
    """

    def __init__(
        self,
        spatial_size: tuple[int, int],
        temporal_size: int,
        block_setting: Sequence[MSBlockConfig],
        residual_pool: bool,
        residual_with_cls_embed: bool,
        rel_pos_embed: bool,
        proj_after_attn: bool,
        dropout: float = 0.5,
        attention_dropout: float = 0.0,
        stochastic_depth_prob: float = 0.0,
        num_classes: int = 400,
        block: Layer | None = None,
        norm_layer: Layer | None = None,
        patch_embed_kernel: Size = (3, 7, 7),
        patch_embed_stride: Size = (2, 4, 4),
        patch_embed_padding: Size = (1, 3, 3),
    ) -> None:
        super().__init__()
        if not block_setting:
            raise ValueError("MViT: block_setting can't be empty; it has a row for each block")
        norm = partial(nn.LayerNorm, eps=1e-6) if norm_layer is None else norm_layer
        first, last = block_setting[0].input_channels, block_setting[-1].output_channels
        self.conv_proj = nn.Conv3d(3, first, patch_embed_kernel, patch_embed_stride, patch_embed_padding)
        size = [whole // step for whole, step in zip((temporal_size, *spatial_size), patch_embed_stride, strict=True)]
        self.pos_encoding = PositionalEncoding(first, (size[1], size[2]), size[0], rel_pos_embed)
        self.blocks = nn.ModuleList()
        for i, row in enumerate(block_setting):
            kinds = (residual_pool, residual_with_cls_embed, rel_pos_embed, proj_after_attn)
            depth = stochastic_depth_prob * i / max(len(block_setting) - 1, 1)
            self.blocks.append((block or MultiscaleBlock)(size, row, *kinds, attention_dropout, depth, norm))
            size = [whole // step for whole, step in zip(size, row.stride_q or (1, 1, 1), strict=True)]
        self.norm = norm(last)
        self.head = nn.Sequential(nn.Dropout(dropout, inplace=True), nn.Linear(last, num_classes))
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.trunc_normal_(module.weight, std=0.02)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
            elif isinstance(module, PositionalEncoding):
                for parameter in module.parameters():
                    nn.init.trunc_normal_(parameter, std=0.02)

    def forward(self, x: Tensor) -> Tensor:
        films = x.unsqueeze(2) if x.ndim == 4 else x  # a picture is a film of one frame
        tokens = self.pos_encoding(self.conv_proj(films).flatten(2).transpose(1, 2))
        size: Any = (self.pos_encoding.temporal_size, *self.pos_encoding.spatial_size)
        for block in self.blocks:
            tokens, size = block(tokens, size)
        scores: Tensor = self.head(self.norm(tokens)[:, 0])
        return scores


def _rows(widths: Sequence[tuple[int, int]], halved_at: Sequence[int], always: bool) -> list[MSBlockConfig]:
    """The sixteen blocks of the published networks. Queries are pooled where resolution is halved, or ``always``; keys and values
    so much that they have the same resolution in all.
    """
    rows, heads, kv_stride = [], 1, 8
    for i, (inputs, outputs) in enumerate(widths):
        if i in halved_at:
            heads, kv_stride = heads * 2, kv_stride // 2
        halved = i in halved_at
        kernel: Triple = (3, 3, 3) if halved or always else ()
        stride: Triple = (1, 2, 2) if halved else (1, 1, 1) if always else ()
        rows.append(MSBlockConfig(heads, inputs, outputs, kernel, (3, 3, 3), stride, (1, kv_stride, kv_stride)))
    return rows


def _widths(grown_after: Sequence[int]) -> list[tuple[int, int]]:
    """Widths from 96 on, doubled in some of sixteen blocks."""
    found, width = [], 96
    for i in range(16):
        outputs = width * 2 if i in grown_after else width
        found.append((width, outputs))
        width = outputs
    return found


HALVED = (1, 3, 14)


def _build(
    rows: list[MSBlockConfig], catalog: Any, weights: Any, progress: bool, kinds: dict[str, Any], given: dict[str, Any]
) -> MViT:
    chosen = catalog.verify(weights)
    options = {"spatial_size": (224, 224), "temporal_size": 16, "stochastic_depth_prob": 0.2, **kinds, **given}
    if chosen is not None:
        for name, value in (
            ("num_classes", chosen.value.num_classes),
            ("spatial_size", chosen.meta["min_size"]),
            ("temporal_size", chosen.meta["min_temporal_size"]),
        ):
            require(options, name, value)
    network = MViT(block_setting=rows, residual_with_cls_embed=False, **options)
    if chosen is not None:
        network.load_state_dict(chosen.get_state_dict(progress=progress, check_hash=True))
    return network


@model(MViT_V1_B_Weights)
def mvit_v1_b(*, weights: MViT_V1_B_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> MViT:
    """MViT of the first version, base: 36,610,672 parameters."""
    kinds = {"residual_pool": False, "rel_pos_embed": False, "proj_after_attn": False}
    return _build(_rows(_widths((0, 2, 13)), HALVED, always=False), MViT_V1_B_Weights, weights, progress, kinds, kwargs)


@model(MViT_V2_S_Weights)
def mvit_v2_s(*, weights: MViT_V2_S_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> MViT:
    """MViT of the second version, small: 34,537,744 parameters."""
    kinds = {"residual_pool": True, "rel_pos_embed": True, "proj_after_attn": True}
    return _build(_rows(_widths(HALVED), HALVED, always=True), MViT_V2_S_Weights, weights, progress, kinds, kwargs)
