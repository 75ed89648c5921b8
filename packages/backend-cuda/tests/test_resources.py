"""Registers and spills of the kernels written by hand, against the table that is kept of them for this version of Triton."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest

triton = pytest.importorskip("triton")

VERSION = ".".join(triton.__version__.split(".")[:2])
TABLE = Path(__file__).parent / f"resources-{VERSION}.csv"
PRODUCTS = TABLE.with_name(f"resources-products-{VERSION}.csv")  # takes minutes to compile: not made anew, but of this text
MORE = 16  # registers that a patch release of the compiler may add


def rows(text):
    return {(row["kernel"], row["capability"]): row for row in csv.DictReader(text.splitlines())}


@pytest.mark.timeout(600)
@pytest.mark.skipif(
    not TABLE.exists(), reason=f"there is no table for Triton {VERSION}: python -m tenfold.cuda.resources makes one"
)
def test_no_kernel_needs_more_than_it_did():
    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tenfold.cuda.resources"], capture_output=True, text=True, timeout=550,
        env=environment, check=True,
    )  # fmt: skip
    kept, now = rows(TABLE.read_text()), rows(ran.stdout)
    assert now.keys() == kept.keys()
    worse = {
        key: (kept[key], found)
        for key, found in now.items()
        if int(found["spilled"]) > int(kept[key]["spilled"]) or int(found["registers"]) > int(kept[key]["registers"]) + MORE
    }
    assert not worse
    assert all(int(found["spilled"]) == 0 for found in now.values())


@pytest.mark.skipif(not PRODUCTS.exists(), reason=f"there is no table for Triton {VERSION}")
def test_the_table_of_products_is_of_these_kernels():
    from tenfold.cuda import resources  # after the look for Triton

    kept = rows(PRODUCTS.read_text())
    now = {
        (label, str(capability)): resources.fingerprint(kernel, signature)
        for capability in resources.CAPABILITIES
        for label, kernel, signature in resources.products()
    }
    told = "stale: python -m tenfold.cuda.resources --products > packages/backend-cuda/tests/" + PRODUCTS.name
    assert {key: row["text"] for key, row in kept.items()} == now, told
    narrow = {label for (label, _), row in kept.items() if int(row["narrow"])}
    assert narrow == {"convolution bf16 few channels", "convolution windows bf16"}, "all others load 16 bytes at a time"
