"""`pickle.dumps` of tensors, modules and functions: written by one library, read by the other."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

pytest.importorskip("torch")

WRITE = """
import pickle, sys, torch
from torch import nn
import torch.nn.functional as F
x = torch.arange(6.0)
marked = nn.Parameter(torch.ones(2))
marked.note = "kept"
torch.manual_seed(0)
things = dict(
    tensor=x.view(2, 3).t(), half=torch.ones(2, dtype=torch.bfloat16), whole=torch.tensor([1, 2]), truth=torch.tensor([True]),
    leaf=torch.ones(2, requires_grad=True), shared=[x, x[1:]], empty=torch.zeros(0, 3), parameter=marked,
    dtypes=[torch.float16, torch.int64, torch.device("cpu"), torch.Size([1, 2])],
    functions=[F.relu, F.gelu, F.conv2d, F.cross_entropy, F.dropout, torch.add, torch.tanh, nn.init.xavier_uniform_],
    layers=nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.LayerNorm(3)), encoder=nn.TransformerEncoderLayer(4, 2, 8).eval(),
    lstm=nn.LSTM(2, 3, 2), normed=nn.utils.spectral_norm(nn.Linear(2, 2)).eval(), convolution=nn.Conv2d(1, 2, 3, padding="same"),
)
with open(sys.argv[1], "wb") as file:
    pickle.dump({name: pickle.dumps(thing) for name, thing in things.items()}, file)
torch.save([torch.eye(2).to_sparse(), torch.eye(3).to_sparse_csr()], sys.argv[1] + ".sparse")
"""
READ = """
import pickle, sys, torch
things = {name: pickle.loads(data) for name, data in pickle.load(open(sys.argv[1], "rb")).items()}
for name in ("tensor", "half", "whole", "truth", "leaf", "empty"):
    print(name, things[name].dtype, things[name].stride(), things[name].tolist(), things[name].requires_grad)
print(things["parameter"].__dict__, type(things["parameter"]).__name__, things["dtypes"])
print([f.__name__ for f in things["functions"]])
print([t.tolist() for t in things["shared"]])
inputs = dict(layers=(1, 2), encoder=(1, 3, 4), lstm=(2, 1, 2), normed=(1, 2), convolution=(1, 1, 4, 4))
for name, shape in inputs.items():
    result = things[name](torch.ones(shape))
    print(name, [round(v, 4) for v in (result[0] if isinstance(result, tuple) else result).flatten().tolist()])
for tensor in torch.load(sys.argv[1] + ".sparse"):
    print(tensor.layout, tensor.to_dense().tolist())
"""


def on_tenfold(program: str, *given: str) -> str:
    command = [sys.executable, "-W", "ignore", "-m", "tenfold.as_torch", "-c", program, *given]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def on_pytorch(program: str, file: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(sys, "argv", ["", file])
    with contextlib.redirect_stdout(io.StringIO()) as printed, warnings.catch_warnings(action="ignore"):
        exec(program, {})
    return printed.getvalue()


def test_plain_pickles_go_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = str(tmp_path / "ours"), str(tmp_path / "theirs")
    on_tenfold(WRITE, ours)
    on_pytorch(WRITE, theirs, monkeypatch)
    wanted = on_pytorch(READ, theirs, monkeypatch)
    assert on_pytorch(READ, ours, monkeypatch) == wanted
    assert on_tenfold(READ, theirs) == on_tenfold(READ, ours) == wanted


def test_tensors_that_share_memory_do_so_after_loading() -> None:
    on_tenfold(
        "import pickle, torch; x = torch.zeros(3); a, b = pickle.loads(pickle.dumps([x, x[1:]])); a[1] = 1; assert b[0] == 1"
    )
