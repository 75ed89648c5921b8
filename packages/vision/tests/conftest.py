"""Files served on this machine, a folder that stands in for the network, and what torchvision needs to be imported.

Where its compiled operators do not load beside this PyTorch, its Python asks for their names all the same: they get them, and the
two that its detectors cannot do without are restated here in PyTorch's operators.
"""

import importlib.util
import math
import sys
from pathlib import Path
from typing import Any

from tenfold.testing.file_server import file_server, offline

sys.path.insert(0, str(Path(__file__).parent))  # where the files of data sets are described

__all__ = ["file_server", "offline"]

ROIS = "Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width"
SHAPE = "SymInt batch_size, SymInt channels, SymInt height, SymInt width"
BACK = "Tensor grad, Tensor rois"
SCALE = "float spatial_scale, SymInt pooled_height, SymInt pooled_width"
STEPS = "SymInt stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w"
DEFORM = f"Tensor weight, Tensor offset, Tensor mask, Tensor bias, {STEPS}, SymInt groups, SymInt offset_groups, bool use_mask"
OPERATORS = [
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    f"roi_align({ROIS}, int sampling_ratio, bool aligned) -> Tensor",
    f"_roi_align_backward({BACK}, {SCALE}, {SHAPE}, int sampling_ratio, bool aligned) -> Tensor",
    f"roi_pool({ROIS}) -> (Tensor, Tensor)",
    f"_roi_pool_backward({BACK}, Tensor argmax, {SCALE}, {SHAPE}) -> Tensor",
    f"ps_roi_align({ROIS}, int sampling_ratio) -> (Tensor, Tensor)",
    f"_ps_roi_align_backward({BACK}, Tensor channel_mapping, {SCALE}, int sampling_ratio, {SHAPE}) -> Tensor",
    f"ps_roi_pool({ROIS}) -> (Tensor, Tensor)",
    f"_ps_roi_pool_backward({BACK}, Tensor channel_mapping, {SCALE}, {SHAPE}) -> Tensor",
    f"deform_conv2d(Tensor input, {DEFORM}) -> Tensor",
    f"_deform_conv2d_backward(Tensor grad, Tensor input, {DEFORM}) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
]


def _name_operators() -> list[object]:
    if not importlib.util.find_spec("torch") or not importlib.util.find_spec("torchvision"):
        return []
    import torch

    if _loads_compiled(torch):
        return []
    library = torch.library.Library("torchvision", "DEF")
    for schema in OPERATORS:
        library.define(schema)
    for key in ("CPU", "AutogradCPU"):
        library.impl("nms", _nms, key)
        library.impl("roi_align", _roi_align, key)
    return [library]


def _loads_compiled(torch: Any) -> bool:
    """Whether torchvision has its own operators here; importing it after names were given would end the process."""
    found = importlib.util.find_spec("torchvision")
    folder = Path(found.origin).parent if found is not None and found.origin else None
    library = None if folder is None else next(folder.glob("_C*.so"), None)
    try:
        return library is not None and torch.ops.load_library(library) is None
    except OSError:
        return False


def _nms(boxes: Any, scores: Any, iou_threshold: float) -> Any:
    """The best boxes, each of which overlaps no better one by more than the threshold."""
    import torch

    left = scores.sort(descending=True, stable=True).indices
    areas = (boxes[:, 2:] - boxes[:, :2]).prod(1)
    kept = []
    while len(left):
        best, left = left[0], left[1:]
        kept.append(int(best))
        low, high = torch.maximum(boxes[best, :2], boxes[left, :2]), torch.minimum(boxes[best, 2:], boxes[left, 2:])
        common = (high - low).clamp(min=0).prod(1)
        left = left[~(common / (areas[best] + areas[left] - common) > iou_threshold)]  # two empty boxes have no overlap
    return torch.tensor(kept, dtype=torch.int64)


def _roi_align(
    input: Any, rois: Any, spatial_scale: float, pooled_height: int, pooled_width: int, sampling_ratio: int, aligned: bool
) -> Any:
    """Means of a grid of bilinear samples in every cell of every region (Mask R-CNN, section 3)."""
    import torch

    pooled = []
    for image, *corners in rois.detach().tolist():
        x1, y1, x2, y2 = (corner * spatial_scale - (0.5 if aligned else 0.0) for corner in corners)
        samples = []
        for start, end, cells, size in ((y1, y2, pooled_height, input.shape[2]), (x1, x2, pooled_width, input.shape[3])):
            length = end - start if aligned else max(end - start, 1.0)
            count = sampling_ratio if sampling_ratio > 0 else math.ceil(length / cells)
            places = start + (torch.arange(cells * count, dtype=input.dtype) + 0.5) * length / (cells * count)
            weights = torch.zeros(cells * count, size, dtype=input.dtype)
            inside = (places >= -1) & (places <= size)
            at = places.clamp(0, size - 1)
            low = at.floor().long()
            high, part = (low + 1).clamp(max=size - 1), at - low
            rows = torch.arange(len(at))
            weights.index_put_((rows, low), (1 - part) * inside, accumulate=True)
            weights.index_put_((rows, high), part * inside, accumulate=True)
            samples.append(weights.reshape(cells, count, size).mean(1))
        pooled.append(samples[0] @ input[int(image)] @ samples[1].T)
    shape = (0, input.shape[1], pooled_height, pooled_width)
    return torch.stack(pooled) if pooled else input.new_zeros(shape) + input.sum() * 0


KEPT = _name_operators()  # a library that nobody holds takes its names back
