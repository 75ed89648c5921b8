"""The model's promises, and the programs as a user runs them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from checkpoint import load, save
from model import CharGPT, Config, continue_text

import tenfold
from tenfold.text import Vocab

FOLDER = Path(__file__).parents[1]
SMALL = Config(vocabulary=11, context=8, width=16, heads=2, layers=2)


@pytest.fixture
def model() -> CharGPT:
    tenfold.manual_seed(0)
    return CharGPT(SMALL).eval()


def test_a_position_does_not_see_later_characters(model: CharGPT) -> None:
    ids = tenfold.randint(0, 11, (1, 8))
    changed = ids.clone()
    changed[0, 5:] = (changed[0, 5:] + 1) % 11
    before, after = model(ids), model(changed)
    assert tenfold.equal(before[:, :5], after[:, :5])
    assert not tenfold.allclose(before[:, 5:], after[:, 5:])


def test_reading_and_writing_share_one_weight(model: CharGPT) -> None:
    assert model.scores.weight is model.characters.weight
    assert len(list(model.parameters())) == len(model.state_dict()) - 1


def test_the_likeliest_character_is_drawn_with_top_k_1(model: CharGPT) -> None:
    start = tenfold.tensor([3, 1])
    written = continue_text(model, start, 12, top_k=1)
    assert written.shape == (14,)
    for i in range(2, 14):
        assert int(written[i]) == int(model(written[max(i - 8, 0) : i].unsqueeze(0))[0, -1].argmax())


@pytest.mark.parametrize("wrong", [{"temperature": 0.0}, {"top_k": 0}])
def test_refuses_settings_without_meaning(model: CharGPT, wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="temperature must be positive and top_k at least 1"):
        continue_text(model, tenfold.tensor([1]), 1, **wrong)


def test_a_checkpoint_holds_the_same_model(model: CharGPT, tmp_path: Path) -> None:
    save(tmp_path / "model.safetensors", model, Vocab("abcdefghijk"))
    read, vocabulary = load(tmp_path / "model.safetensors")
    assert vocabulary.get_itos() == list("abcdefghijk")
    assert read.scores.weight is read.characters.weight
    ids = tenfold.tensor([[1, 2, 3]])
    assert tenfold.equal(read.eval()(ids), model(ids))


def run(program: str, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(FOLDER / program), *options], capture_output=True, text=True, check=False)


def test_trains_and_writes(tmp_path: Path) -> None:
    trained = run("train.py", "--steps", "8", "--length", "20", "--out", str(tmp_path))
    assert trained.returncode == 0, trained.stderr
    assert "step     8  train loss" in trained.stdout
    assert (tmp_path / "loss.png").read_bytes().startswith(b"\x89PNG")
    written = run("sample.py", "--checkpoint", str(tmp_path / "checkpoint.safetensors"), "--prompt", "A", "--length", "20")
    assert written.returncode == 0, written.stderr
    assert written.stdout.startswith("A")
    assert len(written.stdout) == 1 + 20 + 1


def test_a_damaged_checkpoint_is_refused(tmp_path: Path) -> None:
    (tmp_path / "c.safetensors").write_bytes(b"nothing")
    refused = run("sample.py", "--checkpoint", str(tmp_path / "c.safetensors"))
    assert refused.returncode == 1
    assert "corrupt or was cut short" in refused.stderr
    assert "Traceback" not in refused.stderr
