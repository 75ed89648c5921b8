"""Pairs of sentences for BERT's second task: does the second follow the first?"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import tenfold
from tenfold import Generator


def sentence_pairs(
    documents: Sequence[Sequence[str]], generator: Generator | None = None, random: float = 0.5
) -> list[tuple[str, str, int]]:
    """(sentence, second sentence, label) for each sentence that has a next one in its document.

    With the label 0 the second is the next one; with 1, the share `random`, a sentence of another document.

    Raises: ValueError where `random` is above 0 and there are not two documents with sentences.
    Source: J. Devlin et al., BERT, 2019, section 3.1.

    >>> sentence_pairs([["a", "b", "c"]], random=0.0)
    [('a', 'b', 0), ('b', 'c', 0)]
    """
    filled = [document for document in documents if document]
    if random > 0 and len(filled) < 2:
        raise ValueError("sentence_pairs: a random second sentence is of another document; give at least two")
    pairs = []
    for number, document in enumerate(filled):
        for first, following in pairwise(document):
            if random > 0 and tenfold.rand(1, generator=generator).item() < random:
                pairs.append((first, _elsewhere(filled, number, generator), 1))
            else:
                pairs.append((first, following, 0))
    return pairs


def _elsewhere(documents: Sequence[Sequence[str]], number: int, generator: Generator | None) -> str:
    """A sentence of another document than this one."""
    other = int(tenfold.randint(len(documents) - 1, (1,), generator=generator).item())
    document = documents[other + (other >= number)]
    return document[int(tenfold.randint(len(document), (1,), generator=generator).item())]
