"""Families of operators as folders show them: what is in `FAMILY.py` or in `FAMILY/` belongs to the family."""

from __future__ import annotations

import importlib
import pkgutil


def families(package: str, declared_in: str | None = None) -> dict[str, tuple[str, ...]]:
    """{family: names of its modules} below a package such as "tenfold.ops"; names with a leading underscore do not count.

    A folder of kernels or gradients holds also what its families share: `declared_in` names the operators' package,
    and what declares no family there is left out.

    >>> from tenfold.dispatch.families import families
    >>> families("tenfold.ops")["matmul"], len(families("tenfold.ops")["reduction"])
    (('tenfold.ops.matmul',), 4)
    """
    found = {}
    declared = None if declared_in is None else {family for family, _ in _listed(declared_in)}
    for family, is_folder in _listed(package):
        if declared is not None and family not in declared:
            continue
        name = f"{package}.{family}"
        found[family] = tuple(f"{name}.{module}" for module, _ in _listed(name)) if is_folder else (name,)
    return found


def _listed(package: str) -> list[tuple[str, bool]]:
    path = importlib.import_module(package).__path__
    return [(found.name, found.ispkg) for found in pkgutil.iter_modules(path) if not found.name.startswith("_")]
