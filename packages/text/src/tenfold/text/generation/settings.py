"""How a text is to be written."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence


@dataclasses.dataclass(kw_only=True)
class Settings:
    """What `generate` can be told, under the names that transformers gives it.

    Raises: ValueError for values without meaning.
    """

    max_new_tokens: int | None = None
    max_length: int | None = None  # with the prompt
    min_new_tokens: int = 0
    min_length: int = 0  # with the prompt
    do_sample: bool = False
    temperature: float = 1.0
    top_k: int | None = 50  # as transformers' own; None or 0 for all tokens
    top_p: float | None = None
    min_p: float | None = None
    typical_p: float | None = None
    repetition_penalty: float = 1.0
    no_repeat_ngram_size: int = 0
    num_beams: int = 1
    num_return_sequences: int = 1
    length_penalty: float = 1.0
    early_stopping: bool | str = False
    use_cache: bool = True
    eos_token_id: int | Sequence[int] | None = None
    pad_token_id: int | None = None
    forced_bos_token_id: int | None = None
    forced_eos_token_id: int | Sequence[int] | None = None
    bad_words_ids: Sequence[Sequence[int]] = ()
    suppress_tokens: Sequence[int] = ()
    begin_suppress_tokens: Sequence[int] = ()
    stop_strings: Sequence[str] = ()

    def __post_init__(self) -> None:
        checks = {
            "max_new_tokens must be at least 0": (self.max_new_tokens or 0) >= 0,
            "temperature must be above 0; for the likeliest token leave do_sample off": self.temperature > 0
            or not self.do_sample,
            "top_k must be at least 1, or 0 for all tokens": self.top_k is None or self.top_k >= 0,
            "top_p must be above 0 and at most 1": self.top_p is None or 0 < self.top_p <= 1,
            "no_repeat_ngram_size must be at least 0": self.no_repeat_ngram_size >= 0,
            "min_p must be within 0 and 1": self.min_p is None or 0 <= self.min_p <= 1,
            "typical_p must be above 0 and at most 1": self.typical_p is None or 0 < self.typical_p <= 1,
            "bad_words_ids are lists of ids, each of at least one": all(self.bad_words_ids),
            "repetition_penalty must be above 0": self.repetition_penalty > 0,
            "num_beams must be at least 1": self.num_beams >= 1,
            "num_return_sequences must be at least 1": self.num_return_sequences >= 1,
            "early_stopping is True, False or 'never'": self.early_stopping in (True, False, "never"),
            "several sequences need do_sample or as many beams": self.num_return_sequences == 1
            or self.do_sample
            or self.num_return_sequences <= self.num_beams,
        }
        wrong = [message for message, right in checks.items() if not right]
        if wrong:
            raise ValueError(f"generate: {'; '.join(wrong)}")
        if isinstance(self.stop_strings, str):
            self.stop_strings = (self.stop_strings,)

    @property
    def end_ids(self) -> list[int]:
        """The ids that end a text."""
        return _listed(self.eos_token_id)

    @property
    def last_ids(self) -> list[int]:
        """The ids of which one is to be the last of a text that is as long as it can be."""
        return _listed(self.forced_eos_token_id)


def _listed(ids: int | Sequence[int] | None) -> list[int]:
    return [] if ids is None else [ids] if isinstance(ids, int) else list(ids)
