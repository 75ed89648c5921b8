"""The program as a user runs it; what it saves can be gone on with."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import tenfold
from tenfold.text import Vocab
from tenfold.text.models import GPT2LMHeadModel, from_pretrained

PROGRAM = Path(__file__).parents[1] / "train.py"


@pytest.mark.timeout(240)
def test_the_program_trains_saves_and_writes(tmp_path: Path) -> None:
    command = [sys.executable, str(PROGRAM), "--steps", "60", "--length", "12", "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=230, check=True)
    assert done.stderr == ""
    assert float(re.findall(r"test perplexity: ([\d.]+)", done.stdout)[0]) < 30
    for way in ("the likeliest character:", "five beams:", "by chance, the likeliest 0.9:", "word by word"):
        assert f"\n{way}" in done.stdout
    model, vocabulary = from_pretrained(tmp_path), Vocab.from_file(tmp_path / "vocab.json")
    assert isinstance(model, GPT2LMHeadModel)
    ids = tenfold.tensor([vocabulary(list("The "))])
    assert model.generate(ids, max_new_tokens=5).tolist() == model.generate(ids, max_new_tokens=5, use_cache=False).tolist()
