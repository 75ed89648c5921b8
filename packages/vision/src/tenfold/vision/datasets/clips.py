"""Films cut into clips of as many pictures each, which data sets of actions are made of."""

from __future__ import annotations

import bisect
import math
import warnings
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.data import DataLoader
from tenfold.vision.datasets.films import film, read_pictures, read_sound

FORMATS = ("THWC", "TCHW")


def unfold(tensor: Tensor, size: int, step: int, dilation: int = 1) -> Tensor:
    """All windows of ``size`` elements, ``dilation`` apart, of a vector; each begins ``step`` after the one before.

    >>> unfold(tenfold.arange(5), 3, 2).tolist()
    [[0, 1, 2], [2, 3, 4]]

    Raises:
        ValueError: the tensor is no vector.
    """
    if tensor.dim() != 1:
        raise ValueError(f"unfold: tensor should have 1 dimension instead of {tensor.dim()}")
    starts = tenfold.arange(0, max(len(tensor) - dilation * (size - 1), 0), step)
    return tensor[starts[:, None] + dilation * tenfold.arange(size)]


class Lengths:
    """Sample i is what clips need to know of film i: its pictures' numbers and their rate."""

    def __init__(self, video_paths: list[str]) -> None:
        self.video_paths = video_paths

    def __len__(self) -> int:
        return len(self.video_paths)

    def __getitem__(self, index: int) -> tuple[list[int], float | None]:
        facts = film(self.video_paths[index])
        return list(range(facts.count)), facts.rate


def as_it_is(batch: Any) -> Any:
    """A batch as a list of its samples."""
    return batch


class VideoClips:
    """All clips of ``clip_length_in_frames`` pictures of films, each ``frames_between_clips`` after the one before.

    With ``frame_rate`` each film's pictures are first chosen, or repeated, so that it has that rate. ``metadata`` keeps what was
    read of the films and can be given as ``_precomputed_metadata``; `compute_clips` cuts them anew. The last pictures of a film
    that fill no clip are left out.

    Raises:
        ImportError: PyAV, which reads films, is not installed.
        ValueError: ``output_format`` is neither "THWC" nor "TCHW".
    """

    def __init__(
        self,
        video_paths: list[str],
        clip_length_in_frames: int = 16,
        frames_between_clips: int = 1,
        frame_rate: float | None = None,
        _precomputed_metadata: dict[str, Any] | None = None,
        num_workers: int = 0,
        _video_width: int = 0,
        _video_height: int = 0,
        _video_min_dimension: int = 0,
        _video_max_dimension: int = 0,
        _audio_samples: int = 0,
        _audio_channels: int = 0,
        output_format: str = "THWC",
    ) -> None:
        self.video_paths = video_paths
        self.num_workers = num_workers
        self._sizes = {
            "_video_width": _video_width,
            "_video_height": _video_height,
            "_video_min_dimension": _video_min_dimension,
            "_video_max_dimension": _video_max_dimension,
            "_audio_samples": _audio_samples,
            "_audio_channels": _audio_channels,
        }
        self.output_format = output_format.upper()
        if self.output_format not in FORMATS:
            raise ValueError(f"VideoClips: output_format should be either 'THWC' or 'TCHW', got {output_format}.")
        self._read(_precomputed_metadata)
        self.compute_clips(clip_length_in_frames, frames_between_clips, frame_rate)

    def _read(self, known: dict[str, Any] | None) -> None:
        if known is not None:
            self.video_paths, self.video_pts, self.video_fps = (known[f"video_{key}"] for key in ("paths", "pts", "fps"))
            assert len(self.video_paths) == len(self.video_pts) == len(self.video_fps)
            return
        loader: DataLoader[Any] = DataLoader(Lengths(self.video_paths), 16, num_workers=self.num_workers, collate_fn=as_it_is)
        found = [facts for batch in loader for facts in batch]
        self.video_pts = [tenfold.tensor(times, dtype=tenfold.int64) for times, _ in found]
        self.video_fps = [rate for _, rate in found]

    @property
    def metadata(self) -> dict[str, Any]:
        """What was read of the films."""
        return {"video_paths": self.video_paths, "video_pts": self.video_pts, "video_fps": self.video_fps}

    def subset(self, indices: list[int]) -> VideoClips:
        """The clips of some of the films."""
        metadata = {key: [values[index] for index in indices] for key, values in self.metadata.items()}
        return type(self)(
            metadata["video_paths"],
            self.num_frames,
            self.step,
            self.frame_rate,
            metadata,
            self.num_workers,
            output_format=self.output_format,
            **self._sizes,
        )

    @staticmethod
    def compute_clips_for_video(
        video_pts: Tensor, num_frames: int, step: int, fps: float | None, frame_rate: float | None = None
    ) -> tuple[Tensor, list[slice] | Tensor]:
        """The pictures of each clip of a film, and which they are among those that are decoded."""
        rate = 1.0 if fps is None else fps  # of a film without pictures it does not matter
        wanted = rate if frame_rate is None else frame_rate
        chosen = VideoClips._resample_video_idx(math.floor(len(video_pts) * wanted / rate), rate, wanted)
        clips = unfold(video_pts[chosen], num_frames, step)
        if not len(clips):
            warnings.warn(
                "There aren't enough frames in the current video to get a clip for the given clip length and frames between "
                "clips; it is left out",
                stacklevel=2,
            )
        return clips, [chosen] * len(clips) if isinstance(chosen, slice) else unfold(chosen, num_frames, step)

    @staticmethod
    def _resample_video_idx(num_frames: int, original_fps: float, new_fps: float) -> slice | Tensor:
        step = original_fps / new_fps
        if float(step).is_integer():
            return slice(None, None, int(step))
        return (tenfold.arange(num_frames, dtype=tenfold.float32) * step).floor().to(tenfold.int64)

    def compute_clips(self, num_frames: int, step: int, frame_rate: float | None = None) -> None:
        """Cut the films into clips of another length, step or rate."""
        self.num_frames, self.step, self.frame_rate = num_frames, step, frame_rate
        self.clips: list[Tensor] = []
        self.resampling_idxs: list[list[slice] | Tensor] = []
        self.cumulative_sizes: list[int] = []
        for pts, fps in zip(self.video_pts, self.video_fps, strict=True):
            clips, indices = self.compute_clips_for_video(pts, num_frames, step, fps, frame_rate)
            self.clips.append(clips)
            self.resampling_idxs.append(indices)
            self.cumulative_sizes.append(self.num_clips() + len(clips))

    def __len__(self) -> int:
        return self.num_clips()

    def num_videos(self) -> int:
        """How many films there are."""
        return len(self.video_paths)

    def num_clips(self) -> int:
        """How many clips they make."""
        return self.cumulative_sizes[-1] if self.cumulative_sizes else 0

    def get_clip_location(self, idx: int) -> tuple[int, int]:
        """The film that a clip comes from, and its number among that film's."""
        number = bisect.bisect_right(self.cumulative_sizes, idx)
        return number, idx - (self.cumulative_sizes[number - 1] if number else 0)

    def get_clip(self, idx: int) -> tuple[Tensor, Tensor, dict[str, Any], int]:
        """A clip's pictures and sound, a dict with its rate (``video_fps``), and the number of its film.

        Raises:
            IndexError: there is no such clip.
        """
        if idx >= self.num_clips():
            raise IndexError(f"VideoClips: Index {idx} out of range ({self.num_clips()} number of clips)")
        number, clip = self.get_clip_location(idx)
        path, fps = self.video_paths[number], self.video_fps[number] or 1.0
        first, last = int(self.clips[number][clip][0]), int(self.clips[number][clip][-1])
        pictures = read_pictures(path, first, last)
        if self.frame_rate is not None:
            chosen = self.resampling_idxs[number][clip]
            pictures = pictures[chosen if isinstance(chosen, slice) else chosen - chosen[0]]
        assert len(pictures) == self.num_frames, f"{pictures.shape} x {self.num_frames}"
        if self.output_format == "TCHW":
            pictures = pictures.permute(0, 3, 1, 2)
        sound = read_sound(path, first / fps, (last + 1) / fps)
        return pictures, sound, {"video_fps": self.frame_rate or fps}, number

    def __getstate__(self) -> dict[str, Any]:
        made = ("clips", "resampling_idxs", "cumulative_sizes")  # again where it is unpickled
        return {name: value for name, value in self.__dict__.items() if name not in made}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it has been said
            self.compute_clips(self.num_frames, self.step, self.frame_rate)
