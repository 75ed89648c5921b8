"""The program as a user runs it, and what its parts promise."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from train import batch_of, sentences, words

from tenfold.text import Vocab

PROGRAM = Path(__file__).parents[1] / "train.py"


def test_sentences_are_running_text() -> None:
    first = "The quick brown fox jumps over the lazy dog today."
    text = f"Heading\n\n{first} Short one. >>> code(1)\n\n  A second sentence,\n  over two lines of text."
    assert list(sentences(text)) == [
        "The quick brown fox jumps over the lazy dog today.",
        "A second sentence, over two lines of text.",
    ]


def test_words_and_pairs_in_one_row() -> None:
    assert words("It is so.") == ["it", "is", "so", ".", "it is", "is so", "so ."]
    ids, starts, labels = batch_of([([5, 6], 1), ([], 0), ([7], 2)])
    assert (ids.tolist(), starts.tolist(), labels.tolist()) == ([5, 6, 7], [0, 2, 2], [1, 0, 2])


@pytest.mark.timeout(240)
def test_the_program_tells_documentation_apart(tmp_path: Path) -> None:
    command = [sys.executable, str(PROGRAM), "--epochs", "4", "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=230, check=True)
    assert done.stderr == ""
    assert float(re.findall(r"test accuracy: ([\d.]+)%", done.stdout)[0]) > 65
    assert len(Vocab.from_file(tmp_path / "vocab.txt", unknown="<unk>")) > 1000
