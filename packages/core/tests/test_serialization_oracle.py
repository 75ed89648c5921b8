"""Checkpoints between Tenfold and PyTorch, both ways, bit for bit."""

from __future__ import annotations

import io
import pickle
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest

import tenfold

torch = pytest.importorskip("torch")
DTYPES = [
    "bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32", "float64",
    "complex64", "complex128", "float8_e4m3fn", "float8_e5m2",
]  # fmt: skip


def moved(obj: Any, writer: Any, reader: Any, **options: Any) -> Any:
    file = io.BytesIO()
    writer.save(obj, file)
    file.seek(0)
    return reader.load(file, **options)


def bits(t: Any) -> Any:
    return t.untyped_storage().tolist()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("writer", "reader"), [(tenfold, torch), (torch, tenfold)])
def test_dtypes(dtype: str, writer: Any, reader: Any) -> None:
    x = writer.arange(6).to(getattr(writer, dtype)).reshape(2, 3)
    y = moved([x, x.t()], writer, reader)
    assert y[0].dtype is getattr(reader, dtype)
    assert bits(y[0]) == bits(x)
    assert tuple(y[1].stride()) == (1, 3)
    assert y[0].data_ptr() == y[1].data_ptr()


@pytest.mark.parametrize(("writer", "reader"), [(tenfold, torch), (torch, tenfold)])
def test_containers(writer: Any, reader: Any) -> None:
    given = OrderedDict(
        n=[1, 2.5, 1j, None, True, 10**30], s="ä", b=b"\x00\xff", t=(1, {2}), d=writer.device("cuda", 1), k=writer.bfloat16,
        z=writer.Size([1, 2]), r=writer.ones(2, requires_grad=True), m=writer.empty(2, 3, device="meta"), e=writer.zeros(0, 2),
    )  # fmt: skip
    back = moved(given, writer, reader)
    assert {k: back[k] for k in "nsbt"} == {k: given[k] for k in "nsbt"}
    assert str(back["d"]) == "cuda:1"
    assert back["k"] is reader.bfloat16
    assert type(back["z"]) is reader.Size
    assert back["r"].requires_grad
    assert back["m"].device.type == "meta"
    assert tuple(back["e"].shape) == (0, 2)


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("mmap", [False, True])
def test_files(tmp_path: Path, protocol: int, mmap: bool) -> None:
    path = str(tmp_path / "x.pt")
    tenfold.save({"w": tenfold.arange(100.0)}, path, pickle_protocol=protocol)
    assert torch.load(path, mmap=mmap, weights_only=protocol == 2)["w"].tolist() == list(map(float, range(100)))
    torch.save({"w": torch.arange(100.0)}, path, pickle_protocol=protocol)
    assert tenfold.load(path, mmap=mmap)["w"].tolist() == list(map(float, range(100)))


def test_modules_and_parameters() -> None:
    nn = pytest.importorskip("tenfold.nn")
    theirs = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
    ours = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
    ours.load_state_dict(moved(theirs.state_dict(), torch, tenfold))
    for name, value in moved(ours.state_dict(), tenfold, torch).items():
        assert torch.equal(value, theirs.state_dict()[name])
    parameter = moved(torch.nn.Parameter(torch.ones(2)), torch, tenfold)
    assert type(parameter) is nn.Parameter
    assert isinstance(moved(nn.Parameter(tenfold.ones(2)), tenfold, torch), torch.nn.Parameter)
    whole = moved(theirs[0], torch, tenfold, weights_only=False)
    assert type(whole) is nn.Linear
    assert whole.weight.tolist() == theirs[0].weight.tolist()


def test_optimizer_state() -> None:
    pytest.importorskip("tenfold.optim")
    results = []
    for library in (tenfold, torch):
        w = library.nn.Parameter(library.ones(3))
        optimizer = library.optim.Adam([w], lr=0.1)
        w.sum().backward()
        optimizer.step()
        results.append(optimizer.state_dict())
    ours = moved(results[1], torch, tenfold)
    assert ours["state"][0]["exp_avg"].tolist() == results[0]["state"][0]["exp_avg"].tolist()
    assert moved(results[0], tenfold, torch)["param_groups"][0]["lr"] == 0.1


def test_the_same_errors(tmp_path: Path) -> None:
    data = io.BytesIO()
    torch.save([torch.ones(100)], data)
    cut = data.getvalue()[:-50]
    for library in (torch, tenfold):
        with pytest.raises(RuntimeError):
            library.load(io.BytesIO(cut))
        with pytest.raises(EOFError):
            library.load(io.BytesIO(b""))
        with pytest.raises(pickle.UnpicklingError):
            library.load(io.BytesIO(b"not a pickle"))
    old = io.BytesIO()
    torch.save([1], old, _use_new_zipfile_serialization=False)
    with pytest.raises(RuntimeError, match=r"before PyTorch 1\.6"):
        tenfold.load(io.BytesIO(old.getvalue()))
