"""The program as a user runs it, and the dates that it makes."""

from __future__ import annotations

import datetime
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest
from train import FORMS, TOKENS, new_model, pairs, read, translate, written

PROGRAM = Path(__file__).parents[1] / "train.py"


def test_dates_are_written_as_people_do() -> None:
    day = datetime.date(2021, 3, 3)
    texts = [written(day, form) for form in FORMS]
    assert texts[:4] == ["3 March 2021", "March 3, 2021", "Wednesday, 3 March 2021", "3 Mar 21"]
    assert texts[-1] == "March the 3rd, 2021"
    assert written(datetime.date(2021, 3, 11), FORMS[-2]) == "11th of March 2021"


def test_every_date_is_made_of_known_tokens() -> None:
    texts, iso = pairs(random.Random(0), 300)
    for text in [*texts, *iso]:
        assert read.decode(read(text).input_ids[0], joined_by="") == text.replace(" ", "")
    assert len(TOKENS) < 70


def test_an_untrained_model_writes_something() -> None:
    assert len(translate(new_model(), ["3 March 2021", "1/2/03"], beams=3)) == 2


@pytest.mark.timeout(240)
def test_the_program_learns_and_draws(tmp_path: Path) -> None:
    command = [sys.executable, str(PROGRAM), "--steps", "40", "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=230, check=True)
    assert done.stderr == ""
    assert float(re.findall(r"loss ([\d.]+)", done.stdout)[-1]) < 2.5
    assert "test accuracy:" in done.stdout
    assert (tmp_path / "attention.png").stat().st_size > 5000
