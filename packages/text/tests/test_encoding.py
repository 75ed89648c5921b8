"""Texts to tensors: special tokens, pairs, truncation, padding, masks; by words, subwords and sentencepieces."""

from __future__ import annotations

import json
import sys

import pytest

import tenfold
from tenfold.text import Encoder, SentencePiece, SubwordTokenizer, Vocab
from tenfold.text.tokenizers.encoding import truncated

WORDS = Vocab(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "b", "c", "d"], default_index=1)
TEXTS = ["the cat sat on the mat", "a dog ran", "the dog and the cat ran and sat"] * 4


@pytest.fixture
def encoder():
    return Encoder(str.split, WORDS)


def test_a_batch_of_texts(encoder):
    batch = encoder(["a b", "c", ""])
    assert batch.input_ids.tolist() == [[2, 4, 5, 3], [2, 6, 3, 0], [2, 3, 0, 0]]
    assert batch["attention_mask"].tolist() == [[1, 1, 1, 1], [1, 1, 1, 0], [1, 1, 0, 0]]
    assert batch.special_tokens_mask.tolist() == [[1, 0, 0, 1], [1, 0, 1, 1], [1, 1, 1, 1]]
    assert list(batch) == ["input_ids", "attention_mask", "token_type_ids"]
    assert all(part.dtype == tenfold.int64 for part in batch.values())
    assert encoder.decode(batch.input_ids[0]) == "a b"
    assert encoder.decode([2, 4], skip_special_tokens=False) == "[CLS] a"
    assert encoder("z").input_ids.tolist() == [[2, 1, 3]]


def test_a_batch_of_pairs(encoder):
    batch = encoder(["a b", "c"], ["d", "a b c"])
    assert batch.input_ids.tolist() == [[2, 4, 5, 3, 7, 3, 0], [2, 6, 3, 4, 5, 6, 3]]
    assert batch.token_type_ids.tolist() == [[0, 0, 0, 0, 1, 1, 0], [0, 0, 0, 1, 1, 1, 1]]
    with pytest.raises(ValueError, match="1 texts and 2 second texts"):
        encoder("a", ["b", "c"])


def test_padding(encoder):
    assert encoder("a", padding="max_length", max_length=6).input_ids.tolist() == [[2, 4, 3, 0, 0, 0]]
    assert encoder(["a", "a b"], pad_to_multiple_of=8).input_ids.shape == (2, 8)
    left = Encoder(str.split, WORDS, side="left")(["a", "a b"])
    assert left.input_ids.tolist() == [[0, 2, 4, 3], [2, 4, 5, 3]]
    assert left.attention_mask.tolist() == [[0, 1, 1, 1], [1, 1, 1, 1]]
    with pytest.raises(ValueError, match="texts of 3 to 4 tokens"):
        encoder(["a", "a b"], padding=False)
    with pytest.raises(ValueError, match="needs max_length"):
        encoder("a", padding="max_length")
    with pytest.raises(ValueError, match="no padding token"):
        Encoder(str.split, WORDS, pad=None)(["a", "a b"])
    with pytest.raises(ValueError, match="padding is one of"):
        encoder("a", padding="long")


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [(True, ([1, 2], [11, 12, 13])), ("only_first", ([1], [11, 12, 13, 14])), ("only_second", ([1, 2, 3, 4], [11]))],
)
def test_truncation_of_pairs(strategy, expected):
    assert truncated([1, 2, 3, 4], [11, 12, 13, 14], 5, strategy) == expected


def test_the_longest_first_is_the_librarys_own():
    """The longer text loses tokens until both have half of the room; of equals the second keeps one more."""
    library = pytest.importorskip("tokenizers")
    words = library.Tokenizer(library.models.WordLevel({str(n): n for n in range(20)}, unk_token="0"))
    words.pre_tokenizer = library.pre_tokenizers.WhitespaceSplit()
    for n in range(6):
        for m in range(6):
            for room in range(1, 9):
                first, second = list(range(n)), list(range(10, 10 + m))
                words.enable_truncation(room)
                found = words.encode(*(" ".join(map(str, part)) for part in (first, second)))
                kept = [[i for i, text in zip(found.ids, found.sequence_ids, strict=True) if text == one] for one in (0, 1)]
                assert truncated(first, second, room) == (kept[0], kept[1]), (n, m, room)


def test_truncation_refuses(encoder):
    assert encoder("a b c d", truncation=True, max_length=4).input_ids.tolist() == [[2, 4, 5, 3]]
    with pytest.raises(ValueError, match="truncation=True needs max_length"):
        encoder("a", truncation=True)
    with pytest.raises(ValueError, match="special tokens alone are 1 more than max_length"):
        encoder("a", truncation=True, max_length=1)
    with pytest.raises(ValueError, match="truncation is one of"):
        truncated([1], None, 0, "some")
    with pytest.raises(ValueError, match="2 tokens are too many, that text has 1"):
        truncated([1], [2, 3], 1, "only_first")


def test_to_and_names(encoder):
    batch = encoder("a").to("cpu")
    assert batch.input_ids.tolist() == [[2, 4, 3]]
    with pytest.raises(AttributeError, match="Encoding has no 'ids'; it has input_ids"):
        batch.ids
    assert "input_ids: (1, 3)" in repr(batch)


# Subwords


@pytest.fixture(scope="module", params=["bpe", "wordpiece", "unigram"])
def trained(request):
    pytest.importorskip("tokenizers")
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"] if request.param != "unigram" else ["<pad>", "<unk>", "<s>", "</s>"]
    return SubwordTokenizer.train(TEXTS, 300 if request.param == "bpe" else 60, special, kind=request.param)


def test_every_kind_trains_saves_and_batches(trained, tmp_path):
    assert trained.decode(trained.encode("the cat ran")) == "the cat ran"
    trained.save_pretrained(tmp_path / "model")
    again = SubwordTokenizer.from_pretrained(tmp_path / "model")
    batch, other = trained.batch(TEXTS[:2], TEXTS[1:3]), again.batch(TEXTS[:2], TEXTS[1:3])
    assert batch.input_ids.tolist() == other.input_ids.tolist()
    assert batch.input_ids[0, 0].item() == 2  # what begins texts
    assert batch.input_ids[0].tolist().count(3) == 2  # what ends each of a pair
    assert batch.token_type_ids.max().item() == 1
    assert trained.decode_batch(trained.batch(TEXTS[:3]).input_ids) == TEXTS[:3]
    assert len(trained) == len(again)


def test_subwords_are_truncated_and_padded(trained):
    batch = trained.batch(TEXTS, truncation=True, max_length=5, padding="max_length")
    assert batch.input_ids.shape == (len(TEXTS), 5)
    assert trained.batch(TEXTS[0]).input_ids.shape[1] > 5  # the cut was for that call only
    with pytest.raises(ValueError, match="needs max_length"):
        trained.batch("a", truncation=True)
    plain = trained.batch("the cat", add_special_tokens=False)
    assert plain.input_ids.shape[1] == trained.batch("the cat").input_ids.shape[1] - 2


def test_where_tokens_and_words_come_from(trained):
    text = "the cat ran"
    batch = trained.batch([text, "the dog"], return_offsets_mapping=True)
    assert batch.offset_mapping.shape == (*batch.input_ids.shape, 2)
    places = list(zip(batch.word_ids(0), batch.offset_mapping[0].tolist(), strict=True))
    spans = [[span for word, span in places if word == number] for number in range(3)]
    assert [text[min(span)[0] : max(end for _, end in span)].strip() for span in spans] == text.split()
    assert "offset_mapping" not in batch  # a model does not take them
    numbers = batch.word_ids(0)
    assert (numbers[0], numbers[-1]) == (None, None)
    assert sorted(set(numbers) - {None}) == [0, 1, 2]
    assert trained.batch(text).offset_mapping is None
    assert batch.to("cpu").offset_mapping.tolist() == batch.offset_mapping.tolist()
    with pytest.raises(ValueError, match="return_offsets_mapping=True"):
        trained.batch(text).word_ids()
    cut = trained.batch(text, return_offsets_mapping=True, truncation=True, max_length=4)
    assert cut.offset_mapping.shape == (1, 4, 2)
    words = trained.batch([text.split()], is_split_into_words=True, return_offsets_mapping=True)
    assert sorted(set(words.word_ids(0)) - {None}) == [0, 1, 2]
    with pytest.raises(TypeError, match=r"got NoneType, str, expected texts \(str\)"):
        trained.batch(["the cat", None])


def test_how_a_tokenizer_pads_and_cuts_is_saved(trained, tmp_path):
    made = SubwordTokenizer(trained.backend, pad_token=trained.decode([5], skip_special_tokens=False) or None, side="left")
    made.pad_token, made.truncation_side = "a", "left"
    made.save_pretrained(tmp_path)
    read = SubwordTokenizer.from_pretrained(tmp_path)
    assert (read.pad_token, read.side, read.truncation_side) == ("a", "left", "left")
    assert read.batch(TEXTS).input_ids.tolist() == made.batch(TEXTS).input_ids.tolist()
    whole, cut = (read.batch(TEXTS[0], **more).input_ids[0].tolist() for more in ({}, {"truncation": True, "max_length": 5}))
    assert cut == [whole[0], *whole[-4:]]
    made.pad_token = "nothing of this name"
    with pytest.raises(ValueError, match="padding token 'nothing of this name' is not in the vocabulary"):
        made.batch(TEXTS)


def test_files_that_are_no_tokenizer_are_named(tmp_path):
    pytest.importorskip("tokenizers")
    with pytest.raises(FileNotFoundError, match=r"there is no .*none\.json"):
        SubwordTokenizer.from_file(tmp_path / "none.json")
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ValueError, match=r"tokenizer\.json is no tokenizer\.json \(Model missing"):
        SubwordTokenizer.from_pretrained(tmp_path)


def test_ids_of_several_texts(encoder):
    ids = encoder(["a b", "c"]).input_ids
    assert encoder.decode_batch(ids) == ["a b", "c"]
    with pytest.raises(ValueError, match="ids of 2 texts; use decode_batch"):
        encoder.decode(ids)
    assert encoder.decode(ids[0, 1]) == "a"


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="kind is one of"):
        SubwordTokenizer.train(TEXTS, 50, kind="words")


def test_lowercase():
    pytest.importorskip("tokenizers")
    made = SubwordTokenizer.train(TEXTS, 60, kind="wordpiece", lowercase=True)
    assert made("THE Cat") == made("the cat")


def test_published_files_of_bert_and_gpt2(tmp_path):
    pytest.importorskip("tokenizers")
    with pytest.raises(FileNotFoundError, match="has neither"):
        SubwordTokenizer.from_pretrained(tmp_path)
    (tmp_path / "vocab.json").write_text('{"l": 0, "o": 1, "w": 2, "lo": 3, "low": 4, "<|endoftext|>": 5}')
    (tmp_path / "merges.txt").write_text("#version: 0.2\nl o\nlo w\n")
    assert SubwordTokenizer.from_pretrained(tmp_path).encode("lowlo<|endoftext|>") == [4, 3, 5]
    (tmp_path / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nun\n##able\n!\n")
    bert = SubwordTokenizer.from_pretrained(tmp_path)
    assert bert("Unable! [MASK]") == ["[CLS]", "un", "##able", "!", "[MASK]", "[SEP]"]
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": false}')
    assert SubwordTokenizer.from_pretrained(tmp_path)("Un un") == ["[CLS]", "[UNK]", "un", "[SEP]"]


# Sentencepiece


@pytest.fixture(scope="module")
def spm(tmp_path_factory):
    pytest.importorskip("sentencepiece")
    from tenfold.text.data.functional import generate_sp_model

    folder = tmp_path_factory.mktemp("spm")
    (folder / "text.txt").write_text("\n".join(TEXTS))
    generate_sp_model(folder / "text.txt", vocab_size=40, model_type="bpe", model_prefix=str(folder / "m"))
    return folder / "m.model"


def test_sentencepiece_files(spm):
    made = SentencePiece(spm, begin=True, end=True)
    text = "the cat ran"
    assert "".join(made(text)) == "▁the▁cat▁ran"
    ids = made.encode(text)
    assert (ids[0], ids[-1], made.decode(ids)) == (1, 2, text)
    assert SentencePiece(spm.read_bytes()).encode(text) == ids[1:-1]
    pair = made.batch(text, "a dog", truncation=True, max_length=8)
    assert pair.input_ids.shape == (1, 8)
    assert pair.special_tokens_mask.sum().item() == 4
    assert pair.token_type_ids[0, -1].item() == 1
    assert len(made) == 40


def test_sentencepiece_by_torchtexts_names(spm):
    from tenfold.text.data.functional import load_sp_model, sentencepiece_numericalizer, sentencepiece_tokenizer
    from tenfold.text.transforms import SentencePieceTokenizer

    with open(spm, "rb") as file:
        model = load_sp_model(file)
    assert model.GetPieceSize() == 40
    assert list(sentencepiece_numericalizer(model)(["the cat"])) == [SentencePiece(spm).encode("the cat")]
    assert list(sentencepiece_tokenizer(load_sp_model(spm))(["the cat"])) == [SentencePieceTokenizer(spm)("the cat")]
    with pytest.raises(TypeError, match="Unsupported type for spm argument: dict"):
        load_sp_model({})


def test_a_missing_sentencepiece_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    with pytest.raises(ImportError, match=r'pip install "tenfold-text\[sentencepiece\]"'):
        SentencePiece("m.model")


def test_long_pairs_are_cut_without_keeping_what_is_cut_off(trained):
    """The library would keep every piece of one text with every piece of the other."""
    long, other = "the cat ran " * 3000, "a dog sat " * 3000
    batch = trained.batch(long, other, truncation=True, max_length=13)
    assert batch.input_ids.shape == (1, 13)
    assert batch.special_tokens_mask.sum().item() == 3
    assert batch.input_ids.tolist() == trained.batch(long[:300], other[:300], truncation=True, max_length=13).input_ids.tolist()
    with pytest.raises(ValueError, match="special tokens alone are"):
        trained.batch("the cat", truncation=True, max_length=1)


def test_a_published_folder_names_its_padding(trained, tmp_path):
    trained.save_pretrained(tmp_path)
    name = trained.decode([5], skip_special_tokens=False) if trained.token_to_id("e") is None else "e"
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"pad_token": {"content": name}, "padding_side": "left"}))
    read = SubwordTokenizer.from_pretrained(tmp_path)
    assert (read.pad_token, read.side) == (name, "left")
    ids = read.batch(["the", "the cat ran"]).input_ids
    assert ids[0, 0].item() == read.token_to_id(name)
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"pad_token": "nothing of this name", "padding_side": 3}))
    assert SubwordTokenizer.from_pretrained(tmp_path).pad_token == trained.pad_token


def test_sentencepiece_with_padding_of_choice(tmp_path):
    pytest.importorskip("sentencepiece")
    from tenfold.text.tokenizers.sentencepiece import train_sentencepiece

    (tmp_path / "texts").write_text("\n".join(TEXTS * 20))
    train_sentencepiece(tmp_path / "texts", 20, "unigram", str(tmp_path / "m"))
    own = SentencePiece(tmp_path / "m.model")
    with pytest.raises(ValueError, match="SentencePiece's pad"):
        own.batch(["the", "the cat ran"])
    assert SentencePiece(tmp_path / "m.model", pad=0).batch(["the", "the cat ran"]).input_ids[0, -1].item() == 0
    with pytest.raises(RuntimeError, match="texts: no sentencepiece model"):
        SentencePiece(tmp_path / "texts")
    with pytest.raises(RuntimeError, match="9 bytes: no sentencepiece model"):
        SentencePiece(b"a nothing")
