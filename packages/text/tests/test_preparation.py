"""Batches of texts: padding, equal lengths, masking, pairs; BLEU and perplexity."""

from __future__ import annotations

import math

import pytest

import tenfold
from tenfold.data import DataLoader
from tenfold.text.data import BucketSampler, PadCollate, bleu_score, mask_tokens, perplexity, sentence_pairs


def test_padding_in_a_loader():
    samples = [([1, 2, 3], 0, "a"), ([4], 1, "b"), ([], 1, "c")]
    (ids, labels, names), lengths = next(iter(DataLoader(samples, batch_size=3, collate_fn=PadCollate(9, lengths=True))))
    assert ids.tolist() == [[1, 2, 3], [4, 9, 9], [9, 9, 9]]
    assert (labels.tolist(), list(names), lengths.tolist()) == ([0, 1, 1], ["a", "b", "c"], [3, 1, 0])


def test_padding_by_name_and_side():
    batch = [{"ids": [1, 2], "labels": [5, 6]}, {"ids": [3], "labels": [7]}]
    made = PadCollate({"labels": -100}, side="left")(batch)
    assert made["ids"].tolist() == [[1, 2], [0, 3]]
    assert made["labels"].tolist() == [[5, 6], [-100, 7]]


def test_padding_of_vectors():
    made = PadCollate(-1.0)([tenfold.ones(2, 3), tenfold.ones(1, 3)])
    assert made.shape == (2, 2, 3)
    assert made[1, 1].tolist() == [-1.0] * 3
    assert PadCollate()([[1.5], [1.0, 2.0]]).tolist() == [[1.5, 0.0], [1.0, 2.0]]


LENGTHS = [(7 * i) % 50 + 1 for i in range(230)]


def test_a_loader_with_buckets():
    data = [([1] * n, n) for n in LENGTHS]
    loader = DataLoader(data, batch_sampler=BucketSampler(LENGTHS, 16), collate_fn=PadCollate())
    assert sum(len(labels) for _, labels in loader) == 230
    assert all(ids.shape[1] == labels.max().item() for ids, labels in loader)


def test_masked_shares():
    tenfold.manual_seed(1)
    ids = tenfold.randint(5, 1000, (200, 100))
    ids[:, 0] = 2
    inputs, labels = mask_tokens(ids, mask_id=4, vocab_size=1000, special_ids=(2,))
    chosen = labels != -100
    assert not bool(chosen[:, 0].any())
    assert tenfold.equal(labels[chosen], ids[chosen])
    assert tenfold.equal(inputs[~chosen], ids[~chosen])
    n = int(chosen.sum())
    assert abs(n / (200 * 99) - 0.15) < 0.01
    assert abs(int((inputs[chosen] == 4).sum()) / n - 0.8) < 0.03
    assert abs(int((inputs[chosen] == ids[chosen]).sum()) / n - 0.1) < 0.03
    with pytest.raises(ValueError, match="are shares"):
        mask_tokens(ids, 4, 10, replace=0.8, random=0.3)


@pytest.mark.parametrize("dtype", [tenfold.int32, tenfold.int64])
def test_what_is_masked_keeps_its_dtype(dtype):
    inputs, labels = mask_tokens(tenfold.arange(5, 60).to(dtype), mask_id=4, vocab_size=60, probability=0.9)
    assert inputs.dtype == labels.dtype == dtype


@pytest.mark.parametrize("ids", [tenfold.ones(3), [[1, 2]], tenfold.ones(3, dtype=tenfold.bool)])
def test_what_is_masked_are_ids(ids):
    with pytest.raises(TypeError, match="mask_tokens: input_ids are a tensor of int64 or int32, got "):
        mask_tokens(ids, mask_id=4, vocab_size=10)


def test_masking_leaves_what_a_mask_marks():
    ids = tenfold.tensor([[5, 6, 7]])
    inputs, labels = mask_tokens(
        ids, 4, 9, special_tokens_mask=tenfold.tensor([[1, 0, 1]]), probability=1.0, replace=1.0, random=0.0
    )
    assert (inputs.tolist(), labels.tolist()) == ([[5, 4, 7]], [[-100, 6, -100]])


def test_pairs_of_sentences():
    tenfold.manual_seed(0)
    documents = [[f"{name}{i}" for i in range(50)] for name in "xyz"]
    pairs = sentence_pairs(documents)
    assert len(pairs) == 147
    for first, second, label in pairs:
        follows = first[0] == second[0] and int(second[1:]) == int(first[1:]) + 1
        assert follows if label == 0 else first[0] != second[0]
    assert 40 < sum(label for _, _, label in pairs) < 110
    with pytest.raises(ValueError, match="at least two"):
        sentence_pairs([["a", "b"], []])


# What torchtext's documentation and NLTK 3.9 give
LONG = (
    [["Lucille", "B", "has", "3", "sons"], ["She", "loves", "all", "her", "children", "equally"], "No match here at all".split()],
    [
        ["I heard Lucille has three sons".split(), "Rumor has it Lucille has 3 sons !".split()],
        ["I love all my children equally".split(), "She loves all her children equally".split()],
        ["I have made a terrible mistake".split(), "Big mistake".split()],
    ],
)


@pytest.mark.parametrize(
    ("candidates", "references", "options", "expected"),
    [
        ([["My", "full", "pytorch", "test"]], [[["My", "full", "pytorch", "test"], ["Other"]]], {}, 1.0),
        ([["My", "full", "pytorch"]], [[["My", "full", "pytorch", "test"], ["Other"]]], {}, 0.0),
        ([["My", "full", "pytorch", "test"]], [[["My", "full", "pytorch", "test", "!"], ["Other"]]], {}, 0.7788007),
        (
            [["My", "pytorch", "test"]],
            [[["My", "full", "pytorch", "test"], ["Other"]]],
            {"max_n": 2, "weights": [0.5, 0.5]},
            0.5066641,
        ),
        ([[]], [[[]]], {}, 0.0),
        (*LONG, {}, 0.4573199),
        (*LONG, {"max_n": 3, "weights": [0.33] * 3}, 0.4901113),
        (*LONG, {"max_n": 1, "weights": [1]}, 0.5515605),
    ],
)
def test_bleu(candidates, references, options, expected):
    assert bleu_score(candidates, references, **options) == pytest.approx(expected, abs=1e-6)


def test_bleu_of_what_does_not_fit():
    with pytest.raises(AssertionError, match="has be equal to max_n"):
        bleu_score([["a"]], [[["a"]]], max_n=2, weights=[1.0])
    with pytest.raises(ValueError, match="at least one reference"):
        bleu_score([["a"]], [[]])
    with pytest.raises(AssertionError, match="should be the same"):
        bleu_score([["a"], ["b"]], [[["a"]]])


def test_perplexity():
    logits = tenfold.zeros(2, 3, 8)
    targets = tenfold.tensor([[0, 1, -100], [3, -100, -100]])
    assert perplexity(logits, targets) == pytest.approx(8.0)
    sure = tenfold.full((1, 2, 4), -1000.0)
    sure[0, :, 1] = 1000.0
    assert perplexity(sure, tenfold.tensor([[1, 1]])) == 1.0
    assert perplexity(sure, tenfold.tensor([[1, 2]])) == math.inf
    assert math.isnan(perplexity(logits, tenfold.full((2, 3), -100)))
    assert perplexity(logits.bfloat16(), targets) == pytest.approx(8.0)
