from __future__ import annotations

import copy
import pickle

import pytest

import tenfold
from tenfold.text import Vocab, build_vocab_from_iterator
from tenfold.text.vocab import vocab


def test_lookups_both_ways():
    v = Vocab(["<unk>", "a", "b"])
    assert (len(v), v["a"], v(["b", "a"]), v.forward(["b"]), v.lookup_indices(["a"])) == (3, 1, [2, 1], [2], [1])
    assert (v.lookup_token(2), v.lookup_tokens([0, 1])) == ("b", ["<unk>", "a"])
    assert (v.get_stoi(), v.get_itos()) == ({"<unk>": 0, "a": 1, "b": 2}, ["<unk>", "a", "b"])
    assert "a" in v
    assert "z" not in v


def test_default_index():
    v = Vocab(["<unk>", "a"])
    assert v.get_default_index() is None
    with pytest.raises(RuntimeError, match="'z' not found and default index is not set"):
        v["z"]
    v.set_default_index(0)
    assert (v["z"], v(["a", "z"]), v.get_default_index()) == (0, [1, 0], 0)
    assert "z" not in v
    v.set_default_index(None)
    with pytest.raises(RuntimeError, match="not found"):
        v(["z"])


def test_adding_tokens():
    v = Vocab(["a", "b"])
    v.insert_token("first", 0)
    v.append_token("last")
    assert (v.get_itos(), v["b"], v["last"]) == (["first", "a", "b", "last"], 2, 3)
    with pytest.raises(RuntimeError, match="'a' already exists with index 1"):
        v.append_token("a")
    with pytest.raises(RuntimeError, match=r"index 9 is out of range, must be in \[0, 4\]"):
        v.insert_token("z", 9)
    with pytest.raises(RuntimeError, match="already exists"):
        Vocab(["a", "a"])


@pytest.mark.parametrize("index", [-1, 2])
def test_indices_out_of_range(index):
    with pytest.raises(RuntimeError, match=rf"index {index} is out of range"):
        Vocab(["a", "b"]).lookup_token(index)


def test_vocab_of_counts_keeps_their_order():
    counts = {"b": 3, "a": 1, "c": 2, "<s>": 9}
    assert vocab(counts).get_itos() == ["b", "a", "c", "<s>"]
    assert vocab(counts, min_freq=2, specials=["<s>", "<e>"]).get_itos() == ["<s>", "<e>", "b", "c"]
    assert vocab(counts, 3, ["<s>"], special_first=False).get_itos() == ["b", "<s>"]
    assert counts["<s>"] == 9


def test_building_sorts_by_count_then_alphabet():
    texts = [["b", "a", "c"], ["c", "b"], ["d", "<unk>"]]
    assert build_vocab_from_iterator(texts).get_itos() == ["b", "c", "<unk>", "a", "d"]
    assert build_vocab_from_iterator(iter(texts), min_freq=2, specials=["<unk>"]).get_itos() == ["<unk>", "b", "c"]
    assert build_vocab_from_iterator(texts, specials=["<unk>"], special_first=False, max_tokens=3).get_itos() == [
        "b",
        "c",
        "<unk>",
    ]
    with pytest.raises(AssertionError, match="max_tokens=1 must be above the number of specials, 1"):
        build_vocab_from_iterator(texts, specials=["<unk>"], max_tokens=1)


def test_pickling():
    v = Vocab(["a", "b"], default_index=1)
    copy = pickle.loads(pickle.dumps(v))
    assert (copy.get_itos(), copy["z"]) == (["a", "b"], 1)


def test_a_checkpoint_holds_a_vocabulary(tmp_path):
    given = Vocab(["<unk>", "a", "b"], default_index=0)
    tenfold.save({"vocab": given}, tmp_path / "v.pt")
    read = tenfold.load(tmp_path / "v.pt")["vocab"]
    assert (read.get_itos(), read["?"], read["b"]) == (["<unk>", "a", "b"], 0, 2)
    assert pickle.loads(pickle.dumps(given)).get_itos() == given.get_itos()
    assert copy.deepcopy(given).get_stoi() == given.get_stoi()
    assert tenfold.serialization.get_unsafe_globals_in_checkpoint(tmp_path / "v.pt") == []


def test_what_is_no_token_is_refused():
    v = Vocab(["<unk>", "a"], default_index=0)
    with pytest.raises(TypeError, match="tokens are str, got 1; lookup_token"):
        v[1]
    with pytest.raises(TypeError, match="expected a list of tokens, got the str 'ab'"):
        v("ab")
