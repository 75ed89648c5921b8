"""Files served on this machine, a folder that stands in for the network, and what torchvision needs to be imported.

Its compiled operators do not load beside a PyTorch for the CPU, and its Python asks for their names: they get them, without
anything behind them.
"""

import importlib.util

from tenfold.testing.file_server import file_server, offline

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

    library = torch.library.Library("torchvision", "DEF")
    for schema in OPERATORS:
        library.define(schema)
    return [library]


KEPT = _name_operators()  # a library that nobody holds takes its names back
