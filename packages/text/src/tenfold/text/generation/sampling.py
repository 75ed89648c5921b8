"""Token after token: the likeliest, or one drawn by chance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.text.generation.scores import shaped, warped
from tenfold.text.generation.settings import Settings
from tenfold.text.generation.stepping import Stepper

Put = Callable[[Sequence[int]], Any]


def write_on(
    stepper: Stepper,
    settings: Settings,
    new_tokens: int,
    pad: int | None,
    generator: Any = None,
    finished: Callable[[Tensor], Tensor] | None = None,
    put: Put | None = None,
) -> Tensor:
    """The texts with up to `new_tokens` more; a text that has ended is filled with `pad`.

    `finished` says for the ids so far which texts have ended by what was written, beside the tokens that end one; `put` is
    given each step's tokens. Shape: (B, T + new).
    """
    ends = settings.end_ids
    open_texts = tenfold.ones(stepper.ids.shape[0], dtype=tenfold.bool, device=stepper.ids.device)
    for new in range(new_tokens):
        scores = shaped(stepper.scores(), stepper.ids, settings, new)
        tokens = drawn(warped(scores, settings), generator) if settings.do_sample else scores.argmax(-1)
        if pad is not None:
            tokens = tenfold.where(open_texts, tokens, pad)
        stepper.append(tokens)
        if put is not None:
            put(tokens.tolist())
        for end in ends:
            open_texts = open_texts & (tokens != end)
        if finished is not None:
            open_texts = open_texts & ~finished(stepper.ids)
        if not bool(open_texts.any()):
            break
    return stepper.ids


def drawn(scores: Tensor, generator: Any = None) -> Tensor:
    """A token of each row by its probability. Shape: (B, V) -> (B,)."""
    return tenfold.multinomial(scores.softmax(-1), 1, generator=generator).squeeze(1)
