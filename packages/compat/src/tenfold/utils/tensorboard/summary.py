"""What TensorBoard shows, as the messages that its files hold: a function for each kind of summary."""

from __future__ import annotations

import io
import wave
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from PIL import Image

from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.plugins.hparams import api_pb2, metadata as hparams_metadata, plugin_data_pb2
from tensorboard.plugins.pr_curve.plugin_data_pb2 import PrCurvePluginData
from tensorboard.plugins.text.plugin_data_pb2 import TextPluginData

Array = np.ndarray[Any, Any]


def array_of(value: Any) -> Array:
    """A tensor's, array's or number's values."""
    value = value.detach().cpu() if hasattr(value, "detach") else value
    if getattr(value, "is_floating_point", bool)() and value.element_size() < 4:
        value = value.float()
    return np.asarray(value.numpy() if hasattr(value, "numpy") else value)


def _tensor(values: Array) -> TensorProto:
    dims = [TensorShapeProto.Dim(size=size) for size in values.shape]
    return TensorProto(dtype="DT_FLOAT", float_val=values.ravel().tolist(), tensor_shape=TensorShapeProto(dim=dims))


def _metadata(plugin: str, content: bytes) -> SummaryMetadata:
    return SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name=plugin, content=content))


def scalar(name: str, tensor: Any, new_style: bool = False, double_precision: bool = False) -> Summary:
    """One number."""
    value = array_of(tensor)
    if value.size != 1:
        raise AssertionError(
            f"Tensor should contain one element (0 dimensions). Was given size: {value.size} and {value.ndim} dimensions."
        )
    number = float(value.reshape(()))
    if not (new_style or double_precision):
        return Summary(value=[Summary.Value(tag=name, simple_value=number)])
    proto = (
        TensorProto(double_val=[number], dtype="DT_DOUBLE")
        if double_precision
        else TensorProto(float_val=[number], dtype="DT_FLOAT")
    )
    return Summary(value=[Summary.Value(tag=name, tensor=proto, metadata=_metadata("scalars", b""))])


def _edges() -> list[float]:
    """TensorBoard's usual boundaries, each a tenth further from zero than the last."""
    positive = [1e-12 * 1.1**i for i in range(774)]
    return [*(-edge for edge in reversed(positive)), 0.0, *positive]


def histogram(name: str, values: Any, bins: Any, max_bins: int | None = None) -> Summary:
    """How often values lie where; `bins` as `numpy.histogram` takes it, or "tensorflow" for TensorBoard's own."""
    flat = array_of(values).astype(np.float64).ravel()
    if not flat.size:
        raise ValueError("The input has no element.")
    counts, limits = np.histogram(flat, bins=_edges() if isinstance(bins, str) and bins == "tensorflow" else bins)
    if max_bins is not None and len(counts) > max_bins:
        step = len(counts) // max_bins
        counts = np.add.reduceat(counts, np.arange(0, len(counts), step))
        limits = np.append(limits[:-1:step], limits[-1])
    filled = np.flatnonzero(counts)
    if not filled.size:
        raise ValueError("The histogram is empty, please file a bug report.")
    start, end = filled[0], filled[-1] + 1
    # One empty bin stands in front, as the first bin's lower boundary.
    counts = np.concatenate([counts[max(start - 1, 0) : end]]) if start > 0 else np.concatenate([[0], counts[:end]])
    limits = limits[start : end + 1]
    proto = HistogramProto(
        min=flat.min(), max=flat.max(), num=len(flat), sum=flat.sum(), sum_squares=flat @ flat,
        bucket_limit=limits.tolist(), bucket=counts.tolist(),
    )  # fmt: skip
    return Summary(value=[Summary.Value(tag=name, histo=proto)])


def histogram_raw(
    name: str, min: float, max: float, num: int, sum: float, sum_squares: float, bucket_limits: Any, bucket_counts: Any
) -> Summary:
    """A histogram that was counted elsewhere."""
    proto = HistogramProto(
        min=min, max=max, num=num, sum=sum, sum_squares=sum_squares, bucket_limit=list(bucket_limits), bucket=list(bucket_counts)
    )
    return Summary(value=[Summary.Value(tag=name, histo=proto)])


def as_picture(values: Any, dataformats: str) -> Array:
    """An image, or a batch of them in a grid, as bytes of shape (H, W, C) with one, three or four channels."""
    array = array_of(values)
    order = dataformats.upper()
    if len(order) != array.ndim or len(set(order)) != len(order) or not set(order) <= set("NCHW"):
        raise AssertionError(
            f"size of input tensor and input format are different. tensor shape: {array.shape}, input_format: {order}"
        )
    scale = 1 if array.dtype == np.uint8 else 255
    wanted = [axis for axis in "NHWC" if axis in order]
    array = array.transpose([order.index(axis) for axis in wanted])
    array = array if "C" in order else array[..., None]
    array = _grid(array) if "N" in order else array
    array = np.repeat(array, 3, 2) if array.shape[2] == 1 else array
    return (array * scale).clip(0, 255).astype(np.uint8)


def _grid(images: Array) -> Array:
    """Images (N, H, W, C) side by side, in about as many rows as columns."""
    N, H, W, C = images.shape
    columns = min(N, 8)
    rows = -(-N // columns)
    padded = np.concatenate([images, np.zeros((rows * columns - N, H, W, C), images.dtype)])
    return padded.reshape(rows, columns, H, W, C).transpose(0, 2, 1, 3, 4).reshape(rows * H, columns * W, C)


def image(tag: str, tensor: Any, rescale: float = 1, dataformats: str = "NCHW") -> Summary:
    """A picture."""
    pixels = as_picture(tensor, dataformats)
    picture = Image.fromarray(pixels)
    if rescale != 1:
        picture = picture.resize((int(picture.width * rescale), int(picture.height * rescale)))
    buffer = io.BytesIO()
    picture.save(buffer, format="PNG")
    proto = Summary.Image(
        height=picture.height, width=picture.width, colorspace=pixels.shape[2], encoded_image_string=buffer.getvalue()
    )
    return Summary(value=[Summary.Value(tag=tag, image=proto)])


def audio(tag: str, tensor: Any, sample_rate: int = 44100) -> Summary:
    """A sound of values between -1 and 1."""
    samples = array_of(tensor).squeeze()
    if samples.ndim != 1:
        raise AssertionError(f"add_audio: input tensor should be 1 dimensional, got {samples.shape}")
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(sample_rate)
        sound.writeframes((samples.clip(-1, 1) * 32767).astype("<i2").tobytes())
    proto = Summary.Audio(
        sample_rate=sample_rate, num_channels=1, length_frames=len(samples), encoded_audio_string=buffer.getvalue(),
        content_type="audio/wav",
    )  # fmt: skip
    return Summary(value=[Summary.Value(tag=tag, audio=proto)])


def text(tag: str, text: str) -> Summary:
    """Text in Markdown."""
    proto = TensorProto(
        dtype="DT_STRING", string_val=[text.encode()], tensor_shape=TensorShapeProto(dim=[TensorShapeProto.Dim(size=1)])
    )
    metadata = _metadata("text", TextPluginData(version=0).SerializeToString())
    return Summary(value=[Summary.Value(tag=f"{tag}/text_summary", metadata=metadata, tensor=proto)])


def pr_curve(tag: str, labels: Any, predictions: Any, num_thresholds: int = 127, weights: Any = None) -> Summary:
    """Precision and recall at thresholds between 0 and 1."""
    truth, score = array_of(labels).ravel().astype(bool), array_of(predictions).ravel().astype(np.float64)
    weight = np.ones_like(score) if weights is None else array_of(weights).ravel()
    count = min(num_thresholds, 127)
    bins = np.floor(score * (count - 1)).astype(int).clip(0, count - 1)
    tp = np.bincount(bins, weight * truth, count)[::-1].cumsum()[::-1]
    fp = np.bincount(bins, weight * ~truth, count)[::-1].cumsum()[::-1]
    tn, fn = fp[0] - fp, tp[0] - tp
    tiny = 1e-7
    rows = np.stack([tp, fp, tn, fn, tp / np.maximum(tiny, tp + fp), tp / np.maximum(tiny, tp + fn)])
    metadata = _metadata("pr_curves", PrCurvePluginData(version=0, num_thresholds=count).SerializeToString())
    return Summary(value=[Summary.Value(tag=tag, metadata=metadata, tensor=_tensor(rows))])


def hparams(
    hparam_dict: Mapping[str, Any],
    metric_dict: Mapping[str, Any],
    hparam_domain_discrete: Mapping[str, Sequence[Any]] | None = None,
) -> tuple[Summary, Summary, Summary]:
    """An experiment's hyperparameters and the metrics to compare by: the experiment, the session's start and its end."""
    for what, given in (("hparam_dict", hparam_dict), ("metric_dict", metric_dict)):
        if not isinstance(given, Mapping):
            raise TypeError(f"parameter: {what} should be a dictionary, nothing logged.")
    session = plugin_data_pb2.SessionStartInfo()
    described = []
    for name, value in hparam_dict.items():
        if value is None:
            continue
        value = array_of(value).item() if hasattr(value, "detach") else value
        kind, field = _KINDS[next((kind for kind in _KINDS if isinstance(value, kind)), object)]
        if kind is None:
            raise ValueError("value should be one of int, float, str, bool, or torch.Tensor")
        setattr(session.hparams[name], field, value)
        domain = (hparam_domain_discrete or {}).get(name)
        described.append(api_pb2.HParamInfo(name=name, type=api_pb2.DataType.Value(kind)))
        if domain is not None:
            described[-1].domain_discrete.extend(domain)
    metrics = [api_pb2.MetricInfo(name=api_pb2.MetricName(tag=name)) for name in metric_dict]
    experiment = plugin_data_pb2.HParamsPluginData(experiment=api_pb2.Experiment(hparam_infos=described, metric_infos=metrics))
    end = plugin_data_pb2.SessionEndInfo(status=api_pb2.Status.Value("STATUS_SUCCESS"))
    return (
        _hparams_summary(hparams_metadata.EXPERIMENT_TAG, experiment),
        _hparams_summary(hparams_metadata.SESSION_START_INFO_TAG, plugin_data_pb2.HParamsPluginData(session_start_info=session)),
        _hparams_summary(hparams_metadata.SESSION_END_INFO_TAG, plugin_data_pb2.HParamsPluginData(session_end_info=end)),
    )


# bool stands before int, which it is, too.
_KINDS: dict[type, tuple[str | None, str]] = {
    bool: ("DATA_TYPE_BOOL", "bool_value"), str: ("DATA_TYPE_STRING", "string_value"),
    int: ("DATA_TYPE_FLOAT64", "number_value"), float: ("DATA_TYPE_FLOAT64", "number_value"),
    np.number: ("DATA_TYPE_FLOAT64", "number_value"), object: (None, ""),
}  # fmt: skip


def _hparams_summary(tag: str, data: Any) -> Summary:
    data.version = hparams_metadata.PLUGIN_DATA_VERSION
    metadata = _metadata(hparams_metadata.PLUGIN_NAME, data.SerializeToString())
    return Summary(value=[Summary.Value(tag=tag, metadata=metadata)])
