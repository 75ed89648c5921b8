"""A model's words: the vectors with which they are read and written, and how many there are."""

from __future__ import annotations

from typing import Any, ClassVar, cast

import tenfold
from tenfold import Tensor, nn

SCORES = ("cls.predictions.decoder", "lm_head.decoder", "vocab_projector", "lm_head")


class Worded(nn.Module):
    """What a model with words has; `words` is where their vectors are, from the base model."""

    words: ClassVar[str] = ""
    base_prefix: ClassVar[str] = ""
    config: Any

    @property
    def base_model(self) -> nn.Module:
        """The part that every task's model has."""
        found: nn.Module = getattr(self, self.base_prefix, self)
        return found

    def get_input_embeddings(self) -> nn.Embedding:
        """The layer that reads words."""
        return cast(nn.Embedding, self.base_model.get_submodule(self.words))

    def set_input_embeddings(self, value: nn.Embedding) -> None:
        """Let another layer read words, wherever the old one does."""
        old = self.get_input_embeddings()
        for module in list(self.modules()):
            for name, child in module._modules.items():
                if child is old:
                    module._modules[name] = value

    def get_output_embeddings(self) -> nn.Linear | None:
        """The layer that gives each word's score, if there is one."""
        layers = dict(self.named_modules())
        return next((found for name in SCORES if isinstance(found := layers.get(name), nn.Linear)), None)

    def resize_token_embeddings(self, new_num_tokens: int | None = None, pad_to_multiple_of: int | None = None) -> nn.Embedding:
        """Let the model have more words, which begin as the mean of those there are, or fewer, without the last ones.

        What shares the words' vectors goes on to do so. An optimizer is made afterwards, for the parameters are new.

        Raises: ValueError for a number below 1.
        """
        words = self.get_input_embeddings()
        size = words.num_embeddings if new_num_tokens is None else new_num_tokens
        if pad_to_multiple_of:
            size = -(-size // pad_to_multiple_of) * pad_to_multiple_of
        if size < 1:
            raise ValueError(f"resize_token_embeddings: a model has at least one word, got {size}")
        scores = self.get_output_embeddings()
        self._resized(words.weight, size)
        words.num_embeddings = self.config.vocab_size = size
        if scores is not None and scores.weight.shape[0] != size:
            self._resized(scores.weight, size)
        if scores is not None:
            scores.out_features = size
            if scores.bias is not None:
                self._resized(scores.bias, size)
        return words

    def _resized(self, old: Tensor, size: int) -> None:
        """Put a parameter with so many rows wherever the old one is."""
        more = size - old.shape[0]
        rows = old.detach()[:size]
        if more > 0:
            rows = tenfold.cat([rows, rows.mean(0, keepdim=True).expand(more, *rows.shape[1:])])
        new = nn.Parameter(rows.clone(), requires_grad=old.requires_grad)
        for module in self.modules():
            for name, p in module._parameters.items():
                if p is old:
                    module._parameters[name] = new
