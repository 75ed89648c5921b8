"""Pooling of regions of interest: by bilinear samples (align), by maxima, and by position-sensitive groups of channels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import tenfold
from tenfold import Tensor, nn

Size = int | Sequence[int]


def _pair(size: Size) -> tuple[int, int]:
    return (size, size) if isinstance(size, int) else (int(size[0]), int(size[1]))


def _regions(operator: str, boxes: Tensor | Sequence[Tensor], input: Tensor) -> Tensor:
    """Boxes with the number of their picture before them: (K, 5)."""
    if isinstance(boxes, Tensor):
        if boxes.ndim != 2 or boxes.shape[1] != 5:
            raise ValueError(f"{operator}: The boxes tensor should be of shape (K, 5), got {tuple(boxes.shape)}")
        return boxes.to(input.dtype)
    if any(part.ndim != 2 or part.shape[1] != 4 for part in boxes):
        raise ValueError(f"{operator}: The shape of each tensor in the boxes list is not as expected: (L, 4)")
    numbered = [tenfold.cat([part.new_full((len(part), 1), i), part], dim=1) for i, part in enumerate(boxes)]
    return tenfold.cat(numbered).to(input.dtype) if numbered else input.new_zeros((0, 5))


def _samples(start: Tensor, bins: Tensor, count: int, each: Tensor, most: int) -> tuple[Tensor, Tensor]:
    """Places of `each` samples in every bin along one axis, and which of `most` are used: (K, count, most) twice."""
    bin_number = tenfold.arange(count, dtype=start.dtype, device=start.device)[None, :, None]
    step = tenfold.arange(most, dtype=start.dtype, device=start.device)[None, None, :]
    counts = each.to(start.dtype)[:, None, None]
    size = bins[:, None, None]
    places = start[:, None, None] + bin_number * size + (step + 0.5) * size / counts.clamp(min=1)
    return places, (step < counts).expand(places.shape)


def _interpolation(places: Tensor, used: Tensor, length: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The two pixels at each place and their weights; none beyond a pixel outside of the picture."""
    inside = (places >= -1.0) & (places <= length) & used
    at = places.clamp(min=0)
    low = at.floor().clamp(max=length - 1)
    high = (low + 1).clamp(max=length - 1)
    share = tenfold.where(low >= length - 1, tenfold.zeros_like(at), at - low)
    weight = inside.to(places.dtype)
    return low.long(), high.long(), weight * (1 - share), weight * share


def _gathered(maps: Tensor, rows: Any, columns: Any) -> Tensor:
    """Weighted sums of the pixels at rows and columns: (K, C, H, W), (K, R) and (K, S) four each -> (K, C, R, S)."""
    k, c, _, w = maps.shape
    total: Any = 0.0
    flat = maps.flatten(2)
    for y, wy in ((rows[0], rows[2]), (rows[1], rows[3])):
        for x, wx in ((columns[0], columns[2]), (columns[1], columns[3])):
            index = (y[:, :, None] * w + x[:, None, :]).reshape(k, 1, -1).expand(k, c, -1)
            weight = (wy[:, :, None] * wx[:, None, :]).reshape(k, 1, -1)
            total = total + flat.gather(2, index) * weight
    result: Tensor = total.reshape(k, c, rows[0].shape[1], columns[0].shape[1])
    return result


def _aligned(
    input: Tensor, regions: Tensor, size: tuple[int, int], scale: float, sampling_ratio: int, offset: float, least: float | None
) -> tuple[Tensor, Tensor]:
    """The sums of the samples of every bin (K, C, bins high, bins wide), and how many there are (K)."""
    height, width = size
    x1, y1, x2, y2 = (regions[:, 1:] * scale - offset).unbind(1)
    wide, high = x2 - x1, y2 - y1
    if least is not None:
        wide, high = wide.clamp(min=least), high.clamp(min=least)
    bins_x, bins_y = wide / width, high / height
    if sampling_ratio > 0:
        each_x = each_y = tenfold.full((len(regions),), sampling_ratio, dtype=tenfold.int64, device=input.device)
    else:
        each_x, each_y = bins_x.detach().ceil().long(), bins_y.detach().ceil().long()
    most_x, most_y = (max(int(each.max().item()), 1) for each in (each_x, each_y))
    rows, used_y = _samples(y1, bins_y, height, each_y, most_y)
    columns, used_x = _samples(x1, bins_x, width, each_x, most_x)
    at_rows = [part.flatten(1) for part in _interpolation(rows, used_y, input.shape[2])]
    at_columns = [part.flatten(1) for part in _interpolation(columns, used_x, input.shape[3])]
    samples = _gathered(input[regions[:, 0].long()], at_rows, at_columns)
    sums = samples.unflatten(3, (width, most_x)).unflatten(2, (height, most_y)).sum((3, 5))
    return sums, (each_x * each_y).clamp(min=1)


def roi_align(
    input: Tensor,
    boxes: Tensor | Sequence[Tensor],
    output_size: Size,
    spatial_scale: float = 1.0,
    sampling_ratio: int = -1,
    aligned: bool = False,
) -> Tensor:
    """The mean of bilinear samples in each of ``output_size`` bins of every box.

    ``spatial_scale`` leads from the boxes' coordinates to the maps'; a bin has ``sampling_ratio`` samples along each side, at
    0 or less as many as its size rounded up. With ``aligned`` pixels' centres are at .5, as boxes have them.

    Shape: (N, C, H, W) and (K, 5) boxes after their picture's number, or a list of (L, 4) -> (K, C, *output_size).

    Raises:
        ValueError: the boxes have another shape.

    Source: K. He, G. Gkioxari, P. Dollár, R. Girshick, Mask R-CNN, arXiv:1703.06870, section 3.

    >>> roi_align(tenfold.arange(16.0).view(1, 1, 4, 4), [tenfold.tensor([[0.0, 0.0, 2.0, 2.0]])], 1, sampling_ratio=1)
    tensor([[[[5.]]]])
    """
    regions = _regions("roi_align", boxes, input)
    size = _pair(output_size)
    if len(regions) == 0:
        return input.new_zeros((0, input.shape[1], *size))
    offset, least = (0.5, None) if aligned else (0.0, 1.0)
    sums, counts = _aligned(input, regions, size, spatial_scale, sampling_ratio, offset, least)
    return sums / counts.to(sums.dtype)[:, None, None, None]


def roi_pool(input: Tensor, boxes: Tensor | Sequence[Tensor], output_size: Size, spatial_scale: float = 1.0) -> Tensor:
    """The largest value in each of ``output_size`` bins of every box, whose corners are rounded; 0 in an empty bin.

    Shape: as `roi_align`.

    Source: R. Girshick, Fast R-CNN, arXiv:1504.08083, section 2.1.
    """
    regions = _regions("roi_pool", boxes, input)
    height, width = _pair(output_size)
    pooled = []
    for region in regions:
        picture = input[int(region[0].item())]
        scaled = (region[1:].detach() * spatial_scale).tolist()
        x1, y1, x2, y2 = (_rounded(corner) for corner in scaled)
        bins = []
        for top, bottom in _edges(y1, y2, height, input.shape[2]):
            for left, right in _edges(x1, x2, width, input.shape[3]):
                part = picture[:, top:bottom, left:right]
                bins.append(part.amax((1, 2)) if part.numel() else picture.new_zeros(len(picture)))
        pooled.append(tenfold.stack(bins, 1).unflatten(1, (height, width)))
    return tenfold.stack(pooled) if pooled else input.new_zeros((0, input.shape[1], height, width))


def _rounded(value: float) -> int:
    """Halves away from zero, as C rounds."""
    size = math.floor(abs(value) + 0.5)
    return size if value >= 0 else -size


def _edges(start: int, end: int, count: int, length: int) -> list[tuple[int, int]]:
    size = max(end - start + 1, 1)
    limits = []
    for i in range(count):
        low, high = i * size // count + start, -(-(i + 1) * size // count) + start
        limits.append((min(max(low, 0), length), min(max(high, 0), length)))
    return limits


def _own_channels(operator: str, input: Tensor, size: tuple[int, int]) -> int:
    channels, rest = divmod(input.shape[1], size[0] * size[1])
    if rest:
        raise RuntimeError(
            f"{operator}: input channels must be a multiple of pooling height * pooling width, got {input.shape[1]} and {size}"
        )
    return int(channels)


def _diagonal(sums: Tensor, channels: int) -> Tensor:
    """Of each bin the channels that are its own: (K, C h w, h, w) -> (K, C, h, w)."""
    _, _, h, w = sums.shape
    own = sums.unflatten(1, (channels, h * w)).flatten(3)  # (K, C, h w of channels, h w of bins)
    return own.diagonal(dim1=2, dim2=3).unflatten(2, (h, w))


def ps_roi_align(
    input: Tensor, boxes: Tensor | Sequence[Tensor], output_size: Size, spatial_scale: float = 1.0, sampling_ratio: int = -1
) -> Tensor:
    """`roi_align` where every bin has channels of its own: (N, C h w, H, W) -> (K, C, h, w).

    Raises:
        RuntimeError: the channels cannot be shared out among the bins.

    Source: Z. Li and others, Light-Head R-CNN, arXiv:1711.07264.
    """
    regions = _regions("ps_roi_align", boxes, input)
    size = _pair(output_size)
    channels = _own_channels("ps_roi_align", input, size)
    if len(regions) == 0:
        return input.new_zeros((0, channels, *size))
    sums, counts = _aligned(input, regions, size, spatial_scale, sampling_ratio, 0.5, None)
    return _diagonal(sums / counts.to(sums.dtype)[:, None, None, None], channels)


def ps_roi_pool(input: Tensor, boxes: Tensor | Sequence[Tensor], output_size: Size, spatial_scale: float = 1.0) -> Tensor:
    """The mean of each bin of every box, of channels that are the bin's own: (N, C h w, H, W) -> (K, C, h, w).

    Raises:
        RuntimeError: the channels cannot be shared out among the bins.

    Source: J. Dai, Y. Li, K. He, J. Sun, R-FCN, arXiv:1605.06409.
    """
    regions = _regions("ps_roi_pool", boxes, input)
    size = _pair(output_size)
    channels = _own_channels("ps_roi_pool", input, size)
    if len(regions) == 0:
        return input.new_zeros((0, channels, *size))
    corners = tenfold.where(regions[:, 1:] >= 0, (regions[:, 1:] + 0.5).floor(), (regions[:, 1:] - 0.5).ceil()).detach()
    x1, y1, x2, y2 = corners.unbind(1)
    down = _shares(y1 * spatial_scale, (y2 + 1) * spatial_scale, size[0], input.shape[2])  # (K, h, H)
    across = _shares(x1 * spatial_scale, (x2 + 1) * spatial_scale, size[1], input.shape[3])
    sums = down[:, None] @ input[regions[:, 0].long()] @ across[:, None].transpose(-2, -1)  # (K, C h w, h, w)
    counts = (down.sum(2)[:, :, None] * across.sum(2)[:, None, :])[:, None].clamp(min=1)
    return _diagonal(sums / counts, channels)


def _shares(start: Tensor, end: Tensor, count: int, length: int) -> Tensor:
    """Which pixels are in which bin along one axis: (K, count, length) of 0 and 1."""
    size = (end - start).clamp(min=0.1) / count
    number = tenfold.arange(count, dtype=start.dtype, device=start.device)[None]
    low = (number * size[:, None] + start[:, None]).floor().clamp(0, length)[:, :, None]
    high = ((number + 1) * size[:, None] + start[:, None]).ceil().clamp(0, length)[:, :, None]
    pixel = tenfold.arange(length, dtype=start.dtype, device=start.device)
    return ((pixel >= low) & (pixel < high)).to(start.dtype)


class _Pool(nn.Module):
    """A pooling with its settings."""

    def __init__(self, **settings: Any) -> None:
        super().__init__()
        self._settings = tuple(settings)
        for name, value in settings.items():
            setattr(self, name, value)

    def _arguments(self) -> list[Any]:
        return [getattr(self, name) for name in self._settings]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)}' for name in self._settings)})"


class RoIAlign(_Pool):
    """`roi_align` as a module."""

    def __init__(self, output_size: Size, spatial_scale: float, sampling_ratio: int, aligned: bool = False) -> None:
        super().__init__(output_size=output_size, spatial_scale=spatial_scale, sampling_ratio=sampling_ratio, aligned=aligned)

    def forward(self, input: Tensor, rois: Tensor | Sequence[Tensor]) -> Tensor:
        return roi_align(input, rois, *self._arguments())


class RoIPool(_Pool):
    """`roi_pool` as a module."""

    def __init__(self, output_size: Size, spatial_scale: float) -> None:
        super().__init__(output_size=output_size, spatial_scale=spatial_scale)

    def forward(self, input: Tensor, rois: Tensor | Sequence[Tensor]) -> Tensor:
        return roi_pool(input, rois, *self._arguments())


class PSRoIAlign(_Pool):
    """`ps_roi_align` as a module."""

    def __init__(self, output_size: Size, spatial_scale: float, sampling_ratio: int) -> None:
        super().__init__(output_size=output_size, spatial_scale=spatial_scale, sampling_ratio=sampling_ratio)

    def forward(self, input: Tensor, rois: Tensor | Sequence[Tensor]) -> Tensor:
        return ps_roi_align(input, rois, *self._arguments())


class PSRoIPool(_Pool):
    """`ps_roi_pool` as a module."""

    def __init__(self, output_size: Size, spatial_scale: float) -> None:
        super().__init__(output_size=output_size, spatial_scale=spatial_scale)

    def forward(self, input: Tensor, rois: Tensor | Sequence[Tensor]) -> Tensor:
        return ps_roi_pool(input, rois, *self._arguments())
