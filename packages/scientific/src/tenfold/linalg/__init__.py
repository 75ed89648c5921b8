"""`tenfold.linalg`: linear algebra under PyTorch's names, those of `torch.linalg`."""

from __future__ import annotations

from tenfold.dispatch.operators import OPERATORS
from tenfold.scientific.namespaces import functions
from tenfold.scientific.ops.linalg import checks as linalg_checks

globals().update(functions("linalg"))
LinAlgError = linalg_checks.LinAlgError
vector_norm, matmul = OPERATORS["vector_norm"].fn, OPERATORS["matmul"].fn
