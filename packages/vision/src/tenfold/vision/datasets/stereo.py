"""Published pairs of pictures from a left and a right camera, with the disparity between them.

Where a data set's files lie is a row of `LAYOUTS`; how it writes disparities is a function beside it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import choice
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tenfold.data.archive import extract_archive
from tenfold.data.download import download_url
from tenfold.vision.datasets.flow_files import read_pfm
from tenfold.vision.datasets.folder import default_loader
from tenfold.vision.datasets.optical_flow import PASSES
from tenfold.vision.datasets.published import Name, as_it_is, chosen
from tenfold.vision.datasets.vision import VisionDataset

Read = Callable[[Path], tuple[Any, Any]]


class Layout(NamedTuple):
    """Patterns of pictures and disparities below a folder, for the left camera and the right (None: there are none)."""

    folder: str
    images: tuple[str, str]
    disparities: tuple[str, str | None]


LAYOUTS = {
    "CarlaStereo": Layout("carla-highres/trainingF", ("*/im0.png", "*/im1.png"), ("*/disp0GT.pfm", "*/disp1GT.pfm")),
    "Kitti2012Stereo": Layout("Kitti2012/{part}", ("colored_0/*_10.png", "colored_1/*_10.png"), ("disp_noc/*.png", None)),
    "Kitti2015Stereo": Layout("Kitti2015/{part}", ("image_2/*.png", "image_3/*.png"), ("disp_occ_0/*.png", "disp_occ_1/*.png")),
    "Middlebury2014Stereo": Layout("Middlebury2014/{split}", ("*{kind}/im0.png", "*{kind}/im1.png"),
                                   ("*{kind}/disp0.pfm", "*{kind}/disp1.pfm")),
    "CREStereo": Layout("CREStereo/{kind}", ("*_left.jpg", "*_right.jpg"), ("*_left.disp.png", "*_right.disp.png")),
    "FallingThingsStereo": Layout("FallingThings/{kind}", ("{scene}/*.left.jpg", "{scene}/*.right.jpg"),
                                  ("{scene}/*.left.depth.png", "{scene}/*.right.depth.png")),
    "SceneFlowStereo": Layout("SceneFlow/{variant}",
                              ("frames_{kind}pass/{scene}/left/*.png", "frames_{kind}pass/{scene}/right/*.png"),
                              ("disparity/{scene}/left/*.pfm", "disparity/{scene}/right/*.pfm")),
    "SintelStereo": Layout("Sintel/training", ("{kind}_left/*/*.png", "{kind}_right/*/*.png"), ("disparities/*/*.png", None)),
    "InStereo2k": Layout("InStereo2k/{split}", ("*/left.png", "*/right.png"), ("*/left_disp.png", "*/right_disp.png")),
    "ETH3DStereo": Layout("ETH3D", ("two_view_{part}/*/im0.png", "two_view_{part}/*/im1.png"),
                          ("two_view_training_gt/*/disp0GT.pfm", None)),
}  # fmt: skip


class StereoMatchingDataset(VisionDataset):
    """Two pictures, the left one's disparity (1, H, W) or None where it is not published; with ``_has_built_in_disparity_mask``
    also where it is known (H, W), or None.

    ``transforms`` takes and gives three pairs: pictures, disparities and masks of both cameras. Files are put into ``root`` by
    hand.

    Raises:
        FileNotFoundError: files of a kind are not there.
        ValueError: there are more of the left than of the right camera, or fewer.
    """

    _has_built_in_disparity_mask = False

    def __init__(self, root: Name, transforms: Any = None) -> None:
        super().__init__(str(root))
        self.transforms: Any = transforms  # of more than a picture and its target
        self._images: list[tuple[Path, Path]] = []
        self._disparities: list[tuple[Path | None, Path | None]] = []

    def _add(self, with_disparities: bool = True, **parts: str) -> None:
        """The files where the layout's names in braces are these."""
        layout = LAYOUTS[type(self).__name__]
        folder = Path(str(self.root)) / layout.folder.format(**parts)
        images: Any = self._matching(folder, layout.images, parts)
        self._images += images
        known: Any = self._matching(folder, layout.disparities, parts) if with_disparities else [(None, None)] * len(images)
        self._disparities += known

    def _matching(self, folder: Path, patterns: tuple[str, str | None], parts: dict[str, str]) -> list[tuple[Path, Path | None]]:
        own, (left, right) = type(self).__name__, (None if each is None else each.format(**parts) for each in patterns)
        lefts = sorted(folder.glob(str(left)))
        rights: list[Any] = [None] * len(lefts) if right is None else sorted(folder.glob(right))
        if not lefts or not rights:
            raise FileNotFoundError(
                f"{own}: no files match {folder / str(left if not lefts else right)}; unpack the data set there"
            )
        if len(lefts) != len(rights):
            raise ValueError(
                f"{own}: {len(lefts)} files match {folder / str(left)}, but {len(rights)} match {folder / str(right)}"
            )
        return list(zip(lefts, rights, strict=True))

    def _read_disparity(self, path: Path) -> tuple[Any, Any]:
        """The disparity in a file, and where it is known."""
        raise NotImplementedError

    def _read_img(self, path: Path) -> Any:
        return default_loader(str(path))

    def __getitem__(self, index: int) -> Any:
        images = tuple(self._read_img(path) for path in self._images[index])
        read = [(None, None) if path is None else self._read_disparity(path) for path in self._disparities[index]]
        disparities, masks = zip(*read, strict=True)
        if self.transforms is not None:
            images, disparities, masks = self.transforms(images, disparities, masks)
        sample = (*images, disparities[0])
        return (*sample, masks[0]) if self._has_built_in_disparity_mask or masks[0] is not None else sample

    def __len__(self) -> int:
        return len(self._images)


def _lengths(path: Path) -> Any:
    """A portable float map of disparities, some of which are written as negative."""
    return np.abs(read_pfm(path, 1))


def _levels(path: Path, unit: float) -> Any:
    """A picture whose grey is the disparity in parts of a pixel."""
    return np.asarray(as_it_is(path))[None] / unit


class CarlaStereo(StereoMatchingDataset):
    """Streets drawn by CARLA. Source: G. Yang and others, Hierarchical Deep Stereo Matching, CVPR 2019."""

    def __init__(self, root: Name, transforms: Any = None) -> None:
        super().__init__(root, transforms)
        self._add()

    def _read_disparity(self, path: Path) -> tuple[Any, Any]:
        return _lengths(path), None


class _Kitti(StereoMatchingDataset):
    """What is common to KITTI's benchmarks."""

    _has_built_in_disparity_mask = True

    def __init__(self, root: Name, split: str = "train", transforms: Any = None) -> None:
        super().__init__(root, transforms)
        chosen(type(self).__name__, "split", split, ("train", "test"))
        self._add(split == "train", part=f"{split}ing")

    def _read_disparity(self, path: Path) -> tuple[Any, Any]:
        return _levels(path, 256.0), None


class Kitti2012Stereo(_Kitti):
    """Streets of 2012's benchmark, ``split`` "train" or "test"; the mask is None. Source: A. Geiger and others, CVPR 2012."""


class Kitti2015Stereo(_Kitti):
    """Streets of 2015's benchmark, ``split`` "train" or "test"; the mask is None. Source: M. Menze, A. Geiger, CVPR 2015."""


MIDDLEBURY = "https://vision.middlebury.edu/stereo/"


class Middlebury2014Stereo(StereoMatchingDataset):
    """Rooms: ``split`` is "train", "additional" or "test"; ``calibration`` "perfect", "imperfect" or "both", of "test" None.

    With ``use_ambient_views`` the right picture is drawn from those in other light and exposure.

    Source: D. Scharstein and others, High-Resolution Stereo Datasets with Subpixel-Accurate Ground Truth, GCPR 2014.
    """

    _has_built_in_disparity_mask = True
    splits: ClassVar[dict[str, list[str]]] = {
        "train": "Adirondack Jadeplant Motorcycle Piano Pipes Playroom Playtable Recycle Shelves Vintage".split(),
        "additional": ("Backpack Bicycle1 Cable Classroom1 Couch Flowers Mask Shopvac Sticks Storage Sword1 Sword2 "
                       "Umbrella").split(),
        "test": ("Plants Classroom2E Classroom2 Australia DjembeL CrusadeP Crusade Hoops Bicycle2 Staircase Newkuba AustraliaP "
                 "Djembe Livingroom Computer").split(),
    }  # fmt: skip
    calibrations: ClassVar[dict[str | None, tuple[str, ...]]] = {
        "perfect": ("-perfect",), "imperfect": ("-imperfect",), "both": ("-perfect", "-imperfect"), None: ("",),
    }  # fmt: skip

    def __init__(self, root: Name, split: str = "train", calibration: str | None = "perfect", use_ambient_views: bool = False,
                 transforms: Any = None, download: bool = False) -> None:  # fmt: skip
        super().__init__(root, transforms)
        self.split = chosen("Middlebury2014Stereo", "split", split, list(self.splits))
        chosen("Middlebury2014Stereo", "calibration", calibration, list(self.calibrations))
        if (split == "test") != (calibration is None):
            raise ValueError(
                f"Middlebury2014Stereo: split '{split}' with calibration {calibration!r}; of 'test' it is None, of others not"
            )
        self.use_ambient_views = use_ambient_views
        if download:
            self._fetch(Path(str(self.root)) / "Middlebury2014")
        for kind in self.calibrations[calibration]:
            self._add(split != "test", split=split, kind=kind)

    def _fetch(self, folder: Path) -> None:
        if self.split == "test":
            if not (folder / "test").is_dir():
                download_url(f"{MIDDLEBURY}submit3/zip/MiddEval3-data-F.zip", folder)
                extract_archive(folder / "MiddEval3-data-F.zip", folder)
                (folder / "MiddEval3" / "testF").rename(folder / "test")
            return
        for scene in self.splits[self.split]:
            for kind in self.calibrations["both"]:
                if not (folder / self.split / f"{scene}{kind}").is_dir():
                    download_url(f"{MIDDLEBURY}data/scenes2014/zip/{scene}{kind}.zip", folder / self.split)
                    extract_archive(folder / self.split / f"{scene}{kind}.zip", folder / self.split)

    def _read_img(self, path: Path) -> Any:
        if self.use_ambient_views and path.name == "im1.png":
            others = [path.with_name(name) for name in ("im1E.png", "im1L.png")]
            path = choice([*(other for other in others if other.is_file()), path])
        return super()._read_img(path)

    def _read_disparity(self, path: Path) -> tuple[Any, Any]:
        disparity = _lengths(path)
        disparity[disparity == np.inf] = 0
        return disparity, disparity[0] > 0


class CREStereo(StereoMatchingDataset):
    """Drawn scenes of four kinds; the mask is None. Source: J. Li and others, arXiv:2203.11483."""

    _has_built_in_disparity_mask = True

    def __init__(self, root: Name, transforms: Any = None) -> None:
        super().__init__(root, transforms)
        for kind in ("shapenet", "reflective", "tree", "hole"):
            self._add(kind=kind)

    def _read_disparity(self, path: Path) -> tuple[Any, Any]:
        return _levels(path, 32.0).astype(np.float32), None


class FallingThingsStereo(StereoMatchingDataset):
    """Things of a household that fall: ``variant`` is "single", "mixed" or "both".

    Source: J. Tremblay, T. To, S. Birchfield, Falling Things, arXiv:1804.06534.
    """

    def __init__(self, root: Name, variant: str = "single", transforms: Any = None) -> None:
        super().__init__(root, transforms)
        chosen("FallingThingsStereo", "variant", variant, ("single", "mixed", "both"))
        for kind, scene in (("single", "*/*"), ("mixed", "*")):
            if variant in (kind, "both"):
                self._add(kind=kind, scene=scene)

    def _read_disparity(self, path: Path) -> tuple[Any, Any]:
        camera = json.loads((path.parent / "_camera_settings.json").read_text())["camera_settings"][0]
        focal = camera["intrinsic_settings"]["fx"]
        depth = np.asarray(as_it_is(path)).astype(np.float32)[None]  # in parts of a centimetre; the cameras are 6 cm apart
        return 6 * focal * 100 / depth, None


class SceneFlowStereo(StereoMatchingDataset):
    """Drawn scenes: ``variant`` is "FlyingThings3D", "Driving" or "Monkaa", ``pass_name`` "clean", "final" or "both".

    Source: N. Mayer and others, arXiv:1512.02134.
    """

    scenes: ClassVar[dict[str, str]] = {"FlyingThings3D": "*/*/*", "Driving": "*/*/*", "Monkaa": "*"}

    def __init__(self, root: Name, variant: str = "FlyingThings3D", pass_name: str = "clean", transforms: Any = None) -> None:
        super().__init__(root, transforms)
        scene = self.scenes[chosen("SceneFlowStereo", "variant", variant, list(self.scenes))]
        for kind in PASSES[chosen("SceneFlowStereo", "pass_name", pass_name, list(PASSES))]:
            self._add(variant=variant, kind=kind, scene=scene)

    def _read_disparity(self, path: Path) -> tuple[Any, Any]:
        return _lengths(path), None


class SintelStereo(StereoMatchingDataset):
    """Scenes of an animated film: ``pass_name`` is "final", "clean" or "both". Source: D. Butler and others, ECCV 2012."""

    _has_built_in_disparity_mask = True

    def __init__(self, root: Name, pass_name: str = "final", transforms: Any = None) -> None:
        super().__init__(root, transforms)
        chosen("SintelStereo", "pass_name", pass_name, list(PASSES))
        for kind in ("final", "clean"):
            if pass_name in (kind, "both"):
                self._add(kind=kind)

    def _read_disparity(self, path: Path) -> tuple[Any, Any]:
        red, green, blue = np.asarray(as_it_is(path), dtype=np.float32).transpose(2, 0, 1)
        seen = [path.parents[2] / kind / path.parent.name / path.name for kind in ("occlusions", "outofframe")]
        for mask in seen:
            if not mask.is_file():
                raise FileNotFoundError(f"SintelStereo: the mask {mask} does not exist")
        hidden, outside = (np.asarray(as_it_is(mask)) != 0 for mask in seen)
        return (red * 4 + green / 2**6 + blue / 2**14)[None], ~(hidden | outside)


class InStereo2k(StereoMatchingDataset):
    """Rooms, ``split`` "train" or "test". Source: W. Bao and others, InStereo2K, 2020."""

    def __init__(self, root: Name, split: str = "train", transforms: Any = None) -> None:
        super().__init__(root, transforms)
        self._add(split=chosen("InStereo2k", "split", split, ("train", "test")))

    def _read_disparity(self, path: Path) -> tuple[Any, Any]:
        return _levels(path, 1024.0).astype(np.float32), None


class ETH3DStereo(StereoMatchingDataset):
    """Places inside and outside, ``split`` "train" or "test". Source: T. Schöps and others, CVPR 2017."""

    _has_built_in_disparity_mask = True

    def __init__(self, root: Name, split: str = "train", transforms: Any = None) -> None:
        super().__init__(root, transforms)
        chosen("ETH3DStereo", "split", split, ("train", "test"))
        self._add(split == "train", part="training" if split == "train" else "test")

    def _read_disparity(self, path: Path) -> tuple[Any, Any]:
        return _lengths(path), np.asarray(as_it_is(path.with_name("mask0nocc.png"))).astype(bool)
