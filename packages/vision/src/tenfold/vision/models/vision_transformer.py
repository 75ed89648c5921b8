"""Vision Transformer (ViT), key for key with torchvision's checkpoints."""

from __future__ import annotations

import math
import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import tenfold
from tenfold import Tensor, nn
from tenfold.vision.models.catalog.transformers import (
    ViT_B_16_Weights,
    ViT_B_32_Weights,
    ViT_H_14_Weights,
    ViT_L_16_Weights,
    ViT_L_32_Weights,
)
from tenfold.vision.models.registry import model
from tenfold.vision.models.weights import WeightsEnum, require, with_weights
from tenfold.vision.ops.misc import MLP, Conv2dNormActivation

Layer = Callable[..., nn.Module]
NORM = partial(nn.LayerNorm, eps=1e-6)
FORMER_KEY = re.compile(r"(.*\.mlp)\.linear_([12])\.(weight|bias)$")  # of checkpoints made before the MLP was a sequence


class ConvStemConfig(NamedTuple):
    """A convolution in place of the cutting into patches."""

    out_channels: int
    kernel_size: int
    stride: int
    norm_layer: Layer = nn.BatchNorm2d
    activation_layer: Layer = nn.ReLU


class MLPBlock(MLP):
    """Two linear layers with GELU."""

    def __init__(self, in_dim: int, mlp_dim: int, dropout: float) -> None:
        super().__init__(in_dim, [mlp_dim, in_dim], activation_layer=nn.GELU, inplace=None, dropout=dropout)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.normal_(module.bias, std=1e-6)

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        for name in [name for name in state_dict if name.startswith(prefix)]:
            former = FORMER_KEY.match(name)
            if former is not None:
                state_dict[f"{former[1]}.{3 * (int(former[2]) - 1)}.{former[3]}"] = state_dict.pop(name)
        super()._load_from_state_dict(state_dict, prefix, *rest)


class EncoderBlock(nn.Module):
    """Self-attention and an MLP, each after a norm and around a shortcut. Shape: (N, S, E) in and out."""

    def __init__(
        self,
        num_heads: int,
        hidden_dim: int,
        mlp_dim: int,
        dropout: float,
        attention_dropout: float,
        norm_layer: Layer = NORM,
    ) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.ln_1 = norm_layer(hidden_dim)
        self.self_attention = nn.MultiheadAttention(hidden_dim, num_heads, dropout=attention_dropout, batch_first=True)
        self.dropout = nn.Dropout(dropout)
        self.ln_2 = norm_layer(hidden_dim)
        self.mlp = MLPBlock(hidden_dim, mlp_dim, dropout)

    def forward(self, input: Tensor) -> Tensor:
        if input.ndim != 3:
            raise ValueError(f"EncoderBlock: expected (batch_size, seq_length, hidden_dim), got {tuple(input.shape)}")
        queries = self.ln_1(input)
        attended, _ = self.self_attention(queries, queries, queries, need_weights=False)
        x = self.dropout(attended) + input
        result: Tensor = x + self.mlp(self.ln_2(x))
        return result


class Encoder(nn.Module):
    """Learned positions, the blocks, and a last norm."""

    def __init__(
        self,
        seq_length: int,
        num_layers: int,
        num_heads: int,
        hidden_dim: int,
        mlp_dim: int,
        dropout: float,
        attention_dropout: float,
        norm_layer: Layer = NORM,
    ) -> None:
        super().__init__()
        self.pos_embedding = nn.Parameter(tenfold.empty(1, seq_length, hidden_dim).normal_(std=0.02))
        self.dropout = nn.Dropout(dropout)
        sizes = (num_heads, hidden_dim, mlp_dim, dropout, attention_dropout, norm_layer)
        self.layers = nn.Sequential(OrderedDict((f"encoder_layer_{i}", EncoderBlock(*sizes)) for i in range(num_layers)))
        self.ln = norm_layer(hidden_dim)

    def forward(self, input: Tensor) -> Tensor:
        if input.ndim != 3:
            raise ValueError(f"Encoder: expected (batch_size, seq_length, hidden_dim), got {tuple(input.shape)}")
        result: Tensor = self.ln(self.layers(self.dropout(input + self.pos_embedding)))
        return result


class VisionTransformer(nn.Module):
    """A transformer over the patches of a picture; its first token gathers the class.

    Shape: (N, 3, image_size, image_size) -> (N, num_classes).

    Raises:
        ValueError: a picture of another size (`interpolate_embeddings` adapts a checkpoint), or one that patches do not divide.

    Source: A. Dosovitskiy and others, An Image is Worth 16x16 Words, arXiv:2010.11929.
    """

    def __init__(
        self,
        image_size: int,
        patch_size: int,
        num_layers: int,
        num_heads: int,
        hidden_dim: int,
        mlp_dim: int,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        num_classes: int = 1000,
        representation_size: int | None = None,
        norm_layer: Layer = NORM,
        conv_stem_configs: Sequence[ConvStemConfig] | None = None,
    ) -> None:
        super().__init__()
        if image_size % patch_size:
            raise ValueError(f"Input shape indivisible by patch size! image_size {image_size}, patch_size {patch_size}")
        self.image_size, self.patch_size = image_size, patch_size
        self.hidden_dim, self.mlp_dim = hidden_dim, mlp_dim
        self.attention_dropout, self.dropout = attention_dropout, dropout
        self.num_classes, self.representation_size = num_classes, representation_size
        self.norm_layer = norm_layer
        self.conv_proj = _stem(conv_stem_configs, hidden_dim, patch_size)
        self.class_token = nn.Parameter(tenfold.zeros(1, 1, hidden_dim))
        self.seq_length = (image_size // patch_size) ** 2 + 1
        sizes = (num_layers, num_heads, hidden_dim, mlp_dim, dropout, attention_dropout, norm_layer)
        self.encoder = Encoder(self.seq_length, *sizes)
        heads: OrderedDict[str, nn.Module] = OrderedDict()
        if representation_size is not None:
            heads["pre_logits"] = nn.Linear(hidden_dim, representation_size)
            heads["act"] = nn.Tanh()
        heads["head"] = nn.Linear(hidden_dim if representation_size is None else representation_size, num_classes)
        self.heads = nn.Sequential(heads)
        self._initialise()

    def _initialise(self) -> None:
        projection = self.conv_proj
        if isinstance(projection, nn.Conv2d):
            fan_in = projection.in_channels * self.patch_size**2
            nn.init.trunc_normal_(projection.weight, std=math.sqrt(1 / fan_in))
        else:
            projection = projection[-1]
            nn.init.normal_(projection.weight, mean=0.0, std=math.sqrt(2.0 / projection.out_channels))
        nn.init.zeros_(projection.bias)
        if self.representation_size is not None:
            before = self.heads.pre_logits
            nn.init.trunc_normal_(before.weight, std=math.sqrt(1 / before.in_features))
            nn.init.zeros_(before.bias)
        nn.init.zeros_(self.heads.head.weight)
        nn.init.zeros_(self.heads.head.bias)

    def _process_input(self, x: Tensor) -> Tensor:
        """The picture's patches as a sequence: (N, 3, H, W) -> (N, S, hidden_dim)."""
        if tuple(x.shape[-2:]) != (self.image_size, self.image_size):
            raise ValueError(
                f"Wrong image height or width! Expected {self.image_size} but got {tuple(x.shape[-2:])}; resize the pictures"
            )
        result: Tensor = self.conv_proj(x).flatten(2).transpose(1, 2)
        return result

    def forward(self, x: Tensor) -> Tensor:
        patches = self._process_input(x)
        first = self.class_token.expand(len(patches), -1, -1)
        encoded = self.encoder(tenfold.cat([first, patches], dim=1))
        result: Tensor = self.heads(encoded[:, 0])
        return result


def _stem(configs: Sequence[ConvStemConfig] | None, hidden_dim: int, patch_size: int) -> Any:
    if configs is None:
        return nn.Conv2d(3, hidden_dim, patch_size, stride=patch_size)
    parts: OrderedDict[str, nn.Module] = OrderedDict()
    width = 3
    for i, (outputs, kernel, stride, norm, activation) in enumerate(configs):
        parts[f"conv_bn_relu_{i}"] = Conv2dNormActivation(
            width, outputs, kernel, stride, norm_layer=norm, activation_layer=activation
        )
        width = outputs
    parts["conv_last"] = nn.Conv2d(width, hidden_dim, 1)
    return nn.Sequential(parts)


def interpolate_embeddings(
    image_size: int,
    patch_size: int,
    model_state: dict[str, Tensor],
    interpolation_mode: str = "bicubic",
    reset_heads: bool = False,
) -> dict[str, Tensor]:
    """A checkpoint for pictures of another size: its learned positions resampled to the new grid of patches.

    ``reset_heads`` leaves out the last layer's parameters, for another set of classes.

    Raises:
        ValueError: the old positions are not those of a square of patches.
    """
    state = {name: value for name, value in model_state.items() if not (reset_heads and name.startswith("heads"))}
    positions = state["encoder.pos_embedding"]  # (1, 1 + old * old, hidden_dim)
    new, old = image_size // patch_size, math.isqrt(positions.shape[1] - 1)
    if len(positions) != 1 or old * old != positions.shape[1] - 1:
        raise ValueError(f"interpolate_embeddings: expected (1, 1 + n * n, hidden_dim), got {tuple(positions.shape)}")
    if new != old:
        grid = positions[:, 1:].transpose(1, 2).unflatten(2, (old, old))
        resampled = nn.functional.interpolate(grid, size=(new, new), mode=interpolation_mode, align_corners=True)
        state["encoder.pos_embedding"] = tenfold.cat([positions[:, :1], resampled.flatten(2).transpose(1, 2)], dim=1)
    return state


def _build(
    sizes: tuple[int, int, int, int, int], catalog: type[WeightsEnum], weights: Any, progress: bool, options: dict[str, Any]
) -> VisionTransformer:
    chosen = catalog.verify(weights)
    if chosen is not None:
        require(options, "image_size", chosen.meta["min_size"][0])
    patch, layers, heads, hidden, inner = sizes
    make = partial(
        VisionTransformer,
        image_size=options.pop("image_size", 224),
        patch_size=patch,
        num_layers=layers,
        num_heads=heads,
        hidden_dim=hidden,
        mlp_dim=inner,
    )
    return with_weights(make, catalog, chosen, progress, options)


@model(ViT_B_16_Weights)
def vit_b_16(*, weights: ViT_B_16_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> VisionTransformer:
    """ViT-B with patches of 16, 86,567,656 parameters."""
    return _build((16, 12, 12, 768, 3072), ViT_B_16_Weights, weights, progress, kwargs)


@model(ViT_B_32_Weights)
def vit_b_32(*, weights: ViT_B_32_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> VisionTransformer:
    """ViT-B with patches of 32, 88,224,232 parameters."""
    return _build((32, 12, 12, 768, 3072), ViT_B_32_Weights, weights, progress, kwargs)


@model(ViT_L_16_Weights)
def vit_l_16(*, weights: ViT_L_16_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> VisionTransformer:
    """ViT-L with patches of 16, 304,326,632 parameters."""
    return _build((16, 24, 16, 1024, 4096), ViT_L_16_Weights, weights, progress, kwargs)


@model(ViT_L_32_Weights)
def vit_l_32(*, weights: ViT_L_32_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> VisionTransformer:
    """ViT-L with patches of 32, 306,535,400 parameters."""
    return _build((32, 24, 16, 1024, 4096), ViT_L_32_Weights, weights, progress, kwargs)


@model(ViT_H_14_Weights)
def vit_h_14(*, weights: ViT_H_14_Weights | str | None = None, progress: bool = True, **kwargs: Any) -> VisionTransformer:
    """ViT-H with patches of 14, 632,045,800 parameters."""
    return _build((14, 32, 16, 1280, 5120), ViT_H_14_Weights, weights, progress, kwargs)
