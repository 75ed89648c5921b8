"""The model's promises, and the programs as a user runs them."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from checkpoint import Settings, load, save
from model import CharGPT, Config, continue_text
from train import main, new_run

import tenfold
from tenfold.data import Subset
from tenfold.text.datasets import CharacterDataset, pydoc_topics

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


def test_a_checkpoint_holds_the_same_model(tmp_path: Path) -> None:
    text = CharacterDataset("abcdefghijk" * 40, block_size=8)
    run = new_run(Settings(steps=4, batch_size=2), text.vocab, Subset(text, range(100)))
    save(tmp_path / "model.safetensors", run)
    model, vocabulary = load(tmp_path / "model.safetensors")
    assert vocabulary.get_itos() == list("abcdefghijk")
    assert model.scores.weight is model.characters.weight
    ids = tenfold.tensor([[1, 2, 3]])
    assert tenfold.equal(model(ids), run.model(ids))


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


def heed_interrupts() -> None:
    """In the child: a test run that itself goes in the background is started with Ctrl-C ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def is_drawn(picture: Path) -> bool:
    """Whether a PNG file is there, and whole."""
    return picture.exists() and picture.read_bytes().endswith(b"IEND\xaeB`\x82")


def interrupted(options: list[str], picture: Path) -> tuple[int, str]:
    """A run that is interrupted once a picture is there, right behind the first checkpoint: its status and what it said."""
    command = [sys.executable, str(FOLDER / "train.py"), *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=heed_interrupts)
    while not is_drawn(picture):  # matplotlib loses what interrupts it
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    return process.returncode, said


def test_resumes_to_the_same_numbers_after_an_interrupt(tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    options = ["--steps", "12", "--batch-size", "4", "--report-every", "3", "--length", "30"]
    unbroken = run("train.py", *options, "--out", str(whole))
    assert unbroken.returncode == 0, unbroken.stderr
    for _ in range(5):  # Python itself drops an interrupt that reaches the callback of a weak reference, and says so
        code, said = interrupted([*options, "--out", str(broken)], broken / "loss.png")
        if "Exception ignored in" not in said:
            break
        shutil.rmtree(broken)
    assert code == 130, said
    assert "go on with --resume" in said
    assert str(broken / "checkpoint.safetensors") in said
    assert "Traceback" not in said
    resumed = run("train.py", "--resume", "--report-every", "3", "--length", "30", "--out", str(broken))
    assert resumed.returncode == 0, resumed.stderr
    assert (broken / "checkpoint.safetensors").read_bytes() == (whole / "checkpoint.safetensors").read_bytes()
    assert resumed.stdout.split("beside it")[1] == unbroken.stdout.split("beside it")[1]


def test_other_settings_than_the_checkpoints_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--resume", "--out", str(tmp_path)]) == 1
    assert "there is no checkpoint" in capsys.readouterr().err
    text = CharacterDataset(pydoc_topics(), block_size=8)
    save(tmp_path / "checkpoint.safetensors", new_run(Settings(steps=4, batch_size=2), text.vocab, Subset(text, range(100))))
    assert main(["--resume", "--seed", "1", "--out", str(tmp_path)]) == 1
    assert "--seed 0, got --seed 1" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        main(["--steps", "0"])


def test_a_damaged_checkpoint_is_refused(tmp_path: Path) -> None:
    (tmp_path / "c.safetensors").write_bytes(b"nothing")
    refused = run("sample.py", "--checkpoint", str(tmp_path / "c.safetensors"))
    assert refused.returncode == 1
    assert "corrupt or was cut short" in refused.stderr
    assert "Traceback" not in refused.stderr
