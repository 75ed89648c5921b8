"""A softmax over very many classes that spends little on the rare ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import tenfold
from tenfold import Tensor
from tenfold.nn import functional as F
from tenfold.nn.container import ModuleList, Sequential
from tenfold.nn.layers.linear import Linear
from tenfold.nn.module import Module


class _ASMoutput(NamedTuple):
    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log-probability of the target classes, and minus its mean. Shape: (N, in_features), int64 (N) -> (N), (); or without N.

    Classes must be numbered by falling frequency. Those below `cutoffs[0]` are in the head; each further cutoff ends a
    cluster whose projection has `in_features / div_value^(i + 1)` dimensions.

    Raises ValueError for cutoffs that are not increasing positive integers below n_classes. Source: Grave et al. 2016.

    >>> result = AdaptiveLogSoftmaxWithLoss(4, 10, cutoffs=[3])(tenfold.zeros(2, 4), tenfold.tensor([1, 9]))
    >>> list(result.output.shape), list(result.loss.shape)
    ([2], [])
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        cuts = list(cutoffs)
        if not cuts:
            raise ValueError("AdaptiveLogSoftmaxWithLoss: cutoffs should be a sequence of length larger than 0")
        rising = all(a < b for a, b in zip([0, *cuts], [*cuts, n_classes], strict=True))
        if not rising or any(int(cut) != cut for cut in cuts):
            raise ValueError(
                "AdaptiveLogSoftmaxWithLoss: cutoffs should be a sequence of unique, positive integers sorted in an "
                "increasing "
                f"order, where each value is between 1 and n_classes-1, got {cuts}"
            )
        self.in_features, self.n_classes, self.div_value, self.head_bias = in_features, n_classes, div_value, head_bias
        self.cutoffs = [*cuts, n_classes]
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, device=device, dtype=dtype)
        self.tail = ModuleList()
        for i, (low, high) in enumerate(zip(self.cutoffs, self.cutoffs[1:], strict=False)):
            hidden = int(in_features // (div_value ** (i + 1)))
            down = Linear(in_features, hidden, bias=False, device=device, dtype=dtype)
            self.tail.append(Sequential(down, Linear(hidden, high - low, bias=False, device=device, dtype=dtype)))

    def reset_parameters(self) -> None:
        """Draws all weights anew."""
        self.head.reset_parameters()
        for down, out in self.tail:  # type: ignore[attr-defined]
            down.reset_parameters()
            out.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> Any:
        batched = target_.dim() == 1
        self._check(input_, target_)
        input, target = (input_, target_) if batched else (input_.unsqueeze(0), target_.unsqueeze(0))
        head = F.log_softmax(self.head(input), dim=1)
        in_head = target < self.shortlist_size
        output = head.gather(1, tenfold.where(in_head, target, 0).unsqueeze(1)).squeeze(1)
        for i, tail in enumerate(self.tail):
            low, high = self.cutoffs[i], self.cutoffs[i + 1]
            rows = ((target >= low) & (target < high)).nonzero().squeeze(1)
            if rows.numel() == 0:
                continue
            within = F.log_softmax(tail(input.index_select(0, rows)), dim=1)
            chosen = within.gather(1, (target.index_select(0, rows) - low).unsqueeze(1)).squeeze(1)
            output = output.index_copy(0, rows, head[rows, self.shortlist_size + i] + chosen)
        loss = (-output).mean()
        return _ASMoutput(output if batched else output.squeeze(0), loss)

    def _check(self, input: Tensor, target: Tensor) -> None:
        name = type(self).__name__
        if target.dim() > 1:
            raise RuntimeError(f"{name}: 0D or 1D target tensor expected, multi-target not supported; got {target.dim()}D")
        if target.dim() == 1 and input.size(0) != target.size(0):
            raise RuntimeError(
                f"{name}: Input and target should have the same size in the batch dimension, got {input.shape} and {target.shape}"
            )
        if target.dim() == 0 and input.dim() != 1:
            raise RuntimeError(f"{name}: a 0D target needs a 1D input, got {input.dim()}D")
        if target.numel() and not (int(target.min()) >= 0 and int(target.max()) < self.n_classes):
            raise RuntimeError(
                f"{name}: Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{int(target.min())}, {int(target.max())}] were found."
            )

    def _get_full_log_prob(self, input: Tensor, head_output: Tensor) -> Tensor:
        head = F.log_softmax(head_output, dim=1)
        parts = [head[:, : self.shortlist_size]]
        for i, tail in enumerate(self.tail):
            place = self.shortlist_size + i
            parts.append(F.log_softmax(tail(input), dim=1) + head[:, place : place + 1])
        return tenfold.cat(parts, dim=1)

    def log_prob(self, input: Tensor) -> Tensor:
        """Log-probabilities of all classes. Shape: (N, in_features) -> (N, n_classes)."""
        return self._get_full_log_prob(input, self.head(input))

    def predict(self, input: Tensor) -> Tensor:
        """The most probable class of each row, looking into clusters only where the head points to one. Shape: (N,
        in_features) -> (N).
        """
        head_output: Tensor = self.head(input)
        best = head_output.argmax(dim=1)
        rows = (best >= self.shortlist_size).nonzero().squeeze(1)
        if rows.numel() == 0:
            return best
        full = self._get_full_log_prob(input.index_select(0, rows), head_output.index_select(0, rows))
        return best.index_copy(0, rows, full.argmax(dim=1))
