"""torchtext's transform for masked language modelling."""

from __future__ import annotations

from typing import ClassVar

import tenfold
from tenfold import Tensor, nn


class MaskTransform(nn.Module):
    """Ids (B, T) with some of them masked, the ids that are to be guessed (K,), and where they stand: (B, T), bool.

    Each token but padding, and but the begin token unless `mask_bos`, is chosen with `mask_prob`; where none is chosen, the
    first of the batch is. Of the chosen, the share `mask_mask_prob` becomes the mask and `rand_mask_prob` a random token.

    >>> masked, targets, mask = MaskTransform(9, mask_idx=4, bos_idx=1, pad_idx=0, mask_prob=1.0)(tenfold.tensor([[1, 7, 8, 0]]))
    >>> targets.tolist(), mask.tolist()
    ([7, 8], [[False, True, True, False]])
    """

    mask_mask_prob: ClassVar[float] = 0.8
    rand_mask_prob: ClassVar[float] = 0.1

    def __init__(
        self, vocab_len: int, mask_idx: int, bos_idx: int, pad_idx: int, mask_bos: bool = False, mask_prob: float = 0.15
    ) -> None:
        super().__init__()
        self.vocab_len, self.mask_idx, self.bos_idx, self.pad_idx = vocab_len, mask_idx, bos_idx, pad_idx
        self.mask_bos, self.mask_prob = mask_bos, mask_prob

    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        chosen = tenfold.rand(tuple(tokens.shape), device=tokens.device) < self.mask_prob
        chosen = chosen & (tokens != self.pad_idx)
        if not self.mask_bos:
            chosen = chosen & (tokens != self.bos_idx)
        if tokens.numel() and not bool(chosen.any()):
            chosen[0, 0] = True
        fate = tenfold.rand(tuple(tokens.shape), device=tokens.device)
        noise = tenfold.randint(self.vocab_len, tuple(tokens.shape), device=tokens.device)
        kept = tenfold.where(fate < self.mask_mask_prob + self.rand_mask_prob, noise, tokens)
        changed = tenfold.where(fate < self.mask_mask_prob, self.mask_idx, kept)
        return tenfold.where(chosen, changed, tokens), tokens[chosen], chosen
