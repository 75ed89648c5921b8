"""Files that lie: checkpoints whose sizes, strides, names, records or calls are not what they say. Made anew at every run."""

from __future__ import annotations

import collections
import io
import json
import pickle
import zipfile
from collections.abc import Iterator
from typing import Any

_PROTOCOL = b"\x80\x02"


def archive(pickled: bytes, records: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    """A checkpoint with this pickle and these records."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as made:
        made.writestr("archive/data.pkl", pickled)
        for name, data in records.items():
            made.writestr(f"archive/{name}", data)
        made.writestr("archive/version", "3\n")
    return file.getvalue()


def number(n: Any) -> bytes:
    """The opcodes that push a value of plain Python."""
    return pickle.dumps(n, 2)[2:-1]


def tensor(size: Any, stride: Any, offset: Any, count: Any, kind: str = "FloatStorage", tail: bytes = b"\x89Nt") -> bytes:
    """The pickle of one tensor."""
    reference = (
        b"((X\x07\x00\x00\x00storagectorch\n"
        + kind.encode()
        + b"\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpu"
        + number(count)
        + b"tQ"
    )
    arguments = number(offset) + number(size) + number(stride)
    return _PROTOCOL + b"ctorch._utils\n_rebuild_tensor_v2\n" + reference + arguments + tail + b"R."


def call(name: str, *given: Any) -> bytes:
    """A call of a name with plain arguments."""
    module, _, function = name.rpartition(".")
    return _PROTOCOL + f"c{module}\n{function}\n".encode() + number(given) + b"R."


def _doubling(depth: int) -> bytes:
    """A dict whose key is a tuple that holds another twice, and so on: 2 ** depth values to hash."""
    body = b")q\x00" + b"".join(b"h" + bytes([i]) + b"h" + bytes([i]) + b"\x86q" + bytes([i + 1]) + b"0" for i in range(depth))
    return _PROTOCOL + b"}" + body.replace(b")q\x00", b")q\x000", 1) + b"h" + bytes([depth]) + b"K\x01s."


def _deep(depth: int) -> bytes:
    """A set with a tuple in a tuple, so many times."""
    return _PROTOCOL + b"cbuiltins\nset\n](" + b")" + b"\x85" * depth + b"e\x85R."


def _overlapping() -> bytes:
    """Many names for the same bytes."""
    data = bytearray(archive(b"\x80\x02N.", {"data/0": b"\0" * 100_000}))
    file = io.BytesIO(bytes(data))
    with zipfile.ZipFile(file, "a") as made:
        first = made.getinfo("archive/data/0")
        for i in range(1, 500):
            again = zipfile.ZipInfo(f"archive/data/{i}")
            again.file_size, again.compress_size, again.CRC = first.file_size, first.compress_size, first.CRC
            again.header_offset = first.header_offset
            made.filelist.append(again)
            made.NameToInfo[again.filename] = again
        made._didModify = True  # type: ignore[attr-defined]
    return file.getvalue()


def checkpoints() -> Iterator[tuple[str, bytes]]:
    """Names and bytes of .pt files, none of which may load."""
    four = {"data/0": b"\0" * 16}
    shapes = {
        "size over the storage": ((1000,), (1,), 0, 4), "storage of nothing": ((1000,), (1,), 0, 0),
        "stride -1": ((2,), (-1,), 1, 4),
        "negative size": ((-2,), (1,), 0, 4), "negative offset": ((2,), (1,), -1, 4), "offset behind": ((1,), (1,), 4, 4),
        "stride behind": ((2,), (4,), 0, 4), "huge stride": ((2,), (1 << 62,), 0, 4), "overflow": ((1 << 62, 4), (4, 1), 0, 4),
        "size of range": (range(10**9), (1,), 0, 4), "size of float": ((2.0,), (1,), 0, 4), "size of bool": ((True,), (1,), 0, 4),
        "a stride too few": ((2, 2), (1,), 0, 4), "65 dimensions": ((1,) * 65, (1,) * 65, 0, 4), "size None": (None, None, 0, 4),
        "negative count": ((1,), (1,), 0, -4), "huge count": ((1,), (1,), 0, 1 << 62), "count of float": ((1,), (1,), 0, 4.0),
        "count over the record": ((5,), (1,), 0, 5), "beyond every integer": ((1 << 70,), (1,), 0, 4),
    }  # fmt: skip
    for name, given in shapes.items():
        yield name, archive(tensor(*given), four)
    yield "integers that require gradients", archive(tensor((1,), (1,), 0, 2, "LongStorage", b"\x88Nt"), four)
    yield "unknown metadata", archive(tensor((1,), (1,), 0, 4, tail=b"\x89N}X\x03\x00\x00\x00foo\x88st"), four)
    both = tensor((4,), (1,), 0, 4)[2:-1], tensor((2,), (1,), 0, 2, "DoubleStorage")[2:]
    yield "two classes of one storage", archive(_PROTOCOL + both[0] + b"0" + both[1], four)
    yield "grown at the second mention", archive(_PROTOCOL + both[0] + b"0" + tensor((900,), (1,), 0, 900)[2:], four)
    yield "no record", archive(tensor((4,), (1,), 0, 4), {})
    yield "a meta tensor's size", archive(call("torch._utils._rebuild_meta_tensor_no_storage", 0, (2,), (1,), False), {})
    for name, given in {
        "builtins.set": [range(10**9)], "builtins.frozenset": [range(10**9)], "builtins.bytearray": [10**12],
        "collections.Counter": [range(10**9)], "collections.OrderedDict": [range(10**9)], "torch.Size": [range(10**9)],
        "torch.Tensor": [1000], "builtins.eval": ["1"], "os.system": ["true"], "builtins.getattr": [1, "real"],
        "torch.load": ["x"], "tenfold.text.vocab.Vocab": [range(10**9)],
        "torch.serialization._get_layout": ["torch.Tensor"], "_codecs.encode": ["a", "rot13"],
        "torch.device": ["/etc/passwd"],
    }.items():  # fmt: skip
        yield f"call of {name}", archive(call(name, *given), {})
    yield "keys that double", archive(_doubling(60), {})
    yield "a key too deep", archive(_deep(200_000), {})
    yield "elements into a tensor", archive(tensor((4,), (1,), 0, 4)[:-1] + b"K\x01a.", four)
    yield "slots of a tensor", archive(_slots(), four)
    yield "zip bomb", archive(b"\x80\x02N.", {"data/0": bytes(1 << 26)}, zipfile.ZIP_DEFLATED)
    yield "bzip2", archive(b"\x80\x02N.", {"data/0": bytes(1 << 10)}, zipfile.ZIP_BZIP2)
    yield "overlapping records", _overlapping()
    yield "no pickle", archive(b"", {})
    yield "a directory alone", b"PK\x03\x04" + b"\0" * 26 + b"PK\x05\x06" + b"\0" * 18
    yield from legacy()


def _slots() -> bytes:
    """A tensor whose state sets the slots in which the tensor lies."""
    inner = b"ctorch._utils\n_rebuild_tensor_v2\nctorch\nTensor\n" + tensor((4,), (1,), 0, 4)[2:].split(b"_v2\n", 1)[1][:-2]
    return _PROTOCOL + b"ctorch._tensor\n_rebuild_from_type_v2\n(" + inner + b"N}X\x06\x00\x00\x00_arrayK\x05s\x86tR."


def legacy() -> Iterator[tuple[str, bytes]]:
    """The same in the format from before PyTorch 1.6."""
    head = [0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}]
    start = b"".join(pickle.dumps(part, 2) for part in head)
    keys, data = pickle.dumps(["0"], 2), (4).to_bytes(8, "little") + bytes(16)
    good = tensor((4,), (1,), 0, 4)
    yield "legacy: size over the storage", start + tensor((1000,), (1,), 0, 4) + keys + data
    yield "legacy: more than the file", start + tensor((4,), (1,), 0, 1 << 40) + keys + data
    yield "legacy: a storage is not filled", start + good + pickle.dumps([], 2)
    yield "legacy: an unknown storage", start + good + pickle.dumps(["0", "1"], 2) + data + data
    yield "legacy: another length", start + good + keys + (5).to_bytes(8, "little") + bytes(20)
    yield "legacy: cut short", start + good + keys + data[:-1]
    yield "legacy: another magic number", pickle.dumps(1, 2) + pickle.dumps(1001, 2) + pickle.dumps({}, 2) + good
    yield "legacy: a call", start + call("os.system", "true")
    yield "legacy: keys that are a range", start + good + call("builtins.range", 10**9)


def tensors_file(header: Any, data: bytes = b"", length: int | None = None) -> bytes:
    """A safetensors file with this header, which may say another length than its own."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return (len(text) if length is None else length).to_bytes(8, "little") + text + data


def tensors_files() -> Iterator[tuple[str, bytes]]:
    """Names and bytes of .safetensors files, none of which may load."""

    def one(**changes: Any) -> dict[str, Any]:
        return {"x": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]} | changes}

    eight = bytes(8)
    yield "nothing", b""
    yield "seven bytes", bytes(7)
    yield "header over the file", tensors_file(one(), eight, 1 << 40)
    yield "header over the limit", tensors_file(one(), eight, (1 << 64) - 1)
    yield "a list", tensors_file(b"[1]")
    yield "no JSON", tensors_file(b"{x}")
    yield "no text", tensors_file(b'{"\xff": 1}')
    yield "nested without end", tensors_file(b'{"x":' + b"[" * 100_000 + b"}")
    yield "a number of a million digits", tensors_file(b'{"x":' + b"1" * 1_000_000 + b"}")
    entry = json.dumps(one()["x"])
    yield "a name twice", tensors_file(f'{{"x":{entry},"x":{entry}}}'.encode(), eight)
    yield "a key twice", tensors_file(b'{"x":{"dtype":"F32","dtype":"F64","shape":[1],"data_offsets":[0,8]}}', eight)
    changes: dict[str, dict[str, Any]] = {
        "another size": {"shape": [3]}, "another dtype": {"dtype": "F64"}, "an unknown dtype": {"dtype": "F3"},
        "no dtype": {"dtype": None},
        "a list as dtype": {"dtype": ["F32"]}, "negative size": {"shape": [-2]}, "two negatives": {"shape": [-1, -2]},
        "size of float": {"shape": [2.0]}, "size of bool": {"shape": [True, 2]}, "no size": {"shape": 2},
        "ends before it begins": {"data_offsets": [8, 0]}, "ends behind": {"data_offsets": [0, 9]},
        "begins late": {"data_offsets": [4, 12]},
        "one offset": {"data_offsets": [8]}, "negative offset": {"data_offsets": [-8, 0]}, "another key": {"strides": [1]},
        "overflow": {"shape": [1 << 62, 1 << 62, 4]}, "65 dimensions": {"shape": [1] * 64 + [2]},
    }  # fmt: skip
    for name, change in changes.items():
        yield name, tensors_file(one(**change), eight)
    yield "data left over", tensors_file(one(), bytes(12))
    yield "data too short", tensors_file(one(), bytes(4))
    yield "overlap", tensors_file(one() | {"y": one()["x"] | {"data_offsets": [4, 12]}}, bytes(12))
    yield "a gap", tensors_file(one() | {"y": one()["x"] | {"data_offsets": [12, 20]}}, bytes(20))
    yield "the same data twice", tensors_file(one() | {"y": one()["x"]}, eight)


def good_objects(tenfold: Any) -> list[Any]:
    """What the fuzz test saves, to change the files afterwards."""
    base = tenfold.arange(24.0).reshape(4, 6)
    attributed = tenfold.ones(2)
    attributed.note = "a"
    return [
        {"w": base, "t": base.t(), "row": base[1], "step": 3, "name": "ä", "lr": [0.1, None, True, 10**30]},
        collections.OrderedDict(a=tenfold.ones(3, dtype=tenfold.bfloat16), b=(b"\x00\xff", {1, 2}, frozenset({3})), c=attributed),
        [
            tenfold.ones(2, dtype=tenfold.uint16),
            tenfold.zeros(0, 2),
            tenfold.device("cpu"),
            tenfold.float16,
            tenfold.Size([1, 2]),
        ],
        {("k", (1, 2)): tenfold.tensor([1 + 2j]), "s": tenfold.ones(3).untyped_storage(), "l": tenfold.strided, "c": 1 + 2j},
    ]
