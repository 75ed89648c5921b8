from __future__ import annotations

import pytest

import tenfold
from tenfold.data import DataLoader
from tenfold.text import Vocab
from tenfold.text.datasets import CharacterDataset, pydoc_topics


def test_targets_are_inputs_one_further():
    data = CharacterDataset("hello world", 4)
    assert (len(data), data.vocab_size) == (7, 8)
    x, y = data[2]
    assert (data.decode(x), data.decode(y)) == ("llo ", "lo w")
    assert x.dtype == y.dtype == tenfold.int64
    assert data.decode(data[-1][1]) == "orld"


def test_every_sample_lies_in_the_text():
    text = "abcabd"
    data = CharacterDataset(text, 2)
    assert [data.decode(x) + data.decode(y)[-1] for x, y in (data[i] for i in range(len(data)))] == [
        text[i : i + 3] for i in range(4)
    ]
    for index in (4, -5):
        with pytest.raises(IndexError, match=f"index {index} is out of range for 4 samples"):
            data[index]


def test_encode_and_decode():
    data = CharacterDataset("cab", 1)
    assert data.encode("abc").tolist() == [0, 1, 2]
    assert data.decode([2, 0]) == "ca"
    with pytest.raises(RuntimeError, match="'z' not found"):
        data.encode("z")


def test_a_given_vocabulary_is_shared():
    train = CharacterDataset("abcabc", 2)
    assert CharacterDataset("cba", 2, train.vocab)[0][0].tolist() == [2, 1]
    assert CharacterDataset("az", 1, Vocab(["?", "a"], default_index=0)).ids.tolist() == [1, 0]


@pytest.mark.parametrize(("text", "size"), [("abc", 0), ("abc", 3), ("", 1)])
def test_wrong_sizes_are_refused(text, size):
    with pytest.raises(ValueError, match="CharacterDataset"):
        CharacterDataset(text, size)


def test_batches():
    x, y = next(iter(DataLoader(CharacterDataset("abcdefgh", 3), batch_size=2)))
    assert (x.tolist(), y.tolist()) == ([[0, 1, 2], [1, 2, 3]], [[1, 2, 3], [2, 3, 4]])


def test_pydoc_topics_is_one_long_text():
    text = pydoc_topics()
    assert text == pydoc_topics()
    assert len(text) > 300_000
    assert 'The "assert" statement' in text or "assert statement" in text.lower()
