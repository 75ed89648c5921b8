"""NumPy's integers, of whatever width, where a number, a size or a dimension is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")

PROGRAMS: dict[str, Any] = {
    "repeat": lambda t, n: t.arange(3).repeat(n),
    "expand": lambda t, n: t.ones(1).expand(n),
    "tile": lambda t, n: t.arange(3).tile(n),
    "view": lambda t, n: t.arange(2).view(n),
    "flip": lambda t, n: t.ones(2, 2, 2).flip(n),
    "repeat_interleave": lambda t, n: t.arange(3).repeat_interleave(n),
    "movedim": lambda t, n: t.ones(1, 2, 3).movedim(n, n - n),
    "chunk": lambda t, n: t.arange(300).chunk(n)[0].sum(),
    "unsafe_chunk": lambda t, n: t.arange(5).unsafe_chunk(n)[0],
    "split": lambda t, n: t.split(t.arange(5), [n, n, n - 1])[1],
    "tensor_split": lambda t, n: t.tensor_split(t.arange(500), n)[1].sum(),
    "hsplit": lambda t, n: t.ones(2, 4).hsplit(n)[0],
    "fftn": lambda t, n: t.fft.fftn(t.ones(2, 2, 2), dim=n).real,
    "fftn sizes": lambda t, n: t.fft.fftn(t.ones(2, 4), s=(n,), dim=(1,)).real,
    "fftshift": lambda t, n: t.fft.fftshift(t.ones(2, 2, 3).cumsum(2), n),
    "conv2d": lambda t, n: t.nn.functional.conv2d(t.ones(1, 2, 5, 5), t.ones(2, 1, 2, 2), None, n, n, n, n),
    "conv_transpose1d": lambda t, n: t.nn.functional.conv_transpose1d(t.ones(1, 2, 5), t.ones(2, 1, 2), None, n, n, n - 1, n),
    "max_pool2d": lambda t, n: t.nn.functional.max_pool2d(t.ones(1, 4, 4), n),
    "storage": lambda t, n: t.ones(t.UntypedStorage(n).nbytes()),
    "typed storage": lambda t, n: t.ones(len(t.FloatStorage(n))),
}


@pytest.mark.filterwarnings("ignore:TypedStorage:UserWarning")
@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint8, np.int8])
@pytest.mark.parametrize("name", PROGRAMS)
def test_integers_of_numpy(name: str, kind: Any) -> None:
    result, expected = (PROGRAMS[name](t, kind(2)) for t in (tenfold, torch))
    assert result.tolist() == expected.tolist()


def test_what_is_no_integer_stays_what_it_is() -> None:
    x = tenfold.ones(1)
    assert x.view(tenfold.int32).dtype is tenfold.int32
    assert x.view((1, 1)).shape == x.view([1, 1]).shape == x.view(tenfold.Size([1, 1])).shape == (1, 1)
    assert x.view(tenfold.uint8).tolist() == [0, 0, 128, 63]
