"""Short-time Fourier transform: spectra of overlapping stretches of a signal, and back."""

from __future__ import annotations

import warnings
from typing import Any

from tenfold.dispatch.operators import composite, op
from tenfold.ops.view.shapes import of_a_copy
from tenfold.scientific.masks import anywhere
from tenfold.settings.warnings import warn_once
from tenfold.tensor.tensor import Tensor


@composite("signal")
def stft(
    input: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Tensor | None = None,
    center: bool = True, pad_mode: str = "reflect", normalized: bool = False, onesided: bool | None = None,
    return_complex: bool | None = None, align_to_window: bool | None = None,
) -> Tensor:  # fmt: skip
    """Spectra of the stretches of `n_fft` values that begin every `hop_length` (n_fft // 4) values, weighted by `window`.

    Shape: (T,) or (B, T) -> (..., n_fft // 2 + 1 or n_fft, frames). With `center` the signal is padded so that stretch t lies
    around value t hop_length. `normalized` divides by the root of n_fft; `onesided`, the default for real signals, leaves
    out the values that are conjugates of others.

    >>> import tenfold
    >>> tenfold.stft(tenfold.ones(8), 4, window=tenfold.ones(4), return_complex=True).shape
    tenfold.Size([3, 9])
    """
    hop, length = n_fft // 4 if hop_length is None else hop_length, n_fft if win_length is None else win_length
    is_complex = input.dtype.is_complex or (window is not None and window.dtype.is_complex)
    if return_complex is None:
        if not is_complex:
            raise RuntimeError(
                "stft requires the return_complex parameter be given for real inputs: True for complex numbers, "
                "False for pairs of real ones"
            )
        return_complex = True
    if not return_complex:
        warn_once(
            "stft", "stft with return_complex=False is deprecated. torch.view_as_real of the complex result gives what it gives."
        )
    _check("stft", input, window, n_fft, hop, length, center, align_to_window)
    if window is None:
        warn_of_no_window("which is known to cause spectral leakage; hann_window and hamming_window make others")
    x = input if input.dim() == 2 else input.unsqueeze(0)
    if center:
        x = _padded(x, n_fft // 2, pad_mode)
    if not 0 < n_fft <= x.shape[-1]:
        raise RuntimeError(f"stft: expected 0 < n_fft < {x.shape[-1]}, but got n_fft={n_fft}")
    frames = x.unfold(-1, n_fft, hop)  # (B, frames, n_fft)
    weights = _window(window, n_fft, length, x)
    frames = frames if weights is None else frames * weights
    onesided = not is_complex if onesided is None else onesided
    if onesided and is_complex:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    transform = op.fft_rfft if onesided else op.fft_fft
    spectra = transform(frames, norm="ortho" if normalized else None).mT
    spectra = of_a_copy(spectra if input.dim() == 2 else spectra.squeeze(0))
    return spectra if return_complex else op.view_as_real(spectra)


def warn_of_no_window(why: str) -> None:
    """Say that the stretches end abruptly unless told to."""
    warnings.warn(
        f"A window was not provided. A rectangular window will be applied, {why}. To suppress this warning, give "
        f"window=tenfold.ones(n_fft)",
        UserWarning,
        stacklevel=2,
    )


def _check(name: str, x: Any, window: Any, n_fft: int, hop: int, length: int, center: bool, align: bool | None) -> None:
    if x.dtype.category < 2:
        raise RuntimeError(f"{name}: expected a tensor of floating point or complex values")
    if x.dim() not in (1, 2):
        raise RuntimeError(f"{name}: expected a 1D or 2D tensor")
    if align is not None and center:
        raise RuntimeError(f"{name}: align_to_window should only be set when center = false.")
    if hop <= 0:
        raise RuntimeError(f"{name}: expected hop_length > 0, but got hop_length={hop}")
    if not 0 < length <= n_fft:
        raise RuntimeError(f"{name}: expected 0 < win_length <= n_fft, but got win_length={length}")
    if window is not None and tuple(window.shape) != (length,):
        raise RuntimeError(
            f"{name}: expected a 1D window tensor of size equal to win_length={length}, "
            f"but got window with size {list(window.shape)}"
        )


def _window(window: Any, n_fft: int, length: int, x: Any) -> Any:
    """The window with zeros on both sides up to n_fft values; None for ones everywhere."""
    if window is None and length == n_fft:
        return None
    window = op.ones(length, dtype=x.dtype, device=x.device) if window is None else window
    left = (n_fft - length) // 2
    return op.cat([window.new_zeros(left), window, window.new_zeros(n_fft - length - left)])


def _padded(x: Any, n: int, mode: str) -> Any:
    """n values more on both sides of the last dimension: zeros, or the signal's own mirrored, repeated or wrapped around."""
    size = x.shape[-1]
    if mode == "constant":
        zeros = x.new_zeros([*x.shape[:-1], n])
        return op.cat([zeros, x, zeros], -1)
    places = op.arange(-n, size + n, device=x.device)
    if mode == "reflect":
        if n >= size:
            raise RuntimeError(
                f"Argument #4: Padding size should be less than the corresponding input dimension, but got: padding ({n}, {n}) "
                f"at dimension 2 of input {[1, *x.shape]}"
            )
        places = (size - 1) - (places.abs() - (size - 1)).abs()
    elif mode == "replicate":
        places = places.clamp(0, size - 1)
    elif mode == "circular":
        places = places % size
    else:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    return x.index_select(-1, places)


@composite("signal")
def istft(
    input: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Tensor | None = None,
    center: bool = True, normalized: bool = False, onesided: bool | None = None, length: int | None = None,
    return_complex: bool = False,
) -> Tensor:  # fmt: skip
    """The signal of which `stft` with the same arguments made these spectra: least squares over the overlapping stretches.

    Source: D. Griffin and J. Lim, Signal Estimation from Modified Short-Time Fourier Transform, 1984, equation 6.
    Raises: RuntimeError where the windows leave a value without weight.

    >>> import tenfold
    >>> x = tenfold.arange(8.0)
    >>> window = tenfold.ones(4)
    >>> tenfold.istft(tenfold.stft(x, 4, window=window, return_complex=True), 4, window=window).round().abs()
    tensor([0., 1., 2., 3., 4., 5., 6., 7.])
    """
    hop, width = n_fft // 4 if hop_length is None else hop_length, n_fft if win_length is None else win_length
    onesided = n_fft != input.shape[-2] if onesided is None and input.dim() > 1 else bool(onesided)
    _check_spectra(input, n_fft, hop, width, window, onesided, return_complex)
    x = input if input.dim() == 3 else input.unsqueeze(0)
    norm = "ortho" if normalized else None
    if return_complex:
        frames = op.fft_ifft(x.mT, norm=norm)
    else:  # a real signal's spectrum says everything twice: the first half is read
        frames = op.fft_irfft(x[:, : n_fft // 2 + 1].mT, n_fft, norm=norm)
    if window is None:
        warn_of_no_window("which inverts a transform made with no other")
    weights = _window(window, n_fft, width, frames.real if frames.dtype.is_complex else frames)
    if weights is None:
        weights = frames.new_ones(n_fft)
    signal = _overlapped(frames * weights, hop)
    total = _overlapped((weights * weights).expand(1, frames.shape[1], n_fft), hop)
    start = n_fft // 2 if center else 0
    end = signal.shape[-1]
    stop = start + length if length is not None else (end - n_fft // 2 if center else end)
    signal, total = signal[:, start : min(stop, end)], total[:, start : min(stop, end)]
    if not total.is_meta and anywhere(total.abs() < 1e-11):
        raise RuntimeError(f"istft({list(input.shape)}) window overlap add min: 1")
    signal = signal / total
    if stop > end:
        warnings.warn(
            "The length of signal is shorter than the length parameter. Result is being padded with zeros in the tail. "
            "Please check your center and hop_length settings.",
            UserWarning,
            stacklevel=2,
        )
        signal = op.cat([signal, signal.new_zeros(signal.shape[0], stop - end)], -1)
    return signal if input.dim() == 3 else signal.squeeze(0)


def _check_spectra(x: Any, n_fft: int, hop: int, width: int, window: Any, onesided: bool, return_complex: bool) -> None:
    if not x.dtype.is_complex:
        raise RuntimeError("istft requires a complex-valued input tensor matching the output from stft with return_complex=True.")
    if x.dim() not in (2, 3):
        raise RuntimeError(f"istft: expected a tensor with 2 or 3 dimensions, but got {x.dim()}")
    if x.numel() == 0:
        raise RuntimeError("istft: input tensor cannot be empty.")
    rows = n_fft // 2 + 1 if onesided else n_fft
    if x.shape[-2] != rows:
        raise RuntimeError(
            f"istft: expected the frequency dimension (3rd to the last) of the input tensor to match n_fft "
            f"{'/ 2 + 1 ' if onesided else ''}when onesided={onesided}, but got {x.shape[-2]}"
        )
    if not 0 < hop <= width:
        raise RuntimeError("istft: expected 0 < hop_length <= win_length")
    if not 0 < width <= n_fft:
        raise RuntimeError("istft: expected 0 < win_length <= n_fft")
    if window is not None and tuple(window.shape) != (width,):
        raise RuntimeError(f"istft: Invalid window shape. window has to be 1D and length of `win_length`={width}")
    if return_complex and onesided:
        raise RuntimeError("istft: Cannot have onesided output if window or input is complex")
    if not return_complex and window is not None and window.dtype.is_complex:
        raise RuntimeError("Complex windows are incompatible with return_complex=False")


def _overlapped(frames: Any, hop: int) -> Any:
    """Stretches of n values, one every `hop`, added up where they overlap: (B, frames, n) -> (B, n + hop (frames - 1))."""
    B, count, n = frames.shape
    starts = op.arange(count, device=frames.device).unsqueeze(-1) * hop
    places = (starts + op.arange(n, device=frames.device)).reshape(-1)
    return frames.new_zeros(B, n + hop * (count - 1)).index_add(1, places, frames.reshape(B, count * n))
