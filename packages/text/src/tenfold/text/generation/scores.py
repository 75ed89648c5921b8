"""What is done to a model's scores before a token is chosen: less likely tokens, and forbidden ones, get -inf.

Shape of scores: (B, V); of the ids so far: (B, T).
"""

from __future__ import annotations

import tenfold
from tenfold import Tensor
from tenfold.text.generation.settings import Settings

NEVER = float("-inf")


def shaped(scores: Tensor, ids: Tensor, settings: Settings, new: int) -> Tensor:
    """Scores with what holds for every way of choosing; `new` is the number of tokens written so far."""
    if settings.repetition_penalty != 1.0:
        scores = less_repeated(scores, ids, settings.repetition_penalty)
    if settings.no_repeat_ngram_size:
        scores = without_repeats(scores, ids, settings.no_repeat_ngram_size)
    if new < settings.min_new_tokens and settings.end_ids:
        scores = scores.clone()
        scores[:, settings.end_ids] = NEVER
    return scores


def warped(scores: Tensor, settings: Settings) -> Tensor:
    """Scores for drawing by chance: divided by the temperature, the unlikely ones cut off."""
    scores = scores / settings.temperature
    if settings.top_k is not None:
        scores = among_top_k(scores, settings.top_k)
    if settings.top_p is not None and settings.top_p < 1:
        scores = among_top_p(scores, settings.top_p)
    if settings.min_p is not None:
        scores = above_min_p(scores, settings.min_p)
    return scores


def less_repeated(scores: Tensor, ids: Tensor, penalty: float) -> Tensor:
    """Scores of tokens that are there already, divided by the penalty where positive, else multiplied.

    Source: N. S. Keskar et al., CTRL, 2019, section 4.1.

    >>> less_repeated(tenfold.tensor([[2.0, -2.0, 1.0]]), tenfold.tensor([[0, 1]]), 2.0).tolist()
    [[1.0, -4.0, 1.0]]
    """
    there = scores.gather(1, ids)
    return scores.scatter(1, ids, tenfold.where(there < 0, there * penalty, there / penalty))


def without_repeats(scores: Tensor, ids: Tensor, size: int) -> Tensor:
    """No token that would make a run of `size` tokens that is there already.

    >>> without_repeats(tenfold.zeros(1, 3), tenfold.tensor([[0, 1, 0]]), 2).tolist()
    [[0.0, -inf, 0.0]]
    """
    scores = scores.clone()
    for row, text in enumerate(ids.tolist()):
        last = text[len(text) - size + 1 :]
        followers = [text[at + size - 1] for at in range(len(text) - size + 1) if text[at : at + size - 1] == last]
        if followers:
            scores[row, tenfold.tensor(followers, device=scores.device)] = NEVER
    return scores


def among_top_k(scores: Tensor, k: int) -> Tensor:
    """The k highest scores of each row, and those equal to the lowest of them.

    >>> among_top_k(tenfold.tensor([[1.0, 3.0, 2.0]]), 2).tolist()
    [[-inf, 3.0, 2.0]]
    """
    lowest = scores.topk(min(k, scores.shape[-1])).values[:, -1:]
    return tenfold.where(scores < lowest, NEVER, scores)


def among_top_p(scores: Tensor, p: float) -> Tensor:
    """The fewest likeliest tokens that have the share p of the probability.

    Source: A. Holtzman et al., The Curious Case of Neural Text Degeneration, 2020, section 3.1.

    >>> among_top_p(tenfold.tensor([[0.5, 0.3, 0.2]]).log(), 0.6).exp()
    tensor([[0.5000, 0.3000, 0.0000]])
    """
    ascending, order = scores.sort(-1)
    cut = ascending.softmax(-1).cumsum(-1) <= 1 - p
    cut[:, -1] = False
    return scores.masked_fill(tenfold.zeros_like(cut).scatter(1, order, cut), NEVER)


def above_min_p(scores: Tensor, share: float) -> Tensor:
    """The tokens with at least this share of the likeliest one's probability.

    >>> above_min_p(tenfold.tensor([[0.6, 0.3, 0.1]]).log(), 0.4).exp()[0, 2].item()
    0.0
    """
    likely = scores.softmax(-1)
    return scores.masked_fill(likely < share * likely.amax(-1, keepdim=True), NEVER)
