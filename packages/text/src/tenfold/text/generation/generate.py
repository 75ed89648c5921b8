"""`generate`, by which a model writes."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar

import tenfold
from tenfold import Tensor
from tenfold.text.generation import beam
from tenfold.text.generation.sampling import Writer
from tenfold.text.generation.scores import Change
from tenfold.text.generation.settings import Settings
from tenfold.text.generation.stepping import Stepper
from tenfold.text.models.attention import Cache

DEFAULT_NEW_TOKENS = 20
Functions = Callable[..., Any] | Iterable[Callable[..., Any]] | None


class Generative:
    """What a model with scores of the next token gains: `generate` and `stream`."""

    is_encoder_decoder: ClassVar[bool] = False
    config: Any
    generation_config: dict[str, Any]

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
        logits_processor: Functions = None,
        stopping_criteria: Functions = None,
        **settings: Any,
    ) -> Any:
        """Texts that go on with the prompts, or that a model with an encoder makes of them.

        `settings` are those of `Settings`; what is not said is taken from ``generation_config.json`` of the model's folder.
        Without `do_sample` each token is the likeliest; with it drawn by chance, from the likeliest by `temperature`, `top_k`,
        `top_p`, `min_p`, `typical_p`, and from `generator`; with `num_beams` the likeliest text is searched. A text ends with a
        token of `eos_token_id`, with one of `stop_strings` (which need `tokenizer`), where one of `stopping_criteria` says so
        of (ids, None), or after `max_new_tokens`. Each `logits_processor` makes new scores of (ids, scores). Prompts of
        different lengths are padded on the left; without `attention_mask` what is `pad_token_id` in them is padding, unless
        that ends texts too; an encoder is to be given the mask. `streamer.put(ids)` is given each token of a single text.
        With `return_scores` and beams the result is (texts, scores).

        Shape: (B, T) -> (B * num_return_sequences, T + new), for an encoder without T; what follows an end is padding.
        Raises: ValueError for settings without meaning; a TypeError names those that there are not.
        """
        known = self._settings(settings)
        stepper, new_tokens = self._begun(input_ids, attention_mask, known)
        ended = _any_of([_stopper(known.stop_strings, tokenizer, stepper.ids.shape[1]), *_criteria(stopping_criteria)])
        change = _all_of(_functions(logits_processor))
        with self._writing():
            return self._written(stepper, known, new_tokens, generator, streamer, ended, change, return_scores)

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
        change: Change | None,
        return_scores: bool,
    ) -> Any:
        if settings.num_beams > 1 and new_tokens > 0:
            if streamer is not None:
                raise ValueError("generate: beams cannot be streamed; which text they take is known at the end")
            pad = settings.pad_token_id if settings.pad_token_id is not None else 0
            texts, scores = beam.search(stepper, settings, new_tokens, pad, ended, change, generator)
            return (texts, scores) if return_scores else texts
        stepper.repeated(settings.num_return_sequences)
        if streamer is not None and stepper.ids.shape[0] != 1:
            raise ValueError(f"generate: one text can be streamed, got {stepper.ids.shape[0]}")
        writer = Writer(stepper, settings, new_tokens, generator, ended, change)
        while writer.goes_on:
            tokens = writer.step()
            if streamer is not None:
                streamer.put(tokens.tolist())
        if streamer is not None:
            streamer.end()
        return stepper.ids

    def stream(self, input_ids: Tensor, *, generator: Any = None, **settings: Any) -> Iterator[int]:
        """The tokens of one text, each when it is chosen; the settings are those of `generate`.

        Shape: (1, T) or (T,).
        Raises: ValueError for several texts, and for beams.
        """
        if input_ids.dim() > 1 and tuple(input_ids.shape[:-1]) != (1,):
            raise ValueError(f"stream: one text is written, got input_ids of {tuple(input_ids.shape)}; generate writes several")
        known = self._settings(settings)
        if known.num_beams > 1 or known.num_return_sequences > 1:
            raise ValueError("stream: one text is written token after token; leave num_beams and num_return_sequences at 1")
        stepper, new_tokens = self._begun(input_ids.view(1, -1), None, known)
        writer = Writer(stepper, known, new_tokens, generator)
        while writer.goes_on:
            with self._writing():  # not around the yield: what the caller does in between is its own
                token = int(writer.step())
            yield token

    def _settings(self, given: dict[str, Any]) -> Settings:
        names = {field.name for field in dataclasses.fields(Settings)}
        unknown = [name for name in given if name not in names]
        if unknown:
            raise TypeError(f"generate: there is no {', '.join(unknown)}; there are {', '.join(sorted(names))}")
        said = {name: value for name, value in self.generation_config.items() if name in names and value is not None}
        known = Settings(**{"eos_token_id": self.config.end_ids, **said, **given})
        if known.pad_token_id is None:
            pad = self.config.pad_token_id
            known.pad_token_id = pad if pad is not None else (known.end_ids[0] if known.end_ids else None)
        return known

    def _begun(self, input_ids: Tensor, attention_mask: Tensor | None, settings: Settings) -> tuple[Stepper, int]:
        """The first step, and how many tokens may come."""
        if input_ids.dim() != 2 or (not self.is_encoder_decoder and input_ids.shape[1] == 0):
            raise ValueError(f"generate: input_ids are (texts, tokens), with at least one token; got {tuple(input_ids.shape)}")
        if attention_mask is not None and attention_mask.shape != input_ids.shape:
            shapes = f"{tuple(input_ids.shape)}; got {tuple(attention_mask.shape)}"
            raise ValueError(f"generate: attention_mask is of the shape of input_ids, {shapes}")
        if attention_mask is None and not self.is_encoder_decoder:
            attention_mask = _mask_of(input_ids, settings)
        cache = Cache() if settings.use_cache else None
        with self._writing():
            stepper = Stepper(self, input_ids, attention_mask, cache)
        return stepper, self._room(stepper.ids.shape[1], settings)

    def _room(self, length: int, settings: Settings) -> int:
        """How many tokens may follow a prompt of this length. Raises: ValueError where none fits, but some are wanted."""
        new, most = settings.max_new_tokens, self.most_positions
        if new is None:
            new = DEFAULT_NEW_TOKENS if settings.max_length is None else settings.max_length - length
            if new <= 0:
                raise ValueError(
                    f"generate: the input has {length} tokens, and max_length, which counts them, is {settings.max_length}; "
                    "raise it, or say how many to write by max_new_tokens"
                )
        if most is not None and new and most <= length:
            raise ValueError(f"generate: the input has {length} tokens, and the model {most} positions; cut the input")
        return new if most is None else min(new, most - length)


def _mask_of(input_ids: Tensor, settings: Settings) -> Tensor | None:
    """Which ids are no padding, where the padding token says so; one that ends texts too says nothing."""
    pad = settings.pad_token_id
    if pad is None or pad in settings.end_ids or not bool((input_ids == pad).any()):
        return None
    return (input_ids != pad).long()


def _functions(given: Functions) -> list[Callable[..., Any]]:
    return [] if given is None else [given] if callable(given) else list(given)


def _all_of(functions: Sequence[Callable[..., Any]]) -> Change | None:
    """One function that does what all do, one after the other."""

    def change(ids: Tensor, scores: Tensor) -> Tensor:
        for function in functions:
            scores = function(ids, scores)
        return scores

    return change if functions else None


def _criteria(given: Functions) -> list[Callable[[Tensor], Any]]:
    """The caller's criteria as functions of the ids alone."""
    return [functools.partial(_asked, criterion) for criterion in _functions(given)]


def _asked(criterion: Callable[..., Any], ids: Tensor) -> Tensor:
    """Which texts end. Shape: (B, T) -> (B,); an answer for all of them is one for each."""
    answer = criterion(ids, None)
    answer = answer if isinstance(answer, Tensor) else tenfold.tensor(answer)
    return answer.to(device=ids.device, dtype=tenfold.bool).expand(ids.shape[0])


def _any_of(functions: Sequence[Callable[[Tensor], Tensor] | None]) -> Callable[[Tensor], Tensor] | None:
    """Which texts end by any of the functions."""
    there = [function for function in functions if function is not None]
    return (lambda ids: tenfold.stack([function(ids) for function in there]).any(0)) if there else None


def _stopper(words: Sequence[str], tokenizer: Any, before: int) -> Callable[[Tensor], Tensor] | None:
    """A function from ids to which of the texts have one of the words in what was written."""
    if not words:
        return None
    if tokenizer is None:
        raise ValueError("generate: stop_strings need the tokenizer, in order to see them")
    return lambda ids: tenfold.tensor(
        [any(word in tokenizer.decode(row[before:]) for word in words) for row in ids.tolist()], device=ids.device
    )
