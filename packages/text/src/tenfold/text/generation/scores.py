"""What is done to a model's scores before a token is chosen: less likely tokens, and forbidden ones, get -inf.

Shape of scores: (B, V); of the ids so far: (B, T).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import tenfold
from tenfold import Tensor
from tenfold.text.generation.settings import Settings
from tenfold.text.generation.stepping import Stepper

NEVER = float("-inf")


Change = Callable[[Tensor, Tensor], Tensor]


def shaped(
    scores: Tensor, stepper: Stepper, settings: Settings, new: int, last: bool = False, change: Change | None = None
) -> Tensor:
    """Scores with what holds for every way of choosing.

    `new` is the number of tokens written so far, `last` says that no token follows this one, `change` is the caller's own
    function from ids and scores to scores.
    """
    ids = stepper.ids
    if settings.repetition_penalty != 1.0:
        scores = less_repeated(scores, stepper.said, settings.repetition_penalty)
    if settings.no_repeat_ngram_size:
        scores = without_repeats(scores, ids, settings.no_repeat_ngram_size)
    if settings.bad_words_ids:
        scores = without_words(scores, ids, [list(word) for word in settings.bad_words_ids], settings.end_ids)
    if settings.end_ids and (new < settings.min_new_tokens or ids.shape[1] < settings.min_length):
        scores = without(scores, settings.end_ids)
    if settings.forced_bos_token_id is not None and ids.shape[1] == 1:
        scores = only(scores, [settings.forced_bos_token_id])
    if settings.last_ids and last:
        scores = only(scores, settings.last_ids)
    if settings.suppress_tokens or (settings.begin_suppress_tokens and not new):
        scores = without(scores, [*settings.suppress_tokens, *(settings.begin_suppress_tokens if not new else ())])
    return scores if change is None else change(ids, scores)


def warped(scores: Tensor, settings: Settings) -> Tensor:
    """Scores for drawing by chance: divided by the temperature, the unlikely ones cut off.

    Beams keep at least as many tokens as the best ways on need, one more than there are tokens that end a text.
    """
    keep = 1 if settings.num_beams == 1 else max(2, len(settings.end_ids) + 1)
    scores = scores / settings.temperature
    if settings.top_k:
        scores = among_top_k(scores, max(settings.top_k, keep))
    if settings.top_p is not None and settings.top_p < 1:
        scores = among_top_p(scores, settings.top_p, keep)
    if settings.min_p is not None:
        scores = above_min_p(scores, settings.min_p, keep)
    if settings.typical_p is not None and settings.typical_p < 1:
        scores = among_typical(scores, settings.typical_p, keep)
    return scores


def without(scores: Tensor, tokens: Sequence[int]) -> Tensor:
    """None of these tokens; those that the vocabulary lacks are none anyway, as for transformers.

    >>> without(tenfold.zeros(1, 3), [1, 50256]).tolist()
    [[0.0, -inf, 0.0]]
    """
    scores = scores.clone()
    scores[:, [token for token in tokens if 0 <= token < scores.shape[-1]]] = NEVER
    return scores


def only(scores: Tensor, tokens: Sequence[int]) -> Tensor:
    """One of these tokens, for sure.

    >>> only(tenfold.ones(1, 3), [1]).tolist()
    [[-inf, 0.0, -inf]]
    """
    _check_ids("forced token ids", tokens, scores.shape[-1])
    scores = tenfold.full_like(scores, NEVER)
    scores[:, list(tokens)] = 0.0
    return scores


def without_words(scores: Tensor, ids: Tensor, words: Sequence[list[int]], ends: Sequence[int] = ()) -> Tensor:
    """No token that would complete one of these words; a word that is a token which ends a text is left alone.

    >>> without_words(tenfold.zeros(1, 3), tenfold.tensor([[0, 1]]), [[2], [1, 0], [0, 1]]).tolist()
    [[-inf, 0.0, -inf]]
    """
    words = [word for word in words if not (len(word) == 1 and word[0] in ends)]
    _check_ids("bad_words_ids", [token for word in words for token in word], scores.shape[-1])
    scores = scores.clone()
    for row, text in enumerate(ids.tolist()):
        ending = [word[-1] for word in words if len(word) <= len(text) + 1 and text[len(text) - len(word) + 1 :] == word[:-1]]
        if ending:
            scores[row, ending] = NEVER
    return scores


def _check_ids(name: str, tokens: Sequence[int], size: int) -> None:
    unknown = [token for token in tokens if not 0 <= token < size]
    if unknown:
        raise ValueError(f"generate: {name} have {unknown}; the vocabulary has ids from 0 to {size - 1}")


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


def among_top_p(scores: Tensor, p: float, keep: int = 1) -> Tensor:
    """The fewest likeliest tokens that have the share p of the probability, at least `keep`.

    Source: A. Holtzman et al., The Curious Case of Neural Text Degeneration, 2020, section 3.1.

    >>> among_top_p(tenfold.tensor([[0.5, 0.3, 0.2]]).log(), 0.6).exp()
    tensor([[0.5000, 0.3000, 0.0000]])
    """
    ascending, order = scores.sort(-1)
    cut = ascending.softmax(-1).cumsum(-1) <= 1 - p
    return _cut(scores, cut, order, keep)


def above_min_p(scores: Tensor, share: float, keep: int = 1) -> Tensor:
    """The tokens with at least this share of the likeliest one's probability, at least `keep`.

    >>> above_min_p(tenfold.tensor([[0.6, 0.3, 0.1]]).log(), 0.4).exp()[0, 2].item()
    0.0
    """
    ascending, order = scores.sort(-1)
    likely = ascending.softmax(-1)
    return _cut(scores, likely < share * likely[..., -1:], order, keep)


def among_typical(scores: Tensor, p: float, keep: int = 1) -> Tensor:
    """The tokens that tell about as much as is to be expected, which have the share p of the probability; at least `keep`.

    Source: C. Meister et al., Locally Typical Sampling, 2023, section 4.

    >>> among_typical(tenfold.tensor([[0.6, 0.25, 0.15]]).log(), 0.5).exp()
    tensor([[0.6000, 0.0000, 0.0000]])
    """
    told = scores.log_softmax(-1)
    expected = -(told * told.exp()).masked_fill(told.isneginf(), 0.0).sum(-1, keepdim=True)
    ascending, order = (-told - expected).abs().sort(-1)
    enough = (told.exp().gather(-1, order).cumsum(-1) < p).sum(-1, keepdim=True).clamp(max=scores.shape[-1] - 1)
    cut = ascending > ascending.gather(-1, enough)  # those as typical as the last one stay
    return _cut(scores, cut.flip(-1), order.flip(-1), keep)


def _cut(scores: Tensor, cut: Tensor, order: Tensor, keep: int) -> Tensor:
    """-inf where `cut`, which is in the order given, the best token last; the last ones are kept."""
    cut[..., -keep:] = False
    return scores.masked_fill(tenfold.zeros_like(cut).scatter(-1, order, cut), NEVER)
