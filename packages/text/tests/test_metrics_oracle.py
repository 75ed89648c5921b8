"""BLEU against sacrebleu and NLTK, on texts by chance."""

from __future__ import annotations

import random
import warnings

import pytest

from tenfold.text.data import bleu_score

torch = pytest.importorskip("torch")  # what compares with others' libraries runs where that of PyTorch does
sacrebleu = pytest.importorskip("sacrebleu")
nltk_bleu = pytest.importorskip("nltk.translate.bleu_score")


def texts(seed):
    """Candidates, each with one to three references that resemble it."""
    draw = random.Random(seed)
    candidates = [[draw.choice("abcdef") for _ in range(draw.randint(4, 20))] for _ in range(6)]
    references = []
    for candidate in candidates:
        similar = [[w if draw.random() < 0.8 else draw.choice("abcdef") for w in candidate] for _ in range(draw.randint(1, 3))]
        references.append([text[: draw.randint(3, 20)] + ["z"] * draw.randint(0, 2) for text in similar])
    return candidates, references


@pytest.mark.parametrize("seed", range(20))
def test_nltk(seed):
    candidates, references = texts(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for weights in ([0.25] * 4, [0.5, 0.5], [0.2, 0.3, 0.5]):
            expected = nltk_bleu.corpus_bleu(references, candidates, weights)
            assert bleu_score(candidates, references, len(weights), weights) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_sacrebleu(seed):
    candidates, references = texts(seed)
    columns = [[" ".join(own[i % len(own)]) for own in references] for i in range(3)]
    expected = sacrebleu.corpus_bleu([" ".join(c) for c in candidates], columns, tokenize="none", smooth_method="none")
    repeated = [[own[i % len(own)] for i in range(3)] for own in references]
    assert 100 * bleu_score(candidates, repeated) == pytest.approx(expected.score, abs=1e-9)
