"""Convolution and its gradients by cuDNN, where it is installed: what kernels/conv.py asks first.

A transposed convolution is the input gradient of another, and its gradient that one's result.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from tenfold.cuda import cudnn_graphs, runtime
from tenfold.cuda.kernels.conversion import write
from tenfold.cuda.precision import convolution_precision

Ints = tuple[int, ...]
TYPES = {"float16": "HALF", "bfloat16": "BFLOAT16", "float32": "FLOAT"}
FEWEST = 4  # dimensions of an image to cuDNN
X, W, Y, B = 1, 2, 3, 4  # the numbers of a graph's tensors


class Lay:
    """An array (N, C, *S) in one piece, rows or channels last, as cuDNN is told of it, with two spatial dimensions or more."""

    def __init__(self, shape: Ints, last: bool) -> None:
        self.sizes = (*shape[:2], *(1,) * (FEWEST - len(shape)), *shape[2:])
        order = (0, *range(2, len(self.sizes)), 1) if last else tuple(range(len(self.sizes)))
        steps, step = [0] * len(order), 1
        for d in reversed(order):
            steps[d], step = step, step * self.sizes[d]
        self.strides = tuple(steps)

    def tensor(self, graph: Any, kind: Any, number: int) -> Any:
        found = graph.tensor(dim=list(self.sizes), stride=list(self.strides), data_type=kind)
        found.set_uid(number)
        return found

    def as_result(self, tensor: Any, kind: Any, number: int) -> None:
        tensor.set_output(True).set_dim(list(self.sizes)).set_stride(list(self.strides)).set_data_type(kind).set_uid(number)


def _allocated(shape: Ints, dtype: Any, index: int, last: bool) -> Any:
    now = runtime.current()
    if not last:
        return now.empty(shape, dtype, index)
    block = now.empty((shape[0], *shape[2:], shape[1]), dtype, index)
    return block.transpose((0, len(shape) - 1, *range(1, len(shape) - 1)))


def _lying(x: Any, last: bool, index: int) -> Any:
    """The array in one piece, channels last or row-major; copied if it is neither."""
    lay = Lay(x.shape, last)
    strides = (*lay.strides[:2], *lay.strides[len(lay.strides) - x.ndim + 2 :])
    dense = all(n == 1 or s == t * x.dtype.itemsize for n, s, t in zip(x.shape, x.strides, strides))
    if dense and not runtime.current().pointer(x) % cudnn_graphs.ALIGNMENT:
        return x
    found = _allocated(x.shape, x.dtype, index, last)
    write(found, x)
    return found


def _window(rank: int, stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int]) -> dict[str, list[int]]:
    """cuDNN's arguments for a window, a dimension of one element before a single spatial one."""
    missing = max(FEWEST - 2 - rank, 0)
    padded = [0] * missing + [int(n) for n in padding]
    steps, distances = ([1] * missing + [int(n) for n in values] for values in (stride, dilation))
    return {"pre_padding": padded, "post_padding": padded, "stride": steps, "dilation": distances}


def _without(dtype: Any) -> tuple[str, ...]:
    """The numerical notes of algorithms that the switches exclude."""
    notes: tuple[str, ...] = ("NONDETERMINISTIC",) if cudnn_graphs.deterministic() else ()
    if dtype.name == "float32":
        notes += ("DOWN_CONVERT_INPUTS",)
        notes += () if convolution_precision(dtype) == "tf32" else ("TENSOR_CORE",)
    return notes


def _result(
    kind: str, shape: Ints, last: bool, arrays: dict[int, Any], window: dict[str, list[int]], draw: Any, index: int
) -> Any:
    """Run the graph of a problem, made if it is new; None where there is none. `arrays` by the numbers of the graph's tensors."""
    library = cudnn_graphs.wanted()
    dtype = next(iter(arrays.values())).dtype
    without = _without(dtype)
    key = (
        kind, dtype, last, index, shape, tuple((n, a.shape) for n, a in arrays.items()), *map(tuple, window.values()), without,
    )  # fmt: skip
    io = getattr(library.data_type, TYPES[dtype.name])

    def make(graph: Any) -> None:
        tensors = {n: Lay(a.shape, last).tensor(graph, io, n) for n, a in arrays.items() if n != B}
        if B in arrays:
            tensors[B] = Lay((1, arrays[B].size, *(1,) * (len(shape) - 2)), last).tensor(graph, io, B)
        Lay(shape, last).as_result(draw(graph, tensors), io, Y)

    known = key in cudnn_graphs._graphs
    found = cudnn_graphs.graph(library, key, index, make, io, without)
    if found is None:
        return None
    out, pointer = _allocated(shape, dtype, index, last), runtime.current().pointer
    addresses = {Y: pointer(out), **{n: pointer(a) for n, a in arrays.items()}}
    most = None if known else cudnn_graphs.trials()
    if most is not None:
        found.try_all(addresses, most)
    found.run(addresses)
    return out


def _served(*arrays: Any) -> bool:
    first = arrays[0]
    if cudnn_graphs.wanted() is None or first.dtype.name not in TYPES:
        return False
    return all(a.dtype == first.dtype and a.size and 2 < a.ndim <= 5 for a in arrays)


def correlated(x: Any, weight: Any, bias: Any, shape: Ints, parameters: Any, transposed: bool, last: bool) -> Any:
    """The correlation of x with the windows of `weight`, or its transpose, of a shape (N, C, *S); None where cuDNN has none.

    `parameters`: stride, padding, dilation.
    """
    if not _served(x, weight):
        return None
    index = runtime.current().index_of(x)
    window = _window(x.ndim - 2, *parameters)
    arrays = {X: _lying(x, last, index), W: _lying(weight, last, index)}

    def forward(graph: Any, tensors: dict[int, Any]) -> Any:
        found = graph.conv_fprop(image=tensors[X], weight=tensors[W], **window)
        return found if B not in tensors else graph.bias(input=found, bias=tensors[B])

    def backward(graph: Any, tensors: dict[int, Any]) -> Any:
        return graph.conv_dgrad(loss=tensors[X], filter=tensors[W], **window)

    if transposed:
        found = _result("transposed", shape, last, arrays, window, backward, index)
    else:
        if bias is not None and bias.flags.c_contiguous and not runtime.current().pointer(bias) % cudnn_graphs.ALIGNMENT:
            found = _result("biased", shape, last, {**arrays, B: bias}, window, forward, index)
            if found is not None:
                return found
        found = _result("plain", shape, last, arrays, window, forward, index)
    if found is None or bias is None:
        return found
    from tenfold.cuda.kernels.elementwise import run  # only where cuDNN adds none

    column = bias.reshape(-1, *(1,) * (len(shape) - 2))
    run("add", found, column, out=found)
    return found


def windows(g: Any, x: Any, shape: Ints, parameters: Any, last: bool) -> Any:
    """The gradient of windows of a shape, from the results' gradient and the images; None where cuDNN has none."""
    if not _served(g, x) or not prod(shape):
        return None
    index = runtime.current().index_of(x)
    window = _window(x.ndim - 2, *parameters)
    arrays = {X: _lying(x, last, index), W: _lying(g, last, index)}

    def draw(graph: Any, tensors: dict[int, Any]) -> Any:
        return graph.conv_wgrad(image=tensors[X], loss=tensors[W], **window)

    return _result("windows", shape, last, arrays, window, draw, index)
