"""Measures of texts: BLEU of translations, perplexity of language models."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import tenfold
from tenfold import Tensor
from tenfold.nn import functional as F


def bleu_score(
    candidate_corpus: Sequence[Sequence[str]],
    references_corpus: Sequence[Sequence[Sequence[str]]],
    max_n: int = 4,
    weights: Sequence[float] | None = None,
) -> float:
    """The BLEU of tokenized texts, each with one or several references: exp(min(0, 1 - r/c)) prod_n p_n^w_n.

    p_n is the share of n-grams that a reference has, each counted at most as often as there; c the candidates' length, r that of
    the references nearest in length (the shorter of equals). A text without n-grams counts nothing for them.

    Raises: AssertionError where the numbers of texts, or of weights and `max_n`, differ; ValueError for a text without reference.
    Source: K. Papineni et al., BLEU: a Method for Automatic Evaluation of Machine Translation, 2002.

    >>> round(bleu_score([["my", "full", "test", "here"]], [[["my", "full", "test", "here", "!"]]]), 4)
    0.7788
    """
    weights = [1 / max_n] * max_n if weights is None else weights
    if len(weights) != max_n:
        raise AssertionError(f'Length of the "weights" list has be equal to max_n; got {len(weights)} weights and max_n={max_n}')
    if len(candidate_corpus) != len(references_corpus):
        raise AssertionError(
            "The length of candidate and reference corpus should be the same; "
            f"got {len(candidate_corpus)} candidates and {len(references_corpus)} lists of references"
        )
    if not all(references_corpus):
        raise ValueError("bleu_score: every candidate needs at least one reference")
    found, possible = [0] * max_n, [0] * max_n
    length = reference_length = 0
    for candidate, references in zip(candidate_corpus, references_corpus, strict=True):
        length += len(candidate)
        reference_length += min((len(one) for one in references), key=lambda other: (abs(len(candidate) - other), other))
        for n in range(1, max_n + 1):
            grams = _ngrams(candidate, n)
            found[n - 1] += (grams & _most([_ngrams(one, n) for one in references])).total()
            possible[n - 1] += grams.total()
    if min(found) == 0:
        return 0.0
    precision = sum(w * math.log(hits / n) for w, hits, n in zip(weights, found, possible, strict=True))
    return math.exp(precision + min(0.0, 1 - reference_length / length))


def _ngrams(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[start : start + n]) for start in range(len(tokens) - n + 1))


def _most(counts: Sequence[Counter[tuple[str, ...]]]) -> Counter[tuple[str, ...]]:
    """For each n-gram the most that one reference has."""
    most: Counter[tuple[str, ...]] = Counter()
    for one in counts:
        most |= one
    return most


def perplexity(logits: Tensor, targets: Tensor, ignore_index: int = -100) -> float:
    """exp of the mean cross entropy of the targets, those that are `ignore_index` left out.

    Shape: (..., V), (...) -> a float; nan where every target is left out.

    >>> round(perplexity(tenfold.zeros(2, 3, 8), tenfold.zeros(2, 3, dtype=tenfold.int64)), 4)
    8.0
    """
    flat = logits.reshape(-1, logits.shape[-1])
    flat = flat if flat.dtype in (tenfold.float32, tenfold.float64) else flat.float()
    loss = F.cross_entropy(flat, targets.reshape(-1), ignore_index=ignore_index)
    return float(tenfold.exp(loss.detach()))
