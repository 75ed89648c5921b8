"""Generators that families of like operators share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tenfold.testing.samples import ANY, Domain, ErrorSample, Make, Sample

LONG = 67  # more than a vector register holds, and no multiple of one


def unary_tensors(make: Make, domain: Domain) -> Iterator[tuple[str, Any]]:
    """Tensors of every shape and layout that an elementwise operator meets."""
    for shape in ((), (3,), (2, 3), (1,), (0,), (2, 0, 3), (LONG,)):
        yield ("empty" if 0 in shape else f"{len(shape)}-d"), make(*shape, domain=domain)
    for layout in ("transposed", "strided", "expanded", "flipped"):
        yield layout, make(3, 4, domain=domain, layout=layout)
    yield "0-d of a larger memory", make(domain=domain, layout="strided")


def unary(domain: Domain = ANY, *rest: Any, **keyword: Any) -> Any:
    """Samples of an elementwise operator of one tensor (and fixed further arguments)."""

    def generate(make: Make) -> Iterator[Sample]:
        for note, x in unary_tensors(make, domain):
            yield Sample(x, *rest, note=note, **keyword)

    return generate


def binary_pairs(make: Make, first: Domain, second: Domain) -> Iterator[tuple[str, Any, Any]]:
    """Pairs of tensors in every way of broadcasting and of lying in memory."""
    shapes: list[tuple[Any, Any]] = [((3,), (3,)), ((), ()), ((2, 3), ()), ((), (2, 3)), ((2, 1), (1, 3)), ((2, 3), (3,))]
    shapes += [((1,), (2, 1, 3)), ((0,), (1,)), ((2, 0), (2, 1)), ((LONG,), (LONG,))]
    for a, b in shapes:
        note = "empty" if 0 in a or 0 in b else "same shape" if a == b else "broadcast"
        yield note, make(*a, domain=first), make(*b, domain=second)
    for one, other in (
        ("transposed", "contiguous"),
        ("strided", "transposed"),
        ("expanded", "strided"),
        ("contiguous", "flipped"),
    ):
        yield f"{one}, {other}", make(3, 4, domain=first, layout=one), make(3, 4, domain=second, layout=other)


def binary(first: Domain = ANY, second: Domain | None = None, numbers: tuple[Any, ...] = (2, 1.5), **keyword: Any) -> Any:
    """Samples of an elementwise operator of two tensors, or of a tensor and a Python number."""
    domain = first if second is None else second

    def generate(make: Make) -> Iterator[Sample]:
        for note, x, y in binary_pairs(make, first, domain):
            yield Sample(x, y, note=note, **keyword)
        for number in numbers:
            for shape in ((2, 3), (), (0,)):
                yield Sample(make(*shape, domain=first), number, note=f"number {number}", **keyword)

    return generate


def no_tensor(make: Make) -> Iterator[ErrorSample]:
    """A list where the first tensor belongs."""
    yield ErrorSample([1.0, 2.0], error=TypeError, match="argument 'input'")


def no_tensor_pair(make: Make, integers: bool = True) -> Iterator[ErrorSample]:
    """Operands that are no tensors, and shapes that do not broadcast."""
    yield ErrorSample(make(2), "text", error=TypeError, match="argument")
    shapes = ((2,), (3,), (2, 3), (4, 3, 2))
    a, b, c, d = (make.ints(*shape, low=1, high=3) if integers else make(*shape) for shape in shapes)
    yield ErrorSample(a, b, error=RuntimeError, match="must match the size")
    yield ErrorSample(c, d, error=RuntimeError, match="must match the size")
