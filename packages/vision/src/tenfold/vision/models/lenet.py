"""LeNet-5, the first convolutional network that read digits in production."""

from __future__ import annotations

from tenfold import Tensor, nn

SMALLEST_IMAGE = 8
PAPER_IMAGE = 32


class LeNet5(nn.Module):
    """Two convolutions with pooling, then three linear layers.

    Images of 28 or 32 pixels a side give the paper's sizes (61,706 parameters with ten classes). In smaller ones, from 8,
    both convolutions keep the image's size, since a 5x5 window would leave nothing of it, and below 16 the first pooling
    is left out for the same reason. ReLU and maximum pooling take the place of the paper's tanh and trained averages.

    Shape: (N, in_channels, image_size, image_size) -> (N, num_classes), logits.

    Raises:
        ValueError: ``image_size`` is below 8 or not a multiple of 4.

    Source: Y. LeCun, L. Bottou, Y. Bengio, P. Haffner, Gradient-based learning applied to document recognition, 1998, section II.
    """

    def __init__(self, num_classes: int = 10, in_channels: int = 1, image_size: int = PAPER_IMAGE) -> None:
        super().__init__()
        if image_size < SMALLEST_IMAGE or image_size % 4:
            raise ValueError(
                f"LeNet5: image_size should be a multiple of 4 and at least {SMALLEST_IMAGE}, got {image_size}; resize the images"
            )
        first, second = _paddings(image_size)
        shrink = 2 if image_size >= 16 else 1
        side = ((image_size + 2 * first - 4) // shrink + 2 * second - 4) // 2  # of the last feature map
        self.features = nn.Sequential(
            nn.Conv2d(in_channels, 6, kernel_size=5, padding=first),
            nn.ReLU(),
            nn.MaxPool2d(2) if shrink == 2 else nn.Identity(),
            nn.Conv2d(6, 16, kernel_size=5, padding=second),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )
        self.classifier = nn.Sequential(
            nn.Linear(16 * side * side, 120),
            nn.ReLU(),
            nn.Linear(120, 84),
            nn.ReLU(),
            nn.Linear(84, num_classes),
        )

    def forward(self, x: Tensor) -> Tensor:
        maps = self.features(x)  # (N, 16, side, side)
        logits: Tensor = self.classifier(maps.flatten(1))
        return logits


def _paddings(image_size: int) -> tuple[int, int]:
    if image_size >= PAPER_IMAGE:
        return 0, 0
    return (2, 0) if image_size == 28 else (2, 2)
