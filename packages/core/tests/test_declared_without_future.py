"""Operators declared in a module without `from __future__ import annotations`, so that annotations are objects, not text."""

from collections.abc import Sequence
from numbers import Number

from tenfold import Tensor, tensor
from tenfold.dispatch.operators import annotation_text, composite


@composite("pointwise", method=False)
def declared_plainly(input: Tensor, others: Sequence[Tensor], scale: Tensor | Number, bias: Tensor | None = None) -> Tensor:
    """The sum of all, scaled."""
    total = sum(others, input) * scale
    return total if bias is None else total + bias


def test_parameters_have_the_roles_that_their_annotations_say():
    assert [p.role for p in declared_plainly.op.params] == ["tensor", "list", "number", "optional"]
    assert declared_plainly(tensor(1.0), [tensor(2.0)], 3.0).item() == 9.0


def test_annotations_read_as_written():
    assert annotation_text(tuple[Tensor, Tensor]) == "tuple[Tensor, Tensor]"
    assert annotation_text(tuple[Tensor, ...]) == "tuple[Tensor, ...]"
    assert annotation_text("Tensor | None") == "Tensor | None"
