"""Native call paths and short ways say what the ordinary way says, also of calls that hardly anybody makes: of every operator."""

from __future__ import annotations

import warnings

import pytest
from unusual_arguments import calls, near

import tenfold
from tenfold.llvm.session import session
from tenfold.testing.samples import find, operators

PARTS = 32
UNSET = {"empty", "empty_like", "empty_strided", "new_empty"}  # whose elements are anything
# Small matrices go to kernels of their own, which round in another order than LAPACK, where the ordinary way goes.
ROUNDED = {"linalg_householder_product", "ormqr", "linalg_lu_solve", "lu_solve"}


@pytest.mark.parametrize("part", range(PARTS))
def test_calls_are_those_of_the_ordinary_way(part):
    tenfold.exp(tenfold.ones(3))  # brings native code
    if session().paths is None:
        pytest.skip("no native call paths here")
    wrong = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for operator in sorted(operators(), key=lambda operator: operator.name)[part::PARTS]:
            for form in (operator, operator.inplace_form):
                if form is not None and operator.name not in UNSET:
                    wrong += _differences(operator, form)
    assert not wrong, f"{len(wrong)} calls differ, such as {wrong[:3]}"


def _differences(operator, form):
    """The calls of which native code says something else."""
    found = find(operator)
    drawn = operator.random or (found is not None and found.random)
    wrong = []
    for k, call in enumerate(calls(operator)):
        quick = [call.told(form.fn, drawn) for _ in range(2)]
        if not k and form.fn not in session().paths.taken:
            return []
        with session().paths.suspended():
            usual = call.told(form.fn, drawn)
        if quick != [usual] * 2 and not (form.name in ROUNDED and all(near(one, usual) for one in quick)):
            wrong.append((form.name, call, quick[-1], usual))
    return wrong
