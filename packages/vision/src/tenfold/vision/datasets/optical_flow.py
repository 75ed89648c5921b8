"""Published pairs of pictures with the optical flow from the first to the second."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tenfold.data import ConcatDataset
from tenfold.vision.datasets.flow_files import read_flo, read_kitti_flow, read_pfm
from tenfold.vision.datasets.folder import default_loader
from tenfold.vision.datasets.published import Loader, Name, chosen
from tenfold.vision.datasets.vision import VisionDataset

PASSES = {"clean": ("clean",), "final": ("final",), "both": ("clean", "final")}


class FlowDataset(VisionDataset):
    """Two pictures and their flow, an array (2, H, W), or None where it is not published; with ``_has_builtin_flow_mask`` also
    where it is known (H, W).

    ``transforms`` takes and gives four things: the pictures, the flow and the mask. Files are put into ``root`` by hand.

    Raises:
        FileNotFoundError: there are none.
    """

    _has_builtin_flow_mask = False
    place = ""

    def __init__(self, root: Name, transforms: Any = None, loader: Loader = default_loader) -> None:
        super().__init__(str(root))
        self.transforms: Any = transforms  # of more than a picture and its target
        self._loader = loader
        self._folder = Path(str(self.root)) / self.place
        self._image_list: list[list[str]] = []
        self._flow_list: list[str] = []

    def _files(self, pattern: str) -> list[str]:
        return sorted(str(path) for path in self._folder.glob(pattern))

    def _found(self) -> None:
        if not self._image_list:
            raise FileNotFoundError(
                f"{type(self).__name__}: no pictures in {self._folder}; fetch the data set from its publisher and unpack it there"
            )

    def _pair(self, images: Sequence[str], flows: Sequence[str] = ()) -> None:
        """Every picture and the next, with the flows of those that have one."""
        self._image_list += [list(pair) for pair in itertools.pairwise(images)]
        self._flow_list += flows

    def _read_flow(self, file_name: str) -> Any:
        return read_flo(file_name)

    def __getitem__(self, index: int) -> Any:
        first, second = (self._loader(path) for path in self._image_list[index])
        flow = self._read_flow(self._flow_list[index]) if self._flow_list else None
        flow, mask = flow if isinstance(flow, tuple) else (flow, None)
        if self.transforms is not None:
            first, second, flow, mask = self.transforms(first, second, flow, mask)
        return (first, second, flow, mask) if self._has_builtin_flow_mask or mask is not None else (first, second, flow)

    def __len__(self) -> int:
        return len(self._image_list)

    def __rmul__(self, times: int) -> ConcatDataset[Any]:
        return ConcatDataset([self] * times)


class Sintel(FlowDataset):
    """Scenes of an animated film: ``split`` is "train" or "test", ``pass_name`` "clean", "final" (with fog and blur) or "both".

    Source: D. Butler and others, A Naturalistic Open Source Movie for Optical Flow Evaluation, ECCV 2012.
    """

    place = "Sintel"

    def __init__(self, root: Name, split: str = "train", pass_name: str = "clean", transforms: Any = None,
                 loader: Loader = default_loader) -> None:  # fmt: skip
        super().__init__(root, transforms, loader)
        part = {"train": "training", "test": "test"}[chosen("Sintel", "split", split, ("train", "test"))]
        for kind in PASSES[chosen("Sintel", "pass_name", pass_name, list(PASSES))]:
            for scene in self._files(f"{part}/{kind}/*"):
                flows = self._files(f"training/flow/{Path(scene).name}/*.flo") if split == "train" else []
                self._pair(self._files(f"{part}/{kind}/{Path(scene).name}/*.png"), flows)
        self._found()


class KittiFlow(FlowDataset):
    """Streets of 2015's benchmark: ``split`` is "train" or "test".

    Source: M. Menze, A. Geiger, Object Scene Flow for Autonomous Vehicles, CVPR 2015.
    """

    _has_builtin_flow_mask = True
    place = "KittiFlow"

    def __init__(self, root: Name, split: str = "train", transforms: Any = None, loader: Loader = default_loader) -> None:
        super().__init__(root, transforms, loader)
        part = {"train": "training", "test": "testing"}[chosen("KittiFlow", "split", split, ("train", "test"))]
        for pair in zip(*(self._files(f"{part}/image_2/*_{number}.png") for number in (10, 11)), strict=False):
            self._image_list.append(list(pair))
        self._flow_list = self._files(f"{part}/flow_occ/*_10.png") if split == "train" else []
        self._found()

    def _read_flow(self, file_name: str) -> Any:
        return read_kitti_flow(file_name)


class HD1K(FlowDataset):
    """A street of Heilbronn in all weathers: ``split`` is "train" or "test".

    Source: D. Kondermann and others, The HCI Benchmark Suite, CVPR Workshops 2016.
    """

    _has_builtin_flow_mask = True
    place = "hd1k"

    def __init__(self, root: Name, split: str = "train", transforms: Any = None, loader: Loader = default_loader) -> None:
        super().__init__(root, transforms, loader)
        if chosen("HD1K", "split", split, ("train", "test")) == "train":
            flows = self._files("hd1k_flow_gt/flow_occ/*.png")
            for scene, same in itertools.groupby(flows, lambda path: Path(path).name.partition("_")[0]):
                of_scene = list(same)
                images = self._files(f"hd1k_input/image_2/{scene}_*.png")[: len(of_scene)]
                self._pair(images, of_scene[:-1])  # the last picture's flow leads to one that is not published
        else:
            for pair in zip(*(self._files(f"hd1k_challenge/image_2/*{number}.png") for number in (10, 11)), strict=False):
                self._image_list.append(list(pair))
        self._found()

    def _read_flow(self, file_name: str) -> Any:
        return read_kitti_flow(file_name)


class FlyingChairs(FlowDataset):
    """Chairs drawn over photographs: ``split`` is "train" or "val", which ``FlyingChairs_train_val.txt`` tells apart.

    Source: A. Dosovitskiy and others, FlowNet, arXiv:1504.06852.
    """

    place = "FlyingChairs"

    def __init__(self, root: Name, split: str = "train", transforms: Any = None) -> None:
        super().__init__(root, transforms)
        wanted = {"train": 1, "val": 2}[chosen("FlyingChairs", "split", split, ("train", "val"))]
        lists = self._folder / "FlyingChairs_train_val.txt"
        if not lists.is_file():
            raise FileNotFoundError(f"FlyingChairs: {lists} is not there; fetch it from the publisher's page and put it there")
        parts = np.loadtxt(lists, dtype=np.int64, ndmin=1)
        images, flows = self._files("data/*.ppm"), self._files("data/*.flo")
        for i in np.nonzero(parts[: len(flows)] == wanted)[0].tolist():
            self._image_list.append(images[2 * i : 2 * i + 2])
            self._flow_list.append(flows[i])
        self._found()


class FlyingThings3D(FlowDataset):
    """Things that fly through drawn rooms: ``split`` is "train" or "test", ``pass_name`` "clean", "final" or "both", ``camera``
    "left", "right" or "both". Flows are of both directions of time.

    Source: N. Mayer and others, A Large Dataset to Train Convolutional Networks for Disparity, Optical Flow and Scene Flow,
    arXiv:1512.02134.
    """

    place = "FlyingThings3D"

    def __init__(self, root: Name, split: str = "train", pass_name: str = "clean", camera: str = "left", transforms: Any = None,
                 loader: Loader = default_loader) -> None:  # fmt: skip
        super().__init__(root, transforms, loader)
        part = chosen("FlyingThings3D", "split", split, ("train", "test")).upper()
        passes = PASSES[chosen("FlyingThings3D", "pass_name", pass_name, list(PASSES))]
        sides = (
            ("left", "right") if chosen("FlyingThings3D", "camera", camera, ("left", "right", "both")) == "both" else (camera,)
        )
        for kind, side, direction in itertools.product(passes, sides, ("into_future", "into_past")):
            scenes = self._files(f"frames_{kind}pass/{part}/*/*")
            flows_of = self._files(f"optical_flow/{part}/*/*")
            for scene, with_flows in zip(scenes, flows_of, strict=False):
                images = sorted(str(path) for path in (Path(scene) / side).glob("*.png"))
                flows = sorted(str(path) for path in (Path(with_flows) / direction / side).glob("*.pfm"))
                pairs = [list(pair) for pair in itertools.pairwise(images[: len(flows)])]
                forward = direction == "into_future"
                self._image_list += pairs if forward else [pair[::-1] for pair in pairs]
                self._flow_list += flows[:-1] if forward else flows[1:]
        self._found()

    def _read_flow(self, file_name: str) -> Any:
        return read_pfm(file_name, 2)
