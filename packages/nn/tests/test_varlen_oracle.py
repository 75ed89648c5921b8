"""Attention over sequences of different lengths, against PyTorch's attention of one sequence after the other.

PyTorch's own `varlen_attn` runs on GPUs alone; its words about windows and groups are what is checked here.
"""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import pytest

import tenfold as tf
from tenfold.nn.attention.varlen import AuxRequest, varlen_attn, varlen_attn_out

torch = pytest.importorskip("torch")

LENGTHS: dict[str, tuple[list[int], list[int]]] = {
    "one": ([5], [5]),
    "several": ([3, 1, 6], [3, 1, 6]),
    "equal neighbours": ([2, 2, 3, 3, 3, 0, 0], [2, 2, 4, 4, 1, 0, 0]),
    "other lengths": ([2, 5, 1], [4, 3, 7]),
    "empty ones": ([0, 3, 0, 2, 0], [0, 4, 2, 2, 0]),
    "without keys": ([2, 3], [0, 5]),
    "none": ([], []),
}
WINDOWS = [(-1, -1), (-1, 0), (2, 0), (1, 1), (-1, 2), (2, -1), (0, 0), (100, 0), (0, 100)]


def starts(lengths: list[int], device: str = "cpu") -> Any:
    return tf.tensor([0, *accumulate(lengths)], dtype=tf.int32, device=device)


def drawn(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).standard_normal(shape)


def expected(q: Any, k: Any, v: Any, lengths: Any, window: Any = (-1, -1), scale: float | None = None) -> tuple[Any, Any]:
    """One sequence after the other: results (T, H, V), and logarithms of the sums (H, T)."""
    outs, sums = [q[:0, :, :1].expand(0, q.shape[1], v.shape[2])], [q.new_zeros(q.shape[1], 0)]
    places = [list(accumulate(each, initial=0)) for each in lengths]
    k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in (k, v))
    for (a, b), (c, d) in zip(pairwise(places[0]), pairwise(places[1]), strict=True):
        place = torch.arange(d - c) - torch.arange(b - a)[:, None] - ((d - c) - (b - a))
        seen = torch.ones_like(place, dtype=torch.bool)
        seen = seen & (place >= -window[0]) if window[0] >= 0 else seen
        seen = seen & (place <= window[1]) if window[1] >= 0 else seen
        one = [x[i:j].transpose(0, 1) for x, i, j in ((q, a, b), (k, c, d), (v, c, d))]
        bias = torch.where(seen, 0.0, -torch.inf).to(q.dtype)
        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
            found = torch.nn.functional.scaled_dot_product_attention(*one, attn_mask=seen, scale=scale)
        outs.append(found.transpose(0, 1))
        factor = q.shape[2] ** -0.5 if scale is None else scale
        sums.append((one[0] @ one[1].mT * factor + bias).detach().logsumexp(-1))
    return torch.cat(outs), torch.cat(sums, 1)


def compare(
    lengths: Any, dtype: str = "float64", heads: tuple[int, int] = (2, 2), tolerance: float = 1e-10, **options: Any
) -> None:
    (T, S), (H, own) = map(sum, lengths), heads
    arrays = drawn(T, H, 4), drawn(S, own, 4, seed=1), drawn(S, own, 3, seed=2), drawn(T, H, 3, seed=3)
    theirs = [torch.tensor(x).to(getattr(torch, dtype)).requires_grad_() for x in arrays]
    ours = [tf.tensor(x).to(getattr(tf, dtype)).requires_grad_() for x in arrays]
    given = {"window" if name == "window_size" else name: value for name, value in options.items()}
    out, sums = expected(*theirs[:3], lengths, **given)
    most = [max(each, default=0) for each in lengths]
    got, lse = varlen_attn(
        *ours[:3], *map(starts, lengths), *most, return_aux=AuxRequest(lse=True), enable_gqa=own != H, **options
    )  # fmt: skip
    assert (got.dtype, tuple(lse.shape)) == (ours[0].dtype, (H, T))
    assert got.is_contiguous()
    pairs = [(got, out), (lse, sums)]
    grads = torch.autograd.grad(out, theirs[:3], theirs[3], allow_unused=True, materialize_grads=True)
    pairs += list(zip(tf.autograd.grad(got, ours[:3], ours[3]), grads, strict=True))
    for mine, other in pairs:
        np.testing.assert_allclose(mine.detach().double().numpy(), other.detach().double().numpy(), tolerance, tolerance)


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("name", LENGTHS)
def test_windows_and_lengths(name: str, window: tuple[int, int]) -> None:
    compare(LENGTHS[name], window_size=window)


@pytest.mark.parametrize("heads", [(6, 2), (4, 1), (3, 3)])
@pytest.mark.parametrize("name", ["several", "empty ones"])
def test_groups_of_heads_and_scale(name: str, heads: tuple[int, int]) -> None:
    compare(LENGTHS[name], heads=heads, window_size=(-1, 0), scale=0.3)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-5), ("float16", 4e-3), ("bfloat16", 4e-2)])
def test_dtypes(dtype: str, tolerance: float) -> None:
    compare(LENGTHS["other lengths"], dtype, tolerance=tolerance)
    compare(LENGTHS["several"], dtype, tolerance=tolerance, window_size=(-1, 0))


def test_what_belongs_to_no_sequence_is_zero() -> None:
    q, k, v = (tf.tensor(drawn(*shape)).requires_grad_() for shape in ((6, 2, 4), (7, 2, 4), (7, 2, 3)))
    out, lse = varlen_attn(q, k, v, starts([2, 2]), starts([3, 1]), 2, 3, return_aux=AuxRequest(lse=True))
    inner = varlen_attn(q[:4], k[:4], v[:4], starts([2, 2]), starts([3, 1]), 2, 3)
    assert out[:4].equal(inner)
    assert out[4:].abs().sum() == 0
    assert (lse[:, 4:] == -tf.inf).all()
    grads = tf.autograd.grad(out.sum(), [q, k, v])
    assert all(g[4:].abs().sum() == 0 and g[:4].abs().sum() > 0 for g in grads)


def test_second_derivatives_forward_mode_and_vmap() -> None:
    table, other = starts([2, 3]), starts([3, 1])
    given = [tf.tensor(drawn(*shape, seed=i)).requires_grad_() for i, shape in enumerate([(5, 2, 3), (4, 2, 3), (4, 2, 2)])]

    def attend(q: Any, k: Any, v: Any) -> Any:
        return varlen_attn(q, k, v, table, other, 3, 3, window_size=(-1, 0))

    assert tf.autograd.gradcheck(attend, given, check_forward_ad=True)
    assert tf.autograd.gradgradcheck(attend, given)
    batch = [tf.stack([x, 2 * x]).detach() for x in given]
    one_by_one = tf.stack([attend(*one) for one in zip(*batch, strict=True)])
    assert tf.allclose(tf.func.vmap(attend)(*batch), one_by_one)
    with pytest.raises(RuntimeError, match="vmap"):
        tf.func.vmap(lambda t: varlen_attn(*given, t, t, 3, 3))(tf.stack([table, table]))


@pytest.mark.parametrize("name", LENGTHS)
def test_the_gradients_that_kernels_are_for_are_those_of_the_body(name: str) -> None:
    (T, S), most = map(sum, LENGTHS[name]), [max(each, default=0) for each in LENGTHS[name]]
    shapes = (T, 2, 4), (S, 2, 4), (S, 2, 3), (T, 2, 3)
    q, k, v, g = (tf.tensor(drawn(*shape, seed=i)).requires_grad_() for i, shape in enumerate(shapes))
    given = [*map(starts, LENGTHS[name])]
    out, sums = tf.op.fused_varlen_attention(q, k, v, *given, None, *most, 0.4, 2, 1)
    grads = tf.op.fused_varlen_attention_grad(g, q, k, v, out, sums, *given, *most, 0.4, 2, 1)
    for mine, recorded in zip(grads, tf.autograd.grad(out, [q, k, v], g), strict=True):
        assert tf.allclose(mine, recorded)


def test_keys_in_use_and_pages() -> None:
    q, k, v = tf.tensor(drawn(4, 2, 3)), tf.tensor(drawn(9, 2, 3, seed=1)), tf.tensor(drawn(9, 2, 3, seed=2))
    used = tf.tensor([2, 3], dtype=tf.int32)
    kept = [tf.cat([x[:2], x[5:8]]) for x in (k, v)]
    plain = varlen_attn(q, *kept, starts([1, 3]), starts([2, 3]), 3, 3, window_size=(-1, 0))
    got = varlen_attn(q, k, v, starts([1, 3]), starts([5, 4]), 3, 5, window_size=(-1, 0), seqused_k=used)
    assert got.equal(plain)
    pool = [tf.full((4, 2, 2, 3), tf.nan, dtype=tf.float64) for _ in range(2)]
    for pages, x in zip(pool, kept, strict=True):
        pages[3, :2], pages[0, :2], pages[2, :1] = x[:2], x[2:4], x[4:]
    table = tf.tensor([[3, -7], [0, 2]], dtype=tf.int32)
    options: dict[str, Any] = {"window_size": (-1, 0), "seqused_k": used, "block_table": table}
    assert varlen_attn(q, *pool, starts([1, 3]), None, 3, 3, **options, num_splits=1).equal(plain)
    out = tf.empty_like(q)
    same, lse = varlen_attn_out(out, q, *pool, starts([1, 3]), None, 3, 3, **options, return_aux=AuxRequest(lse=True))
    assert same is out
    assert out.equal(plain)
    assert lse.shape == (2, 4)


def test_meta_tensors_have_the_shapes() -> None:
    q, k, v = (tf.empty(*shape, device="meta", dtype=tf.bfloat16) for shape in ((5, 4, 8), (6, 2, 8), (6, 2, 3)))
    table = tf.empty(3, dtype=tf.int32, device="meta")
    out, lse = varlen_attn(q, k, v, table, table, 3, 3, enable_gqa=True, return_aux=AuxRequest(lse=True))
    assert (out.shape, out.dtype, lse.shape, lse.dtype) == ((5, 4, 3), tf.bfloat16, (4, 5), tf.float32)


def of(*numbers: int) -> Any:
    return tf.tensor(numbers, dtype=tf.int32)


REFUSED: dict[str, tuple[type[Exception], str, dict[str, Any]]] = {
    "not from 0": (RuntimeError, "cu_seq_q begins with 1", {"cu_seq_q": of(1, 3, 5)}),
    "falls": (RuntimeError, "cu_seq_k falls from 4 to 3 at 2", {"cu_seq_k": of(0, 4, 3)}),
    "too far": (RuntimeError, "cu_seq_k ends with 8, but there are 7 rows", {"cu_seq_k": of(0, 4, 8)}),
    "a small max_q": (RuntimeError, "max_q is 2, but the longest sequence of cu_seq_q has 3", {"max_q": 2}),
    "a small max_k": (RuntimeError, "max_k is 3, but the longest sequence of cu_seq_k has 4", {"max_k": 3}),
    "negative max_q": (RuntimeError, "0 or more", {"max_q": -1}),
    "int64": (RuntimeError, "cu_seq_q to be int32", {"cu_seq_q": tf.tensor([0, 2, 5])}),
    "two dimensions": (RuntimeError, "of one dimension", {"cu_seq_q": of(0, 2, 5).unsqueeze(0)}),
    "tables of other lengths": (RuntimeError, "N \\+ 1 places", {"cu_seq_k": of(0, 7)}),
    "an empty table": (RuntimeError, "N \\+ 1 places", {"cu_seq_q": of(), "cu_seq_k": of()}),
    "no table of keys": (RuntimeError, "only with block_table", {"cu_seq_k": None}),
    "other heads": (ValueError, "Hq=2 and Hkv=1", {"key": tf.zeros(7, 1, 4), "value": tf.zeros(7, 1, 4)}),
    "heads that do not divide": (
        ValueError, "multiple of kv heads", {"query": tf.zeros(5, 3, 4), "enable_gqa": True},
    ),
    "other features": (RuntimeError, "expected query", {"query": tf.zeros(5, 2, 3)}),
    "other rows": (RuntimeError, "expected query", {"value": tf.zeros(6, 2, 4)}),
    "two dimensions of queries": (RuntimeError, "expected query", {"query": tf.zeros(5, 4)}),
    "other dtypes": (RuntimeError, "one floating dtype", {"key": tf.zeros(7, 2, 4, dtype=tf.float64)}),
    "a window of one": (ValueError, "window_size must have length 2, got 1", {"window_size": (1,)}),
    "more keys in use than there are": (RuntimeError, "seqused_k\\[1\\] is 4", {"seqused_k": of(1, 4)}),
    "gradient of keys in use": (
        RuntimeError, "seqused_k is an inference-only", {"seqused_k": of(1, 2), "query": tf.zeros(5, 2, 4, requires_grad=True)},
    ),
    "pages without keys in use": (RuntimeError, "block_table needs seqused_k", {"block_table": of(0, 1).unsqueeze(1)}),
    "no pages": (RuntimeError, "pages, size of a page", {"block_table": of(0, 1).unsqueeze(1), "seqused_k": of(1, 1)}),
    "int64 pages": (
        RuntimeError, "block_table to be int32", {"block_table": tf.zeros(2, 1, dtype=tf.int64), "seqused_k": of(1, 1)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    error, words, changes = REFUSED[name]
    given: dict[str, Any] = {
        "query": tf.zeros(5, 2, 4), "key": tf.zeros(7, 2, 4), "value": tf.zeros(7, 2, 4), "cu_seq_q": of(0, 2, 5),
        "cu_seq_k": of(0, 4, 7), "max_q": 3, "max_k": 4,
    }  # fmt: skip
    varlen_attn(**given)
    with pytest.raises(error, match=words):
        varlen_attn(**{**given, **changes})


def test_a_written_result_has_no_gradient_and_the_right_form() -> None:
    x, table = tf.zeros(3, 1, 2), of(0, 3)
    with pytest.raises(RuntimeError, match="no gradient"):
        varlen_attn_out(tf.empty(3, 1, 2), x.clone().requires_grad_(), x, x, table, table, 3, 3)
    with pytest.raises(RuntimeError, match="expected out to be float32 of shape"):
        varlen_attn_out(tf.empty(3, 1, 1), x, x, x, table, table, 3, 3)


def test_signatures_are_pytorchs() -> None:
    import inspect

    theirs = pytest.importorskip("torch.nn.attention.varlen")
    for mine in (varlen_attn, varlen_attn_out, AuxRequest):
        other = getattr(theirs, mine.__name__)
        names = [[(p.name, p.kind, p.default) for p in inspect.signature(f).parameters.values()] for f in (mine, other)]
        assert names[0] == names[1]
