"""`tenfold.linalg`: linear algebra under PyTorch's names, those of `torch.linalg`."""

from __future__ import annotations

from tenfold.dispatch.operators import OPERATORS
from tenfold.ops.linalg import checks as linalg_checks

_PREFIX = "linalg_"
globals().update({name.removeprefix(_PREFIX): operator.fn for name, operator in OPERATORS.items() if name.startswith(_PREFIX)})
LinAlgError = linalg_checks.LinAlgError
vector_norm, matmul = OPERATORS["vector_norm"].fn, OPERATORS["matmul"].fn
