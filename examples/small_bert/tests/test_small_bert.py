"""The program as a user runs it, and its task."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from train import NOUNS, labelled, sentences

PROGRAM = Path(__file__).parents[1] / "train.py"


def test_sentences_agree() -> None:
    for text in sentences(300, seed=0):
        words = text.split()
        first = next(word for word in words if word.rstrip("s") in NOUNS)
        assert ("are" in words) <= first.endswith("s")
        assert ("is" in words) <= (not first.endswith("s"))


def test_the_task_hides_the_answer() -> None:
    samples = labelled(["this is one .", "these are two .", "he is and is .", "nothing", "that is it .", "those are it ."])
    assert samples == [("this [MASK] one .", 0), ("these [MASK] two .", 1), ("that [MASK] it .", 0), ("those [MASK] it .", 1)]
    assert all(" is " not in f" {text} " and " are " not in f" {text} " for text, _ in labelled(sentences(200, seed=3)))


@pytest.mark.timeout(240)
def test_the_program_pretrains_and_tunes(tmp_path: Path) -> None:
    command = [sys.executable, str(PROGRAM), "--epochs", "2", "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=230, check=True)
    assert done.stderr == ""
    first, second = (float(loss) for loss in re.findall(r"loss ([\d.]+)", done.stdout))
    assert second < first
    assert len(re.findall(r"accuracy: [\d.]+%", done.stdout)) == 2
    assert {path.name for path in tmp_path.iterdir()} == {"config.json", "model.safetensors", "vocab.txt"}
