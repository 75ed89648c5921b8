"""What a model reads: ids of words, or vectors in their place."""

from __future__ import annotations

from tenfold import Tensor, nn


def embedded(words: nn.Embedding, input_ids: Tensor | None, inputs_embeds: Tensor | None) -> Tensor:
    """The vectors of a text's words, or those given in their place. Shape: (B, T) -> (B, T, D).

    Raises: ValueError unless one of both is given.
    """
    if input_ids is not None and inputs_embeds is None:
        return words(input_ids)
    if inputs_embeds is None or input_ids is not None:
        raise ValueError(f"give input_ids or inputs_embeds, one of both; got {'both' if input_ids is not None else 'none'}")
    return inputs_embeds
