"""Registers and spills of the kernels written by hand, against the tables that are kept of them for this version of Triton.

Compiling all of them takes minutes: a table says of which text each row was measured, and a few rows are measured anew.
"""

from __future__ import annotations

import ast
import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest

triton = pytest.importorskip("triton")

VERSION = ".".join(triton.__version__.split(".")[:2])
TABLE = Path(__file__).parent / f"resources-{VERSION}.csv"
PRODUCTS = TABLE.with_name(f"resources-products-{VERSION}.csv")
MORE = 16  # registers that a patch release of the compiler may add
HANDFUL = ("layer norm bf16 768", "adamw fp32", "sum of rows bf16", "embedding gradient")
UNREAD = "python -m tenfold.cuda.resources --keep TABLE > NEW, with the table of this version, measures what is stale"
AHEAD = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}

measured = pytest.mark.skipif(not TABLE.exists(), reason=f"there is no table for Triton {VERSION}: {UNREAD}")


def rows(text):
    return {(row["kernel"], row["capability"]): row for row in csv.DictReader(text.splitlines())}


def programs_by_hand():
    """The kernels that a launch can name: in the modules of programs the functions that Triton does not decorate there."""
    from tenfold.cuda.kernels import programs  # after the look for Triton

    texts = [Path(programs.__file__).with_name(f"{module}.py").read_text() for module in programs.MODULES]
    found = [node for text in texts for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    return {node.name for node in found if not node.decorator_list}


def test_every_kernel_has_a_row():
    from tenfold.cuda import resources  # after the look for Triton

    rows_of = [*resources.kernels(), *resources.products()]
    assert programs_by_hand() == {kernel.name for _, kernel, _ in rows_of}
    labels = [label for label, *_ in rows_of]
    assert len(set(labels)) == len(labels)
    for label, kernel, signature in rows_of:
        assert len(kernel.arguments()) == len(signature), label


@measured
@pytest.mark.parametrize("table", [TABLE, PRODUCTS], ids=["kernels", "products"])
def test_the_tables_are_of_these_kernels(table):
    from tenfold.cuda import resources  # after the look for Triton

    kernels = resources.products() if table is PRODUCTS else resources.kernels()
    now = {
        (label, str(capability)): resources.fingerprint(kernel, signature)
        for label, kernel, signature in kernels
        for capability in resources.CAPABILITIES
    }
    assert {key: row["text"] for key, row in rows(table.read_text()).items()} == now, f"{table.name} is stale: {UNREAD}"


@measured
def test_kernels_spill_nothing_and_products_read_wide_words():
    kept = rows(TABLE.read_text())
    sines = {("scan complex powers of columns", capability) for capability in ("80", "90")}  # of large angles keep 40 bytes apart
    tangents = {("draws Cauchy", "90")}  # 8 bytes
    assert {key for key, row in kept.items() if int(row["spilled"])} == sines | tangents
    narrow = {label for (label, _), row in rows(PRODUCTS.read_text()).items() if int(row["narrow"])}
    assert narrow == {"convolution bf16 few channels", "convolution windows bf16"}, "all others load 16 bytes at a time"


@measured
@pytest.mark.timeout(300)
def test_a_handful_needs_no_more_than_it_did(compiled_kernels):
    measure = "from tenfold.cuda import resources as r; [print(k[0], *r.measured(90, *k[1:]), sep=',') for k in r.kernels() "
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", f"{measure} if k[0] in {HANDFUL}]"], capture_output=True, text=True, timeout=280,
        env=AHEAD | {"TRITON_CACHE_DIR": str(compiled_kernels)}, check=True,
    )  # fmt: skip
    kept = rows(TABLE.read_text())
    found = [line.split(",") for line in ran.stdout.splitlines()]
    assert {label for label, *_ in found} == set(HANDFUL)
    for label, registers, spilled, _ in found:
        row = kept[label, "90"]
        assert (int(spilled), int(registers) <= int(row["registers"]) + MORE) == (int(row["spilled"]), True), label
