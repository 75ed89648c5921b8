"""`tenfold.linalg`: linear algebra under PyTorch's names, those of `torch.linalg`."""

from __future__ import annotations

from tenfold.operators import OPERATORS
from tenfold.ops.linalg_checks import LinAlgError as LinAlgError

_PREFIX = "linalg_"
globals().update({name.removeprefix(_PREFIX): operator.fn for name, operator in OPERATORS.items() if name.startswith(_PREFIX)})
vector_norm, matmul = OPERATORS["vector_norm"].fn, OPERATORS["matmul"].fn
