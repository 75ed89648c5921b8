"""Convolution that reads its input at learned places."""

from __future__ import annotations

import math
from typing import Any

import tenfold
from tenfold import Tensor, nn

Pair = int | tuple[int, int]


def _pair(value: Any) -> tuple[int, int]:
    return (value, value) if isinstance(value, int) else (int(value[0]), int(value[1]))


def deform_conv2d(
    input: Tensor,
    offset: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Pair = (1, 1),
    padding: Pair = (0, 0),
    dilation: Pair = (1, 1),
    mask: Tensor | None = None,
) -> Tensor:
    """A convolution of which every tap reads at its usual place moved by ``offset`` (rows, then columns), bilinearly, times
    ``mask``.

    Shape: (N, C, H, W), offset (N, 2 g kh kw, OH, OW), weight (O, C / groups, kh, kw), mask (N, g kh kw, OH, OW) -> (N, O, OH,
    OW);
    the C channels are in g groups of offsets.

    Raises:
        RuntimeError: the shapes do not fit each other.

    Source: J. Dai and others, Deformable Convolutional Networks, arXiv:1703.06211; with mask: arXiv:1811.11168.
    """
    (stride_y, stride_x), (pad_y, pad_x), (step_y, step_x) = _pair(stride), _pair(padding), _pair(dilation)
    n, channels, height, width = input.shape
    out, per_group, kh, kw = weight.shape
    oh = (height + 2 * pad_y - step_y * (kh - 1) - 1) // stride_y + 1
    ow = (width + 2 * pad_x - step_x * (kw - 1) - 1) // stride_x + 1
    groups, rest = divmod(offset.shape[1], 2 * kh * kw)
    if rest or groups == 0 or channels % groups or channels % per_group or tuple(offset.shape[2:]) != (oh, ow):
        raise RuntimeError(
            f"deform_conv2d: the shape of the offset should be (N, groups * {2 * kh * kw}, {oh}, {ow}) with groups that divide "
            f"the {channels} channels, got {tuple(offset.shape)}"
        )
    if mask is not None and tuple(mask.shape) != (n, groups * kh * kw, oh, ow):
        raise RuntimeError(f"deform_conv2d: mask should be {(n, groups * kh * kw, oh, ow)}, got {tuple(mask.shape)}")
    moved = offset.reshape(n, groups, kh * kw, 2, oh, ow)
    options: dict[str, Any] = {"dtype": input.dtype, "device": input.device}
    tap = tenfold.arange(kh * kw, device=input.device)
    tap_y = ((tap // kw) * step_y).to(input.dtype)[:, None, None]
    tap_x = ((tap % kw) * step_x).to(input.dtype)[:, None, None]
    y = tap_y + (tenfold.arange(oh, **options) * stride_y - pad_y)[:, None] + moved[:, :, :, 0]  # (N, g, taps, OH, OW)
    x = tap_x + (tenfold.arange(ow, **options) * stride_x - pad_x)[None, :] + moved[:, :, :, 1]
    columns = _read(input.reshape(n, groups, channels // groups, height * width), y, x, height, width)
    if mask is not None:
        columns = columns * mask.reshape(n, groups, 1, kh * kw, oh, ow)
    weight_groups = channels // per_group
    taps = columns.reshape(n, weight_groups, per_group * kh * kw, oh * ow)
    result = weight.reshape(weight_groups, out // weight_groups, -1) @ taps  # (N, weight groups, O / groups, OH OW)
    result = result.reshape(n, out, oh, ow)
    return result if bias is None else result + bias.reshape(1, -1, 1, 1)


def _read(maps: Tensor, y: Tensor, x: Tensor, height: int, width: int) -> Tensor:
    """Bilinear samples, zero outside of the picture: (N, g, C, H W), (N, g, taps, OH, OW) twice -> (N, g, C, taps, OH, OW)."""
    n, g, c, _ = maps.shape
    low_y, low_x = y.floor().detach(), x.floor().detach()
    total: Any = 0.0
    for rows, share_y in ((low_y, 1 - (y - low_y)), (low_y + 1, y - low_y)):
        for columns, share_x in ((low_x, 1 - (x - low_x)), (low_x + 1, x - low_x)):
            inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
            index = (rows.clamp(0, height - 1) * width + columns.clamp(0, width - 1)).long()
            found = maps.gather(3, index.reshape(n, g, 1, -1).expand(n, g, c, -1)).reshape(n, g, c, *y.shape[2:])
            total = total + found * (share_y * share_x * inside.to(y.dtype))[:, :, None]
    result: Tensor = total
    return result


class DeformConv2d(nn.Module):
    """`deform_conv2d` with a weight and a bias of its own.

    Raises:
        ValueError: the channels are not divisible by ``groups``.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Pair,
        stride: Pair = 1,
        padding: Pair = 0,
        dilation: Pair = 1,
        groups: int = 1,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if in_channels % groups or out_channels % groups:
            raise ValueError(
                f"DeformConv2d: in_channels={in_channels} and out_channels={out_channels} must be multiples of groups={groups}"
            )
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride = _pair(kernel_size), _pair(stride)
        self.padding, self.dilation = _pair(padding), _pair(dilation)
        self.weight = nn.Parameter(tenfold.empty(out_channels, in_channels // groups, *self.kernel_size))
        self.bias = nn.Parameter(tenfold.empty(out_channels)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """First values as those of a convolution."""
        nn.init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_channels // self.groups * self.kernel_size[0] * self.kernel_size[1])
            nn.init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor, offset: Tensor, mask: Tensor | None = None) -> Tensor:
        return deform_conv2d(input, offset, self.weight, self.bias, self.stride, self.padding, self.dilation, mask)

    def __repr__(self) -> str:
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        text += f", padding={self.padding}" if self.padding != (0, 0) else ""
        text += f", dilation={self.dilation}" if self.dilation != (1, 1) else ""
        text += f", groups={self.groups}" if self.groups != 1 else ""
        return f"{type(self).__name__}({text}{', bias=False' if self.bias is None else ''})"
