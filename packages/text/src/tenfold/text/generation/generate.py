"""`generate`, by which a model writes."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import tenfold
from tenfold import Tensor
from tenfold.text.generation import beam
from tenfold.text.generation.sampling import write_on
from tenfold.text.generation.settings import Settings
from tenfold.text.generation.stepping import Stepper
from tenfold.text.models.attention import Cache

DEFAULT_NEW_TOKENS = 20


class Generative:
    """What a model with scores of the next token gains: `generate` and `stream`."""

    is_encoder_decoder: ClassVar[bool] = False
    config: Any

    @property
    def most_positions(self) -> int | None:
        """How long a text can be, None where there is no limit."""
        return None

    def generate(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        *,
        generator: Any = None,
        streamer: Any = None,
        tokenizer: Any = None,
        return_scores: bool = False,
        **settings: Any,
    ) -> Any:
        """Texts that go on with the prompts, or that a model with an encoder makes of them.

        `settings` are those of `Settings`. Without `do_sample` each token is the likeliest; with it drawn by chance, from the
        likeliest by `temperature`, `top_k`, `top_p`, `min_p`, and from `generator`; with `num_beams` the likeliest text is
        searched. A text ends with a token of `eos_token_id`, with one of `stop_strings` (which need `tokenizer`), or after
        `max_new_tokens`. Prompts of different lengths are padded on the left. `streamer.put(ids)` is given each token of a
        single text. With `return_scores` and beams the result is (texts, scores).

        Shape: (B, T) -> (B * num_return_sequences, T + new), for an encoder without T; what follows an end is padding.
        Raises: ValueError for settings without meaning; a TypeError names those that there are not.
        """
        known = self._settings(settings)
        stepper, new_tokens = self._begun(input_ids, attention_mask, known)
        ended = _stopper(known.stop_strings, tokenizer, stepper.ids.shape[1])
        with self._writing():
            return self._written(stepper, known, new_tokens, generator, streamer, ended, return_scores)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """No gradients and no dropout; afterwards the model is in the mode in which it was."""
        training = getattr(self, "training", False)
        self.eval()  # type: ignore[attr-defined]
        try:
            with tenfold.no_grad():
                yield
        finally:
            self.train(training)  # type: ignore[attr-defined]

    def _written(
        self,
        stepper: Stepper,
        settings: Settings,
        new_tokens: int,
        generator: Any,
        streamer: Any,
        ended: Callable[[Tensor], Tensor] | None,
        return_scores: bool,
    ) -> Any:
        if settings.num_beams > 1:
            if streamer is not None:
                raise ValueError("generate: beams cannot be streamed; which text they take is known at the end")
            pad = settings.pad_token_id if settings.pad_token_id is not None else 0
            texts, scores = beam.search(stepper, settings, new_tokens, pad, ended)
            return (texts, scores) if return_scores else texts
        stepper.repeated(settings.num_return_sequences)
        if streamer is not None and stepper.ids.shape[0] != 1:
            raise ValueError(f"generate: one text can be streamed, got {stepper.ids.shape[0]}")
        texts = write_on(
            stepper, settings, new_tokens, settings.pad_token_id, generator, ended, None if streamer is None else streamer.put
        )
        if streamer is not None:
            streamer.end()
        return texts

    def stream(self, input_ids: Tensor, *, generator: Any = None, **settings: Any) -> Iterator[int]:
        """The tokens of one text, each when it is chosen; the settings are those of `generate`.

        Shape: (1, T) or (T,).
        """
        known = self._settings(settings)
        if known.num_beams > 1 or known.num_return_sequences > 1:
            raise ValueError("stream: one text is written token after token; leave num_beams and num_return_sequences at 1")
        stepper, new_tokens = self._begun(input_ids.view(1, -1), None, known)
        before = stepper.ids.shape[1]
        for new in range(new_tokens):
            with self._writing():  # not around the yield: what the caller does in between is its own
                one = dataclasses.replace(known, min_new_tokens=max(known.min_new_tokens - new, 0))
                write_on(stepper, one, 1, known.pad_token_id, generator)
            token = int(stepper.ids[0, before + new])
            yield token
            if token in known.end_ids:
                return

    def _settings(self, given: dict[str, Any]) -> Settings:
        names = {field.name for field in dataclasses.fields(Settings)}
        unknown = [name for name in given if name not in names]
        if unknown:
            raise TypeError(f"generate: there is no {', '.join(unknown)}; there are {', '.join(sorted(names))}")
        known = Settings(**{"eos_token_id": self.config.end_ids, **given})
        if known.pad_token_id is None:
            pad = self.config.pad_token_id
            known.pad_token_id = pad if pad is not None else (known.end_ids[0] if known.end_ids else None)
        return known

    def _begun(self, input_ids: Tensor, attention_mask: Tensor | None, settings: Settings) -> tuple[Stepper, int]:
        """The first step, and how many tokens may come."""
        if input_ids.dim() != 2 or (not self.is_encoder_decoder and input_ids.shape[1] == 0):
            raise ValueError(f"generate: input_ids are (texts, tokens), with at least one token; got {tuple(input_ids.shape)}")
        cache = Cache() if settings.use_cache else None
        with self._writing():
            stepper = Stepper(self, input_ids, attention_mask, cache)
        length = stepper.ids.shape[1]
        new = settings.max_new_tokens
        if new is None:
            new = DEFAULT_NEW_TOKENS if settings.max_length is None else max(settings.max_length - length, 0)
        if self.most_positions is not None and length + new > self.most_positions:
            new = max(self.most_positions - length, 0)
        return stepper, new


def _stopper(words: Sequence[str], tokenizer: Any, before: int) -> Callable[[Tensor], Tensor] | None:
    """A function from ids to which of the texts have one of the words in what was written."""
    if not words:
        return None
    if tokenizer is None:
        raise ValueError("generate: stop_strings need the tokenizer, in order to see them")
    return lambda ids: tenfold.tensor(
        [any(word in tokenizer.decode(row[before:]) for word in words) for row in ids.tolist()], device=ids.device
    )
