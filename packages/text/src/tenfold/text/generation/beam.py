"""Beam search: several texts are written side by side, and the likeliest are gone on with.

Source: I. Sutskever, O. Vinyals, Q. Le, Sequence to Sequence Learning with Neural Networks, 2014, section 3.2; the penalty of
length of Y. Wu et al., Google's Neural Machine Translation System, 2016, in the form sum / length ** penalty.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.text.generation.scores import Change, shaped, warped
from tenfold.text.generation.settings import Settings
from tenfold.text.generation.stepping import Stepper


@dataclasses.dataclass
class Beams:
    """The finished texts of one prompt, the best first, and whether better ones can still come."""

    width: int
    finished: list[tuple[float, list[int]]] = dataclasses.field(default_factory=list)
    hopeful: bool = True

    def add(self, score: float, ids: list[int]) -> None:
        """Keep a finished text if it is among the best."""
        self.finished.append((score, ids))
        self.finished.sort(key=lambda one: -one[0])
        del self.finished[self.width :]

    @property
    def full(self) -> bool:
        """Whether there are as many finished texts as beams."""
        return len(self.finished) == self.width

    def look_ahead(self, best_running: float) -> None:
        """Note whether the best of those being written may still end better than the worst finished one."""
        self.hopeful = self.hopeful and (not self.full or best_running > self.finished[-1][0])


def search(
    stepper: Stepper,
    settings: Settings,
    new_tokens: int,
    pad: int,
    finished: Callable[[Tensor], Tensor] | None = None,
    change: Change | None = None,
    generator: Any = None,
) -> tuple[Tensor, Tensor]:
    """The best texts of each prompt, padded to one length, and their scores: mean log-probabilities, by the penalty of length.

    With `do_sample` the ways on are drawn by their probabilities, from `generator`.

    Shape: (B * returned, T + new), (B * returned,).
    """
    width, prompts, prompt_length = settings.num_beams, stepper.ids.shape[0], stepper.ids.shape[1]
    stepper.repeated(width)
    device = stepper.ids.device
    running = tenfold.full((prompts, width), -1e9, dtype=tenfold.float64, device=device)
    running[:, 0] = 0.0  # the beams begin alike; only one counts
    beams = [Beams(width) for _ in range(prompts)]
    base = tenfold.arange(prompts, device=device).unsqueeze(1) * width
    for new in range(1, new_tokens + 1):
        scores = _next(stepper, settings, new - 1, new == new_tokens, change)
        totals, rows, tokens = _candidates(scores, settings, running, generator)
        stepper.reorder((rows + base).view(-1))
        grown = tenfold.cat([stepper.ids, tokens.view(-1, 1)], 1)
        ends = _ended(grown, settings, finished, last=new == new_tokens).view(prompts, -1)
        scale = new**settings.length_penalty
        _collect(beams, totals, grown.view(prompts, ends.shape[1], -1), ends, scale, settings)
        if bool(ends.all()):
            break
        order = tenfold.where(ends, -1e9, totals).topk(width, -1)
        running, kept = (
            order.values,
            (order.indices + tenfold.arange(prompts, device=device).unsqueeze(1) * ends.shape[1]).view(-1),
        )
        stepper.ids = grown[kept]
        if stepper.cache is not None:
            stepper.cache.reorder(kept)
        if not _go_on(beams, running, new, new_tokens, settings):
            break
    return _best(beams, settings.num_return_sequences, pad, device, prompt_length)


def _next(stepper: Stepper, settings: Settings, new: int, last: bool, change: Change | None) -> Tensor:
    """The log-probability of each token as the next one, as the settings will have it. Shape: (prompts * width, V)."""
    if stepper.mask is not None and not stepper.encodes and new:
        stepper.mask = tenfold.cat([stepper.mask, tenfold.ones_like(stepper.mask[:, :1])], 1)
    scores = shaped(stepper.scores().log_softmax(-1), stepper, settings, new, last, change)
    return warped(scores, settings) if settings.do_sample else scores


def _candidates(scores: Tensor, settings: Settings, running: Tensor, generator: Any) -> tuple[Tensor, Tensor, Tensor]:
    """The best ways on: their totals, the beams that they go on with, and their tokens. Shape: (prompts, at least 2 width)."""
    prompts, width = running.shape
    words = scores.shape[-1]
    totals = (scores.double().view(prompts, width, words) + running.unsqueeze(2)).flatten(1)
    count = min(max(2, 1 + len(settings.end_ids)) * width, totals.shape[1])
    if settings.do_sample:
        drawn = tenfold.multinomial(totals.softmax(-1), count, generator=generator)
        return totals.gather(1, drawn), drawn // words, drawn % words
    best = totals.topk(count, -1)
    return best.values, best.indices // words, best.indices % words


def _ended(ids: Tensor, settings: Settings, finished: Callable[[Tensor], Tensor] | None, last: bool) -> Tensor:
    """Which texts have ended. Shape: (N, T) -> (N,)."""
    ended = tenfold.full((ids.shape[0],), last, dtype=tenfold.bool, device=ids.device)
    for end in settings.end_ids:
        ended = ended | (ids[:, -1] == end)
    return ended if finished is None else ended | finished(ids)


def _collect(beams: list[Beams], totals: Tensor, ids: Tensor, ends: Tensor, scale: float, settings: Settings) -> None:
    """Keep the texts that have ended and are among the best ways on."""
    for beam, sums, texts, ended in zip(beams, totals.tolist(), ids.tolist(), ends.tolist(), strict=True):
        if not beam.hopeful or (beam.full and settings.early_stopping is True):
            continue
        for place in range(beam.width):
            if ended[place]:
                beam.add(sums[place] / scale, texts[place])


def _go_on(beams: list[Beams], running: Tensor, new: int, new_tokens: int, settings: Settings) -> bool:
    """Whether any prompt's texts can get better."""
    length = new_tokens if settings.early_stopping == "never" and settings.length_penalty > 0 else new
    for beam, best in zip(beams, running[:, 0].tolist(), strict=True):
        beam.look_ahead(best / length**settings.length_penalty)
    if settings.early_stopping is True and all(beam.full for beam in beams):
        return False
    return any(beam.hopeful for beam in beams)


def _best(beams: list[Beams], count: int, pad: int, device: object, prompt_length: int) -> tuple[Tensor, Tensor]:
    chosen = [one for beam in beams for one in beam.finished[:count]]
    longest = max((len(ids) for _, ids in chosen), default=prompt_length)
    rows = [ids + [pad] * (longest - len(ids)) for _, ids in chosen]
    return tenfold.tensor(rows, device=device), tenfold.tensor(
        [score for score, _ in chosen], dtype=tenfold.float64, device=device
    )
