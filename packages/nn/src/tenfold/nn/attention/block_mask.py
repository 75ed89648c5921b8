"""Masks of attention as functions of the places, and the blocks of places that such a mask keeps."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Self

import tenfold
from tenfold import Tensor
from tenfold.func import vmap
from tenfold.nn.functional import pad

_DEFAULT_SPARSE_BLOCK_SIZE = 128
MaskMod = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]


def over_places(function: Callable[..., Tensor], shape: Sequence[int], device: Any, *values: Tensor) -> Tensor:
    """A function of (values at the place, b, h, q, k), written for one place, for all of a shape (B, H, L, S)."""
    for dim in (3, 2, 1, 0):
        places: list[int | None] = [None] * 4
        places[dim] = 0
        function = vmap(function, in_dims=(*(0 for _ in values), *places))
    numbers = [tenfold.arange(size, device=device) for size in shape]
    return function(*values, *numbers).expand(tuple(shape))


def create_mask(
    mod_fn: Callable[..., Tensor], B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Any = None
) -> Tensor:  # fmt: skip
    """What a `mask_mod` keeps, or what a `score_mod` gives for scores of 0, as a tensor.

    Shape: (B, H, Q_LEN, KV_LEN), None counting as 1.

    >>> create_mask(lambda b, h, q, k: q >= k, None, None, 2, 2, "cpu")[0, 0].tolist()
    [[True, False], [True, True]]
    """
    shape = (B or 1, H or 1, Q_LEN, KV_LEN)
    if _is_score_mod(mod_fn):
        return over_places(mod_fn, shape, device, tenfold.zeros(shape, device=device))
    return over_places(mod_fn, shape, device)


def _is_score_mod(function: Callable[..., Tensor]) -> bool:
    code = getattr(function, "__code__", None)
    return code is not None and code.co_argcount == 5


def noop_mask(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
    """A mask that keeps everything."""
    return batch.new_ones(size=(), dtype=tenfold.bool)


def and_masks(*mask_mods: MaskMod) -> MaskMod:
    """The mask that keeps what all of these keep."""
    return _joined(mask_mods, True, lambda x, y: x & y)


def or_masks(*mask_mods: MaskMod) -> MaskMod:
    """The mask that keeps what any of these keeps."""
    return _joined(mask_mods, False, lambda x, y: x | y)


def _joined(mask_mods: Sequence[MaskMod], empty: bool, join: Callable[[Tensor, Tensor], Tensor]) -> MaskMod:
    if not all(callable(arg) for arg in mask_mods):
        raise RuntimeError(f"All inputs should be callable mask_mods: {mask_mods}")

    def mask(b: Tensor, h: Tensor, q: Tensor, k: Tensor) -> Tensor:
        start = b.new_full((), empty, dtype=tenfold.bool)
        return functools.reduce(join, (mod(b, h, q, k) for mod in mask_mods), start)

    return mask


class BlockMask:
    """A mask and the blocks of places in which it keeps something, or everything ("full").

    Of each row of blocks: how many there are, and which columns, those first.
    """

    def __init__(
        self, seq_lengths: tuple[int, int], blocks: tuple[Tensor, Tensor], BLOCK_SIZE: tuple[int, int], mask_mod: MaskMod
    ) -> None:
        self.seq_lengths, self.BLOCK_SIZE, self.mask_mod = seq_lengths, BLOCK_SIZE, mask_mod
        self._partial, self._full = blocks
        self.kv_num_blocks, self.kv_indices = _listed(self._partial)
        self.full_kv_num_blocks, self.full_kv_indices = _listed(self._full)
        self.q_num_blocks, self.q_indices = _listed(self._partial.mT)
        self.full_q_num_blocks, self.full_q_indices = _listed(self._full.mT)

    @classmethod
    def from_kv_blocks(
        cls, kv_num_blocks: Tensor, kv_indices: Tensor, full_kv_num_blocks: Tensor | None = None,
        full_kv_indices: Tensor | None = None, BLOCK_SIZE: int | tuple[int, int] = _DEFAULT_SPARSE_BLOCK_SIZE,
        mask_mod: MaskMod | None = None, seq_lengths: tuple[int, int] | None = None, compute_q_blocks: bool = True,
    ) -> Self:  # fmt: skip
        """The mask whose blocks are listed by rows: how many, (B, H, rows), and which columns, (B, H, rows, columns).

        Raises RuntimeError for indices of fewer than two dimensions, AssertionError where only one of a pair is given.
        """
        if kv_indices.dim() < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        if (full_kv_num_blocks is None) != (full_kv_indices is None):
            raise AssertionError("full_kv_num_blocks and full_kv_indices must be both provided or omitted")
        size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else (BLOCK_SIZE[0], BLOCK_SIZE[1])
        partial = _marked(kv_num_blocks, kv_indices)
        full = tenfold.zeros_like(partial)
        if full_kv_num_blocks is not None and full_kv_indices is not None:
            full = _marked(full_kv_num_blocks, full_kv_indices)
        rows, columns = partial.shape[-2:]
        lengths = (rows * size[0], columns * size[1]) if seq_lengths is None else seq_lengths
        return cls(lengths, (partial, full), size, noop_mask if mask_mod is None else mask_mod)

    def __getitem__(self, index: Any) -> BlockMask:
        """The masks of some batches and heads, whose numbers stay those of the whole: `mask_mod` is not told of them."""
        places = index if isinstance(index, tuple) else (index,)
        kept = tuple(slice(i, i + 1 or None) if isinstance(i, int) else i for i in places)
        return BlockMask(self.seq_lengths, (self._partial[kept], self._full[kept]), self.BLOCK_SIZE, self.mask_mod)

    def as_tuple(self, flatten: bool = True) -> tuple[Any, ...]:
        """Lengths, block lists, sizes of a block and `mask_mod`; pairs of numbers as two entries if `flatten`."""
        lengths, size = (self.seq_lengths, self.BLOCK_SIZE) if flatten else ((self.seq_lengths,), (self.BLOCK_SIZE,))
        lists = (
            self.kv_num_blocks, self.kv_indices, self.full_kv_num_blocks, self.full_kv_indices,
            self.q_num_blocks, self.q_indices, self.full_q_num_blocks, self.full_q_indices,
        )  # fmt: skip
        return (*lengths, *lists, None, None, None, None, *size, self.mask_mod)

    @property
    def shape(self) -> tuple[int, ...]:
        """(B, H, Q_LEN, KV_LEN)."""
        return (*self._partial.shape[:-2], *self.seq_lengths)

    def numel(self) -> int:
        """The number of places."""
        return tenfold.Size(self.shape).numel()

    def to_dense(self) -> Tensor:
        """1 for each block in which something is kept, else 0."""
        return (self._partial + self._full).to(tenfold.int32)

    def sparsity(self) -> float:
        """How many of a hundred places lie in blocks of which nothing is kept."""
        kept = int(self.to_dense().sum()) * self.BLOCK_SIZE[0] * self.BLOCK_SIZE[1]
        return 100 * (1 - kept / self.numel())

    def to(self, device: Any) -> BlockMask:
        """The same on another device."""
        return BlockMask(self.seq_lengths, (self._partial.to(device), self._full.to(device)), self.BLOCK_SIZE, self.mask_mod)

    def __repr__(self) -> str:
        return f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%)"


def _marked(counts: Tensor, columns: Tensor) -> Tensor:
    """1 for each block that is listed, else 0: what `_listed` turns into lists."""
    kept = tenfold.arange(columns.shape[-1], device=columns.device) < counts.unsqueeze(-1)
    dense = tenfold.zeros(columns.shape, dtype=tenfold.int8, device=columns.device)
    return dense.scatter(-1, columns.to(tenfold.int64), kept.to(tenfold.int8))


def _listed(dense: Tensor) -> tuple[Tensor, Tensor]:
    """How many of each row's blocks are kept, and the columns with those first."""
    order = dense.argsort(dim=-1, descending=True, stable=True)
    return dense.sum(-1).to(tenfold.int32), order.to(tenfold.int32)


def create_block_mask(
    mask_mod: MaskMod, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Any = None,
    BLOCK_SIZE: int | tuple[int, int] = _DEFAULT_SPARSE_BLOCK_SIZE, _compile: bool = False,
) -> BlockMask:  # fmt: skip
    """The blocks of places that `mask_mod(b, h, q, k)` keeps, as `flex_attention` takes them.

    >>> create_block_mask(lambda b, h, q, k: q >= k, None, None, 256, 256, "cpu").sparsity()
    25.0
    """
    size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else tuple(BLOCK_SIZE)
    mask = create_mask(mask_mod, B, H, Q_LEN, KV_LEN, device)
    rows, columns = -(-Q_LEN // size[0]), -(-KV_LEN // size[1])
    whole = pad(mask.to(tenfold.int64), (0, columns * size[1] - KV_LEN, 0, rows * size[0] - Q_LEN))
    kept = whole.reshape(*mask.shape[:2], rows, size[0], columns, size[1]).sum((3, 5))
    full = kept == size[0] * size[1]
    blocks = ((kept > 0) & ~full).to(tenfold.int8), full.to(tenfold.int8)
    return BlockMask((Q_LEN, KV_LEN), blocks, (size[0], size[1]), mask_mod)
