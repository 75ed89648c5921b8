"""Films of people's actions: Kinetics, UCF101 and HMDB51; a sample is a clip, its sound and the action's class."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable
from multiprocessing import Pool
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote

from tenfold import Tensor
from tenfold.vision.datasets.clips import VideoClips
from tenfold.vision.datasets.folder import find_classes, make_dataset
from tenfold.vision.datasets.utils import check_integrity, download_and_extract_archive, download_url, verify_str_arg
from tenfold.vision.datasets.vision import Transform, VisionDataset

Name = str | os.PathLike[str]


class Kinetics(VisionDataset):
    """Kinetics-400, -600 or -700: films below ``root/split/class``, cut into clips of ``frames_per_clip`` pictures.

    A sample is the clip (T, C, H, W) in uint8 (``output_format`` "THWC": the channels last), its sound (channels, samples) in
    float32 and the class's number. ``metadata``, given back as ``_precomputed_metadata``, spares reading all films again.

    Raises:
        ImportError: PyAV, which reads films, is not installed.
        ValueError: another split or number of classes.

    Source: W. Kay and others, The Kinetics Human Action Video Dataset, arXiv:1705.06950.
    """

    _TAR_URLS: ClassVar[dict[str, str]] = {
        "400": "https://s3.amazonaws.com/kinetics/400/{split}/k400_{split}_path.txt",
        "600": "https://s3.amazonaws.com/kinetics/600/{split}/k600_{split}_path.txt",
        "700": "https://s3.amazonaws.com/kinetics/700_2020/{split}/k700_2020_{split}_path.txt",
    }
    _ANNOTATION_URLS: ClassVar[dict[str, str]] = {
        "400": "https://s3.amazonaws.com/kinetics/400/annotations/{split}.csv",
        "600": "https://s3.amazonaws.com/kinetics/600/annotations/{split}.csv",
        "700": "https://s3.amazonaws.com/kinetics/700_2020/annotations/{split}.csv",
    }

    def __init__(
        self,
        root: Name,
        frames_per_clip: int,
        num_classes: str = "400",
        split: str = "train",
        frame_rate: int | None = None,
        step_between_clips: int = 1,
        transform: Transform | None = None,
        extensions: tuple[str, ...] = ("avi", "mp4"),
        download: bool = False,
        num_download_workers: int = 1,
        num_workers: int = 1,
        _precomputed_metadata: dict[str, Any] | None = None,
        _video_width: int = 0,
        _video_height: int = 0,
        _video_min_dimension: int = 0,
        _audio_samples: int = 0,
        _audio_channels: int = 0,
        _legacy: bool = False,
        output_format: str = "TCHW",
    ) -> None:
        super().__init__(root)
        self.num_classes = verify_str_arg(num_classes, "num_classes", ["400", "600", "700"])
        self.split = "unknown" if _legacy else verify_str_arg(split, "split", ["train", "val", "test"])
        if _legacy and download:
            raise ValueError("Kinetics: Cannot download the videos using legacy_structure.")
        self.extensions, self.num_download_workers, self._legacy = extensions, num_download_workers, _legacy
        self.split_folder = os.fspath(root) if _legacy else os.path.join(os.fspath(root), split)
        if download:
            self.download_and_process_videos()
        self.classes, class_to_idx = find_classes(self.split_folder)
        self.samples = make_dataset(self.split_folder, class_to_idx, extensions)
        self.video_clips = VideoClips(
            [path for path, _ in self.samples],
            frames_per_clip,
            step_between_clips,
            frame_rate,
            _precomputed_metadata,
            num_workers=num_workers,
            _video_width=_video_width,
            _video_height=_video_height,
            _video_min_dimension=_video_min_dimension,
            _audio_samples=_audio_samples,
            _audio_channels=_audio_channels,
            output_format="THWC" if _legacy else output_format,
        )
        self.transform = transform

    @property
    def metadata(self) -> dict[str, Any]:
        """What was read of the films."""
        return self.video_clips.metadata

    def download_and_process_videos(self) -> None:
        """Fetch the split's archives, unless its folder is there, and move each film into its class's folder."""
        root = os.fspath(self.root or "")
        if not os.path.exists(self.split_folder):
            listed = _fetched(self._TAR_URLS[self.num_classes].format(split=self.split), os.path.join(root, "files"))
            urls = [quote(line, safe="/,:") for line in listed.read_text().splitlines()]
            jobs = [(url, os.path.join(root, "tars"), self.split_folder) for url in urls]
            if self.num_download_workers == 1:
                for job in jobs:
                    download_and_extract_archive(*job)
            else:
                with Pool(self.num_download_workers) as pool:
                    pool.starmap(download_and_extract_archive, jobs)
        annotations = _fetched(
            self._ANNOTATION_URLS[self.num_classes].format(split=self.split),
            os.path.join(root, "annotations"),
            f"{self.split}.csv",
        )
        with annotations.open(newline="") as file:
            for row in csv.DictReader(file):
                self._move_to_class(row)

    def _move_to_class(self, row: dict[str, str]) -> None:
        name = f"{row['youtube_id']}_{int(row['time_start']):06}_{int(row['time_end']):06}.mp4"
        folder = Path(self.split_folder, row["label"].translate(str.maketrans(" ", "_", "'()")))
        folder.mkdir(parents=True, exist_ok=True)
        loose = Path(self.split_folder, name)
        if loose.is_file():
            loose.replace(folder / name)

    def __len__(self) -> int:
        return self.video_clips.num_clips()

    def __getitem__(self, idx: int) -> tuple[Any, Tensor, int]:
        video, audio, _, number = self.video_clips.get_clip(idx)
        return video if self.transform is None else self.transform(video), audio, self.samples[number][1]


def _fetched(url: str, folder: str, name: str | None = None) -> Path:
    path = Path(folder, name or os.path.basename(url))
    if not check_integrity(path):
        download_url(url, folder)
    return path


class _Folds(VisionDataset):
    """Films below ``root/class``, of which files of names choose those to train and those to test with."""

    def __init__(
        self,
        root: Name,
        annotation_path: str,
        frames_per_clip: int,
        step_between_clips: int = 1,
        frame_rate: int | None = None,
        fold: int = 1,
        train: bool = True,
        transform: Transform | None = None,
        _precomputed_metadata: dict[str, Any] | None = None,
        num_workers: int = 1,
        _video_width: int = 0,
        _video_height: int = 0,
        _video_min_dimension: int = 0,
        _audio_samples: int = 0,
        output_format: str = "THWC",
    ) -> None:
        super().__init__(root)
        if fold not in (1, 2, 3):
            raise ValueError(f"{type(self).__name__}: fold should be between 1 and 3, got {fold}")
        self.fold, self.train, self.transform = fold, train, transform
        folder = os.fspath(self.root or "")
        self.classes, class_to_idx = find_classes(folder)
        self.samples = make_dataset(folder, class_to_idx, ("avi",))
        paths = [path for path, _ in self.samples]
        self.full_video_clips = VideoClips(
            paths,
            frames_per_clip,
            step_between_clips,
            frame_rate,
            _precomputed_metadata,
            num_workers=num_workers,
            _video_width=_video_width,
            _video_height=_video_height,
            _video_min_dimension=_video_min_dimension,
            _audio_samples=_audio_samples,
            output_format=output_format,
        )
        chosen = set(self._chosen(Path(annotation_path)))
        self.indices = [number for number, path in enumerate(paths) if self._key(path) in chosen]
        self.video_clips = self.full_video_clips.subset(self.indices)

    def _chosen(self, annotations: Path) -> Iterable[str]:
        raise NotImplementedError

    def _key(self, path: str) -> str:
        raise NotImplementedError

    @property
    def metadata(self) -> dict[str, Any]:
        """What was read of all films, those of the other split too."""
        return self.full_video_clips.metadata

    def __len__(self) -> int:
        return self.video_clips.num_clips()

    def __getitem__(self, idx: int) -> tuple[Any, Tensor, int]:
        video, audio, _, number = self.video_clips.get_clip(idx)
        target = self.samples[self.indices[number]][1]
        return video if self.transform is None else self.transform(video), audio, target


class UCF101(_Folds):
    """UCF101: films ``root/class/name.avi``; ``trainlist01.txt``, ``testlist01.txt`` and so on below ``annotation_path`` choose.

    A sample is a clip (T, H, W, C) in uint8 (``output_format`` "TCHW": the channels before), its sound and the class's number.

    Raises:
        ImportError: PyAV, which reads films, is not installed.
        ValueError: ``fold`` is not 1, 2 or 3.

    Source: K. Soomro and others, UCF101, arXiv:1212.0402.
    """

    def _chosen(self, annotations: Path) -> Iterable[str]:
        lines = Path(annotations, f"{'train' if self.train else 'test'}list{self.fold:02}.txt").read_text().splitlines()
        return [os.path.join(os.fspath(self.root or ""), *line.split()[0].split("/")) for line in lines if line.strip()]

    def _key(self, path: str) -> str:
        return path


class HMDB51(_Folds):
    """HMDB51: films ``root/class/name.avi``; ``class_test_split1.txt`` and so on below ``annotation_path`` choose.

    Each line there is a film's name and 1 (train), 2 (test) or 0 (neither). A sample is a clip (T, H, W, C) in uint8
    (``output_format`` "TCHW": the channels before), its sound and the class's number.

    Raises:
        ImportError: PyAV, which reads films, is not installed.
        ValueError: ``fold`` is not 1, 2 or 3.

    Source: H. Kuehne and others, HMDB: A Large Video Database for Human Motion Recognition, ICCV 2011.
    """

    data_url = "https://serre-lab.clps.brown.edu/wp-content/uploads/2013/10/hmdb51_org.rar"
    splits: ClassVar[dict[str, str]] = {
        "url": "https://serre-lab.clps.brown.edu/wp-content/uploads/2013/10/test_train_splits.rar",
        "md5": "15e67781e70dcfbdce2d7dbb9b3344b5",
    }
    TRAIN_TAG = 1
    TEST_TAG = 2

    def _chosen(self, annotations: Path) -> Iterable[str]:
        tag = self.TRAIN_TAG if self.train else self.TEST_TAG
        rows = [
            line.split() for path in annotations.glob(f"*test_split{self.fold}.txt") for line in path.read_text().splitlines()
        ]
        return [row[0] for row in rows if row and int(row[1]) == tag]

    def _key(self, path: str) -> str:
        return os.path.basename(path)
