"""`SummaryWriter`: writes what a run should show into files that TensorBoard reads."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Self

import numpy as np
from PIL import Image

from tenfold.utils.tensorboard import summary as summaries
from tensorboard.compat.proto.event_pb2 import Event, SessionLog, TaggedRunMetadata
from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig
from tensorboard.summary.writer.event_file_writer import EventFileWriter


class FileWriter:
    """Puts events into one file, in another thread."""

    def __init__(
        self, log_dir: str | os.PathLike[str], max_queue: int = 10, flush_secs: int = 120, filename_suffix: str = ""
    ) -> None:
        self.event_writer = EventFileWriter(str(log_dir), max_queue, flush_secs, filename_suffix)

    def get_logdir(self) -> str:
        """The folder of the file."""
        return str(self.event_writer.get_logdir())

    def add_event(self, event: Any, step: Any = None, walltime: float | None = None) -> None:
        """Write an event."""
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)

    def add_summary(self, summary: Any, global_step: Any = None, walltime: float | None = None) -> None:
        """Write a summary."""
        self.add_event(Event(summary=summary), global_step, walltime)

    def add_graph(self, graph_profile: Any, walltime: float | None = None) -> None:
        """Write a graph, and the metadata of the run that it shows."""
        graph, run = graph_profile
        self.add_event(Event(graph_def=graph.SerializeToString()), None, walltime)
        tagged = TaggedRunMetadata(tag="step1", run_metadata=run.SerializeToString())
        self.add_event(Event(tagged_run_metadata=tagged), None, walltime)

    def flush(self) -> None:
        """Write out what waits."""
        self.event_writer.flush()

    def close(self) -> None:
        """Write out what waits, and close the file."""
        self.event_writer.close()

    def reopen(self) -> None:
        """Start another file, after `close`: EventFileWriter has no other way."""
        self.event_writer.reopen()


class SummaryWriter:
    """Scalars, histograms, pictures, sounds, text and more of a run, for TensorBoard.

    Args: log_dir (runs/DATE_HOST, with `comment` at its end); purge_step: a run that crashed goes on from there; max_queue,
    flush_secs: when what waits is written; filename_suffix.
    """

    def __init__(
        self,
        log_dir: str | os.PathLike[str] | None = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: int = 120,
        filename_suffix: str = "",
    ) -> None:
        if not log_dir:
            now = datetime.now().strftime("%b%d_%H-%M-%S")
            log_dir = os.path.join("runs", f"{now}_{socket.gethostname()}{comment}")
        self.log_dir = log_dir
        self.purge_step = purge_step
        self.max_queue, self.flush_secs, self.filename_suffix = max_queue, flush_secs, filename_suffix
        self.file_writer: FileWriter | None = None
        self.all_writers: dict[str, FileWriter] | None = None
        self._get_file_writer()

    def _get_file_writer(self) -> FileWriter:
        """The writer of this run's own file; a new one after `close`."""
        if self.file_writer is None or self.all_writers is None:
            self.file_writer = FileWriter(self.log_dir, self.max_queue, self.flush_secs, self.filename_suffix)
            self.all_writers = {self.file_writer.get_logdir(): self.file_writer}
            if self.purge_step is not None:
                step, self.purge_step = self.purge_step, None
                self.file_writer.add_event(Event(step=step, file_version="brain.Event:2"))
                self.file_writer.add_event(Event(step=step, session_log=SessionLog(status=SessionLog.START)))
        return self.file_writer

    def get_logdir(self) -> str:
        """The folder of this run."""
        return str(self.log_dir)

    def _add(self, summary: Any, global_step: Any, walltime: float | None) -> None:
        self._get_file_writer().add_summary(summary, global_step, walltime)

    def add_scalar(
        self, tag: str, scalar_value: Any, global_step: Any = None, walltime: float | None = None, new_style: bool = False,
        double_precision: bool = False,
    ) -> None:  # fmt: skip
        """A number at a step."""
        self._add(summaries.scalar(tag, scalar_value, new_style, double_precision), global_step, walltime)

    def add_scalars(
        self, main_tag: str, tag_scalar_dict: Mapping[str, Any], global_step: Any = None, walltime: float | None = None
    ) -> None:
        """Several numbers to be shown together, each in a file of its own."""
        folder = self._get_file_writer().get_logdir()
        for tag, value in tag_scalar_dict.items():
            place = os.path.join(folder, f"{main_tag.replace('/', '_')}_{tag}")
            writers = self.all_writers if self.all_writers is not None else {}
            if place not in writers:
                writers[place] = FileWriter(place, self.max_queue, self.flush_secs, self.filename_suffix)
            writers[place].add_summary(summaries.scalar(main_tag, value), global_step, walltime)

    def add_histogram(
        self, tag: str, values: Any, global_step: Any = None, bins: Any = "tensorflow", walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:  # fmt: skip
        """How often values lie where."""
        self._add(summaries.histogram(tag, values, bins, max_bins), global_step, walltime)

    def add_histogram_raw(
        self, tag: str, min: Any, max: Any, num: int, sum: Any, sum_squares: Any, bucket_limits: Any, bucket_counts: Any,
        global_step: Any = None, walltime: float | None = None,
    ) -> None:  # fmt: skip
        """A histogram that was counted elsewhere."""
        if len(bucket_limits) != len(bucket_counts):
            raise ValueError("len(bucket_limits) != len(bucket_counts), see the document.")
        raw = summaries.histogram_raw(tag, min, max, num, sum, sum_squares, bucket_limits, bucket_counts)
        self._add(raw, global_step, walltime)

    def add_image(
        self, tag: str, img_tensor: Any, global_step: Any = None, walltime: float | None = None, dataformats: str = "CHW"
    ) -> None:
        """A picture: values between 0 and 1, or bytes."""
        self._add(summaries.image(tag, img_tensor, dataformats=dataformats), global_step, walltime)

    def add_images(
        self, tag: str, img_tensor: Any, global_step: Any = None, walltime: float | None = None, dataformats: str = "NCHW"
    ) -> None:
        """A batch of pictures, side by side."""
        self._add(summaries.image(tag, img_tensor, dataformats=dataformats), global_step, walltime)

    def add_figure(
        self, tag: str, figure: Any, global_step: Any = None, close: bool = True, walltime: float | None = None
    ) -> None:
        """A figure of Matplotlib's, or a list of them."""
        figures = figure if isinstance(figure, list) else [figure]
        pictures = np.stack([_pixels(one) for one in figures])
        if close:
            import matplotlib.pyplot

            for one in figures:
                matplotlib.pyplot.close(one)
        self._add(summaries.image(tag, pictures, dataformats="NHWC"), global_step, walltime)

    def add_audio(
        self, tag: str, snd_tensor: Any, global_step: Any = None, sample_rate: int = 44100, walltime: float | None = None
    ) -> None:
        """A sound of values between -1 and 1."""
        self._add(summaries.audio(tag, snd_tensor, sample_rate), global_step, walltime)

    def add_text(self, tag: str, text_string: str, global_step: Any = None, walltime: float | None = None) -> None:
        """Text in Markdown."""
        self._add(summaries.text(tag, text_string), global_step, walltime)

    def add_pr_curve(
        self, tag: str, labels: Any, predictions: Any, global_step: Any = None, num_thresholds: int = 127, weights: Any = None,
        walltime: float | None = None,
    ) -> None:  # fmt: skip
        """Precision and recall of a binary classifier's probabilities."""
        self._add(summaries.pr_curve(tag, labels, predictions, num_thresholds, weights), global_step, walltime)

    def add_hparams(
        self, hparam_dict: Mapping[str, Any], metric_dict: Mapping[str, Any],
        hparam_domain_discrete: Mapping[str, Sequence[Any]] | None = None, run_name: str | None = None, global_step: Any = None,
    ) -> None:  # fmt: skip
        """Hyperparameters and what came of them, as a run below this one."""
        messages = summaries.hparams(hparam_dict, metric_dict, hparam_domain_discrete)
        with SummaryWriter(os.path.join(self._get_file_writer().get_logdir(), run_name or str(time.time()))) as run:
            for message in messages:
                run._get_file_writer().add_summary(message)
            for name, value in metric_dict.items():
                run.add_scalar(name, value, global_step)

    def add_embedding(
        self, mat: Any, metadata: Any = None, label_img: Any = None, global_step: Any = None, tag: str = "default",
        metadata_header: Any = None,
    ) -> None:  # fmt: skip
        """Points (N, D) for the projector, with a label and a picture (N, C, H, W) each."""
        rows = summaries.array_of(mat)
        step = "" if global_step is None else f"{global_step:05d}"
        home = Path(self._get_file_writer().get_logdir())
        folder = home / (step or "00000") / tag
        folder.mkdir(parents=True, exist_ok=True)
        np.savetxt(folder / "tensors.tsv", rows, delimiter="\t", fmt="%.8g")
        config = ProjectorConfig()
        if (home / "projector_config.pbtxt").exists():
            _parse((home / "projector_config.pbtxt").read_text(), config)
        entry = config.embeddings.add(
            tensor_name=f"{tag}:{step or '00000'}", tensor_path=str((folder / "tensors.tsv").relative_to(home))
        )
        if metadata is not None:
            lines = ["\t".join(map(str, line)) if metadata_header else str(line) for line in metadata]
            head = ["\t".join(map(str, metadata_header))] if metadata_header else []
            (folder / "metadata.tsv").write_text("\n".join([*head, *lines]) + "\n")
            entry.metadata_path = str((folder / "metadata.tsv").relative_to(home))
        if label_img is not None:
            _sprite(summaries.array_of(label_img), folder / "sprite.png")
            entry.sprite.image_path = str((folder / "sprite.png").relative_to(home))
            entry.sprite.single_image_dim.extend([label_img.shape[3], label_img.shape[2]])
        (home / "projector_config.pbtxt").write_text(str(config))

    def add_graph(self, model: Any, input_to_model: Any = None, verbose: bool = False, use_strict_trace: bool = True) -> None:
        """The operators of a module's run on an input, or on a tuple of inputs, below the modules that call them.

        The module runs once, in evaluation mode. `verbose` prints the graph. Raises RuntimeError for a result that is a list or a
        dictionary, unless `use_strict_trace` is False.
        """
        from tenfold.utils.tensorboard.graph import graph  # few runs are drawn

        self._get_file_writer().add_graph(graph(model, input_to_model, verbose, use_strict_trace))

    def flush(self) -> None:
        """Write out what waits."""
        for writer in (self.all_writers or {}).values():
            writer.flush()

    def close(self) -> None:
        """Write out what waits, and close the files; the next `add_...` opens new ones."""
        for writer in (self.all_writers or {}).values():
            writer.flush()
            writer.close()
        self.file_writer = self.all_writers = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _pixels(figure: Any) -> Any:
    """A figure as bytes (H, W, 3)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3]


def _sprite(images: Any, path: Path) -> None:
    """Pictures (N, C, H, W) in a square."""
    N, C, H, W = images.shape
    side = int(np.ceil(np.sqrt(N)))
    padded = np.concatenate([images, np.ones((side * side - N, C, H, W), images.dtype)])
    square = padded.reshape(side, side, C, H, W).transpose(2, 0, 3, 1, 4).reshape(C, side * H, side * W)
    Image.fromarray(summaries.as_picture(square, "CHW")).save(path)


def _parse(text: str, config: Any) -> None:
    from google.protobuf import text_format

    text_format.Parse(text, config)
