"""Matrix products under vmap and forward mode: a batch of products, or one product of a taller matrix."""

from __future__ import annotations

from tenfold.autograd.batches import NotBatched, move
from tenfold.autograd.batching import Batch, Result, batching, examples
from tenfold.autograd.batching_rules.kinds import padded
from tenfold.autograd.tangents import MULTILINEAR, jvp_by_name
from tenfold.dispatch.operators import op
from tenfold.ops.matmul import bmm as bmm_, matmul as matmul_, mm as mm_
from tenfold.ops.view.shapes import reshape, squeeze, transpose, unsqueeze


def _check_dims(batch: Batch, left: str, right: str, *, wanted: tuple[int, int]) -> None:
    """RuntimeError where examples have not these dimensions: theirs are told, as the tensors that they came in have one more."""
    got = batch.ndim(left), batch.ndim(right)
    if got != wanted:
        name = batch.operator.name
        raise NotBatched(
            f"{name}: Shape mismatch: Got incorrect dims for {name}(a, b). a has dim {got[0]} and b has dim {got[1]} in each "
            f"example, but expected them to have dim {wanted[0]} and dim {wanted[1]}; use matmul for others"
        )


@batching(op.mm)
def mm(batch: Batch) -> Result:
    _check_dims(batch, "input", "mat2", wanted=(2, 2))
    B = batch.size
    (M, K), (_, N) = batch.shape("input"), batch.shape("mat2")
    if len(batch.names) == 2:
        return bmm_(batch.front("input"), batch.front("mat2")), 0
    if batch.names == ["input"]:
        return reshape(mm_(reshape(batch.front("input"), (B * M, K)), batch.values["mat2"]), (B, M, N)), 0
    wide = reshape(move(batch.values["mat2"], batch.dims["mat2"], 1, B), (K, B * N))
    return reshape(mm_(batch.values["input"], wide), (M, B, N)), 1


@batching(op.matmul)
def matmul(batch: Batch) -> Result:
    """Vectors with a batch are the rows of a matrix; else the batch is one more dimension to broadcast over."""
    n, m = batch.ndim("input"), batch.ndim("other")
    if not (n and m) or batch.shape("input")[-1] != batch.shape("other")[-2 if m > 1 else -1]:
        return examples(batch)  # refused in the words of one example
    if batch.names == ["input"] and m <= 2:
        return matmul_(batch.front("input"), batch.values["other"]), 0
    if batch.names == ["other"] and m == 1:
        y, x = batch.front("other"), batch.values["input"]
        return (matmul_(y, x), 0) if n == 1 else (matmul_(x, transpose(y, 0, 1)), n - 1) if n == 2 else examples(batch)
    if batch.names == ["other"] and n == 2:  # one product of the transposed: their rows are those of all examples
        y, x = transpose(batch.front("other"), -2, -1), transpose(batch.values["input"], 0, 1)
        return transpose(matmul_(y, x), -2, -1), 0
    x = unsqueeze(batch.front("input"), 1) if n == 1 else batch.front("input")
    y = unsqueeze(batch.front("other"), -1) if m == 1 else batch.front("other")
    width = max(n, m, 2)
    x, y = padded(x, width), padded(y, width)
    result = matmul_(x, y)
    if n == 1:
        result = squeeze(result, -2)
    return (squeeze(result, -1) if m == 1 else result), 0


@batching(op.bmm)
def bmm(batch: Batch) -> Result:
    _check_dims(batch, "input", "mat2", wanted=(3, 3))
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


jvp_by_name("matmul mm bmm mv dot", MULTILINEAR)
