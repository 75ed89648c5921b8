"""Masks of attention as functions of the places, and the blocks of places that such a mask keeps."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, Self

import tenfold
from tenfold import Tensor
from tenfold.func import vmap
from tenfold.nn.attention.block_picture import blocks_as_text
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


def _sliced_mask_mod_error(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> NoReturn:
    """What stands for the `mask_mod` of a part of a BlockMask, whose places are counted from 0 again."""
    raise RuntimeError(
        "Cannot use mask_mod from a sliced BlockMask: its batches, heads and rows are counted from 0 again. Set part.mask_mod "
        "to a function of these numbers, made of the whole mask's mask_mod"
    )


class BlockMask:
    """A mask and the blocks of places in which it keeps something, or everything ("full").

    Of each row of blocks: how many there are, `kv_num_blocks` (B, H, rows), and which columns, those first, `kv_indices`
    (B, H, rows, columns); of each column in the same way `q_num_blocks`, `q_indices`. Lists of full blocks may be None. The order
    in which a kernel adds up the queries' gradients (`dq_...`) is kept for the program; gradients here do not depend on one.
    Raises: RuntimeError for indices of fewer than two dimensions, AssertionError where only one of a pair is given, ValueError
    for `dq_write_order_full` alone.
    """

    def __init__(
        self, seq_lengths: tuple[int, int], kv_num_blocks: Tensor, kv_indices: Tensor, full_kv_num_blocks: Tensor | None,
        full_kv_indices: Tensor | None, q_num_blocks: Tensor | None, q_indices: Tensor | None, full_q_num_blocks: Tensor | None,
        full_q_indices: Tensor | None, BLOCK_SIZE: tuple[int, int] = (_DEFAULT_SPARSE_BLOCK_SIZE, _DEFAULT_SPARSE_BLOCK_SIZE),
        mask_mod: MaskMod = noop_mask, *, dq_write_order: Tensor | None = None, dq_write_order_full: Tensor | None = None,
        dq_kv_order: Tensor | None = None, dq_kv_order_spt: bool | None = None,
    ) -> None:  # fmt: skip
        if kv_indices.dim() < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        for name, count, indices in (("kv", full_kv_num_blocks, full_kv_indices), ("q", full_q_num_blocks, full_q_indices)):
            if (count is None) != (indices is None):
                raise AssertionError(f"full_{name}_num_blocks and full_{name}_indices must be both provided or omitted")
        if dq_write_order_full is not None and dq_write_order is None:
            raise ValueError("dq_write_order_full requires dq_write_order")
        self.seq_lengths, self.BLOCK_SIZE, self.mask_mod = seq_lengths, BLOCK_SIZE, mask_mod
        self.kv_num_blocks, self.kv_indices = kv_num_blocks, kv_indices
        self.full_kv_num_blocks, self.full_kv_indices = full_kv_num_blocks, full_kv_indices
        self.q_num_blocks, self.q_indices = q_num_blocks, q_indices
        self.full_q_num_blocks, self.full_q_indices = full_q_num_blocks, full_q_indices
        self.dq_write_order, self.dq_write_order_full = dq_write_order, dq_write_order_full
        self.dq_kv_order, self.dq_kv_order_spt = dq_kv_order, dq_kv_order_spt

    @classmethod
    def from_kv_blocks(
        cls, kv_num_blocks: Tensor, kv_indices: Tensor, full_kv_num_blocks: Tensor | None = None,
        full_kv_indices: Tensor | None = None, BLOCK_SIZE: int | tuple[int, int] = _DEFAULT_SPARSE_BLOCK_SIZE,
        mask_mod: MaskMod | None = None, seq_lengths: tuple[int, int] | None = None, compute_q_blocks: bool = True,
        *, dq_write_order: Tensor | None = None, dq_write_order_full: Tensor | None = None,
        dq_kv_order: Tensor | bool | None = None,
    ) -> Self:  # fmt: skip
        """The mask whose blocks are listed by rows; the lists by columns follow from these if `compute_q_blocks`.

        Raises as the class does.
        """
        if kv_indices.dim() < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else (BLOCK_SIZE[0], BLOCK_SIZE[1])
        rows, columns = kv_indices.shape[-2:]
        lengths = (rows * size[0], columns * size[1]) if seq_lengths is None else seq_lengths
        by_columns = _turned(kv_num_blocks, kv_indices) if compute_q_blocks else (None, None)
        full_by_columns = _turned(full_kv_num_blocks, full_kv_indices) if compute_q_blocks else (None, None)
        spt = dq_kv_order if isinstance(dq_kv_order, bool) else None
        return cls(
            lengths, kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices, q_num_blocks=by_columns[0],
            q_indices=by_columns[1], full_q_num_blocks=full_by_columns[0], full_q_indices=full_by_columns[1],
            BLOCK_SIZE=size, mask_mod=noop_mask if mask_mod is None else mask_mod, dq_write_order=dq_write_order,
            dq_write_order_full=dq_write_order_full, dq_kv_order_spt=spt,
            dq_kv_order=None if isinstance(dq_kv_order, bool) else dq_kv_order,
        )  # fmt: skip

    def __getitem__(self, index: Any) -> BlockMask:
        """The masks of some batches, heads and rows of blocks. They need a `mask_mod` of their own, which counts from 0."""
        places = index if isinstance(index, tuple) else (index,)
        kept = tuple(slice(i, i + 1 or None) if isinstance(i, int) else i for i in places)
        full: tuple[Any, Any] = (None, None)
        if self.full_kv_num_blocks is not None and self.full_kv_indices is not None:
            full = self.full_kv_num_blocks[kept], self.full_kv_indices[kept]
        return BlockMask.from_kv_blocks(
            self.kv_num_blocks[kept], self.kv_indices[kept], full[0], full[1], self.BLOCK_SIZE, _sliced_mask_mod_error,
            self.seq_lengths, self.q_indices is not None,
        )  # fmt: skip

    def as_tuple(self, flatten: bool = True) -> tuple[Any, ...]:
        """Lengths, block lists, orders, sizes of a block and `mask_mod`; pairs of numbers as two entries if `flatten`."""
        lengths, size = (self.seq_lengths, self.BLOCK_SIZE) if flatten else ((self.seq_lengths,), (self.BLOCK_SIZE,))
        order = (self.dq_write_order, self.dq_write_order_full, self.dq_kv_order, self.dq_kv_order_spt)
        return (*lengths, *self._lists(), *order, *size, self.mask_mod)

    def _lists(self) -> tuple[Tensor | None, ...]:
        return (
            self.kv_num_blocks, self.kv_indices, self.full_kv_num_blocks, self.full_kv_indices,
            self.q_num_blocks, self.q_indices, self.full_q_num_blocks, self.full_q_indices,
        )  # fmt: skip

    @property
    def shape(self) -> tuple[int, ...]:
        """(B, H, Q_LEN, KV_LEN)."""
        return (*self.kv_indices.shape[:-2], *self.seq_lengths)

    def numel(self) -> int:
        """The number of places."""
        return tenfold.Size(self.shape).numel()

    def to_dense(self) -> Tensor:
        """1 for each block in which something is kept, else 0."""
        kept = _marked(self.kv_num_blocks, self.kv_indices)
        if self.full_kv_num_blocks is not None and self.full_kv_indices is not None:
            kept = kept | _marked(self.full_kv_num_blocks, self.full_kv_indices)
        return kept.to(tenfold.int32)

    def sparsity(self) -> float:
        """How many of a hundred places lie in blocks of which nothing is kept."""
        blocks = sum(int(counts.sum()) for counts in (self.kv_num_blocks, self.full_kv_num_blocks) if counts is not None)
        return 100 * (1 - blocks * self.BLOCK_SIZE[0] * self.BLOCK_SIZE[1] / self.numel())

    def to(self, device: Any) -> BlockMask:
        """The same on another device."""
        moved: dict[str, Any] = {
            name: value.to(device) if isinstance(value, Tensor) else value for name, value in vars(self).items()
        }
        return BlockMask(**moved)

    def to_string(self, grid_size: int | tuple[int, int] = (20, 20), limit: int = 4) -> str:
        """A picture of the blocks, of the first `limit` batches and heads: full, in part, or blank where nothing is kept.

        >>> mask = create_block_mask(lambda b, h, q, k: q >= k, None, None, 256, 256, "cpu")
        >>> mask.to_string().splitlines()
        ['(0, 0)', '\u2588\u2588  ', '\u2588\u2588\u2588\u2588']
        """
        return blocks_as_text(self.to_dense(), grid_size, limit)

    def __str__(self) -> str:
        return f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%, \n{self.to_string().strip()}\n)"

    def __repr__(self) -> str:
        names = [f"{of}_{what}" for of in ("kv", "full_kv", "q", "full_q") for what in ("num_blocks", "indices")]
        shapes = (None if one is None else one.shape for one in self._lists())
        told: dict[str, Any] = dict(zip(names, shapes, strict=True)) | {"BLOCK_SIZE": self.BLOCK_SIZE, "shape": self.shape}
        told |= {"sparsity": f"{self.sparsity():.2f}%", "mask_mod": getattr(self.mask_mod, "__name__", self.mask_mod)}
        return "BlockMask(\n" + ",\n".join(f"    {name}={value}" for name, value in told.items()) + "\n)"


def _marked(counts: Tensor, columns: Tensor) -> Tensor:
    """1 for each block that is listed, else 0: what `_listed` turns into lists."""
    kept = tenfold.arange(columns.shape[-1], device=columns.device) < counts.unsqueeze(-1)
    dense = tenfold.zeros(columns.shape, dtype=tenfold.int8, device=columns.device)
    return dense.scatter(-1, columns.to(tenfold.int64), kept.to(tenfold.int8))


def _listed(dense: Tensor) -> tuple[Tensor, Tensor]:
    """How many of each row's blocks are kept, and the columns with those first."""
    order = dense.argsort(dim=-1, descending=True, stable=True)
    return dense.sum(-1).to(tenfold.int32), order.to(tenfold.int32)


def _turned(counts: Tensor | None, indices: Tensor | None) -> tuple[Tensor, Tensor] | tuple[None, None]:
    """The lists by columns of lists by rows."""
    return (None, None) if counts is None or indices is None else _listed(_marked(counts, indices).mT)


def create_block_mask(
    mask_mod: MaskMod, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Any = None,
    BLOCK_SIZE: int | tuple[int, int] = _DEFAULT_SPARSE_BLOCK_SIZE, _compile: bool = False, separate_full_blocks: bool = True,
    compute_dq_write_order: bool = False, dq_kv_order: bool = True,
) -> BlockMask:  # fmt: skip
    """The blocks of places that `mask_mod(b, h, q, k)` keeps, as `flex_attention` takes them.

    Without `separate_full_blocks`, those of which everything is kept are listed with the others. Raises ValueError for a
    `dq_kv_order` that is no bool; no order of writing is computed, for gradients here do not depend on one.

    >>> create_block_mask(lambda b, h, q, k: q >= k, None, None, 256, 256, "cpu").sparsity()
    25.0
    """
    if not isinstance(dq_kv_order, bool):
        raise ValueError(f"create_block_mask: dq_kv_order must be a bool, got {dq_kv_order!r}")
    size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else (BLOCK_SIZE[0], BLOCK_SIZE[1])
    mask = create_mask(mask_mod, B, H, Q_LEN, KV_LEN, device)
    rows, columns = -(-Q_LEN // size[0]), -(-KV_LEN // size[1])
    whole = pad(mask.to(tenfold.int64), (0, columns * size[1] - KV_LEN, 0, rows * size[0] - Q_LEN))
    kept = whole.reshape(*mask.shape[:2], rows, size[0], columns, size[1]).sum((3, 5))
    full = (kept == size[0] * size[1]) & separate_full_blocks
    lists = _listed(((kept > 0) & ~full).to(tenfold.int8))
    full_lists = _listed(full.to(tenfold.int8)) if separate_full_blocks else (None, None)
    made = BlockMask.from_kv_blocks(lists[0], lists[1], full_lists[0], full_lists[1], size, mask_mod, (Q_LEN, KV_LEN))
    made.dq_kv_order_spt = dq_kv_order if compute_dq_write_order else None
    return made
