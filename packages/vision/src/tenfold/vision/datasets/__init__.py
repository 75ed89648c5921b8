"""Image datasets, from files on disk or from a checksum-verified download."""

from __future__ import annotations

from tenfold.vision.datasets.actions import HMDB51, UCF101, Kinetics
from tenfold.vision.datasets.arrays import FER2013, SEMEION, STL10, SVHN, USPS, MovingMNIST
from tenfold.vision.datasets.captions import SBU, Flickr8k, Flickr30k
from tenfold.vision.datasets.cifar import CIFAR10, CIFAR100
from tenfold.vision.datasets.class_folders import SUN397, Caltech256, Country211, EuroSAT, Imagenette, Omniglot, RenderedSST2
from tenfold.vision.datasets.contours import Caltech101, Cityscapes, SBDataset
from tenfold.vision.datasets.databases import LSUN, PCAM, LSUNClass
from tenfold.vision.datasets.digits import Digits
from tenfold.vision.datasets.faces import CelebA, LFWPairs, LFWPeople, WIDERFace
from tenfold.vision.datasets.fakedata import FakeData
from tenfold.vision.datasets.folder import DatasetFolder, ImageFolder
from tenfold.vision.datasets.millions import ImageNet, INaturalist, Places365
from tenfold.vision.datasets.mnist import EMNIST, KMNIST, MNIST, QMNIST, FashionMNIST
from tenfold.vision.datasets.optical_flow import HD1K, FlyingChairs, FlyingThings3D, KittiFlow, Sintel
from tenfold.vision.datasets.patches import PhotoTour
from tenfold.vision.datasets.photographs import (
    DTD,
    GTSRB,
    CLEVRClassification,
    FGVCAircraft,
    Flowers102,
    Food101,
    OxfordIIITPet,
    StanfordCars,
)
from tenfold.vision.datasets.scenes import CocoCaptions, CocoDetection, Kitti, VOCDetection, VOCSegmentation
from tenfold.vision.datasets.stereo import (
    CarlaStereo,
    CREStereo,
    ETH3DStereo,
    FallingThingsStereo,
    InStereo2k,
    Kitti2012Stereo,
    Kitti2015Stereo,
    Middlebury2014Stereo,
    SceneFlowStereo,
    SintelStereo,
)
from tenfold.vision.datasets.vision import VisionDataset
from tenfold.vision.datasets.wrapping import wrap_dataset_for_transforms_v2
from tenfold.vision.paths import show_paths

__all__ = [
    "HMDB51",
    "Kinetics",
    "UCF101",
    "CarlaStereo",
    "CREStereo",
    "ETH3DStereo",
    "FallingThingsStereo",
    "FlyingChairs",
    "FlyingThings3D",
    "HD1K",
    "InStereo2k",
    "Kitti2012Stereo",
    "Kitti2015Stereo",
    "KittiFlow",
    "Middlebury2014Stereo",
    "SceneFlowStereo",
    "Sintel",
    "SintelStereo",
    "CelebA",
    "Caltech101",
    "Cityscapes",
    "Flickr30k",
    "Flickr8k",
    "INaturalist",
    "ImageNet",
    "LFWPairs",
    "LFWPeople",
    "LSUN",
    "LSUNClass",
    "PCAM",
    "PhotoTour",
    "Places365",
    "QMNIST",
    "SBDataset",
    "SBU",
    "StanfordCars",
    "WIDERFace",
    "FER2013",
    "MovingMNIST",
    "SEMEION",
    "STL10",
    "SVHN",
    "USPS",
    "Caltech256",
    "CLEVRClassification",
    "Country211",
    "DTD",
    "EuroSAT",
    "FGVCAircraft",
    "Flowers102",
    "GTSRB",
    "Imagenette",
    "Food101",
    "Omniglot",
    "OxfordIIITPet",
    "RenderedSST2",
    "SUN397",
    "CocoCaptions",
    "CocoDetection",
    "Kitti",
    "VOCDetection",
    "VOCSegmentation",
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
    "wrap_dataset_for_transforms_v2",
]

show_paths(__name__)
