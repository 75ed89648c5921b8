"""Tables of vectors, looked up by index."""

from __future__ import annotations

from typing import Any, Self

import tenfold
from tenfold import Tensor
from tenfold.nn import functional as F, init
from tenfold.nn.module import Module
from tenfold.nn.parameter import Parameter


class _Table(Module):
    """The weight that both embeddings look up in."""

    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None
    weight: Parameter

    def _make_weight(self, given: Tensor | None, device: Any, dtype: Any, freeze: bool = False) -> None:
        shape = (self.num_embeddings, self.embedding_dim)
        if given is None:
            self.weight = Parameter(tenfold.empty(shape, device=device, dtype=dtype), requires_grad=not freeze)
            self.reset_parameters()
            return
        if tuple(given.shape) != shape:
            raise AssertionError(
                f"{type(self).__name__}: Shape of weight {tuple(given.shape)} does not match num_embeddings and "
                f"embedding_dim {shape}"
            )
        self.weight = Parameter(given, requires_grad=not freeze)

    def reset_parameters(self) -> None:
        """Draws the table anew from N(0, 1), the padding row zero."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with tenfold.no_grad():
                self.weight[self.padding_idx].fill_(0)


def _padding_row(name: str, padding_idx: int | None, rows: int) -> int | None:
    """`padding_idx` counted from the front; raises AssertionError out of range."""
    if padding_idx is None:
        return None
    if not -rows <= padding_idx < rows:
        raise AssertionError(f"{name}: padding_idx must be within num_embeddings, got {padding_idx} and {rows}")
    return padding_idx % rows


def _checked_table(name: str, embeddings: Tensor) -> tuple[int, int]:
    if embeddings.dim() != 2:
        raise AssertionError(f"{name}.from_pretrained: embeddings are expected to be 2-dimensional, got {embeddings.dim()}")
    rows, columns = embeddings.shape
    return rows, columns


class Embedding(_Table):
    """Row `index` of a learned table. Shape: integers (*) -> (*, embedding_dim).

    Args: padding_idx, a row that stays as it is in training; max_norm, renormalize longer rows to this p = `norm_type` norm;
    scale_grad_by_freq, divide gradients by how often a row occurs in the batch; sparse, give a sparse gradient.

    Raises AssertionError for a padding_idx out of range.

    >>> Embedding.from_pretrained(tenfold.tensor([[1.0, 2.0], [3.0, 4.0]]))(tenfold.tensor([1])).tolist()
    [[3.0, 4.0]]
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = _padding_row("Embedding", padding_idx, num_embeddings)
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        self._make_weight(_weight, device, dtype, _freeze)

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse
        )

    def extra_repr(self) -> str:
        parts = [str(self.num_embeddings), str(self.embedding_dim)]
        options = ("padding_idx", None), ("max_norm", None), ("norm_type", 2), ("scale_grad_by_freq", False)
        parts += [f"{name}={getattr(self, name)}" for name, usual in options if getattr(self, name) != usual]
        return ", ".join([*parts, "sparse=True"] if self.sparse else parts)

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Self:
        """An Embedding of the given table (rows, columns), which is not trained unless `freeze=False`."""
        rows, columns = _checked_table(cls.__name__, embeddings)
        return cls(
            rows,
            columns,
            padding_idx,
            max_norm,
            norm_type,
            scale_grad_by_freq,
            sparse,
            _weight=embeddings,
            _freeze=freeze,
        )


class EmbeddingBag(_Table):
    """The sum, mean or maximum of the rows in each bag of indices. Shape: integers (B, N), or (N) with offsets (B) ->
    (B, embedding_dim).

    `forward(input, offsets, per_sample_weights)`; the weights need mode "sum". `include_last_offset` ends offsets with the
    number of indices. Other arguments as for `Embedding`.

    >>> bag = EmbeddingBag.from_pretrained(tenfold.tensor([[1.0, 2.0], [3.0, 4.0]]))
    >>> bag(tenfold.tensor([[0, 1]])).tolist()
    [[2.0, 3.0]]
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.padding_idx = _padding_row("EmbeddingBag", padding_idx, num_embeddings)
        self._make_weight(_weight, device, dtype)
        self.mode, self.sparse, self.include_last_offset = mode, sparse, include_last_offset

    def forward(self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None) -> Tensor:
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    def extra_repr(self) -> str:
        parts = [str(self.num_embeddings), str(self.embedding_dim)]
        options = ("max_norm", None), ("norm_type", 2), ("scale_grad_by_freq", False)
        parts += [f"{name}={getattr(self, name)}" for name, usual in options if getattr(self, name) != usual]
        parts.append(f"mode={self.mode!r}")
        return ", ".join(parts if self.padding_idx is None else [*parts, f"padding_idx={self.padding_idx}"])

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> Self:
        """An EmbeddingBag of the given table (rows, columns), which is not trained unless `freeze=False`."""
        rows, columns = _checked_table(cls.__name__, embeddings)
        bag = cls(
            rows,
            columns,
            max_norm,
            norm_type,
            scale_grad_by_freq,
            mode,
            sparse,
            embeddings,
            include_last_offset,
            padding_idx,
        )
        bag.weight.requires_grad = not freeze
        return bag
