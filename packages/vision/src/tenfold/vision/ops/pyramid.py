"""Feature pyramids, and pooling of boxes from their levels."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Sequence

import tenfold
from tenfold import Tensor, nn
from tenfold.nn.functional import interpolate, max_pool2d
from tenfold.vision.ops.boxes import box_area
from tenfold.vision.ops.misc import Conv2dNormActivation
from tenfold.vision.ops.pooling import roi_align

Levels = dict[str, Tensor]


class ExtraFPNBlock(nn.Module):
    """What adds levels to a pyramid: (results, inputs, names) -> (results, names)."""

    def forward(self, results: list[Tensor], x: list[Tensor], names: list[str]) -> tuple[list[Tensor], list[str]]:
        raise NotImplementedError


class LastLevelMaxPool(ExtraFPNBlock):
    """One more level, every other pixel of the last."""

    def forward(self, results: list[Tensor], x: list[Tensor], names: list[str]) -> tuple[list[Tensor], list[str]]:
        return [*results, max_pool2d(results[-1], kernel_size=1, stride=2, padding=0)], [*names, "pool"]


class LastLevelP6P7(ExtraFPNBlock):
    """Two more levels, by convolutions of stride 2, as RetinaNet has them (arXiv:1708.02002)."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.p6 = nn.Conv2d(in_channels, out_channels, 3, 2, 1)
        self.p7 = nn.Conv2d(out_channels, out_channels, 3, 2, 1)
        for module in (self.p6, self.p7):
            nn.init.kaiming_uniform_(module.weight, a=1)
            nn.init.zeros_(module.bias)
        self.use_P5 = in_channels == out_channels

    def forward(self, results: list[Tensor], x: list[Tensor], names: list[str]) -> tuple[list[Tensor], list[str]]:
        p6 = self.p6(results[-1] if self.use_P5 else x[-1])
        return [*results, p6, self.p7(p6.relu())], [*names, "p6", "p7"]


class FeaturePyramidNetwork(nn.Module):
    """Levels of a network brought to one width, each with the next coarser one, enlarged, added to it.

    Shape: a dictionary of (N, C_i, H_i, W_i), finest first -> one of (N, out_channels, H_i, W_i), and those of ``extra_blocks``.

    Raises:
        ValueError: a width is 0.

    Source: T.-Y. Lin and others, Feature Pyramid Networks for Object Detection, arXiv:1612.03144.
    """

    def __init__(
        self,
        in_channels_list: Sequence[int],
        out_channels: int,
        extra_blocks: ExtraFPNBlock | None = None,
        norm_layer: Callable[..., nn.Module] | None = None,
    ) -> None:
        super().__init__()
        if 0 in in_channels_list:
            raise ValueError("in_channels=0 is currently not supported")
        if extra_blocks is not None and not isinstance(extra_blocks, ExtraFPNBlock):
            raise TypeError(f"extra_blocks should be of type ExtraFPNBlock not {type(extra_blocks)}")
        plain = {"norm_layer": norm_layer, "activation_layer": None}
        self.inner_blocks = nn.ModuleList(
            [Conv2dNormActivation(width, out_channels, 1, padding=0, **plain) for width in in_channels_list]  # type: ignore[arg-type]
        )
        self.layer_blocks = nn.ModuleList(
            [Conv2dNormActivation(out_channels, out_channels, 3, **plain) for _ in in_channels_list]  # type: ignore[arg-type]
        )
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_uniform_(module.weight, a=1)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
        self.extra_blocks = extra_blocks

    def _load_from_state_dict(self, state_dict: Levels, prefix: str, *rest: object) -> None:
        # checkpoints from before there could be a norm name the convolutions themselves
        for blocks in ("inner_blocks", "layer_blocks"):
            for i in range(len(self.inner_blocks)):
                for kind in ("weight", "bias"):
                    former = f"{prefix}{blocks}.{i}.{kind}"
                    if former in state_dict:
                        state_dict[f"{prefix}{blocks}.{i}.0.{kind}"] = state_dict.pop(former)
        super()._load_from_state_dict(state_dict, prefix, *rest)  # type: ignore[arg-type]

    def forward(self, x: Levels) -> OrderedDict[str, Tensor]:
        names, levels = list(x), list(x.values())
        coarser: Tensor | None = None
        results: list[Tensor] = []
        for i in reversed(range(len(levels))):
            level = self.inner_blocks[i](levels[i])
            if coarser is not None:
                level = level + interpolate(coarser, size=tuple(level.shape[-2:]), mode="nearest")
            coarser = level
            results.insert(0, self.layer_blocks[i](level))
        if self.extra_blocks is not None:
            results, names = self.extra_blocks(results, levels, names)
        return OrderedDict(zip(names, results, strict=True))


class MultiScaleRoIAlign(nn.Module):
    """`roi_align` of each box from the level that fits its size.

    A box of ``canonical_scale`` pixels square is at ``canonical_level``, one of twice that a level coarser.

    Shape: a dictionary of levels, a list of (L, 4) boxes and the pictures' (height, width) -> (K, C, *output_size).

    Source: T.-Y. Lin and others, Feature Pyramid Networks for Object Detection, arXiv:1612.03144, equation 1.
    """

    def __init__(
        self,
        featmap_names: Sequence[str],
        output_size: int | Sequence[int],
        sampling_ratio: int,
        *,
        canonical_scale: int = 224,
        canonical_level: int = 4,
    ) -> None:
        super().__init__()
        self.featmap_names = list(featmap_names)
        self.sampling_ratio = sampling_ratio
        self.output_size = (output_size, output_size) if isinstance(output_size, int) else tuple(output_size)
        self.canonical_scale, self.canonical_level = canonical_scale, canonical_level

    def forward(self, x: Levels, boxes: Sequence[Tensor], image_shapes: Sequence[tuple[int, int]]) -> Tensor:
        levels = [level for name, level in x.items() if name in self.featmap_names]
        scales = self._scales(levels, image_shapes)
        numbered = [tenfold.cat([part.new_full((len(part), 1), i), part], 1) for i, part in enumerate(boxes)]
        regions = tenfold.cat(numbered)
        if len(levels) == 1:
            return roi_align(levels[0], regions, self.output_size, scales[0], self.sampling_ratio)
        chosen = self._levels_of(tenfold.cat(list(boxes)), scales)
        order, pooled = [], []
        for number, (level, scale) in enumerate(zip(levels, scales, strict=True)):
            members = tenfold.where(chosen == number)[0]
            order.append(members)
            pooled.append(roi_align(level, regions[members], self.output_size, scale, self.sampling_ratio))
        return tenfold.cat(pooled)[tenfold.argsort(tenfold.cat(order))]

    def _scales(self, levels: Sequence[Tensor], image_shapes: Sequence[tuple[int, int]]) -> list[float]:
        """The power of two by which each level is smaller than the largest picture."""
        if not image_shapes:
            raise ValueError("images list should not be empty")
        height = max(shape[0] for shape in image_shapes)
        return [2.0 ** round(math.log2(level.shape[-2] / height)) for level in levels]

    def _levels_of(self, boxes: Tensor, scales: Sequence[float]) -> Tensor:
        finest, coarsest = (-math.log2(scales[i]) for i in (0, -1))
        side = box_area(boxes).sqrt()
        level = tenfold.floor(self.canonical_level + tenfold.log2(side / self.canonical_scale) + 1e-6)
        return (level.clamp(finest, coarsest) - finest).long()

    def __repr__(self) -> str:
        settings = f"featmap_names={self.featmap_names}, output_size={self.output_size}, sampling_ratio={self.sampling_ratio}"
        return f"{type(self).__name__}({settings})"
