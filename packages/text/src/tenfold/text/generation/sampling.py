"""Token after token: the likeliest, or one drawn by chance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.text.generation.scores import Change, shaped, warped
from tenfold.text.generation.settings import Settings
from tenfold.text.generation.stepping import Stepper


class Writer:
    """Writes texts on, a token of each at every step, until all have ended or `new_tokens` are written.

    A text that has ended is filled with the padding token, if there is one. `finished` says for the ids so far which texts have
    ended by what was written, beside the tokens that end one; `change` makes scores of ids and scores.
    """

    def __init__(
        self,
        stepper: Stepper,
        settings: Settings,
        new_tokens: int,
        generator: Any = None,
        finished: Callable[[Tensor], Tensor] | None = None,
        change: Change | None = None,
    ) -> None:
        self.stepper, self.settings, self.new_tokens, self.generator = stepper, settings, new_tokens, generator
        self.finished, self.change, self.new = finished, change, 0
        self.open_texts = tenfold.ones(stepper.ids.shape[0], dtype=tenfold.bool, device=stepper.ids.device)

    @property
    def goes_on(self) -> bool:
        """Whether another token is to come."""
        return self.new < self.new_tokens and bool(self.open_texts.any())

    def step(self) -> Tensor:
        """Write the next token of each text. Shape: (B,)."""
        stepper, settings = self.stepper, self.settings
        last = self.new == self.new_tokens - 1
        scores = shaped(stepper.scores(), stepper, settings, self.new, last, self.change)
        tokens = drawn(warped(scores, settings), self.generator) if settings.do_sample else scores.argmax(-1)
        if settings.pad_token_id is not None:
            tokens = tenfold.where(self.open_texts, tokens, settings.pad_token_id)
        stepper.append(tokens)
        for end in settings.end_ids:
            self.open_texts = self.open_texts & (tokens != end)
        if self.finished is not None:
            self.open_texts = self.open_texts & ~self.finished(stepper.ids)
        self.new += 1
        return tokens


def drawn(scores: Tensor, generator: Any = None) -> Tensor:
    """A token of each row by its probability. Shape: (B, V) -> (B,)."""
    return tenfold.multinomial(scores.softmax(-1), 1, generator=generator).squeeze(1)
