"""What is an int to an argument that asks for one: NumPy's numbers and those of tensors, no bools and floats, as in PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenfold

torch = pytest.importorskip("torch")

PROGRAMS: dict[str, Any] = {
    "topk": lambda t, n: t.ones(4, 4).topk(n).values,
    "topk dim": lambda t, n: t.ones(4, 4).topk(2, n).values,
    "kthvalue": lambda t, n: t.arange(4.0).kthvalue(n).values,
    "randperm": lambda t, n: t.randperm(n),
    "randint": lambda t, n: t.randint(n, (2,)) * 0,
    "eye": lambda t, n: t.eye(n),
    "zeros": lambda t, n: t.zeros(n),
    "zeros of a tuple": lambda t, n: t.zeros((n, 2)),
    "full": lambda t, n: t.full((n,), 3),
    "new_zeros": lambda t, n: t.ones(1).new_zeros(n),
    "tril": lambda t, n: t.ones(3, 3).tril(n),
    "triu": lambda t, n: t.ones(3, 3).triu(n),
    "diagonal": lambda t, n: t.ones(3, 3).diagonal(n),
    "roll": lambda t, n: t.arange(6).view(2, 3).roll(n),
    "roll along": lambda t, n: t.arange(6).view(2, 3).roll(1, n),
    "roll of tuples": lambda t, n: t.arange(6).view(2, 3).roll((n,), (0,)),
    "repeat": lambda t, n: t.arange(3).repeat(n, 2),
    "chunk": lambda t, n: t.arange(4).chunk(n)[0],
    "split along": lambda t, n: t.ones(4, 4).split(2, n)[0],
    "split in parts": lambda t, n: t.arange(2).split([n, 1])[0],
    "sum": lambda t, n: t.arange(6.0).view(2, 3).sum(n),
    "sum by name": lambda t, n: t.arange(6.0).view(2, 3).sum(dim=n),
    "mean": lambda t, n: t.arange(6.0).view(2, 3).mean(n),
    "amax": lambda t, n: t.arange(6.0).view(2, 3).amax(n),
    "prod": lambda t, n: t.arange(6.0).view(2, 3).prod(n),
    "logsumexp": lambda t, n: t.arange(6.0).view(2, 3).logsumexp(n) * 0,
    "argmax": lambda t, n: t.arange(6.0).view(2, 3).argmax(n),
    "softmax": lambda t, n: t.zeros(2, 4).softmax(n),
    "cumsum": lambda t, n: t.ones(2, 4).cumsum(n),
    "squeeze": lambda t, n: t.ones(2, 1).squeeze(n),
    "unsqueeze": lambda t, n: t.ones(2, 1).unsqueeze(n),
    "view": lambda t, n: t.ones(1).view(n),
    "reshape": lambda t, n: t.ones(1).reshape(n),
    "reshape to a tuple": lambda t, n: t.reshape(t.ones(1, 1), (n, 1)),
    "reshape behind": lambda t, n: t.ones(1, 1).reshape(1, n),
    "expand": lambda t, n: t.ones(1, 1).expand(n, 1),
    "expand behind": lambda t, n: t.ones(1, 1).expand(1, n),
    "broadcast_to": lambda t, n: t.ones(1, 1).broadcast_to((n, 1)),
    "repeat behind": lambda t, n: t.arange(3).repeat(2, n),
    "zeros behind": lambda t, n: t.zeros(2, n),
    "roll behind": lambda t, n: t.arange(6).view(2, 3).roll((1, n), (0, 1)),
    "unflatten behind": lambda t, n: t.ones(2, 3).unflatten(0, (2, n)),
    "permute": lambda t, n: t.ones(2, 3).permute(n, 0),
    "transpose": lambda t, n: t.ones(2, 3).transpose(0, n),
    "flatten": lambda t, n: t.ones(2, 3, 4).flatten(n),
    "movedim": lambda t, n: t.ones(2, 3).movedim(n, 0),
    "narrow": lambda t, n: t.arange(4).narrow(0, n, 1),
    "narrow length": lambda t, n: t.arange(4).narrow(0, 1, n),
    "select": lambda t, n: t.ones(2, 3).select(n, 0),
    "cat": lambda t, n: t.cat((t.ones(2, 2), t.ones(2, 2)), n),
    "gather": lambda t, n: t.ones(2, 2).gather(n, t.tensor([[1]])),
    "flip": lambda t, n: t.arange(6).view(2, 3).flip((n,)),
    "rot90": lambda t, n: t.ones(2, 3).rot90(1, (n, 0)),
    "as_strided": lambda t, n: t.ones(6).as_strided((n,), (1,)),
    "as_strided strides": lambda t, n: t.ones(6).as_strided((2,), (n,)),
    "gradient": lambda t, n: t.gradient(t.ones(2, 3), dim=(n,))[0],
    "fftshift": lambda t, n: t.fft.fftshift(t.arange(6).view(2, 3), (n,)),
    "tensordot": lambda t, n: t.tensordot(t.ones(2, 3), t.ones(2, 3), ([n], [n])),
    "tensor_split": lambda t, n: t.arange(4).tensor_split((n, 2))[0],
    "slice_scatter": lambda t, n: t.ones(4).slice_scatter(t.zeros(3), 0, n),
    "slice_scatter end": lambda t, n: t.ones(4).slice_scatter(t.zeros(1), 0, 0, n),
    "diag_embed along": lambda t, n: t.ones(2, 2).diag_embed(0, n, 2),
    "layer_norm": lambda t, n: t.nn.functional.layer_norm(t.ones(3, 1), (n,)),
    "layer_norm behind": lambda t, n: t.nn.functional.layer_norm(t.ones(3, 1, 1), (1, n)),
    "rms_norm": lambda t, n: t.nn.functional.rms_norm(t.ones(3, 1), (n,)) * 0,
    "polygamma": lambda t, n: t.polygamma(n, t.ones(1)) * 0,
    "max_pool2d": lambda t, n: t.nn.functional.max_pool2d(t.ones(1, 4, 4), n),
    "max_pool2d stride": lambda t, n: t.nn.functional.max_pool2d(t.ones(1, 4, 4), 2, stride=n),
    "max_pool2d of a tuple": lambda t, n: t.nn.functional.max_pool2d(t.ones(1, 4, 4), (n, 1)),
    "avg_pool2d": lambda t, n: t.nn.functional.avg_pool2d(t.ones(1, 4, 4), n),
    "adaptive_avg_pool2d": lambda t, n: t.nn.functional.adaptive_avg_pool2d(t.ones(1, 4, 4), (n, 1)),
    "conv2d stride": lambda t, n: t.nn.functional.conv2d(t.ones(1, 1, 4, 4), t.ones(1, 1, 2, 2), stride=n),
    "conv2d padding": lambda t, n: t.nn.functional.conv2d(t.ones(1, 1, 4, 4), t.ones(1, 1, 2, 2), padding=n),
    "pad": lambda t, n: t.nn.functional.pad(t.ones(2, 2), (n, 0)),
    "pixel_shuffle": lambda t, n: t.nn.functional.pixel_shuffle(t.ones(1, 4, 2, 2), n),
    "Linear": lambda t, n: t.nn.Linear(n, n).weight * 0,
    "Embedding": lambda t, n: t.nn.Embedding(n, 2).weight * 0,
    "GRU": lambda t, n: t.nn.GRU(2, 2, n).weight_ih_l0 * 0,
}

INTEGERS: dict[str, Any] = {
    "int": lambda t: 1,
    "int64 of NumPy": lambda t: np.int64(1),
    "uint8 of NumPy": lambda t: np.uint8(1),
    "a tensor": lambda t: t.tensor(1),
    "an int32 tensor": lambda t: t.tensor(1, dtype=t.int32),
}
OTHERS: dict[str, Any] = {
    "bool": lambda t: True,
    "float": lambda t: 1.0,
    "float32 of NumPy": lambda t: np.float32(1),
    "float64 of NumPy": lambda t: np.float64(1),
    "bool of NumPy": lambda t: np.bool_(True),
    "a float tensor": lambda t: t.tensor(1.0),
    "str": lambda t: "1",
    "complex": lambda t: 1 + 0j,
}


def outcome(t: Any, program: Any, value: Any) -> Any:
    """The result's elements, or the type of the error."""
    try:
        return program(t, value(t)).tolist()
    except (TypeError, RuntimeError, ValueError, IndexError) as error:
        return type(error)


@pytest.mark.parametrize("kind", {**INTEGERS, **OTHERS})
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_an_int_is(name: str, kind: str) -> None:
    value = {**INTEGERS, **OTHERS}[kind]
    result, expected = (outcome(t, PROGRAMS[name], value) for t in (tenfold, torch))
    assert result == expected
