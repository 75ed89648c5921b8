"""View operators under vmap and forward mode: the result is a view of the value, so that in-place writes reach it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.autograd.batches import NotBatched
from tenfold.autograd.batching import Batch, Result, batching, batching_by_name
from tenfold.autograd.batching_rules.kinds import keep, shifted, shifting
from tenfold.autograd.geometry import extent
from tenfold.autograd.tangents import LINEAR, jvp_by_name
from tenfold.dispatch.operators import op
from tenfold.dispatch.shape_rules import wrap_dims
from tenfold.ops.view.shapes import infer_size, unsqueeze as unsqueeze_
from tenfold.types.dtypes import dtype

batching(op.detach)(keep)
batching_by_name("select split_with_sizes unbind", shifting("dim"))
batching_by_name("unfold", shifting("dimension"))
batching_by_name("diagonal", shifting("dim1", "dim2"))


@batching(op.view)
def view(batch: Batch) -> Result:
    x, shape = batch.front("input"), batch.values["shape"]
    if isinstance(shape, dtype):
        return batch.call(input=x), 0
    numel = 1
    for size in batch.shape("input"):
        numel *= size
    return batch.call(input=x, shape=(batch.size, *infer_size(shape, numel, "view"))), 0


@batching(op.permute)
def permute(batch: Batch) -> Result:
    return batch.call(input=batch.front("input"), dims=(0, *shifted(batch.values["dims"], batch.ndim("input")))), 0


@batching(op.transpose)
def transpose(batch: Batch) -> Result:
    n = batch.ndim("input")
    if n == 0:
        return batch.front("input"), 0
    dims = {name: shifted(batch.values[name], n) for name in ("dim0", "dim1")}
    return batch.call(input=batch.front("input"), **dims), 0


@batching(op.expand)
def expand(batch: Batch) -> Result:
    x, size = batch.front("input"), tuple(batch.values["size"])
    lead = len(size) - batch.ndim("input")
    for _ in range(lead):
        x = unsqueeze_(x, 1)
    if lead < 0 or any(n < 0 for n in size[:lead]):
        raise RuntimeError(f"expand: sizes {list(size)} do not fit a tensor of shape {list(batch.shape('input'))}")
    return batch.call(input=x, size=(batch.size, *size)), 0


@batching(op.unsqueeze)
def unsqueeze(batch: Batch) -> Result:
    return batch.call(input=batch.front("input"), dim=shifted(batch.values["dim"], batch.ndim("input") + 1)), 0


@batching(op.squeeze)
def squeeze(batch: Batch) -> Result:
    shape, dim = batch.shape("input"), batch.values["dim"]
    if dim is None:
        dims: Any = tuple(i + 1 for i, n in enumerate(shape) if n == 1)
    elif not shape:
        try:
            wrap_dims(dim, 0, "squeeze")
        except IndexError as error:  # PyTorch's type where an example is a single number
            raise NotBatched(str(error)) from None
        dims = ()
    else:
        dims = shifted((dim,) if isinstance(dim, (int, np.integer)) else dim, len(shape))
    return batch.call(input=batch.front("input"), dim=dims), 0


@batching(op.as_strided)
def as_strided(batch: Batch) -> Result:
    x: Any = batch.front("input")
    size, stride, given = (batch.values[name] for name in ("size", "stride", "storage_offset"))
    if len(size) != len(stride):
        raise NotBatched(
            f"as_strided: size and stride must have the same length, got size {list(size)} and stride {list(stride)}; give one "
            f"stride for each dimension"
        )
    first = 0 if given is None else given - x.storage_offset()  # given is a place in the storage
    own, reach = extent(x.shape[1:], x.stride()[1:]), extent(size, stride)
    if reach and (first < 0 or first + reach > own):
        raise RuntimeError(
            f"result = tensor.as_strided({list(size)}, {list(stride)}, {given}) can access memory outside of `tensor`: elements "
            f"{first} to {first + reach - 1}, where `tensor` has 0 to {own - 1}. This is not supported inside of vmap; write it "
            f"as other views"
        )
    offset = x.storage_offset() + first
    return batch.call(input=x, size=(batch.size, *size), stride=(x.stride(0), *stride), storage_offset=offset), 0


jvp_by_name(
    "view permute transpose expand unsqueeze squeeze select diagonal unfold split_with_sizes unbind as_strided",
    LINEAR,
)
