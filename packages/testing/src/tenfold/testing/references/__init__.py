"""Formulas in NumPy and double precision that operators' values are compared with, one family a file.

    REFERENCES["softplus"] = lambda input, beta=1.0, threshold=20.0: ...

A reference takes the operator's parameters, tensors as arrays, and is written from the definition, not from the kernel;
of several results those that the definition leaves open are None.
Samples may also give theirs (`samples(op, reference=...)`). What can have none says why with `no_reference=`.
"""

from __future__ import annotations

from typing import Any

REFERENCES: dict[str, Any] = {}
# Why an operator's values are compared with nothing.
NO_REFERENCE: dict[str, str] = {}
# Why infinities, NaN, huge and tiny numbers mean nothing to an operator.
NO_SPECIAL: dict[str, str] = {}
