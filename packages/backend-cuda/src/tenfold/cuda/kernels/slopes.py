"""Gradients of elementwise functions in one launch: of one tensor of a function, or of several, each an array of its own."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from tenfold.cuda import runtime
from tenfold.cuda.kernels.elementwise import NUMBERS, TYPE_OF, allocate, largest, plan, run
from tenfold.cuda.kernels.formulas import FORMULAS
from tenfold.cuda.kernels.function_slopes import LETTERS, NAMED, OF_FUNCTIONS, SWIFT, formula
from tenfold.cuda.kernels.generation import Generated
from tenfold.cuda.kernels.together import offer, unseen

CUT = ("fmod",)  # whose quotient is rounded to half precision before it is cut, as in PyTorch: 10.999 is 11
HALF_BYTES = 2
ORDER = "gcxyzoa"  # of the operands of several formulas
AND = "_and_"  # between the names of formulas that one kernel computes


class Several(Generated):
    """The kernel of several formulas, whose results all lie as the first one does."""

    __slots__ = ()

    @property
    def parts(self) -> list[str]:
        return self.formula.split(AND)

    @property
    def letters(self) -> str:
        return union(self.formula)

    def arguments(self) -> list[str]:
        """The parameters' names, in the order in which a launch passes them."""
        first, *rest = Generated.arguments(self)
        return [first, *[f"out{k}_ptr" for k in range(1, len(self.parts))], *rest]

    def results(self) -> list[str]:
        """The lines that compute and store what each formula says."""
        places = ["out_ptr", *[f"out{k}_ptr" for k in range(1, len(self.parts))]]
        return [line for part, place in zip(self.parts, places) for line in self._stored(part, place)]

    def programs(self) -> list[str]:
        """The modules whose functions the formulas call: none of a function's slope."""
        return []


@lru_cache(maxsize=1024)
def union(several: str) -> str:
    """The letters of the operands of several formulas."""
    letters = {letter for name in several.split(AND) for letter in FORMULAS[name].operands}
    return "".join(letter for letter in ORDER if letter in letters)


@lru_cache(maxsize=4096)
def _site(names: str, described: tuple[Any, ...]) -> Callable[..., Any]:
    kernel, signature, fixed, count = plan(names, "f", described, make=Several)
    results = (signature[0],) * names.count(AND)
    return runtime.current().site(kernel, (*results, *signature), fixed, count)


runtime.ON_REPLACE.append(_site.cache_clear)


def sloped(grad: Any, names: str, *operands: Any) -> Any:
    """The results of formulas whose first operand is the gradient, each an array; NotImplemented where they have no text."""
    arrays = [x for x in operands if type(x) not in NUMBERS]
    if not grad.size or grad.dtype.kind not in "fV" or grad.dtype not in TYPE_OF:
        return NotImplemented
    if any(x.dtype != grad.dtype for x in arrays if x.dtype.kind != "b"):
        return NotImplemented
    if any(largest(grad.dtype) < abs(x) < float("inf") for x in operands if type(x) in NUMBERS):
        return NotImplemented
    if AND not in names:
        found = run(names, grad, *operands)
        return found if found is NotImplemented else (found,)
    outs = [allocate(grad.shape, grad.dtype, grad) for _ in names.split(AND)]
    described = tuple([type(x) if type(x) in NUMBERS else (x.shape, x.strides, x.dtype) for x in (outs[0], grad, *operands)])
    _site(names, described)((*outs, grad, *operands), runtime.current().index_of(grad))
    return tuple(outs)


_run = unseen(sloped)
OF_POWERS = {2: (formula("square", "input"), ("input",)), 0.5: ("root_slope", ("input",))}


@lru_cache(maxsize=1024)
def _chosen(operator: str, wanted: tuple[str, ...]) -> tuple[str, tuple[str, ...]] | None:
    """(the formulas of the gradients of these tensors, what their operands are called); None where nothing is gained."""
    rows = [parameter for parameter in wanted if parameter in OF_FUNCTIONS[operator]]
    if not rows or (len(rows) == 1 and (operator, rows[0]) in SWIFT) or any(w not in rows and w != "input" for w in wanted):
        return None
    names = AND.join(formula(operator, parameter) for parameter in rows)
    words = LETTERS | NAMED.get(operator, {"a": "value"})
    return names, tuple(words[letter] for letter in union(names)[1:])


def _gradients(operator: str) -> Callable[..., Any]:
    def gradients(g: Any, parameters: tuple[str, ...], wanted: tuple[Any, ...], **saved: Any) -> tuple[Any, ...] | None:
        """Those of the parameters that are wanted, by what the rules have saved; None where the rules have to do it."""
        if operator in CUT and g.dtype.itemsize == HALF_BYTES:
            return None
        asked = tuple([p for p, node in zip(parameters, wanted) if node is not None])
        chosen = _chosen(operator, asked)
        if chosen is None:
            return None
        names, words = chosen
        if operator == "pow" and asked == ("input",) and type(saved["exponent"]) in (int, float):
            names, words = OF_POWERS.get(saved["exponent"], (names, words))
        found = _run(g, names, *[saved[word] for word in words])
        if found is None:
            return None
        results = dict(zip([p for p in asked if p in OF_FUNCTIONS[operator]], found))
        return tuple([None if node is None else results.get(p, g) for p, node in zip(parameters, wanted)])

    return gradients


for _name in OF_FUNCTIONS:
    offer(_name, _gradients(_name))
