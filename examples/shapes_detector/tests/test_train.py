"""The example writes its picture and learns."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import train


def test_it_finds_shapes(tmp_path):
    share = train.main(["--steps", "150", "--out", str(tmp_path)])
    assert share > 0.5
    assert (tmp_path / "shapes.png").stat().st_size > 1000
