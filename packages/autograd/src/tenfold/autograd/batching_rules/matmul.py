"""Matrix products under vmap and forward mode: a batch of products, or one product of a taller matrix."""

from __future__ import annotations

from tenfold.autograd.batches import move
from tenfold.autograd.batching import Batch, Result, batching
from tenfold.autograd.tangents import MULTILINEAR, jvp_by_name
from tenfold.dispatch.operators import op
from tenfold.ops.matmul.products import bmm as bmm_, mm as mm_
from tenfold.ops.view.shapes import reshape


@batching(op.mm)
def mm(batch: Batch) -> Result:
    B = batch.size
    (M, K), (_, N) = batch.shape("input"), batch.shape("mat2")
    if len(batch.names) == 2:
        return bmm_(batch.front("input"), batch.front("mat2")), 0
    if batch.names == ["input"]:
        return reshape(mm_(reshape(batch.front("input"), (B * M, K)), batch.values["mat2"]), (B, M, N)), 0
    wide = reshape(move(batch.values["mat2"], batch.dims["mat2"], 1, B), (K, B * N))
    return reshape(mm_(batch.values["input"], wide), (M, B, N)), 1


@batching(op.bmm)
def bmm(batch: Batch) -> Result:
    B = batch.size
    (b, M, K), N = batch.shape("input"), batch.shape("mat2")[2]
    if batch.names == ["input"]:
        tall = reshape(move(batch.values["input"], batch.dims["input"], 1, B), (b, B * M, K))
        return reshape(bmm_(tall, batch.values["mat2"]), (b, B, M, N)), 1
    if batch.names == ["mat2"]:
        wide = reshape(move(batch.values["mat2"], batch.dims["mat2"], 2, B), (b, K, B * N))
        return reshape(bmm_(batch.values["input"], wide), (b, M, B, N)), 2
    left, right = reshape(batch.front("input"), (B * b, M, K)), reshape(batch.front("mat2"), (B * b, K, N))
    return reshape(bmm_(left, right), (B, b, M, N)), 0


jvp_by_name("mm bmm mv dot", MULTILINEAR)
