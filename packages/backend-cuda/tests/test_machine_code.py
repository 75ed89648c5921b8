"""What the machine code of hot kernels promises: 16 bytes at a time, enough of them on their way, matrix units, no spills."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

pytest.importorskip("triton")

AHEAD = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}  # the interpreter and the compiler share no process
ENOUGH = 32 << 10  # bytes that a multiprocessor has on their way: bandwidth times latency is 20 KB of an H100's
MEASURE = """
import json
from tenfold.cuda import machine_code, resources
from tenfold.cuda.kernels.generation import Generated

def pointwise(reads, ndim, tile=(0, 0, 0)):
    kernel = Generated("add", "V", ("linear", "linear", reads), ("half", "half"), ndim, False, tile)
    signature = ("*bf16",) * 3 + ("i32",) * (len(kernel.arguments()) - 3)
    return machine_code.Launched(kernel, signature, tuple(range(len(signature))), ())

kernels = {"add": pointwise("linear", 0), "add a row": pointwise("unit", 2)}
kernels["add transposed"] = pointwise("across", 2, (0, 64, 64))
wanted = {"sum of rows bf16", "layer norm gradients bf16 768", "attend bf16 64"}
for label, kernel, signature in (*resources.kernels(), *resources.products()):
    if label in wanted:
        multiples = [i for i, kind in enumerate(signature) if kind[0] == "*" or (kind[0] == "i" and not kernel.by_address)]
        kernels[label] = machine_code.Launched(kernel, signature, tuple(multiples), ())
for label, launched in kernels.items():
    found = launched.facts()
    print(json.dumps([label, found.loads, found.stores, found.in_flight * found.resident() * 32, found.resident(), found.spilled,
                      list(found.matrix)]))
"""


EVERYWHERE = """
from tenfold.cuda import architectures, machine_code, resources
wanted = {"tril bf16", "attend bf16 64", "convolution bf16 channels last", "grouped rows 64 bf16"}
for label, kernel, signature in (*resources.kernels(), *resources.products()):
    if label in wanted:
        launched = machine_code.Launched(kernel, signature, tuple(i for i, kind in enumerate(signature) if kind[0] == "*"), ())
        for capability in set(architectures.TESTED) - set(resources.CAPABILITIES):
            found = launched.facts(capability)
            print(capability, found.resident(capability), found.spilled, "matrix" if found.matrix else label)
"""


@pytest.mark.timeout(300)
def test_kernels_compile_for_every_gpu_that_is_told_to_be_tested():
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", EVERYWHERE], capture_output=True, text=True, timeout=280, env=AHEAD, check=True
    )
    found = [line.split(maxsplit=3) for line in ran.stdout.splitlines()]
    assert sorted({row[0] for row in found}) == ["100", "120", "86", "89"]
    assert len(found) == 16
    assert all(int(resident) >= 4 for _, resident, *_ in found), ran.stdout


@pytest.mark.timeout(300)
def test_hot_kernels_read_wide_words_and_use_matrix_units():
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", MEASURE], capture_output=True, text=True, timeout=280, env=AHEAD, check=True
    )
    found = {label: rest for label, *rest in map(json.loads, ran.stdout.splitlines())}
    assert set(found) == {
        "add",
        "add a row",
        "add transposed",
        "sum of rows bf16",
        "layer norm gradients bf16 768",
        "attend bf16 64",
    }
    for label, (loads, stores, in_flight, _resident, spilled, _) in found.items():
        narrow = {width for width in loads if width != "16"}
        statistics = {"4"} if label.startswith("layer norm") else set()  # a mean and a deviation of each row
        assert "16" in loads, (label, loads)
        assert narrow <= statistics, (label, loads)
        assert "16" in stores or label.startswith("sum"), (label, stores)
        few = 64 if label.startswith("attend") else 0  # of blocks on the diagonal
        assert in_flight >= ENOUGH, (label, in_flight)
        assert spilled <= few, (label, spilled)
    assert found["attend bf16 64"][5] == ["HGMMA.64x64x16"], "the products are wgmma's"
    assert found["attend bf16 64"][3] >= 16, "two programs are resident"


def test_a_gpu_without_figures_has_those_of_the_one_before():
    from tenfold.cuda import machine_code

    found = machine_code.Facts(64, 0, 40 << 10, 128, {}, {}, 0, {}, 0, 0, 0)
    assert {c: found.resident(c) for c in (90, 103, 121)} == {90: 20, 103: 20, 121: 8}
    assert machine_code.line("add", found, (1000,), 103) == machine_code.line("add", found, (1000,), 100)
