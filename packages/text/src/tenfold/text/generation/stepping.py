"""One step of a model that writes: the scores of the next token, with what a cache keeps of those before."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor


class Stepper:
    """Hands a model the tokens that it has not seen yet.

    A decoder's text begins with the prompt; with an encoder the prompt is read once and what is written begins by itself.
    """

    def __init__(self, model: Any, input_ids: Tensor, attention_mask: Tensor | None, cache: Any) -> None:
        self.model, self.cache, self.mask = model, cache, attention_mask
        self.encodes = bool(getattr(model, "is_encoder_decoder", False))
        self.memory = model.encoded(input_ids, attention_mask) if self.encodes else None
        self.ids = self._start(input_ids) if self.encodes else input_ids

    def _start(self, input_ids: Tensor) -> Tensor:
        start = self.model.config.decoder_start_token_id
        if start is None:
            raise ValueError("generate: the model's config.decoder_start_token_id says with what its decoder begins; it is None")
        return tenfold.full((input_ids.shape[0], 1), start, dtype=tenfold.int64, device=input_ids.device)

    def repeated(self, times: int) -> None:
        """Each text so many times, one beside the other."""
        self.ids = self.ids.repeat_interleave(times, 0)
        self.mask = None if self.mask is None else self.mask.repeat_interleave(times, 0)
        self.memory = None if self.memory is None else self.memory.repeat_interleave(times, 0)

    def scores(self) -> Tensor:
        """The scores of the next token. Shape: (B, V)."""
        seen = 0 if self.cache is None else len(self.cache)
        new = self.ids[:, seen:]
        if self.encodes:
            found = self.model(
                attention_mask=self.mask,
                decoder_input_ids=new,
                encoder_outputs=self.memory,
                past_key_values=self.cache,
                use_cache=self.cache is not None,
                return_dict=True,
            )
        else:
            found = self.model(
                new,
                attention_mask=self.mask,
                position_ids=self._positions(new),
                past_key_values=self.cache,
                use_cache=self.cache is not None,
                return_dict=True,
            )
        logits: Tensor = found.logits[:, -1]
        return logits.float()  # whatever the model computes in, so that the same tokens are chosen as elsewhere

    def _positions(self, new: Tensor) -> Tensor | None:
        """Where padding stands before a text, its positions begin after it."""
        if self.mask is None:
            return None
        places: Tensor = (self.mask.long().cumsum(1) - 1).clamp(min=0)
        return places[:, -new.shape[1] :]

    @property
    def said(self) -> Tensor:
        """The ids of what is there, where padding before a text is its last token: nothing that the text does not have."""
        if self.mask is None or self.encodes:
            return self.ids
        padding = self.mask.cumsum(1)[:, : self.ids.shape[1]] == 0
        return tenfold.where(padding, self.ids[:, -1:], self.ids)

    def append(self, tokens: Tensor) -> None:
        """Take the chosen tokens. Shape: (B,)."""
        self.ids = tenfold.cat([self.ids, tokens.unsqueeze(1)], 1)
        if self.mask is not None and not self.encodes:
            self.mask = tenfold.cat([self.mask, tenfold.ones_like(self.mask[:, :1])], 1)

    def reorder(self, rows: Tensor) -> None:
        """Go on with these rows, in this order; all rows of a beam have the same prompt, mask and memory."""
        self.ids = self.ids[rows]
        if self.cache is not None:
            self.cache.reorder(rows)
