"""Masked language modelling: which tokens are hidden, by what, and what is to be guessed."""

from __future__ import annotations

from collections.abc import Collection

import tenfold
from tenfold import Generator, Tensor

IGNORED = -100  # the label of a token that is not to be guessed, which cross_entropy leaves out


def mask_tokens(
    input_ids: Tensor,
    mask_id: int,
    vocab_size: int,
    special_ids: Collection[int] = (),
    special_tokens_mask: Tensor | None = None,
    probability: float = 0.15,
    replace: float = 0.8,
    random: float = 0.1,
    generator: Generator | None = None,
) -> tuple[Tensor, Tensor]:
    """Inputs and labels for BERT's pre-training: each token is chosen with `probability`, special ones never.

    Of those chosen, the share `replace` becomes the mask, `random` a random token, the rest stays. Labels are the tokens where
    chosen, else -100.

    Shape: (...) int64 or int32 -> (...), (...) of the same dtype.
    Raises: ValueError for shares that are no probabilities; TypeError for what are no ids.
    Source: J. Devlin et al., BERT, 2019, section 3.1.

    >>> ids = tenfold.tensor([[1, 7, 8, 2]])
    >>> inputs, labels = mask_tokens(ids, mask_id=4, vocab_size=9, special_ids=(1, 2), probability=1.0, replace=1.0, random=0.0)
    >>> inputs.tolist(), labels.tolist()
    ([[1, 4, 4, 2]], [[-100, 7, 8, -100]])
    """
    if min(probability, replace, random) < 0 or max(probability, replace + random) > 1:
        raise ValueError(
            f"mask_tokens: probability, replace and random are shares, replace + random at most 1; got {probability}, "
            f"{replace}, {random}"
        )
    got = getattr(input_ids, "dtype", type(input_ids).__name__)
    if got not in (tenfold.int64, tenfold.int32):
        raise TypeError(f"mask_tokens: input_ids are a tensor of int64 or int32, got {got}")
    drawn = _uniform(input_ids, generator)
    chosen = drawn < probability
    for index in special_ids:
        chosen = chosen & (input_ids != index)
    if special_tokens_mask is not None:
        chosen = chosen & (special_tokens_mask == 0)
    fate = _uniform(input_ids, generator)
    noise = tenfold.randint(vocab_size, tuple(input_ids.shape), generator=generator, device=input_ids.device).to(input_ids.dtype)
    changed = tenfold.where(fate < replace, mask_id, tenfold.where(fate < replace + random, noise, input_ids))
    return tenfold.where(chosen, changed, input_ids), tenfold.where(chosen, input_ids, IGNORED)


def _uniform(like: Tensor, generator: Generator | None) -> Tensor:
    return tenfold.rand(tuple(like.shape), generator=generator, device=like.device)
