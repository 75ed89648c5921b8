"""Published datasets from small files in the true formats, from a server on this machine and from folders."""

from __future__ import annotations

import dataclasses
import gzip
import hashlib
import io
import json
import pickle
import tarfile
import urllib.error
import zipfile

import pytest

from tenfold.data import DataLoader
from tenfold.text import datasets
from tenfold.text.data import to_map_style_dataset
from tenfold.text.datasets import multi30k


def zipped(files):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return target.getvalue()


def tarred(files):
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    return target.getvalue()


GLUE = 'index\tsentence1\tsentence2\tlabel\n0\ta "b\t"c"\t{}\n1\td\te\t{}\n'
CASES = {
    "AG_NEWS": (
        "train",
        lambda: b'"3","Wall St. Bears","Short-sellers, \\again"\n"4","A ""quote""","b"\n',
        [(3, "Wall St. Bears Short-sellers, \\again"), (4, 'A "quote" b')],
    ),
    "YelpReviewFull": (
        "test",
        lambda: tarred(
            {"yelp_review_full_csv/test.csv": '"5","dr. good\\nand, well"\n', "yelp_review_full_csv/train.csv": '"1","x"\n'}
        ),
        [(5, "dr. good\\nand, well")],
    ),
    "DBpedia": ("train", lambda: tarred({"dbpedia_csv/train.csv": '1,"Name","Text"\n'}), [(1, "Name Text")]),
    "IMDB": (
        "train",
        lambda: tarred(
            {
                "aclImdb/train/pos/0_9.txt": "good é",
                "aclImdb/train/neg/0_1.txt": "bad<br />",
                "aclImdb/train/unsup/0_0.txt": "?",
                "aclImdb/test/neg/1_1.txt": "no",
            }
        ),
        [(1, "bad<br />"), (2, "good é")],
    ),
    "WikiText2": (
        "valid",
        lambda: zipped({"wikitext-2/wiki.valid.tokens": " \n = Robert = \n", "wikitext-2/wiki.test.tokens": "x"}),
        [" \n", " = Robert = \n"],
    ),
    "PennTreebank": ("test", lambda: b" no it was n't black monday \n but\n", ["no it was n't black monday", "but"]),
    "EnWik9": ("train", lambda: zipped({"enwik9": "<mediawiki>\n text\n"}), ["<mediawiki>\n", " text\n"]),
    "SST2": ("train", lambda: zipped({"SST-2/train.tsv": "sentence\tlabel\nhide new \t0\n5\t1\n"}), [("hide new ", 0), ("5", 1)]),
    "QNLI": (
        "dev",
        lambda: zipped({"QNLI/dev.tsv": GLUE.format("not_entailment", "entailment")}),
        [(1, 'a "b', '"c"'), (0, "d", "e")],
    ),
    "RTE": (
        "dev",
        lambda: zipped({"RTE/dev.tsv": GLUE.format("not_entailment", "entailment")}),
        [(1, 'a "b', '"c"'), (0, "d", "e")],
    ),
    "WNLI": ("test", lambda: zipped({"WNLI/test.tsv": "index\tsentence1\tsentence2\n0\ta\tb\n"}), [("a", "b")]),
    "CoLA": (
        "test",
        lambda: zipped({"cola_public/raw/out_of_domain_dev.tsv": 'clc95\t1\t\tSomebody just left\n"s"\t"0"\t"t"\n'}),
        [("clc95", 1, "Somebody just left"), ("s", 0, "t")],
    ),
    "MRPC": (
        "train",
        lambda: '\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\n1\t7\t8\tA "b\tc\n'.encode(),
        [(1, 'A "b', "c")],
    ),
    "QQP": (
        "train",
        lambda: b'id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n0\t1\t2\tWhat?\t"Why ""so""?"\t1\n',
        [(1, "What?", 'Why "so"?')],
    ),
    "MNLI": (
        "dev_matched",
        lambda: zipped(
            {
                "multinli_1.0/multinli_1.0_dev_matched.txt": "gold_label"
                + "\th" * 14
                + "\n"
                + "neutral"
                + "\tx" * 4
                + "\tP\tH"
                + "\t0" * 8
                + "\n-"
                + "\tx" * 14
                + "\n",
                "__MACOSX/multinli_1.0_dev_matched.txt": "",
            }
        ),
        [(1, "P", "H")],
    ),
    "STSB": (
        "dev",
        lambda: tarred({"stsbenchmark/sts-dev.csv": 'g\tf\t2012\t0001\t5.000\tA "man\tB\tmore\n'}),
        [(1, 5.0, 'A "man', "B")],
    ),
    "CoNLL2000Chunking": (
        "test",
        lambda: gzip.compress(b"Rock NNP B-NP\nis VB O\n\nA DT B-NP\n"),
        [[["Rock", "is"], ["NNP", "VB"], ["B-NP", "O"]], [["A"], ["DT"], ["B-NP"]]],
    ),
    "UDPOS": (
        "valid",
        lambda: zipped({"en-ud-v2/en-ud-tag.v2.dev.txt": "From\tADP\tIN\nthe\tDET\tDT\n\n"}),
        [[["From", "the"], ["ADP", "DET"], ["IN", "DT"]]],
    ),
    "SQuAD2": (
        "dev",
        lambda: json.dumps(
            {
                "data": [
                    {
                        "title": "t",
                        "paragraphs": [
                            {
                                "context": "C",
                                "qas": [
                                    {
                                        "question": "Q",
                                        "id": "1",
                                        "answers": [{"text": "a", "answer_start": 3}, {"text": "b", "answer_start": 4}],
                                    },
                                    {"question": "R", "id": "2", "answers": [], "is_impossible": True},
                                ],
                            }
                        ],
                    }
                ]
            }
        ).encode(),
        [("C", "Q", ["a", "b"], [3, 4]), ("C", "R", [""], [-1])],
    ),
}


@pytest.fixture
def served(file_server, monkeypatch):
    """Serves a dataset's bytes; its address and checksum become those of this machine's copy."""

    def serve(dataset, split, data, path="file"):
        source = dataset.sources[split]
        (file_server.folder / path).write_bytes(data)
        own = dataclasses.replace(
            source, url=file_server.url + path, checksum=hashlib.md5(data).hexdigest(), filename=source.name
        )
        monkeypatch.setitem(dataset.sources, split, own)
        return file_server

    return serve


@pytest.mark.parametrize("name", CASES)
def test_true_formats(name, served, tmp_path):
    split, data, expected = CASES[name]
    dataset = datasets.DATASETS[name]
    assert getattr(datasets, name) is dataset
    server = served(dataset, split, data())
    found = dataset(tmp_path, split)
    assert server.ranges == []  # nothing is fetched before it is needed
    assert list(found) == expected
    assert list(found) == expected
    assert len(server.ranges) == 1
    assert found.path.parent == tmp_path / "datasets" / name


def test_a_connection_that_drops_and_wrong_bytes(served, tmp_path):
    split, data, expected = CASES["AG_NEWS"]
    server = served(datasets.AG_NEWS, split, data())
    server.drops = 2
    assert list(datasets.AG_NEWS(tmp_path, split)) == expected
    (server.folder / "file").write_bytes(b"1,wrong\n")
    with pytest.raises(RuntimeError, match="arrived with the MD5 checksum"):
        list(datasets.AG_NEWS(tmp_path / "other", split))


def test_multi30k(served, tmp_path):
    data = tarred({"val.de": "Eine Gruppe\nEin Mann\n", "val.en": "A group\nA man\n"})
    served(multi30k.GERMAN_ENGLISH, "valid", data)
    assert list(datasets.Multi30k(tmp_path, "valid")) == [("Eine Gruppe", "A group"), ("Ein Mann", "A man")]
    assert next(iter(datasets.Multi30k(tmp_path, "valid", ("en", "de")))) == ("A group", "Eine Gruppe")
    english = datasets.Multi30k(tmp_path, "valid", ("en", "de"))
    assert list(pickle.loads(pickle.dumps(english))) == list(english)
    with pytest.raises(ValueError, match="language_pair is"):
        datasets.Multi30k(tmp_path, "valid", ("fr", "en"))


def test_offline(offline, tmp_path, monkeypatch):
    monkeypatch.setenv("TENFOLD_HOME", str(tmp_path / "home"))
    split, data, expected = CASES["WikiText2"]
    with pytest.raises(FileNotFoundError, match=r"has no file wikitext-2-v1\.zip; put it there"):
        list(datasets.WikiText2(split="test"))
    home = tmp_path / "home" / "datasets" / "WikiText2"
    (home / "wikitext-2-v1.zip").write_bytes(data())  # by hand, where messages say
    assert list(datasets.WikiText2(split=split)) == expected


def test_without_network_the_file_and_its_place_are_named(tmp_path, monkeypatch, file_server):
    monkeypatch.setitem(
        datasets.EnWik9.sources,
        "train",
        dataclasses.replace(datasets.EnWik9.sources["train"], url="http://127.0.0.1:9/enwik9.zip"),
    )
    with pytest.raises(urllib.error.URLError, match=rf"put the file at {tmp_path}/datasets/EnWik9/enwik9\.zip"):
        next(iter(datasets.EnWik9(tmp_path)))


def test_splits(tmp_path):
    train, test = datasets.AG_NEWS(tmp_path)
    assert (train.split, test.split) == ("train", "test")
    assert [one.split for one in datasets.IMDB(tmp_path, ("test", "train"))] == ["test", "train"]
    with pytest.raises(ValueError, match="AG_NEWS: split 'valid' is unknown; there are train, test"):
        datasets.AG_NEWS(tmp_path, "valid")
    assert "AG_NEWS(split='train'" in repr(train)
    assert repr(datasets.AG_NEWS) == "AG_NEWS(root, split): splits train, test; a sample is (label, text)"


def test_a_damaged_archive_is_named(tmp_path):
    folder = tmp_path / "datasets" / "RTE"
    folder.mkdir(parents=True)
    (folder / "RTE.zip").write_bytes(zipped({"other.txt": ""}))
    with pytest.raises(FileNotFoundError, match=r"RTE\.zip has no member RTE/dev\.tsv"):
        list(datasets.RTE(tmp_path, "dev"))


def test_in_a_loader_with_workers(tmp_path):
    folder = tmp_path / "datasets" / "PennTreebank"
    folder.mkdir(parents=True)
    (folder / "ptb.test.txt").write_text("".join(f"line {i}\n" for i in range(23)))
    data = datasets.PennTreebank(tmp_path, "test")
    assert list(pickle.loads(pickle.dumps(data))) == list(data)
    loader = DataLoader(data.shuffle(50).shard().map(str.upper), batch_size=4, num_workers=2)
    assert sorted(line for batch in loader for line in batch) == sorted(f"LINE {i}" for i in range(23))
    assert to_map_style_dataset(data)[22] == "line 22"


def test_every_dataset_has_a_checksum_and_a_name():
    for name, dataset in {**datasets.DATASETS, "Multi30k": multi30k.GERMAN_ENGLISH}.items():
        assert dataset.name == name
        for source in dataset.sources.values():
            assert len(source.checksum) in (32, 64)
            assert source.url.startswith("http")
            assert "?" not in source.name
