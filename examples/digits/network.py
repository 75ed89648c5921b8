"""The network: two blocks of convolutions, then one linear layer."""

from __future__ import annotations

from tenfold import Tensor, nn

CLASSES = 10


def convolution(channels_in: int, channels_out: int) -> nn.Sequential:
    """A 3x3 convolution that keeps the image's size, normalised over the batch, then rectified."""
    return nn.Sequential(
        nn.Conv2d(channels_in, channels_out, kernel_size=3, padding=1, bias=False),  # the norm has a bias of its own
        nn.BatchNorm2d(channels_out),
        nn.ReLU(),
    )


class DigitNet(nn.Module):
    """Scores of the ten digits for 8x8 images. Shape: (N, 1, 8, 8) -> (N, 10)."""

    def __init__(self, narrow: int = 32, wide: int = 64) -> None:
        super().__init__()
        self.features = nn.Sequential(
            convolution(1, narrow),
            convolution(narrow, narrow),  # (N, 32, 8, 8)
            nn.MaxPool2d(2),
            nn.Dropout(0.2),
            convolution(narrow, wide),
            convolution(wide, wide),  # (N, 64, 4, 4)
            nn.MaxPool2d(2),
            nn.Dropout(0.4),
        )
        self.classify = nn.Linear(wide * 2 * 2, CLASSES)

    def forward(self, images: Tensor) -> Tensor:
        return self.classify(self.features(images).flatten(1))
