"""Vectors that are published: GloVe, fastText, character n-grams."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import tenfold
from tenfold import Tensor
from tenfold.text.vectors.vectors import Vectors


class GloVe(Vectors):
    """Vectors of J. Pennington et al., GloVe, 2014: "840B", "42B", "6B" (dim 50 to 300), "twitter.27B" (25 to 200).

    Raises: ValueError for another name.
    """

    url: ClassVar[dict[str, str]] = {
        name: f"http://nlp.stanford.edu/data/glove.{file}.zip"
        for name, file in (("42B", "42B.300d"), ("840B", "840B.300d"), ("twitter.27B", "twitter.27B"), ("6B", "6B"))
    }

    def __init__(self, name: str = "840B", dim: int | str = 300, **kwargs: Any) -> None:
        if name not in self.url:
            raise ValueError(f"GloVe: name is one of {', '.join(self.url)}, got {name!r}")
        super().__init__(f"glove.{name}.{dim}d.txt", url=self.url[name], **kwargs)


class FastText(Vectors):
    """Vectors of P. Bojanowski et al., Enriching Word Vectors with Subword Information, 2017, of a language's Wikipedia."""

    url_base: ClassVar[str] = "https://dl.fbaipublicfiles.com/fasttext/vectors-wiki/wiki.{}.vec"

    def __init__(self, language: str = "en", **kwargs: Any) -> None:
        url = self.url_base.format(language)
        super().__init__(url.rpartition("/")[2], url=url, **kwargs)


class CharNGram(Vectors):
    """Vectors of runs of 2 to 4 characters, of which a word's is the mean. Source: K. Hashimoto et al., 2016.

    A word without any known run has what `unk_init` makes. Shape of a word's vector: (1, 100).
    """

    name: ClassVar[str] = "charNgram.txt"
    url: ClassVar[str] = "http://www.logos.t.u-tokyo.ac.jp/~hassy/publications/arxiv2016jmt/jmt_pre-trained_embeddings.tar.gz"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(self.name, url=self.url, **kwargs)

    def __getitem__(self, token: str) -> Tensor:
        letters = ["#BEGIN#", *token, "#END#"]
        runs = [f"{n}gram-{''.join(letters[at : at + n])}" for n in (2, 3, 4) for at in range(len(letters) - n + 1)]
        known = [self.vectors[self.stoi[run]] for run in runs if run in self.stoi] if token != "<unk>" else []
        mean = tenfold.stack(known).mean(0) if known else self.unk_init(tenfold.zeros(self.dim))
        return mean.unsqueeze(0)

    def __contains__(self, token: object) -> bool:
        return isinstance(token, str)


pretrained_aliases: dict[str, Callable[..., Vectors]] = {
    "charngram.100d": CharNGram,
    "fasttext.en.300d": partial(FastText, language="en"),
    "fasttext.simple.300d": partial(FastText, language="simple"),
    "glove.42B.300d": partial(GloVe, name="42B", dim=300),
    "glove.840B.300d": partial(GloVe, name="840B", dim=300),
    **{f"glove.twitter.27B.{dim}d": partial(GloVe, name="twitter.27B", dim=dim) for dim in (25, 50, 100, 200)},
    **{f"glove.6B.{dim}d": partial(GloVe, name="6B", dim=dim) for dim in (50, 100, 200, 300)},
}
"""What makes the vectors of a name."""
