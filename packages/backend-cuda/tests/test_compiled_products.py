"""Two tests of attention on what the compiler makes of the kernels, in processes of their own.

All tests run so with `--compiled` (ptx/emulated.py); these two have wgmma, and mma with copies in a pipeline.
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
    90: ("test_attention_passes.py::test_types_and_odd_sizes[one-True-bfloat16]",),
    80: ("test_decoding.py::test_few_queries[half precision-99]",),
}


@pytest.mark.timeout(300)  # on a machine that has more to do
@pytest.mark.parametrize("capability", SOME)
def test_matrix_instructions(capability, compiled_kernels):
    pytest.importorskip("torch")  # with which some of them compare
    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET" and not k.startswith("PYTEST_")}
    environment |= {"TRITON_CACHE_DIR": str(compiled_kernels), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "pytest", "--compiled", str(capability), "-q", "-n", "0", "-p", "no:cacheprovider"]
    command += [str(HERE / name) for name in SOME[capability]]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=300)
    assert f"{len(SOME[capability])} passed" in done.stdout, done.stdout[-4000:] + done.stderr[-2000:]
