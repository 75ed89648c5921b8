"""Einstein's summation: an equation over subscripts, carried out by permutations and batched matrix products."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

from tenfold.dispatch.operators import composite
from tenfold.dispatch.overrides import handle_torch_function, has_torch_function
from tenfold.ops.view.forms import tensors_of
from tenfold.scientific.ops.linalg.einsum_steps import Steps, steps_of
from tenfold.tensor.tensor import Tensor
from tenfold.types.dtypes import int64

Ints = Sequence[int]
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_ELLIPSIS = -1  # stands for the dimensions of "..." until their number is known


@composite("linalg", method=None)
def einsum(equation: Any, operands: Ints = ()) -> Tensor:
    """Sum of products of elements over the subscripts that the result does not have.

    An equation such as "bij,bjk->bik" gives a letter to every dimension; "..." stands for dimensions that broadcast. Without
    "->" the result has the letters that occur once, in alphabetical order. Also `einsum(a, [0, 1], b, [1, 2], [0, 2])`.

    >>> import tenfold
    >>> tenfold.einsum("ij,j->i", tenfold.ones(2, 3), tenfold.ones(3))
    tensor([3., 3.])
    """
    tensors: Any = operands
    if isinstance(equation, str):
        tensors = tuple(tensors) if isinstance(tensors, (tuple, list)) else (tensors,)
        if not tensors:
            raise ValueError(
                "einsum(): must specify the equation string and at least one operand, or at least one operand and its "
                "subscripts list"
            )
        inputs, output = _parsed(equation)
    else:
        given: Any = (equation, operands) if type(operands) is not tuple else (equation, *operands)
        tensors, inputs, output = _sublists(given)
    if len(inputs) != len(tensors):
        raise RuntimeError(
            f"einsum(): {'fewer' if len(tensors) < len(inputs) else 'more'} operands were provided than specified in the "
            f"equation: got {len(tensors)} operands, the equation {equation!r} has {len(inputs)}"
        )
    if has_torch_function(tensors):  # operands in a row are no tensor arguments, which the dispatch would ask
        rest = operands if isinstance(operands, (tuple, list)) else (operands,)
        return handle_torch_function(einsum, tensors, equation, *rest)
    tensors = tensors_of(tensors)
    plan = _plan(equation, *(tuple(t.shape) for t in tensors)) if len(tensors) == 2 and isinstance(equation, str) else None
    if plan is not None and tensors[0].dtype is tensors[1].dtype:
        return plan(*tensors)
    if isinstance(equation, str) and tensors[0].dtype.category > 1 and len({t.dtype for t in tensors}) == 1:
        return _steps(equation, *(tuple(t.shape) for t in tensors))(tensors)
    inputs, output = _expanded([t.dim() for t in tensors], inputs, output)
    return _contract([_without_repeats(t, s, i) for i, (t, s) in enumerate(zip(tensors, inputs))], output)


# Reading the equation: subscripts are ints, 0 to 51 for letters


def _subscripts(text: str, whose: str, before: int) -> list[int]:
    """The subscripts of one operand, behind as many letters of the equation."""
    found, given = [], text
    alone = f"einsum(): found '.' for {whose} that is not part of any ellipsis (...) in {text!r}"
    if ". ." in " ".join(text.split("...", 1)[0].split()):  # blanks mean nothing elsewhere
        raise RuntimeError(alone)
    text = text.replace(" ", "")
    if text.partition("...")[2].count("."):
        already = "but an ellipsis (...) was already found" if whose == "output" else "for which an ellipsis was already found"
        raise RuntimeError(f"einsum(): found '.' for {whose} {already}, in {text!r}")
    if "." in text.replace("...", "", 1):
        raise RuntimeError(alone)
    for part in text.replace("...", "@"):
        if part == "@":
            found.append(_ELLIPSIS)
        elif part in _LETTERS:
            found.append(_LETTERS.index(part))
        else:
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {before + given.index(part)} in the equation string: {part!r}, "
                "subscripts must be in [a-zA-Z] or '...'"
            )
    return found


@lru_cache(maxsize=1024)
def _parsed(equation: str) -> tuple[list[list[int]], list[int] | None]:
    left, arrow, right = equation.partition("->")
    operands, before = [], 0
    for i, part in enumerate(left.split(",")):
        operands.append(_subscripts(part, f"operand {i}", before))
        before += len(part) + 1
    return operands, _subscripts(right, "output", len(left) + len(arrow)) if arrow else None


def _sublists(given: tuple[Any, ...]) -> tuple[tuple[Any, ...], list[list[int]], list[int] | None]:
    for s in (s for part in (*given[1::2], given[-1] if len(given) % 2 else ()) for s in part):
        if s is not Ellipsis and not 0 <= s < len(_LETTERS):
            raise ValueError(f"einsum(): subscript in subscript list is not within the valid range [0, 52), got {s}")
    lists = [[_ELLIPSIS if s is Ellipsis else s for s in part] for part in given[1::2]]
    if len(given) % 2:
        return given[:-1:2], lists, [_ELLIPSIS if s is Ellipsis else s for s in given[-1]]
    return given[::2], lists, None


def _expanded(dims: list[int], inputs: list[list[int]], output: list[int] | None) -> tuple[list[list[int]], list[int]]:
    """Subscripts with those of the ellipsis written out (52 and up, aligned at the end), and the result's."""
    widths = []
    for i, (dim, subscripts) in enumerate(zip(dims, inputs)):
        named = len(subscripts) - subscripts.count(_ELLIPSIS)
        width = dim - named
        if width < 0 and _ELLIPSIS in subscripts:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({named}) is more than the number of dimensions ({dim}) for "
                f"operand {i}"
            )
        if width and _ELLIPSIS not in subscripts:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({len(subscripts)}) does not match the number of "
                f"dimensions ({dim}) for operand {i} and no ellipsis was given"
            )
        widths.append(width)
    most = max(widths, default=0)
    dots = [len(_LETTERS) + i for i in range(most)]
    full = []
    for subscripts, width in zip(inputs, widths):
        own = dots[most - width :]
        full.append([x for s in subscripts for x in (own if s == _ELLIPSIS else [s])])
    used = [s for part in full for s in part]
    if output is None:
        return full, dots + sorted(s for s in set(used) if s < len(_LETTERS) and used.count(s) == 1)
    result = [x for s in output for x in (dots if s == _ELLIPSIS else [s])]
    for s in result:
        if result.count(s) > 1:
            raise RuntimeError(f"einsum(): output subscript {_name(s)} appears more than once in the output")
        if s not in used:
            raise RuntimeError(f"einsum(): output subscript {_name(s)} does not appear in the equation for any input operand")
    return full, result


def _name(subscript: int) -> str:
    return _LETTERS[subscript] if subscript < len(_LETTERS) else "..."


# Carrying it out


@lru_cache(maxsize=4096)
def _steps(equation: str, *shapes: tuple[int, ...]) -> Steps:
    """The steps for operands of one floating dtype, where `_plan` has none."""
    inputs, output = _expanded([len(shape) for shape in shapes], *_parsed(equation))
    return steps_of(
        shapes,
        lambda operands: _contract([_without_repeats(t, s, i) for i, (t, s) in enumerate(zip(operands, inputs))], output),
    )


class _Plan(NamedTuple):
    """A product of two operands as one of matrices: what is done before and after it, None where nothing is."""

    turned: bool  # whether the second operand is the left matrix
    before: tuple[tuple[tuple[int, ...] | None, tuple[int, ...] | None], ...]  # for each matrix its order, then its shape
    shape: tuple[int, ...] | None
    order: tuple[int, ...] | None

    def __call__(self, *operands: Any) -> Any:
        ready = []
        for t, (order, shape) in zip(operands[::-1] if self.turned else operands, self.before):
            t = t if order is None else t.permute(order)
            ready.append(t if shape is None else t.reshape(shape))
        result = ready[0].matmul(ready[1])
        result = result if self.shape is None else result.reshape(self.shape)
        return result if self.order is None else result.permute(self.order)


@lru_cache(maxsize=4096)
def _plan(equation: str, *shapes: tuple[int, ...]) -> _Plan | None:
    """The plan for two operands that share a subscript which is summed; None where more, or less, than that is to be done."""
    (a, b), output = _expanded([len(shape) for shape in shapes], *_parsed(equation))
    known = [dict(zip(subscripts, shape)) for subscripts, shape in zip((a, b), shapes)]
    sizes = known[0] | known[1]
    summed = [s for s in a if s in b and s not in output]
    repeats = len(known[0]) < len(a) or len(known[1]) < len(b)
    lost = any(s not in output for s in (*a, *b) if s not in summed)
    if not summed or repeats or lost or 0 in sizes.values() or any(sizes[s] != n for k in known for s, n in k.items()):
        return None
    if all(sizes[s] == 1 for s in summed):  # bools, which have no product of matrices, are multiplied
        return None
    turned, batch, only_a, only_b, summed = _parts(a, b, [s for s in output if s in a and s in b], summed, _ranks(output, a, b))
    a, b = (b, a) if turned else (a, b)
    outer = [sizes[s] for s in batch]
    rows, columns, K = (prod(sizes[s] for s in part) for part in (only_a, only_b, summed))
    before = (
        (_order(a, [*batch, *only_a, *summed]), _shape(sizes, [batch, only_a, summed], (*outer, rows, K))),
        (_order(b, [*batch, *summed, *only_b]), _shape(sizes, [batch, summed, only_b], (*outer, K, columns))),
    )
    made = [*batch, *only_a, *only_b]
    whole = tuple(sizes[s] for s in made)
    return _Plan(turned, before, None if whole == (*outer, rows, columns) else whole, _order(made, output))


def _ranks(output: list[int], *operands: list[int]) -> dict[int, int]:
    """The place of each subscript: those of the result, then those that are summed, by the alphabet."""
    rest = sorted({s for subscripts in operands for s in subscripts}.difference(output))
    return {s: i for i, s in enumerate((*output, *rest))}


def _parts(
    a: list[int], b: list[int], batch: list[int], summed: list[int], ranks: dict[int, int]
) -> tuple[bool, list[int], list[int], list[int], list[int]]:
    """The dimensions of a product: whether its operands change places, its batch, its rows, its columns, its sum.

    The product lies in memory as it is made. So its dimensions follow the result's order, and where all columns come before all
    rows there, the second operand is the left matrix, as in PyTorch: the result is contiguous more often.
    """
    done = {*batch, *summed}
    rows, columns = (sorted((s for s in part if s not in done), key=ranks.__getitem__) for part in (a, b))
    turned = bool(rows and columns) and ranks[columns[-1]] < ranks[rows[0]]
    rows, columns = (columns, rows) if turned else (rows, columns)
    return turned, sorted(batch, key=ranks.__getitem__), rows, columns, sorted(summed, key=ranks.__getitem__)


def _order(have: list[int], want: list[int]) -> tuple[int, ...] | None:
    return None if have == want else tuple(have.index(s) for s in want)


def _shape(sizes: dict[int, int], parts: list[list[int]], wanted: tuple[int, ...]) -> tuple[int, ...] | None:
    return None if tuple(sizes[s] for part in parts for s in part) == wanted else wanted


def _without_repeats(t: Any, subscripts: list[int], number: int) -> tuple[Any, list[int]]:
    """A repeated subscript of an operand takes the diagonal."""
    subscripts = list(subscripts)
    for s in dict.fromkeys(subscripts):
        while subscripts.count(s) > 1:
            i = subscripts.index(s)
            j = subscripts.index(s, i + 1)
            if t.shape[i] != t.shape[j]:  # one of them 1, too: sizes broadcast among operands alone
                raise RuntimeError(
                    f"einsum(): subscript {_name(s)} is repeated for operand {number} but the sizes don't match, "
                    f"{t.shape[j]} != {t.shape[i]}"
                )
            t = t.diagonal(dim1=i, dim2=j)
            del subscripts[j], subscripts[i]
            subscripts.append(s)
    return t, subscripts


def _contract(parts: list[tuple[Any, list[int]]], output: list[int]) -> Any:
    _check_sizes(parts)
    result, subscripts = parts[0]
    ranks = _ranks(output, *(own for _, own in parts))
    for i, (t, own) in enumerate(parts[1:], 2):
        later = {s for _, other in parts[i:] for s in other} | set(output)
        result, subscripts = _pair(result, subscripts, t, own, later, ranks)
    lost = [d for d, s in enumerate(subscripts) if s not in output]
    if lost:
        result = result.sum(lost)
        subscripts = [s for s in subscripts if s in output]
    return result.permute([subscripts.index(s) for s in output])


def _check_sizes(parts: list[tuple[Any, list[int]]]) -> None:
    sizes: dict[int, int] = {}
    for i, (t, subscripts) in enumerate(parts):
        for s, n in zip(subscripts, t.shape):
            if sizes.get(s, 1) != n and n != 1 and sizes.get(s, 1) != 1:
                seen = f"which does not broadcast with previously seen {{}}size {sizes[s]}"
                if s < len(_LETTERS):
                    raise RuntimeError(f"einsum(): subscript {_name(s)} has size {n} for operand {i} {seen.format('')}")
                raise RuntimeError(
                    f"einsum(): dimension {s - len(_LETTERS)} covered by ellipsis in operand {i} has size {n} "
                    f"{seen.format('ellipsis with ')} for the respective dimension"
                )
            sizes[s] = max(n, sizes.get(s, 1)) if n != 0 else 0


def _pair(a: Any, a_subs: list[int], b: Any, b_subs: list[int], later: set[int], ranks: dict[int, int]) -> tuple[Any, list[int]]:
    """The product of two operands, summed over the subscripts that nobody needs any more."""
    size_a, size_b = dict(zip(a_subs, a.shape)), dict(zip(b_subs, b.shape))
    a, a_subs = _squeezed(a, a_subs, [s for s in a_subs if size_a[s] == 1 != size_b.get(s, 1)])  # what broadcasts is the other's
    b, b_subs = _squeezed(b, b_subs, [s for s in b_subs if size_b[s] == 1 != size_a.get(s, 1)])
    a, a_subs = _sum_alone(a, a_subs, b_subs, later, ranks)
    b, b_subs = _sum_alone(b, b_subs, a_subs, later, ranks)
    both = [s for s in a_subs if s in b_subs]
    summed = [s for s in both if s not in later]
    if all(size_a[s] == 1 for s in summed):  # nothing to sum
        a, a_subs = _squeezed(a, a_subs, summed)
        b, b_subs = _squeezed(b, b_subs, summed)
        return _outer(a, a_subs, b, b_subs, sorted({*a_subs, *b_subs}, key=ranks.__getitem__))
    turned, batch, rows, columns, summed = _parts(a_subs, b_subs, [s for s in both if s in later], summed, ranks)
    if turned:
        a, a_subs, b, b_subs = b, b_subs, a, a_subs
    sizes = dict(zip((*a_subs, *b_subs), (*a.shape, *b.shape)))
    B, M, N, K = ([sizes[s] for s in part] for part in (batch, rows, columns, summed))
    left = a.permute([a_subs.index(s) for s in [*batch, *rows, *summed]]).reshape([*B, prod(M), prod(K)])
    right = b.permute([b_subs.index(s) for s in [*batch, *summed, *columns]]).reshape([*B, prod(K), prod(N)])
    if (
        left.dtype is not right.dtype and max(left.dtype.category, right.dtype.category) < 2
    ):  # integers of which one operand was summed before
        left, right = left.to(int64), right.to(int64)
    return left.matmul(right).reshape([*B, *M, *N]), [*batch, *rows, *columns]


def _squeezed(t: Any, subscripts: list[int], thin: list[int]) -> tuple[Any, list[int]]:
    """An operand without dimensions of one element."""
    return t.squeeze([subscripts.index(s) for s in thin]) if thin else t, [s for s in subscripts if s not in thin]


def _sum_alone(t: Any, own: list[int], others: list[int], later: set[int], ranks: dict[int, int]) -> tuple[Any, list[int]]:
    """An operand without what it alone has and nobody needs; its sum lies in the order of the result."""
    kept = sorted((s for s in own if s in others or s in later), key=ranks.__getitem__)
    lost = [s for s in own if s not in kept]
    if not lost:
        return t, own
    return t.permute([own.index(s) for s in (*kept, *lost)]).sum(list(range(len(kept), len(own)))), kept


def _outer(a: Any, a_subs: list[int], b: Any, b_subs: list[int], result: list[int]) -> tuple[Any, list[int]]:
    """A product without summation: both operands aligned on the result's subscripts."""
    aligned = []
    for t, subscripts in ((a, a_subs), (b, b_subs)):
        present = [s for s in result if s in subscripts]
        t = t.permute([subscripts.index(s) for s in present])
        sizes = dict(zip(present, t.shape))
        aligned.append(t.reshape([sizes.get(s, 1) for s in result]))
    return aligned[0] * aligned[1], result
