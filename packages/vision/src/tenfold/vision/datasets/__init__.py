"""Image datasets, from files on disk or from a checksum-verified download."""

from __future__ import annotations

from tenfold.vision.datasets.cifar import CIFAR10, CIFAR100
from tenfold.vision.datasets.digits import Digits
from tenfold.vision.datasets.fakedata import FakeData
from tenfold.vision.datasets.folder import DatasetFolder, ImageFolder
from tenfold.vision.datasets.mnist import EMNIST, KMNIST, MNIST, FashionMNIST
from tenfold.vision.datasets.vision import VisionDataset

__all__ = [
    "CIFAR10",
    "CIFAR100",
    "EMNIST",
    "KMNIST",
    "MNIST",
    "DatasetFolder",
    "Digits",
    "FakeData",
    "FashionMNIST",
    "ImageFolder",
    "VisionDataset",
]
