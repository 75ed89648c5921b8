"""A handful of tests of attention and convolution on what the compiler makes of the kernels, in a process of their own.

All tests run so with `--compiled` (ptx/emulated.py); these ones are of the kernels that have matrix instructions.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("triton")

HERE = Path(__file__).parent
SOME = {
    90: (
        "test_attention_passes.py::test_types_and_odd_sizes[one-True-bfloat16]",
        "test_planes.py::test_convolution_in_half_precision[float16]",
    ),
    80: ("test_decoding.py::test_few_queries[half precision-99]",),
}


@pytest.mark.parametrize("capability", SOME)
def test_matrix_instructions(capability, compiled_kernels):
    pytest.importorskip("torch")  # with which some of them compare
    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET" and not k.startswith("PYTEST_")}
    environment |= {"TRITON_CACHE_DIR": str(compiled_kernels), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "pytest", "--compiled", str(capability), "-q", "-n", "0", "-p", "no:cacheprovider"]
    command += [str(HERE / name) for name in SOME[capability]]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=300)
    assert f"{len(SOME[capability])} passed" in done.stdout, done.stdout[-4000:] + done.stderr[-2000:]
