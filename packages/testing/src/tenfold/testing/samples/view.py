"""Samples of the view operators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tenfold.dispatch.devices import device
from tenfold.testing.samples import ErrorSample, Make, Sample, error_samples, samples
from tenfold.types.dtypes import BY_NAME

Calls = list[tuple[tuple[int, ...], tuple[Any, ...]]]

# Operator: (shape of the tensor, further arguments) of each sample, and NumPy's function of the same parameters.
TABLE: dict[str, tuple[Calls, Any]] = {
    "reshape": (
        [((2, 3), ((3, 2),)), ((2, 3), ((-1,),)), ((), ((1, 1),)), ((0, 3), ((3, 0),)), ((2, 3), (6, 1)), ((4, 3, 2), (4, -1))],
        lambda input, *shape: np.reshape(input, shape[0] if isinstance(shape[0], tuple) else shape),
    ),
    "permute": (
        [((2, 3, 4), ((2, 0, 1),)), ((2, 3), (1, 0)), ((2, 3), (-1, 0)), ((), ((),)), ((0, 3), (1, 0))],
        lambda input, *dims: np.transpose(input, dims[0] if isinstance(dims[0], tuple) else dims),
    ),
    "transpose": (
        [((2, 3), (0, 1)), ((2, 3, 4), (-1, 0)), ((3,), (0, 0)), ((), (0, -1)), ((0, 3), (0, 1))],
        lambda input, dim0, dim1: np.swapaxes(input, dim0, dim1) if input.ndim else input,
    ),
    "expand": ([((2, 1), ((2, 3),)), ((3,), (2, 3)), ((2, 1), (-1, 4)), ((), (2,)), ((1,), (0,)), ((1, 3), ((2, 1, 3),))], None),
    "unsqueeze": ([((2, 3), (0,)), ((2, 3), (-1,)), ((2, 3), (1,)), ((), (0,)), ((0,), (1,))], np.expand_dims),
    "squeeze": ([((1, 2, 1), ()), ((1, 2, 1), (0,)), ((1, 2, 1), (1,)), ((1, 2, 1), ((0, 2),)), ((), ()), ((1, 0), (0,))], None),
    "t": ([((2, 3), ()), ((3,), ()), ((), ()), ((0, 3), ())], np.transpose),
    "flatten": ([((2, 3, 4), ()), ((2, 3, 4), (1,)), ((2, 3, 4), (0, 1)), ((), ()), ((0, 3), ())], None),
    "unflatten": ([((6,), (0, (2, 3))), ((2, 6), (1, (-1, 3))), ((2, 6), (-1, (2, 3)))], None),
    "ravel": ([((2, 3), ()), ((), ()), ((0, 3), ())], np.ravel),
    "movedim": ([((2, 3, 4), (0, 2)), ((2, 3, 4), ((0, 1), (2, 0)))], np.moveaxis),
    "moveaxis": ([((2, 3, 4), (0, 2)), ((2, 3, 4), ((0, 1), (2, 0)))], np.moveaxis),
    "swapaxes": ([((2, 3), (0, 1)), ((2, 3, 4), (-1, 0))], np.swapaxes),
    "swapdims": ([((2, 3), (0, 1)), ((2, 3, 4), (-1, 0))], np.swapaxes),
    "narrow": ([((4, 3), (0, 1, 2)), ((4, 3), (-1, 0, 2)), ((4,), (0, 0, 0))], None),
    "select": ([((2, 3), (0, 1)), ((2, 3), (-1, -1)), ((3,), (0, 0))], None),
    "diagonal": ([((3, 3), ()), ((2, 3), (1,)), ((2, 3, 4), (0, 1, 2)), ((2, 3), (-1,)), ((0, 0), ())], None),
    "unfold": ([((5,), (0, 2, 1)), ((2, 5), (1, 3, 2)), ((), (0, 1, 1))], None),
    "flip": ([((2, 3), ((0,),)), ((2, 3), ((0, 1),)), ((0, 3), ((0,),)), ((), ((),))], None),
    "roll": ([((4,), (1,)), ((2, 3), (1, 0)), ((2, 3), ((1, -1), (0, 1))), ((0, 3), (1, 0))], None),
    "tile": ([((3,), ((2,),)), ((2, 3), ((2, 2),)), ((), ((2,),))], np.tile),
    "repeat": ([((3,), (2,)), ((2, 3), (2, 2)), ((), (2,)), ((2, 3), ((1, 2, 1),))], None),
    "broadcast_to": ([((2, 1), ((2, 3),)), ((3,), ((2, 3),)), ((), ((2,),))], np.broadcast_to),
    "unbind": ([((2, 3), ()), ((2, 3), (1,)), ((3,), (0,)), ((0, 3), ())], None),
    "split": ([((5, 2), (2,)), ((5, 2), ((1, 4),)), ((2, 5), (3, 1)), ((4,), (4,))], None),
    "chunk": ([((5, 2), (2,)), ((2, 5), (3, 1)), ((4,), (9,))], None),
    "tensor_split": ([((5, 2), (2,)), ((5, 2), ((1, 3),)), ((2, 5), (3, 1))], None),
    "diag": ([((3,), ()), ((3, 3), ()), ((2, 3), (1,)), ((3,), (-1,))], None),
    "diag_embed": ([((3,), ()), ((2, 3), (1,)), ((2, 3), (0, 0, 1))], None),
    "diagflat": ([((3,), ()), ((2, 2), (1,))], None),
    "tril": ([((3, 3), ()), ((2, 4), (1,)), ((2, 3, 3), (-1,)), ((0, 3), ())], np.tril),
    "triu": ([((3, 3), ()), ((2, 4), (1,)), ((2, 3, 3), (-1,)), ((0, 3), ())], np.triu),
    "detach": ([((), ()), ((2, 3), ()), ((0,), ())], lambda input: input),
    "view_as_real": ([((2, 3), ()), ((), ())], None),
    "view_as_complex": ([((2,), ()), ((3, 2), ()), ((0, 2), ())], None),
}


def calls(table: Calls) -> Any:
    """Samples of these calls, the first of them in other memory layouts too."""

    def generate(make: Make) -> Iterator[Sample]:
        for shape, rest in table:
            yield Sample(make(*shape), *rest, note="empty" if 0 in shape else f"{len(shape)}-d")
        shape, rest = table[0]
        for layout in ("transposed", "strided", "flipped"):
            if len(shape) > 1:
                yield Sample(make(*shape, layout=layout), *rest, note=layout)

    return generate


for _name, (_table, _reference) in TABLE.items():
    samples(_name, reference=_reference)(calls(_table))


@samples("view")
def _view(make: Make) -> Iterator[Sample]:
    for shape, new in (((2, 3), (3, 2)), ((2, 3), (-1,)), ((), (1, 1)), ((0, 3), (3, 0)), ((4, 3), (2, 2, -1))):
        yield Sample(make(*shape), new, note=f"{len(shape)}-d")
    yield Sample(make(2, 3), 6, note="one size")
    yield Sample(make(2, 6, layout="strided"), (2, 2, 3), note="strided, evenly")
    yield Sample(make(4, 3, layout="transposed"), (4, 3, 1), note="transposed, split only")
    yield Sample(make(3, 4, layout="expanded"), (3, 2, 2), note="expanded")
    for other in _others(make):
        yield Sample(make(3, 4), other, note=f"as {other.name}")
        yield Sample(make(4, 3)[1:, :], other, note=f"as {other.name}, a part")


def _others(make: Make) -> Iterator[Any]:
    """Dtypes to read the memory as: bytes, and what has the same size, where the device has them."""
    here = device(make.device).backend.dtypes
    names = ["uint8", f"int{8 * make.dtype.itemsize}"]
    yield from (BY_NAME[n] for n in names if n in BY_NAME and n != make.dtype.name and (here is None or n in here))


@error_samples("view")
def _view_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(2, 3), (4, 2), error=RuntimeError, match="is invalid for input of size 6")
    yield ErrorSample(make(2, 3), (-1, -1), error=RuntimeError, match="only one dimension can be inferred")
    yield ErrorSample(
        make(2, 3, layout="transposed"), (6,), error=RuntimeError, match="not compatible with input tensor's size and stride"
    )


@samples("as_strided")
def _as_strided(make: Make) -> Iterator[Sample]:
    yield Sample(make(6), (2, 3), (3, 1))
    yield Sample(make(6), (2, 2), (1, 2), 1, note="overlapping, with an offset")
    yield Sample(make(6), (3, 3), (0, 1), note="stride 0")
    yield Sample(make(6), (), (), 2, note="0-d")
    yield Sample(make(6), (0, 2), (1, 1), note="empty")


@error_samples("as_strided")
def _as_strided_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample(make(6), (2, 2), (1,), error=RuntimeError, match="mismatch in length of strides and shape")
    yield ErrorSample(make(6), (2, 2), (-1, 1), error=RuntimeError, match="Negative strides are not supported")
    yield ErrorSample(make(6), (4, 4), (4, 1), error=RuntimeError, match="out of bounds")


def one_error(args: tuple[Any, ...], error: type[Exception], match: str, shape: tuple[int, ...] = (2, 3)) -> Any:
    def generate(make: Make) -> Iterator[ErrorSample]:
        yield ErrorSample(make(*shape), *args, error=error, match=match)

    return generate


RANGE = "Dimension out of range"
for _name, _args, _error, _match in (
    ("reshape", ((4, 2),), RuntimeError, "is invalid for input of size 6"),
    ("permute", ((0, 0),), RuntimeError, "duplicate dims"),
    ("permute", ((0,),), RuntimeError, "does not match the length"),
    ("permute", ((0, 2),), IndexError, RANGE),
    ("transpose", (0, 2), IndexError, RANGE),
    ("expand", ((3, 3),), RuntimeError, "must match the existing size"),
    ("expand", ((3,),), RuntimeError, "greater or equal"),
    ("unsqueeze", (3,), IndexError, RANGE),
    ("squeeze", (2,), IndexError, RANGE),
    ("flatten", (1, 0), RuntimeError, "start_dim cannot come after end_dim"),
    ("swapaxes", (0, 2), IndexError, RANGE),
    ("swapdims", (0, 2), IndexError, RANGE),
    ("narrow", (0, 1, 3), RuntimeError, "exceeds dimension size"),
    ("select", (0, 2), IndexError, "out of range"),
    ("diagonal", (0, 0, 0), RuntimeError, "identical"),
    ("flip", ((2,),), IndexError, RANGE),
    ("movedim", (0, 2), IndexError, RANGE),
    ("moveaxis", (0, 2), IndexError, RANGE),
    ("unbind", (2,), IndexError, RANGE),
    ("chunk", (0,), RuntimeError, "greater than 0"),
    ("broadcast_to", ((3, 3),), RuntimeError, "must match the existing size"),
    ("unfold", (0, 3, 1), RuntimeError, "maximum size"),
    ("split", ((1, 2),), RuntimeError, "sum exactly"),
    ("repeat", (2,), RuntimeError, "can not be smaller"),
    ("roll", ((1, 1), (0,)), RuntimeError, "align"),
    ("unflatten", (0, (3, 3)), RuntimeError, ""),
):
    error_samples(_name)(one_error(_args, _error, _match))
for _name, _shape in (("t", (2, 3, 4)), ("tril", (3,)), ("triu", (3,)), ("diag", (2, 2, 2))):
    error_samples(_name)(one_error((), RuntimeError, "", _shape))


@error_samples("detach")
@error_samples("ravel")
def _no_tensor(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample([1.0], error=TypeError, match="must be Tensor")


def _several(make: Make, dim: int) -> Iterator[Sample]:
    for shapes in (((2, 3), (2, 3)), ((1, 3), (1, 3), (1, 3))):
        yield Sample([make(*s) for s in shapes], dim, note=f"{len(shapes)} tensors")
    yield Sample([make(2, 3, layout="transposed"), make(2, 3, layout="strided")], dim, note="strided memory")
    yield Sample((make(0, 3), make(0, 3)), dim, note="empty, as a tuple")


@samples("cat")
def _cat(make: Make) -> Iterator[Sample]:
    yield from _several(make, 0)
    yield from _several(make, -1)
    yield Sample([make(2, 3), make(4, 3)], note="other sizes")
    yield Sample([make(3), make(0)], note="an empty one")
    yield Sample([make(3)], note="one")


@error_samples("cat")
def _cat_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample([make(2, 3), make(2, 4)], 0, error=RuntimeError, match="Sizes of tensors must match except in dimension 0")
    yield ErrorSample([make(2, 3)], 2, error=IndexError, match=RANGE)


@samples("stack")
def _stack(make: Make) -> Iterator[Sample]:
    yield from _several(make, 0)
    yield from _several(make, -1)
    yield Sample([make(), make()], note="0-d")


@error_samples("stack")
def _stack_errors(make: Make) -> Iterator[ErrorSample]:
    yield ErrorSample([make(2, 3), make(2, 4)], error=RuntimeError, match="equal size")


@samples("view_as")
@samples("reshape_as")
def _as_other(make: Make) -> Iterator[Sample]:
    for shape, other in (((2, 3), (3, 2)), ((), (1, 1)), ((0, 3), (3, 0))):
        yield Sample(make(*shape), make(*other))


@samples("expand_as")
def _expand_as(make: Make) -> Iterator[Sample]:
    for shape, other in (((2, 1), (2, 3)), ((3,), (2, 3)), ((), (2,))):
        yield Sample(make(*shape), make(*other))


for _name, _match in (
    ("view_as", "invalid for input"),
    ("reshape_as", "invalid for input"),
    ("expand_as", "must match the existing size"),
):
    error_samples(_name)(
        (lambda match: lambda make: [ErrorSample(make(2, 3), make(4, 2), error=RuntimeError, match=match)])(_match)
    )

samples("broadcast_tensors")(lambda make: [Sample(make(2, 1), make(3)), Sample(make(), make(2))])
samples("adjoint")(calls([((2, 3), ()), ((2, 3, 4), ())]))
error_samples("adjoint")(one_error((), RuntimeError, "", (3,)))
samples("split_with_sizes")(calls([((5, 2), ((1, 4),)), ((2, 5), ((2, 3), 1))]))
error_samples("split_with_sizes")(one_error(((1, 2),), RuntimeError, "sum exactly"))
error_samples("tile")(lambda make: [ErrorSample(make(2), (-1,), error=RuntimeError, match="negative")])
error_samples("diagflat")(lambda make: [ErrorSample([1.0], error=TypeError, match="argument 'input'")])
error_samples("diag_embed")(one_error((0, 0, 0), RuntimeError, "identical"))
error_samples("tensor_split")(one_error((0,), RuntimeError, "larger than 0"))
error_samples("view_as_real")(one_error((), RuntimeError, "complex"))
error_samples("view_as_complex")(one_error((), RuntimeError, "size 2"))

# Forms that change the geometry of the tensor itself.
for _name, _rest in (
    ("unsqueeze_", (0,)),
    ("transpose_", (0, 1)),
    ("swapaxes_", (0, 1)),
    ("swapdims_", (0, 1)),
    ("squeeze_", ()),
    ("t_", ()),
    ("detach_", ()),
):
    samples(_name, mutates=True)(calls([((2, 3), _rest), ((1, 3), _rest)]))
for _name, _rest in (
    ("unsqueeze_", (3,)),
    ("transpose_", (0, 2)),
    ("swapaxes_", (0, 2)),
    ("swapdims_", (0, 2)),
    ("squeeze_", (2,)),
):
    error_samples(_name)(one_error(_rest, IndexError, RANGE))
samples("as_strided_", mutates=True)(calls([((6,), ((2, 3), (3, 1)))]))
error_samples("as_strided_")(one_error(((2, 2), (1,)), RuntimeError, "mismatch in length"))
error_samples("t_")(one_error((), RuntimeError, "", (2, 3, 4)))
error_samples("detach_")(lambda make: [ErrorSample([1.0], error=TypeError, match="argument 'input'")])
