from __future__ import annotations

import sys

import pytest

from tenfold.text import SubwordTokenizer, get_tokenizer, ngrams_iterator


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        ("Hello, World!", ["hello", ",", "world", "!"]),
        ('It\'s "quoted".', ["it", "'", "s", "quoted", "."]),
        ("a;b:c<br />d", ["a", "b", "c", "d"]),
        ("(What?)  Tab\tand\nline", ["(", "what", "?", ")", "tab", "and", "line"]),
        ("3.14", ["3", ".", "14"]),
        ('un"broken', ["unbroken"]),
    ],
)
def test_basic_english(text, tokens):
    assert get_tokenizer("basic_english")(text) == tokens


def test_other_tokenizers():
    assert get_tokenizer(None)(" A  b ") == ["A", "b"]
    assert get_tokenizer("characters")("ab c") == ["a", "b", " ", "c"]
    assert get_tokenizer(str.splitlines)("a b\nc") == ["a b", "c"]


def test_unknown_names_and_languages_are_refused():
    with pytest.raises(ValueError, match=r"got 'nonsense'; accepted are \['basic_english', 'characters', 'moses'"):
        get_tokenizer("nonsense")
    with pytest.raises(ValueError, match="language 'en', got 'de'"):
        get_tokenizer("basic_english", language="de")


@pytest.mark.parametrize(
    ("n", "expected"), [(1, ["a", "b", "c"]), (2, ["a", "b", "c", "a b", "b c"]), (9, ["a", "b", "c", "a b", "b c", "a b c"])]
)
def test_ngrams(n, expected):
    assert list(ngrams_iterator(["a", "b", "c"], n)) == expected


def test_subwords_go_there_and_back(tmp_path):
    pytest.importorskip("tokenizers")
    tokenizer = SubwordTokenizer.train(["low lower lowest", "new newer"] * 5, vocab_size=270, special_tokens=["<pad>"])
    text = "lower newest é!"
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert len(tokenizer("lower")) < len("lower")
    assert len(tokenizer) == 270
    assert tokenizer.encode("<pad>") == [0]
    tokenizer.save(tmp_path / "bpe.json")
    assert SubwordTokenizer.from_file(tmp_path / "bpe.json").encode(text) == tokenizer.encode(text)


def test_a_missing_library_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(ImportError, match=r'pip install "tenfold-text\[tokenizers\]"'):
        SubwordTokenizer.train(["text"], 300)


def test_one_text_is_no_collection_of_texts():
    with pytest.raises(TypeError, match="expected several texts, got one str"):
        SubwordTokenizer.train("a text", 300)
