"""Vocabularies saved as text."""

from __future__ import annotations

import json

import pytest

from tenfold.text import Vocab
from tenfold.text.transforms import LabelToIndex


@pytest.mark.parametrize("name", ["vocab.txt", "vocab.json"])
def test_there_and_back(tmp_path, name):
    given = Vocab(["[UNK]", "a", " ", "", "\\n", "é", "##b"])
    given.save(tmp_path / name)
    read = Vocab.from_file(tmp_path / name, unknown="[UNK]")
    assert read.get_itos() == given.get_itos()
    assert read["what?"] == 0


def test_the_files_are_the_published_ones(tmp_path):
    Vocab(["a", "b"]).save(tmp_path / "v.txt")
    Vocab(["a", "b"]).save(tmp_path / "v.json")
    assert (tmp_path / "v.txt").read_text() == "a\nb\n"
    assert json.loads((tmp_path / "v.json").read_text()) == {"a": 0, "b": 1}
    (tmp_path / "v.txt").write_bytes(b"a\r\nb")
    assert Vocab.from_file(tmp_path / "v.txt").get_itos() == ["a", "b"]


def test_line_breaks_need_json(tmp_path):
    lines = Vocab(["a", "\n", "\r"])
    with pytest.raises(ValueError, match=r"'\\n' has a line break.*save as \.json"):
        lines.save(tmp_path / "v.txt")
    lines.save(tmp_path / "v.json")
    assert Vocab.from_file(tmp_path / "v.json").get_itos() == ["a", "\n", "\r"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("v.txt", "a\nb\na\n", "v.txt, line 3: the token 'a' is in line 1 already"),
        ("v.json", '{"a": 0, "b": 2}', "indices in .* are not 0 to 1"),
        ("v.json", "[1]", "not a JSON object"),
        ("v.json", "{", "not a JSON object"),
    ],
)
def test_files_that_are_wrong(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=message):
        Vocab.from_file(tmp_path / name)


def test_an_empty_file_is_an_empty_vocabulary(tmp_path):
    Vocab([]).save(tmp_path / "v.txt")
    assert len(Vocab.from_file(tmp_path / "v.txt")) == 0
    with pytest.raises(RuntimeError, match="not found"):
        Vocab.from_file(tmp_path / "v.txt", unknown="<unk>")


@pytest.mark.parametrize("text", ["a\r\nb\r\n", '{"a": 0, "b": 1}'])
def test_a_mark_before_the_text_is_no_token(tmp_path, text):
    """Some editors begin a file with it."""
    path = tmp_path / ("vocab.json" if text.startswith("{") else "vocab.txt")
    path.write_bytes(text.encode("utf-8-sig"))
    assert Vocab.from_file(path).get_itos() == ["a", "b"]
    labels = tmp_path / "labels.txt"
    labels.write_bytes("a\r\nb".encode("utf-8-sig"))
    assert LabelToIndex(label_path=labels).label_names == ["a", "b"]


def test_another_encoding_is_named(tmp_path):
    (tmp_path / "vocab.txt").write_bytes("caf\u00e9\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"vocab\.txt is not in UTF-8"):
        Vocab.from_file(tmp_path / "vocab.txt")
