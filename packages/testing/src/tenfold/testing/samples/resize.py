"""Samples of padding, sliding blocks, resampling and sampling at places."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tenfold
from tenfold.testing.samples import ErrorSample, Make, Sample, error_samples, samples

FLOATS = tuple(tenfold.types.dtypes.BY_NAME[n] for n in ("float32", "float64", "float16", "bfloat16"))
ALL = (*FLOATS, *(tenfold.types.dtypes.BY_NAME[n] for n in ("complex64", "complex128", "int64", "bool")))
S = (3, 4, 5)

# Padding

WIDTHS: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((3,), (1, 2)),
    ((2, 3), (1, 0)),
    ((2, 3), (0, 1, 2, 0)),
    ((2, 3), (-1, 1, 1, -1)),
    ((2, 3), (-1, -1)),
    ((2, 3), (0, 0)),
    ((2, 2, 3), (1, 1, 0, 1, 2, 0)),
    ((0, 3), (1, 1)),
    ((2, 0), (1, 1)),
]


@samples("constant_pad", dtypes=ALL)
def _constant_pad(make: Make) -> Iterator[Sample]:
    for shape, widths in WIDTHS:
        yield Sample(make(*shape), widths, 0, note="empty" if 0 in shape else str(widths))
    yield Sample(make(2, 3, layout="transposed"), (1, 1, 1, 0), 1, note="strided memory")
    if make.dtype in FLOATS:
        yield Sample(make(2, 3), (1, 1), -1.5, note="a fraction")


@samples("pad", dtypes=ALL)
def _pad(make: Make) -> Iterator[Sample]:
    for shape, widths in WIDTHS:
        yield Sample(make(*shape), widths, note="empty" if 0 in shape else str(widths))
    yield Sample(make(2, 3), (1, 1), value=2, note="value")
    refused = make.dtype is tenfold.bool  # by what mirrors and repeats, as PyTorch's does
    for mode in ("circular",) if refused else ("reflect", "replicate", "circular"):
        yield Sample(make(2, 4), (2, 1), mode, note=mode)
        yield Sample(make(1, 2, 3, 4), (1, 2, 0, 1), mode, note=f"{mode}, two dimensions")
        yield Sample(make(2, 3, 3, 3), (1, 0, 0, 1, 1, 1), mode, note=f"{mode}, three dimensions")
        yield Sample(make(2, 4), (-1, 1), mode, note=f"{mode}, cropped")
        yield Sample(make(0, 2, 4), (1, 1), mode, note=f"{mode}, empty batch")
    yield Sample(make(2, 4, layout="transposed"), (2, 1), "circular" if refused else "reflect", note="strided memory")


BORDERS = (
    ((2, 4), (2, 1), "reflect"), ((1, 2, 3, 4), (1, 2, 0, 1), "replicate"), ((2, 3, 3, 3), (1, 0, 0, 1, 1, 1), "circular"),
    ((2, 4), (-1, 1), "reflect"),
)  # fmt: skip


@samples("border_pad", dtypes=ALL)
def _border_pad(make: Make) -> Iterator[Sample]:
    for shape, widths, mode in BORDERS:
        yield Sample(make(*shape), widths, mode, note=f"{mode} {widths}")
    yield Sample(make(2, 4, layout="transposed"), (2, 1), "reflect", note="strided memory")


@samples("border_pad_grad", dtypes=FLOATS)
def _border_pad_grad(make: Make) -> Iterator[Sample]:
    for shape, widths, mode in BORDERS:
        padded = [n + sum(widths[2 * (len(shape) - 1 - d) :][:2]) for d, n in enumerate(shape)]
        yield Sample(make(*padded), shape, widths, mode, note=f"{mode} {widths}")


@samples("constant_pad_nd", dtypes=ALL)
def _constant_pad_nd(make: Make) -> Iterator[Sample]:
    for shape, widths in WIDTHS:
        yield Sample(make(*shape), widths, note="empty" if 0 in shape else str(widths))
    yield Sample(make(2, 3), (1, 1), value=2, note="value")


error_samples("constant_pad_nd")(lambda make: [ErrorSample(make(2, 3), (1, 1, 1), 0, error=RuntimeError, match="divisible by 2")])


@error_samples("constant_pad")
def _constant_pad_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2, 3), (1, 1, 1), 0, error=RuntimeError, match="divisible by 2")
    yield ErrorSample(make(3), (1, 1, 1, 1), 0, error=RuntimeError, match="at most twice")
    yield ErrorSample(make(3), (-2, -2), 0, error=RuntimeError, match="negative")


@error_samples("pad")
def _pad_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2, 3), (1, 1, 1), error=RuntimeError, match="divisible by 2")
    yield ErrorSample(make(2, 3), (3, 3), "reflect", error=RuntimeError, match="less than")
    yield ErrorSample(make(2, 3), (4, 4), "circular", error=RuntimeError, match="wrapping")
    yield ErrorSample(make(3), (1, 1), "reflect", error=NotImplementedError, match="2D, 3D")
    yield ErrorSample(make(2, 3), (1, 1), "mirror", error=NotImplementedError, match="mode")
    yield ErrorSample(make(2, 3), (1, 1), "reflect", 2.0, error=RuntimeError, match="value")


# Sliding blocks: kernel, dilation, padding, stride

BLOCKS: list[tuple[tuple[int, int], tuple[int, int], tuple[int, int], tuple[int, int]]] = [
    ((2, 2), (1, 1), (0, 0), (1, 1)),
    ((2, 3), (1, 1), (1, 0), (2, 1)),
    ((2, 2), (2, 1), (1, 1), (1, 2)),
]


def _positions(size: tuple[int, ...], block: Any) -> list[int]:
    kernel, dilation, padding, stride = block
    steps = zip(size, kernel, dilation, padding, stride)
    return [(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, d, p, s in steps]


@samples("im2col", dtypes=FLOATS)
def _im2col(make: Make) -> Iterator[Sample]:
    for block in BLOCKS:
        yield Sample(make(2, 2, 4, 5), *block)
    yield Sample(make(1, 2, 4), (2,), (1,), (1,), (1,), note="one dimension")
    yield Sample(make(0, 2, 4, 5), *BLOCKS[0], note="empty batch")
    yield Sample(make(1, 2, 4, 5, layout="transposed"), *BLOCKS[1], note="strided memory")


@samples("col2im", dtypes=FLOATS)
def _col2im(make: Make) -> Iterator[Sample]:
    for block in BLOCKS:
        yield Sample(_columns(make, (2,), block), (4, 5), *block)
    yield Sample(_columns(make, (0,), BLOCKS[0]), (4, 5), *BLOCKS[0], note="empty batch")
    yield Sample(_columns(make, (1,), BLOCKS[1], "transposed"), (4, 5), *BLOCKS[1], note="strided memory")


def _columns(make: Make, lead: tuple[int, ...], block: Any, layout: str = "contiguous") -> Any:
    (a, b), (rows, columns) = block[0], _positions((4, 5), block)
    return make(*lead, 2 * a * b, rows * columns, layout=layout)


@samples("unfold_blocks", dtypes=FLOATS)
def _unfold(make: Make) -> Iterator[Sample]:
    for block in BLOCKS:
        yield Sample(make(1, 2, 4, 5), *block)
    yield Sample(make(2, 4, 5), 2, 1, 1, 2, note="unbatched, one number each")
    yield Sample(make(1, 2, 4, 5), kernel_size=(2, 3), note="defaults")
    yield Sample(make(1, 2, 4, 5, layout="transposed"), *BLOCKS[1], note="strided memory")


@samples("fold", dtypes=FLOATS)
def _fold(make: Make) -> Iterator[Sample]:
    for block in BLOCKS:
        yield Sample(_columns(make, (1,), block), (4, 5), *block)
    yield Sample(_columns(make, (), BLOCKS[0]), (4, 5), *BLOCKS[0], note="unbatched")
    yield Sample(_columns(make, (1,), BLOCKS[1], "transposed"), (4, 5), *BLOCKS[1], note="strided memory")


@error_samples("im2col")
@error_samples("col2im")
def _no_tensor(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample([1.0], error=TypeError, match="argument")


@error_samples("unfold_blocks")
def _unfold_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(4, 5), 2, error=RuntimeError, match="3D or 4D")
    yield ErrorSample(make(1, 2, 4, 5), 7, error=RuntimeError, match="at least one")
    yield ErrorSample(make(1, 2, 4, 5), 2, stride=0, error=RuntimeError, match="stride")
    yield ErrorSample(make(1, 2, 4, 5), 2, padding=-1, error=RuntimeError, match="padding")


@error_samples("fold")
def _fold_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(1, 3, 4), (3, 3), 2, error=RuntimeError, match="divisible")
    yield ErrorSample(make(1, 4, 5), (3, 3), 2, error=RuntimeError, match="sliding blocks")
    yield ErrorSample(make(4), (3, 3), 2, error=RuntimeError, match="Expected")


# Resampling

MODES = {1: ("linear",), 2: ("bilinear", "bicubic"), 3: ("trilinear",)}


@samples("interpolate", dtypes=FLOATS)
def _interpolate(make: Make) -> Iterator[Sample]:
    for n in (1, 2, 3):
        size = S[-n:]
        for mode in ("nearest", "nearest-exact", "area"):
            yield Sample(make(1, 2, *size), 3, mode=mode, note=f"{n}-d {mode}")
            yield Sample(make(1, 2, *size), scale_factor=1.7, mode=mode, note=f"{n}-d {mode}, scale")
        for mode in MODES[n]:
            for align in (False, True):
                yield Sample(make(1, 2, *size), 6, mode=mode, align_corners=align, note=f"{n}-d {mode}, {align}")
            yield Sample(make(1, 2, *size), scale_factor=0.6, mode=mode, note=f"{n}-d {mode}, scale")
    for mode in MODES[2]:
        yield Sample(make(1, 2, 6, 5), (2, 3), mode=mode, antialias=True, note=f"{mode}, antialias")
    yield Sample(
        make(1, 1, 5, 4), scale_factor=(1.3, 0.6), mode="bilinear", recompute_scale_factor=True, note="recompute_scale_factor"
    )
    yield Sample(make(0, 2, 4, 5), (2, 2), note="empty batch")
    yield Sample(make(1, 2, 4, 5, layout="transposed"), (3, 6), mode="bilinear", note="strided memory")


@samples("resample", dtypes=(*FLOATS, tenfold.uint8))
def _resample(make: Make) -> Iterator[Sample]:
    for mode in ("nearest", "nearest-exact", "linear", "cubic"):
        x = make.ints(1, 2, 4, 5, low=0, high=255) if make.dtype is tenfold.uint8 else make(1, 2, 4, 5)
        yield Sample(x, (3, 7), (None, 1.5), mode, False, False, note=mode)
        yield Sample(x.permute(0, 2, 3, 1), (6, 5), (None, None), mode, False, False, note=f"{mode}, strided memory")
        yield Sample(x, (4, 5), (None, None), mode, False, False, note=f"{mode}, nothing changes")
    yield Sample(x, (2, 9), (None, None), "linear", True, False, note="aligned corners")
    yield Sample(x, (2, 9), (None, None), "lanczos", False, True, note="antialias")


@samples("resample_grad", dtypes=FLOATS)
def _resample_grad(make: Make) -> Iterator[Sample]:
    for mode in ("nearest", "nearest-exact", "linear", "cubic"):
        yield Sample(make(1, 2, 3, 7), (4, 5), (None, 1.5), mode, False, False, note=mode)
    yield Sample(make(1, 2, 2, 9), (4, 5), (None, None), "linear", True, False, note="aligned corners")
    yield Sample(make(1, 2, 2, 9), (4, 5), (None, None), "lanczos", False, True, note="antialias")


@error_samples("resample")
def _resample_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample([1.0], (2,), (None,), "linear", False, False, error=TypeError, match="argument 'input'")


@error_samples("resample_grad")
def _resample_grad_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample([1.0], (2,), (None,), "linear", False, False, error=TypeError, match="argument 'grad'")


@error_samples("interpolate")
def _interpolate_errors(make: Make) -> Iterator[ErrorSample]:
    x = make(1, 2, 4, 5)
    yield ErrorSample(x, error=ValueError, match="size or scale_factor")
    yield ErrorSample(x, 2, 2.0, error=ValueError, match="size or scale_factor")
    yield ErrorSample(x, 2, mode="linear", error=NotImplementedError, match="4D")
    yield ErrorSample(x, 2, mode="cubic", error=NotImplementedError, match="cubic")
    yield ErrorSample(x, 2, align_corners=True, error=ValueError, match="align_corners")
    yield ErrorSample(x, (2, 2, 2), error=ValueError, match="spatial dimensions")
    yield ErrorSample(x, scale_factor=(2.0,), error=ValueError, match="spatial dimensions")
    yield ErrorSample(x, 2, antialias=True, error=ValueError, match="bilinear, bicubic")
    yield ErrorSample(x, 2, recompute_scale_factor=True, error=ValueError, match="recompute_scale_factor")
    yield ErrorSample(x, 0, error=RuntimeError, match="greater than 0")


def _shuffles(factor: int, *shapes: tuple[int, ...]) -> Any:
    def generate(make: Make) -> Iterator[Sample]:
        for shape in shapes:
            yield Sample(make(*shape), factor, note="empty" if 0 in shape else f"{len(shape)}-d")
        yield Sample(make(*shapes[0], layout="transposed"), factor, note="strided memory")

    return generate


samples("pixel_shuffle", dtypes=ALL)(_shuffles(2, (1, 8, 2, 3), (4, 2, 3), (2, 1, 4, 1, 1), (0, 4, 2, 2)))
samples("pixel_unshuffle", dtypes=ALL)(_shuffles(2, (1, 2, 4, 6), (1, 2, 4), (2, 1, 1, 2, 2), (0, 1, 2, 2)))
for _name in ("channel_shuffle", "native_channel_shuffle"):
    samples(_name, dtypes=ALL)(_shuffles(2, (1, 4, 2, 3), (2, 6, 2), (1, 2, 1, 1, 2), (0, 4, 2)))


@error_samples("pixel_shuffle")
def _pixel_shuffle_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(1, 3, 2, 2), 2, error=RuntimeError, match="divisible")
    yield ErrorSample(make(4, 2), 2, error=RuntimeError, match="3 dimensions")


@error_samples("pixel_unshuffle")
def _pixel_unshuffle_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(1, 1, 3, 2), 2, error=RuntimeError, match="divisible")
    yield ErrorSample(make(4, 2), 2, error=RuntimeError, match="3 dimensions")


@error_samples("native_channel_shuffle")
@error_samples("channel_shuffle")
def _channel_shuffle_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(1, 3, 2), 2, error=RuntimeError, match="divisible")
    yield ErrorSample(make(4, 2), 2, error=RuntimeError, match="3 dimensions")


# Places


@samples("affine_grid", dtypes=FLOATS)
def _affine_grid(make: Make) -> Iterator[Sample]:
    for align in (False, True):
        yield Sample(make(2, 2, 3), (2, 1, 2, 3), align, note=f"2-d, {align}")
        yield Sample(make(1, 3, 4), (1, 2, 2, 2 if align else 1, 3), align_corners=align, note=f"3-d, {align}")
    yield Sample(make(2, 2, 3, layout="transposed"), (2, 1, 3, 2), False, note="strided memory")


@error_samples("affine_grid")
def _affine_grid_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make.ints(1, 2, 3, low=0, high=2), (1, 1, 2, 2), False, error=ValueError, match="floating point")
    yield ErrorSample(make(1, 3, 3), (1, 1, 2, 2), False, error=ValueError, match="Nx2x3")
    yield ErrorSample(make(1, 2, 3), (1, 1, 0, 2), False, error=ValueError, match="positive")


def _places(make: Make, *shape: int, layout: str = "contiguous") -> Any:
    """Places inside and outside, none of them half-way between elements or on one."""
    return make(*shape, low=-1.13, high=1.17, layout=layout)


@samples("grid_sample", dtypes=FLOATS)
def _grid_sample(make: Make) -> Iterator[Sample]:
    for mode in ("bilinear", "nearest", "bicubic"):
        for padding in ("zeros", "border", "reflection"):
            for align in (False, True):
                x, grid = make(1, 2, 3, 4), _places(make, 1, 2, 2, 2)
                yield Sample(x, grid, mode, padding, align, note=f"{mode}, {padding}, {align}")
    for mode in ("bilinear", "nearest"):
        yield Sample(make(1, 1, 2, 3, 3), _places(make, 1, 1, 2, 2, 3), mode, align_corners=False, note=f"3-d {mode}")
    yield Sample(make(0, 2, 3, 4), make(0, 2, 2, 2), align_corners=False, note="empty batch")
    yield Sample(
        make(1, 2, 3, 4, layout="transposed"),
        _places(make, 1, 2, 2, 2, layout="strided"),
        align_corners=False,
        note="strided memory",
    )


def _checked_places(make: Make) -> Iterator[tuple[Any, Any, str, str, bool]]:
    for mode, padding in (("bilinear", "zeros"), ("nearest", "border"), ("bicubic", "reflection")):
        yield make(1, 2, 3, 4), _places(make, 1, 2, 2, 2), mode, padding, mode == "bilinear"
    yield make(1, 1, 2, 3, 3), _places(make, 1, 1, 2, 2, 3), "bilinear", "reflection", False


@samples("fused_grid_sample", dtypes=FLOATS)
def _fused_grid_sample(make: Make) -> Iterator[Sample]:
    for x, grid, *rest in _checked_places(make):
        yield Sample(x, grid, *rest, note=f"{x.dim() - 2}-d, {rest}")


@samples("fused_grid_sample_input_grad", dtypes=FLOATS)
def _fused_grid_sample_input_grad(make: Make) -> Iterator[Sample]:
    for x, grid, *rest in _checked_places(make):
        yield Sample(make(*x.shape[:2], *grid.shape[1:-1]), grid, tuple(x.shape), *rest, note=f"{x.dim() - 2}-d, {rest}")


@samples("fused_grid_sample_grid_grad", dtypes=FLOATS)
def _fused_grid_sample_grid_grad(make: Make) -> Iterator[Sample]:
    for x, grid, *rest in _checked_places(make):
        yield Sample(make(*x.shape[:2], *grid.shape[1:-1]), x, grid, *rest, note=f"{x.dim() - 2}-d, {rest}")


@error_samples("fused_grid_sample")
@error_samples("fused_grid_sample_input_grad")
@error_samples("fused_grid_sample_grid_grad")
@error_samples("border_pad")
@error_samples("border_pad_grad")
def _no_planes(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample([1.0], error=TypeError, match="argument")


@error_samples("grid_sample")
def _grid_sample_errors(make: Make) -> Iterator[ErrorSample]:
    x, grid = make(1, 2, 3, 4), make(1, 2, 2, 2)
    yield ErrorSample(x, grid, "linear", error=ValueError, match="mode")
    yield ErrorSample(x, grid, "bilinear", "wrap", error=ValueError, match="padding_mode")
    yield ErrorSample(x, make(2, 2, 2, 2), error=RuntimeError, match="batch size")
    yield ErrorSample(x, make(1, 2, 2, 3), error=RuntimeError, match="last")
    yield ErrorSample(make(1, 1, 2, 2, 2), make(1, 1, 1, 1, 3), "bicubic", error=RuntimeError, match="bicubic")
    yield ErrorSample(make(1, 2, 0, 4), grid, error=RuntimeError, match="non-empty")


@samples("affine_grid_generator", dtypes=FLOATS)
def _affine_grid_generator(make: Make) -> Iterator[Sample]:
    yield Sample(make(2, 2, 3), (2, 1, 2, 3), False, note="2-d")
    yield Sample(make(1, 3, 4), (1, 2, 2, 2, 3), True, note="3-d")


@samples("grid_sampler", dtypes=FLOATS)
@samples("grid_sampler_2d", dtypes=FLOATS)
def _grid_sampler(make: Make) -> Iterator[Sample]:
    for mode in range(3):
        yield Sample(make(1, 2, 3, 4), _places(make, 1, 2, 2, 2), mode, mode, mode == 1, note=f"modes {mode}")


@samples("grid_sampler_3d", dtypes=FLOATS)
def _grid_sampler_3d(make: Make) -> Iterator[Sample]:
    yield Sample(make(1, 1, 2, 3, 3), _places(make, 1, 1, 2, 2, 3), 0, 1, False, note="volume")


@error_samples("grid_sampler_2d")
def _grid_sampler_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(1, 1, 2, 2, 2), make(1, 1, 1, 1, 3), 0, 0, False, error=RuntimeError, match="expected 4D input")
    yield ErrorSample(make(1, 2, 3, 4), make(1, 2, 2, 2), 3, 0, False, error=RuntimeError, match="interpolation_mode 3 is none")


error_samples("grid_sampler")(
    lambda make: [ErrorSample(make(1, 1, 2, 2), make(1, 1, 1, 2), 0, 9, False, error=RuntimeError, match="padding_mode 9")]
)
error_samples("grid_sampler_3d")(
    lambda make: [ErrorSample(make(1, 1, 2, 2), make(1, 1, 1, 2), 0, 0, False, error=RuntimeError, match="expected 5D input")]
)
error_samples("affine_grid_generator")(
    lambda make: [ErrorSample(make(1, 3, 3), (1, 1, 2, 2), False, error=ValueError, match="Nx2x3")]
)
