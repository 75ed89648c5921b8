"""Tell from a sentence whose documentation it is of: NumPy's, Matplotlib's or Python's own.

The sentences are in the installed packages, so that nothing is downloaded. A text is the mean of the vectors of its words and
pairs of words, as in A. Joulin et al., Bag of Tricks for Efficient Text Classification, 2017.

    python train.py
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import random
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import tenfold
from tenfold import Tensor, nn, optim
from tenfold.data import DataLoader
from tenfold.text import build_vocab_from_iterator, get_tokenizer, ngrams_iterator
from tenfold.text.datasets import pydoc_topics

MODULES = {
    "numpy": ["numpy", "numpy.linalg", "numpy.random", "numpy.polynomial", "numpy.ma"],
    "matplotlib": ["matplotlib.axes", "matplotlib.figure", "matplotlib.colors", "matplotlib.ticker", "matplotlib.patches"],
}
LABELS = [*MODULES, "python"]
SENTENCES_PER_LABEL = 1000
SHOWN = [
    "Return the eigenvalues of a symmetric array.",
    "Set the color of the axis tick labels.",
    "The statement is executed when an exception is raised.",
]

Sample = tuple[list[int], int]
tokenize = get_tokenizer("basic_english")


def documentation(module: str) -> Iterator[str]:
    """The docstrings of a module's public names and their methods."""
    for _, member in inspect.getmembers(importlib.import_module(module)):
        if inspect.isclass(member):
            yield from (inspect.getdoc(method) or "" for name, method in inspect.getmembers(member) if not name.startswith("_"))
        if callable(member):
            yield inspect.getdoc(member) or ""


def sentences(text: str) -> Iterator[str]:
    """Sentences of running text; not code, tables or headings."""
    for paragraph in re.split(r"\n\s*\n", text):
        for sentence in re.split(r"(?<=[.!?])\s+", " ".join(paragraph.split())):
            if re.fullmatch(r"[A-Z][\w ,'()-]{30,200}\.", sentence):
                yield sentence


def read(label: str) -> list[str]:
    """What a label's documentation says, each sentence once; the libraries' own names are left out, they would tell."""
    texts = [pydoc_topics()] if label == "python" else [text for module in MODULES[label] for text in documentation(module)]
    found = dict.fromkeys(sentence for text in texts for sentence in sentences(text))
    return [re.sub(r"(?i)\b(numpy|matplotlib|python)\b", "it", sentence) for sentence in found]


def split(seed: int) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """(sentence, label) to learn from, and others to test with."""
    draw, train, test = random.Random(seed), list[tuple[str, int]](), list[tuple[str, int]]()
    for label, name in enumerate(LABELS):
        texts = read(name)
        draw.shuffle(texts)
        samples = [(text, label) for text in texts[:SENTENCES_PER_LABEL]]
        border = len(samples) * 4 // 5
        train += samples[:border]
        test += samples[border:]
    return train, test


def words(text: str) -> list[str]:
    """The words of a text, and its pairs of words."""
    return list(ngrams_iterator(tokenize(text), 2))


class Classifier(nn.Module):
    """Scores of labels from a bag of words. Shape: ids of all texts (N,), where each text begins (B,) -> (B, labels)."""

    def __init__(self, vocabulary: int, width: int = 64) -> None:
        super().__init__()
        self.words = nn.EmbeddingBag(vocabulary, width, mode="mean")
        self.scores = nn.Linear(width, len(LABELS))

    def forward(self, ids: Tensor, starts: Tensor) -> Tensor:
        return self.scores(self.words(ids, starts))


def batch_of(samples: list[Sample]) -> tuple[Tensor, Tensor, Tensor]:
    """All ids in a row, where each text begins, and the labels."""
    lengths = tenfold.tensor([0] + [len(ids) for ids, _ in samples[:-1]])
    ids = tenfold.tensor([index for ids, _ in samples for index in ids])
    return ids, lengths.cumsum(0), tenfold.tensor([label for _, label in samples])


@tenfold.no_grad()
def accuracy(model: Classifier, samples: list[Sample]) -> float:
    """The share of samples whose label is told."""
    right = sum((model(ids, starts).argmax(1) == labels).sum().item() for ids, starts, labels in loader(samples))
    return right / len(samples)


def loader(samples: list[Sample], shuffle: bool = False) -> DataLoader:
    return DataLoader(samples, batch_size=64, shuffle=shuffle, collate_fn=batch_of)


def train(model: Classifier, samples: list[Sample], epochs: int, report: Callable[[int, float], None]) -> None:
    optimizer = optim.Adam(model.parameters(), lr=2e-2)
    for epoch in range(1, epochs + 1):
        total = 0.0
        for ids, starts, labels in loader(samples, shuffle=True):
            loss = nn.functional.cross_entropy(model(ids, starts), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(labels)
        report(epoch, total / len(samples))


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--out", type=Path, default=Path("runs/text_classifier"), help="folder for the vocabulary and the weights"
    )
    args = parser.parse_args(argv)
    tenfold.set_num_threads(1)  # the matrices are small
    tenfold.manual_seed(args.seed)
    texts, test_texts = split(args.seed)
    vocabulary = build_vocab_from_iterator((words(text) for text, _ in texts), min_freq=2, specials=["<unk>"])
    vocabulary.set_default_index(0)
    samples, tests = ([(vocabulary(words(text)), label) for text, label in part] for part in (texts, test_texts))
    print(f"{len(samples)} sentences to learn from, {len(tests)} to test with, {len(vocabulary)} words and pairs")
    model = Classifier(len(vocabulary))
    train(model, samples, args.epochs, lambda epoch, loss: print(f"epoch {epoch}  loss {loss:.3f}  {accuracy(model, tests):.1%}"))
    for text in SHOWN:
        ids, starts, _ = batch_of([(vocabulary(words(text)), 0)])
        print(f"{LABELS[int(model(ids, starts).argmax())]:>10}: {text}")
    args.out.mkdir(parents=True, exist_ok=True)
    vocabulary.save(args.out / "vocab.txt")
    tenfold.save(model.state_dict(), args.out / "model.pt")
    print(f"test accuracy: {accuracy(model, tests):.1%}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
