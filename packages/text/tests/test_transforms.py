"""torchtext's transforms and functions of streams; what is expected is torchtext's, from its documentation."""

from __future__ import annotations

import json
import pickle

import pytest

import tenfold
from tenfold.text import Vocab, functional as F, transforms as T
from tenfold.text.data import functional as D
from tenfold.utils.data import DataLoader


def test_lists_and_batches_of_lists():
    vocabulary = Vocab(["a", "b", "c"])
    assert T.VocabTransform(vocabulary)([["a", "b", "c"]]) == [[0, 1, 2]]
    assert T.VocabTransform(vocabulary)(["c", "a"]) == [2, 0]
    assert T.Truncate(2)([["a", "b"], ["a", "b", "c"]]) == [["a", "b"], ["a", "b"]]
    assert T.Truncate(2)([1, 2, 3]) == [1, 2]
    assert T.AddToken(0)([[1, 2], [3]]) == [[0, 1, 2], [0, 3]]
    assert T.AddToken("z", begin=False)(["a"]) == ["a", "z"]
    assert T.StrToIntTransform()([["1"], ["2", "3"]]) == [[1], [2, 3]]
    assert T.ToTensor(padding_value=0)([[1, 2], [1, 2, 3]]).tolist() == [[1, 2, 0], [1, 2, 3]]
    assert T.ToTensor(dtype=tenfold.int32)([1, 2]).dtype == tenfold.int32
    assert T.Sequential(T.Truncate(3), T.ToTensor(0))([[1, 2, 3, 4], [1]]).tolist() == [[1, 2, 3], [1, 0, 0]]


def test_empty_inputs():
    assert F.truncate([], 3) == []
    assert F.add_token([], 1) == [1]
    assert F.to_tensor([]).shape == (0,)
    assert F.to_tensor([[], [1]], padding_value=5).tolist() == [[5], [1]]
    assert T.VocabTransform(Vocab(["a"]))([]) == []


@pytest.mark.parametrize("wrong", [5, [1.5], "text", [["1"], [2.0]]])
def test_other_inputs_are_refused(wrong):
    with pytest.raises(TypeError, match="Input type not supported"):
        F.truncate(wrong, 1)
    with pytest.raises(TypeError, match="Input type not supported"):
        F.str_to_int(wrong)


def test_labels(tmp_path):
    names = ["test", "label", "indices"]
    assert T.LabelToIndex(names)(names) == [0, 1, 2]
    assert T.LabelToIndex(names, sort_names=True)(names) == [2, 1, 0]
    assert T.LabelToIndex(names, sort_names=True)("indices") == 0
    (tmp_path / "names.txt").write_text("test\nlabel\nindices\n")
    made = T.LabelToIndex(label_path=tmp_path / "names.txt")
    assert (made("label"), made.label_names) == (1, names)
    with pytest.raises(RuntimeError, match="not found"):
        made("other")
    with pytest.raises(AssertionError, match="either label_names or label_path"):
        T.LabelToIndex()


def test_padding():
    pad = T.PadTransform(max_length=7, pad_value=0)
    assert tenfold.equal(pad(tenfold.ones(5)), tenfold.tensor([1.0] * 5 + [0.0] * 2))
    assert tenfold.equal(pad(tenfold.ones(2, 5))[:, 5:], tenfold.zeros(2, 2))
    assert T.PadTransform(3, 0)(tenfold.ones(5)).shape == (5,)
    assert pad(tenfold.arange(3)).dtype == tenfold.int64


IDS = tenfold.tensor([[6, 0, 1, 2, 3], [6, 0, 1, 4, 4]])


@pytest.mark.parametrize(
    ("probability", "mask", "random", "bos", "expected"),
    [
        (0.0, 0.0, 0.0, False, [[6, 0, 1, 2, 3], [6, 0, 1, 4, 4]]),
        (0.0, 1.0, 0.0, False, [[5, 0, 1, 2, 3], [6, 0, 1, 4, 4]]),
        (1.0, 0.0, 0.0, False, [[6, 0, 1, 2, 3], [6, 0, 1, 4, 4]]),
        (1.0, 1.0, 0.0, False, [[6, 5, 5, 5, 5], [6, 5, 5, 4, 4]]),
        (1.0, 1.0, 0.0, True, [[5, 5, 5, 5, 5], [5, 5, 5, 4, 4]]),
    ],
)
def test_masking(monkeypatch, probability, mask, random, bos, expected):
    monkeypatch.setattr(T.MaskTransform, "mask_mask_prob", mask)
    monkeypatch.setattr(T.MaskTransform, "rand_mask_prob", random)
    made = T.MaskTransform(6, mask_idx=5, bos_idx=6, pad_idx=4, mask_bos=bos, mask_prob=probability)
    masked, targets, chosen = made(IDS)
    assert masked.tolist() == expected
    assert targets.tolist() == IDS[chosen].tolist()


def test_masking_with_random_tokens(monkeypatch):
    monkeypatch.setattr(T.MaskTransform, "mask_mask_prob", 0.0)
    monkeypatch.setattr(T.MaskTransform, "rand_mask_prob", 1.0)
    masked, _, _ = T.MaskTransform(6, 5, 6, 4, mask_prob=1.0)(IDS)
    assert masked[:, 0].tolist() == [6, 6]
    assert masked[1, 3:].tolist() == [4, 4]
    assert bool((masked[:, 1:3] < 6).all())


def test_regular_expressions():
    patterns = [(r"\'", " '  "), (r"\"", ""), (r"\.", " . "), (r"<br \/>", " "), (r",", " , "), (r"\s+", " ")]
    made = T.RegexTokenizer(patterns)
    expected = ["it", "'", "s", "a", ",", "b", "."]
    assert made('it\'s "a",<br />b.') == expected
    assert pickle.loads(pickle.dumps(made))(["it's a"]) == [["it", "'", "s", "a"]]


def test_byte_pairs(tmp_path):
    pytest.importorskip("tokenizers")
    encoder, merges = tmp_path / "encoder.json", tmp_path / "vocab.bpe"
    encoder.write_text(
        json.dumps({token: i for i, token in enumerate(["l", "o", "w", "Ġ", "lo", "low", "Ġlow", "<|endoftext|>"])})
    )
    merges.write_text("#version: 0.2\nl o\nlo w\nĠ low\n")
    ids, tokens = T.GPT2BPETokenizer(encoder, merges), T.GPT2BPETokenizer(encoder, merges, return_tokens=True)
    assert ids("low low") == ["5", "6"]
    assert tokens(["low lo", "w"]) == [["low", "Ġ", "lo"], ["w"]]
    assert ids.decode(["5", "6"]) == "low low"
    assert tokens.add_special_tokens({"unk_token": "<|endoftext|>", "additional_special_tokens": ["<a>", "<b>"]}) == 2
    assert tokens("low<a>low") == ["low", "<a>", "low"]


def test_clip(tmp_path):
    pytest.importorskip("tokenizers")
    (tmp_path / "merges.txt").write_text("#version: 0.2\nl o\nlo w</w>\n")
    made = T.CLIPTokenizer(tmp_path / "merges.txt", return_tokens=True)
    assert made("LOW  lol!") == ["low</w>", "lo", "l</w>", "!</w>"]
    ids = T.CLIPTokenizer(tmp_path / "merges.txt")
    assert ids("low") == [str(512 + 1)]  # 256 bytes, as many that end words, then the merges
    assert ids("!") == ["256"]  # the first printable byte, ending a word


def test_wordpiece_and_characters(tmp_path):
    pytest.importorskip("tokenizers")
    (tmp_path / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\nun\n##able\nUn\n")
    assert T.BERTTokenizer(tmp_path / "vocab.txt")("unable Unable") == ["4", "5", "4", "5"]
    assert T.BERTTokenizer(tmp_path / "vocab.txt", do_lower_case=False, return_tokens=True)("Unable") == ["Un", "##able"]
    (tmp_path / "e.json").write_text('{"a": 0, "b</w>": 1, "ab</w>": 2, "<unk>": 3}')
    (tmp_path / "m.txt").write_text("a b</w>\n")
    made = T.CharBPETokenizer(tmp_path / "e.json", tmp_path / "m.txt", True, unk_token="<unk>", suffix="</w>")
    assert made("ab ab") == ["ab</w>", "ab</w>"]


# Streams


def test_streams():
    replace = D.custom_replace([(r"S", "s"), (r"\s+", " ")])
    assert list(replace(["test     cuStom   replace", "with   uSer   instruction"])) == [
        "test custom replace",
        "with user instruction",
    ]
    assert list(D.simple_space_split(["a b", ""])) == [["a", "b"], []]
    ids = D.numericalize_tokens_from_iterator(Vocab(["a", "b"]), D.simple_space_split(["a b", "b"]), ["a"])
    assert [list(row) for row in ids] == [[1], [1]]


def test_a_stream_becomes_a_dataset():
    made = D.to_map_style_dataset(iter([(1, "a"), (2, "b"), (1, "c")]))
    assert (len(made), made[2]) == (3, (1, "c"))
    assert [labels.tolist() for labels, _ in DataLoader(made, batch_size=2)] == [[1, 2], [1]]


def test_wikipedia():
    dump = [
        "<mediawiki xmlns='a'>",
        "  <title>Anarchism</title>",
        "#REDIRECT [[Other]]",
        "'''Anarchism''' is a [[political philosophy|theory]] of &quot;1840&quot;.{{cite|x}}",
        "[[Category:Ideas]] [http://a.b/c link] &lt;br/&gt;",
    ]
    expected = ["anarchism", "anarchism is a theory of one eight four zero", "ideas link"]
    assert list(D.filter_wikipedia_xml(dump)) == expected
