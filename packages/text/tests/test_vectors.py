"""Word vectors of text and binary files, from folders and from a server on this machine."""

from __future__ import annotations

import gzip
import io
import os
import struct
import zipfile

import numpy as np
import pytest

import tenfold
from tenfold.text import Vocab
from tenfold.text.vectors import CharNGram, FastText, GloVe, Vectors, pretrained_aliases

GLOVE = "the 1 2 3\n. . . 4 5 6\nTHE 7 8 9\n"


@pytest.fixture
def cache(tmp_path):
    (tmp_path / "glove.6B.50d.txt").write_text(GLOVE)
    return tmp_path


def test_text(cache):
    found = Vectors("glove.6B.50d.txt", cache=cache)
    assert (found.itos, found.dim, len(found)) == (["the", ". . .", "THE"], 3, 3)
    assert found.vectors.tolist() == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    assert found.vectors.dtype == tenfold.float32
    assert "the" in found
    assert found["nothing"].tolist() == [0, 0, 0]
    assert Vectors("glove.6B.50d.txt", cache=cache, unk_init=lambda x: x + 9)["nothing"].tolist() == [9, 9, 9]


def test_a_header_is_no_word(tmp_path):
    (tmp_path / "wiki.simple.vec").write_text("2 3\nthe 1 2 3 \na -1e-2 0 nan\n")
    found = FastText("simple", cache=tmp_path)
    assert found.itos == ["the", "a"]
    assert found["a"][0].item() == pytest.approx(-0.01)


def binary(line_ends):
    rows = [("in", [1.5, -2.0]), ("für", [0.25, 3.0])]
    body = b"".join(word.encode() + b" " + struct.pack("<2f", *numbers) + (b"\n" if line_ends else b"") for word, numbers in rows)
    return b"2 2\n" + body


@pytest.mark.parametrize("line_ends", [True, False])
@pytest.mark.parametrize("packed", [True, False])
def test_word2vec(tmp_path, line_ends, packed):
    name = "news.bin.gz" if packed else "news.bin"
    (tmp_path / name).write_bytes(gzip.compress(binary(line_ends)) if packed else binary(line_ends))
    found = Vectors(name, cache=tmp_path)
    assert found.itos == ["in", "für"]
    assert found.vectors.tolist() == [[1.5, -2.0], [0.25, 3.0]]
    assert Vectors(name, cache=tmp_path, max_vectors=1).itos == ["in"]


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.txt", b"a 1 2\nb 1\n", "line 2: 1 numbers, the first vector has 2"),
        ("a.txt", b"a 1 2\nb 1 x\n", "line 2: could not convert .*x.*expected a word and 2 numbers"),
        ("a.txt", b"alone\n", "line 1: 0 numbers, the first vector has none"),
        ("a.bin", b"x", "not word2vec's binary form"),
        ("a.bin", b"2 2\na 12345678", "ends in vector 2 of 2"),
    ],
)
def test_damaged_files(tmp_path, name, data, message):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(RuntimeError, match=message):
        Vectors(name, cache=tmp_path)
    (tmp_path / "empty.txt").write_bytes(b"")
    with pytest.raises(ValueError, match="has no vectors"):
        Vectors("empty.txt", cache=tmp_path)


def test_the_file_is_read_once_and_mapped(cache):
    Vectors("glove.6B.50d.txt", cache=cache)
    (cache / "glove.6B.50d.txt").unlink()
    again = Vectors("glove.6B.50d.txt", cache=cache)
    assert again["the"].tolist() == [1, 2, 3]
    again.vectors[0] = 5.0  # of this process alone
    assert Vectors("glove.6B.50d.txt", cache=cache)["the"].tolist() == [1, 2, 3]
    assert np.load(cache / "glove.6B.50d.txt.npy").dtype == np.float32


def test_another_file_of_the_same_name_is_read_anew(cache):
    before = Vectors("glove.6B.50d.txt", cache=cache)
    (cache / "glove.6B.50d.txt").write_text("new 9 9\n")
    after = Vectors("glove.6B.50d.txt", cache=cache)
    assert (after.itos, after["new"].tolist()) == (["new"], [9, 9])
    assert before["the"].tolist() == [1, 2, 3]  # what is mapped stays
    (cache / "other").mkdir()
    (cache / "other" / "glove.6B.50d.txt").write_text("old 1\n")
    os.utime(cache / "other" / "glove.6B.50d.txt", ns=(1, 1))
    assert Vectors(cache / "other" / "glove.6B.50d.txt", cache=cache).itos == ["old"]


def test_tabs_part_as_spaces_do(tmp_path):
    (tmp_path / "v.txt").write_text("the\t1\t2\na b\t3\t4\n")
    found = Vectors("v.txt", cache=tmp_path)
    assert (found.itos, found.vectors.tolist()) == (["the", "a b"], [[1, 2], [3, 4]])


def test_words_by_their_names(cache):
    found = Vectors(cache / "glove.6B.50d.txt", cache=cache / "elsewhere")
    assert found.get_vecs_by_tokens(["THE", "The", "x"]).tolist() == [[7, 8, 9], [0, 0, 0], [0, 0, 0]]
    assert found.get_vecs_by_tokens(["THE", "The"], lower_case_backup=True).tolist() == [[7, 8, 9], [1, 2, 3]]
    assert found.get_vecs_by_tokens("the").shape == (3,)
    assert found.get_vecs_by_tokens([]).shape == (0, 3)


def test_into_an_embedding(cache):
    words = Vocab(["<pad>", "THE", "the"])
    layer = Vectors("glove.6B.50d.txt", cache=cache).embedding(words.get_itos(), freeze=False, padding_idx=0)
    layer(tenfold.tensor([0, 1, 2])).sum().backward()
    assert layer.weight.tolist() == [[0, 0, 0], [7, 8, 9], [1, 2, 3]]
    assert layer.weight.grad.tolist() == [[0, 0, 0], [1, 1, 1], [1, 1, 1]]


def test_glove_comes_in_a_zip(file_server, tmp_path, monkeypatch):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("glove.6B.50d.txt", GLOVE)
    (file_server.folder / "glove.6B.zip").write_bytes(packed.getvalue())
    monkeypatch.setitem(GloVe.url, "6B", file_server.url + "glove.6B.zip")
    assert GloVe("6B", 50, cache=tmp_path)["THE"].tolist() == [7, 8, 9]
    assert pretrained_aliases["glove.6B.50d"](cache=tmp_path).dim == 3
    with pytest.raises(RuntimeError, match=r"in which there is no glove\.6B\.100d\.txt"):
        GloVe("6B", 100, cache=tmp_path)
    with pytest.raises(ValueError, match="name is one of"):
        GloVe("7B")


def test_what_is_missing(tmp_path, offline):
    with pytest.raises(RuntimeError, match=r"no vectors found at .*v\.txt; put the file there, or give its url"):
        Vectors("v.txt", cache=tmp_path)
    with pytest.raises(FileNotFoundError, match=r"has no file glove\.6B\.zip"):
        GloVe("6B", 50, cache=tmp_path)


def test_runs_of_characters(tmp_path):
    (tmp_path / "charNgram.txt").write_text("2gram-#BEGIN#a 1 0\n2gram-ab 0 1\n3gram-ab#END# 2 5\n")
    found = CharNGram(cache=tmp_path)
    assert found["ab"].tolist() == [[1.0, 2.0]]
    assert found["xyz"].tolist() == [[0.0, 0.0]]
    assert found.get_vecs_by_tokens(["ab"]).shape == (1, 1, 2)


def test_torchtexts_path():
    from tenfold.text import vocab

    assert vocab.GloVe is GloVe
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        vocab.Nothing


def test_words_with_other_line_breaks_keep_their_vectors(tmp_path):
    words = ["y\rou", "a\u2028b", "c\x85", "nb\xa0sp", ""]
    (tmp_path / "v.txt").write_bytes("".join(f"{word} {n} 1\n" for n, word in enumerate(words)).encode())
    for _ in range(2):  # from the file, and from the copy
        found = Vectors("v.txt", cache=tmp_path)
        assert found.itos == words
        assert found.vectors[:, 0].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize("first", ["\ufeffyou 1 2", "you 1 2\r", ". . . 1 2", " 1 2", "2 1 2"])
def test_first_lines(tmp_path, first):
    (tmp_path / "v.txt").write_bytes(f"{first}\ncan 3 4\n".encode())
    found = Vectors("v.txt", cache=tmp_path)
    assert found.itos == [first.removeprefix("\ufeff").rstrip()[:-4], "can"]
    assert found.vectors.tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_a_file_with_fewer_vectors_than_it_tells_of(tmp_path):
    (tmp_path / "v.vec").write_text("5 2\nyou 1 2 \ncan 3 4 \n")
    with pytest.warns(UserWarning, match=r"v\.vec: its first line tells of 5 vectors, there are 2; is it whole\?"):
        assert Vectors("v.vec", cache=tmp_path).itos == ["you", "can"]
    assert Vectors("v.vec", cache=tmp_path, max_vectors=1).itos == ["you"]
