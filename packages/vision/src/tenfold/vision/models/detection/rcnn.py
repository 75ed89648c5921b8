"""Faster R-CNN and Mask R-CNN, key for key with torchvision's checkpoints."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from tenfold import Tensor, nn
from tenfold.vision.models.detection.boxes import AnchorGenerator
from tenfold.vision.models.detection.images import GeneralizedRCNNTransform, Target, require_targets
from tenfold.vision.models.detection.roi_heads import RoIHeads
from tenfold.vision.models.detection.rpn import RegionProposalNetwork, RPNHead
from tenfold.vision.ops.misc import Conv2dNormActivation
from tenfold.vision.ops.pyramid import MultiScaleRoIAlign
from tenfold.vision.transforms.presets import MEAN, STD

Layer = Callable[..., nn.Module]
ANCHOR_SIZES = ((32,), (64,), (128,), (256,), (512,))
RATIOS = (0.5, 1.0, 2.0)


class GeneralizedRCNN(nn.Module):
    """Preparation, backbone, proposals and heads, one after the other.

    While training with targets (a dictionary of "boxes" (K, 4), "labels" (K) and, for masks, "masks" (K, H, W) for each picture)
    the result is a dictionary of losses; else a list with a dictionary of "boxes", "labels", "scores" for each picture.

    Shape: a list of (3, H, W), of 0..1 and any sizes.
    """

    def __init__(self, backbone: nn.Module, rpn: nn.Module, roi_heads: nn.Module, transform: nn.Module) -> None:
        super().__init__()
        self.transform, self.backbone, self.rpn, self.roi_heads = transform, backbone, rpn, roi_heads

    def forward(self, images: Sequence[Tensor], targets: Sequence[Target] | None = None) -> Any:
        if self.training:
            require_targets(targets, len(images))
        originals = [(image.shape[-2], image.shape[-1]) for image in images]
        batch, resized = self.transform(images, targets)
        features = self.backbone(batch.tensors)
        levels = OrderedDict([("0", features)]) if isinstance(features, Tensor) else features
        proposals, proposal_losses = self.rpn(batch, levels, resized)
        detections, losses = self.roi_heads(levels, proposals, batch.image_sizes, resized)
        detections = self.transform.postprocess(detections, batch.image_sizes, originals)
        return self.eager_outputs({**losses, **proposal_losses}, detections)

    def eager_outputs(self, losses: dict[str, Tensor], detections: list[Target]) -> Any:
        """What a call gives: the losses while training, else the detections."""
        return losses if self.training else detections


def require_width(backbone: nn.Module) -> int:
    """A backbone's ``out_channels``."""
    width: Any = getattr(backbone, "out_channels", None)
    if width is None:
        raise ValueError(
            "backbone should contain an attribute out_channels specifying the number of output channels"
            " (assumed to be the same for all the levels)"
        )
    return int(width)


def require_kind(argument: str, value: Any, kind: type) -> None:
    """Raise TypeError for a part of another class."""
    if value is not None and not isinstance(value, kind):
        raise TypeError(f"{argument} should be of type {kind.__name__} or None instead of {type(value)}")


class TwoMLPHead(nn.Module):
    """Two linear layers on a pooled box."""

    def __init__(self, in_channels: int, representation_size: int) -> None:
        super().__init__()
        self.fc6 = nn.Linear(in_channels, representation_size)
        self.fc7 = nn.Linear(representation_size, representation_size)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.fc7(self.fc6(x.flatten(1)).relu()).relu()
        return result


class FastRCNNConvFCHead(nn.Sequential):
    """3x3 convolutions, then linear layers, on a pooled box."""

    def __init__(
        self,
        input_size: tuple[int, int, int],
        conv_layers: Sequence[int],
        fc_layers: Sequence[int],
        norm_layer: Layer | None = None,
    ) -> None:
        width, height, across = input_size
        parts: list[nn.Module] = []
        for outputs in conv_layers:
            parts.append(Conv2dNormActivation(width, outputs, norm_layer=norm_layer))
            width = outputs
        parts.append(nn.Flatten())
        count = width * height * across
        for outputs in fc_layers:
            parts += [nn.Linear(count, outputs), nn.ReLU(inplace=True)]
            count = outputs
        super().__init__(*parts)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
                if module.bias is not None:
                    nn.init.zeros_(module.bias)


class FastRCNNPredictor(nn.Module):
    """Logits of the classes, and four shifts for each of them."""

    def __init__(self, in_channels: int, num_classes: int) -> None:
        super().__init__()
        self.cls_score = nn.Linear(in_channels, num_classes)
        self.bbox_pred = nn.Linear(in_channels, num_classes * 4)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        flat = x.flatten(1)
        return self.cls_score(flat), self.bbox_pred(flat)


class FasterRCNN(GeneralizedRCNN):
    """Boxes of things in pictures.

    ``num_classes`` counts the background, class 0. The backbone has the attribute ``out_channels``.

    Raises:
        ValueError: the backbone has no ``out_channels``, or both or neither of ``num_classes`` and ``box_predictor`` are given.

    Source: S. Ren, K. He, R. Girshick, J. Sun, Faster R-CNN, arXiv:1506.01497.
    """

    def __init__(
        self,
        backbone: nn.Module,
        num_classes: int | None = None,
        min_size: int | Sequence[int] = 800,
        max_size: int = 1333,
        image_mean: Sequence[float] | None = None,
        image_std: Sequence[float] | None = None,
        rpn_anchor_generator: nn.Module | None = None,
        rpn_head: nn.Module | None = None,
        rpn_pre_nms_top_n_train: int = 2000,
        rpn_pre_nms_top_n_test: int = 1000,
        rpn_post_nms_top_n_train: int = 2000,
        rpn_post_nms_top_n_test: int = 1000,
        rpn_nms_thresh: float = 0.7,
        rpn_fg_iou_thresh: float = 0.7,
        rpn_bg_iou_thresh: float = 0.3,
        rpn_batch_size_per_image: int = 256,
        rpn_positive_fraction: float = 0.5,
        rpn_score_thresh: float = 0.0,
        box_roi_pool: nn.Module | None = None,
        box_head: nn.Module | None = None,
        box_predictor: nn.Module | None = None,
        box_score_thresh: float = 0.05,
        box_nms_thresh: float = 0.5,
        box_detections_per_img: int = 100,
        box_fg_iou_thresh: float = 0.5,
        box_bg_iou_thresh: float = 0.5,
        box_batch_size_per_image: int = 512,
        box_positive_fraction: float = 0.25,
        bbox_reg_weights: Sequence[float] | None = None,
        **kwargs: Any,
    ) -> None:
        width = require_width(backbone)
        require_kind("rpn_anchor_generator", rpn_anchor_generator, AnchorGenerator)
        require_kind("box_roi_pool", box_roi_pool, MultiScaleRoIAlign)
        if (num_classes is None) == (box_predictor is None):
            raise ValueError("num_classes should be None when box_predictor is specified, and given when it is not")
        anchors: Any = rpn_anchor_generator or AnchorGenerator(ANCHOR_SIZES, (RATIOS,) * len(ANCHOR_SIZES))
        head = rpn_head or RPNHead(width, anchors.num_anchors_per_location()[0])
        rpn = RegionProposalNetwork(
            anchors,
            head,
            rpn_fg_iou_thresh,
            rpn_bg_iou_thresh,
            rpn_batch_size_per_image,
            rpn_positive_fraction,
            {"training": rpn_pre_nms_top_n_train, "testing": rpn_pre_nms_top_n_test},
            {"training": rpn_post_nms_top_n_train, "testing": rpn_post_nms_top_n_test},
            rpn_nms_thresh,
            rpn_score_thresh,
        )
        pool: Any = box_roi_pool or MultiScaleRoIAlign(["0", "1", "2", "3"], 7, 2)
        side = pool.output_size[0] if box_head is None else 0
        heads = RoIHeads(
            pool,
            box_head or TwoMLPHead(width * side**2, 1024),
            box_predictor or FastRCNNPredictor(1024, num_classes or 0),
            box_fg_iou_thresh,
            box_bg_iou_thresh,
            box_batch_size_per_image,
            box_positive_fraction,
            bbox_reg_weights,
            box_score_thresh,
            box_nms_thresh,
            box_detections_per_img,
        )
        transform = GeneralizedRCNNTransform(min_size, max_size, image_mean or MEAN, image_std or STD, **kwargs)
        super().__init__(backbone, rpn, heads, transform)


class MaskRCNNHeads(nn.Sequential):
    """3x3 convolutions on a pooled box."""

    def __init__(self, in_channels: int, layers: Sequence[int], dilation: int, norm_layer: Layer | None = None) -> None:
        widths = [in_channels, *layers]
        super().__init__(
            *(
                Conv2dNormActivation(a, b, 3, 1, dilation, dilation=dilation, norm_layer=norm_layer)
                for a, b in zip(widths, layers, strict=False)
            )
        )
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        for i in range(len(self)):  # of checkpoints from before there could be a norm
            for kind in ("weight", "bias"):
                former = f"{prefix}mask_fcn{i + 1}.{kind}"
                if former in state_dict:
                    state_dict[f"{prefix}{i}.0.{kind}"] = state_dict.pop(former)
        super()._load_from_state_dict(state_dict, prefix, *rest)


class MaskRCNNPredictor(nn.Sequential):
    """Twice the size, and a mask's logits for each class."""

    def __init__(self, in_channels: int, dim_reduced: int, num_classes: int) -> None:
        super().__init__(
            OrderedDict(
                [
                    ("conv5_mask", nn.ConvTranspose2d(in_channels, dim_reduced, 2, 2, 0)),
                    ("relu", nn.ReLU(inplace=True)),
                    ("mask_fcn_logits", nn.Conv2d(dim_reduced, num_classes, 1, 1, 0)),
                ]
            )
        )
        for name, parameter in self.named_parameters():
            if "weight" in name:
                nn.init.kaiming_normal_(parameter, mode="fan_out", nonlinearity="relu")


class MaskRCNN(FasterRCNN):
    """`FasterRCNN` that also draws the masks of what it finds: "masks" (K, 1, H, W), probabilities.

    Raises:
        ValueError: both or neither of ``num_classes`` and ``mask_predictor`` are given.

    Source: K. He, G. Gkioxari, P. Dollár, R. Girshick, Mask R-CNN, arXiv:1703.06870.
    """

    def __init__(
        self,
        backbone: nn.Module,
        num_classes: int | None = None,
        *settings: Any,
        mask_roi_pool: nn.Module | None = None,
        mask_head: nn.Module | None = None,
        mask_predictor: nn.Module | None = None,
        **kwargs: Any,
    ) -> None:
        if (num_classes is None) == (mask_predictor is None):
            raise ValueError("num_classes should be None when mask_predictor is specified, and given when it is not")
        width = require_width(backbone)
        pool = mask_roi_pool or MultiScaleRoIAlign(["0", "1", "2", "3"], 14, 2)
        head = mask_head or MaskRCNNHeads(width, (256, 256, 256, 256), 1)
        predictor = mask_predictor or MaskRCNNPredictor(256, 256, num_classes or 0)
        super().__init__(backbone, num_classes, *settings, **kwargs)
        self.roi_heads.mask_roi_pool, self.roi_heads.mask_head, self.roi_heads.mask_predictor = pool, head, predictor
