"""Optimizers as functions of lists, which is how libraries run a rule whose state they keep themselves: `optim.adam.adam(...)`.

The rule is the class's own, `update`; what is here is the way from lists to it and back.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import tenfold
from tenfold import Tensor
from tenfold.optim.rule import RuleOptimizer, _as_real, plain

if TYPE_CHECKING:
    from inspect import Signature

# The lists' names, and the state's.
KEYS = {
    "acc_deltas": "acc_delta", "axs": "ax", "d_p_list": "grad", "etas": "eta", "exp_avg_sqs": "exp_avg_sq", "exp_avgs": "exp_avg",
    "exp_infs": "exp_inf", "grad_avgs": "grad_avg", "max_exp_avg_sqs": "max_exp_avg_sq",
    "momentum_buffer_list": "momentum_buffer", "mu_products": "mu_product", "mus": "mu", "prevs": "prev",
    "square_avgs": "square_avg", "state_steps": "step", "state_sums": "sum", "step_sizes": "step_size",
}  # fmt: skip
UNSET = {"foreach", "fused", "grad_scale", "found_inf"}  # None by default, where other switches are off
# Options that two numbers of a function stand for.
PAIRS = {"betas": ("beta1", "beta2"), "etas": ("etaminus", "etaplus"), "step_sizes": ("step_size_min", "step_size_max")}


class FunctionalForm:
    """One step of an optimizer's rule: `form(params, grads, *lists of state, **options)` updates all lists in place.

    How the step is taken (`foreach`, `fused`, `capturable`) makes no difference. Gradients are divided by `grad_scale`, and with
    a `found_inf` that is not 0 nothing is done. Without `differentiable` no graph is recorded.

    Raises: TypeError for arguments that are missing or unknown, RuntimeError for steps that are no tensors.

    >>> import tenfold
    >>> from tenfold.optim.sgd import sgd
    >>> x, buffers = tenfold.tensor([1.0]), [None]
    >>> options = dict(lr=0.1, momentum=0.9, dampening=0, weight_decay=0, nesterov=False, maximize=False)
    >>> sgd([x], [tenfold.tensor([2.0])], buffers, **options)
    >>> x, buffers
    (tensor([0.8000]), [tensor([2.])])
    """

    def __init__(
        self, rule: type[RuleOptimizer], lists: str, switches: str, options: str, *, fixed: Mapping[str, Any] | None = None
    ) -> None:
        self.rule, self.options, self.fixed = rule, options.split(), dict(fixed or {})
        self.switches = {name: None if name in UNSET else False for name in switches.split()}
        self.lists = lists.split()
        self.__name__ = self.__qualname__ = rule.__name__.lower()
        self.__module__ = f"tenfold.optim.{self.__name__}"
        self.__doc__ = f"One step of `{rule.__name__}` over lists of parameters, gradients and state, in place."

    def __repr__(self) -> str:
        return f"<function {self.__name__} of tenfold.optim>"

    @property
    def __signature__(self) -> Signature:
        from inspect import Parameter, Signature  # slow to import, and for those who ask only

        kind = Parameter.POSITIONAL_OR_KEYWORD
        return Signature(
            [Parameter(name, kind) for name in self.lists]
            + [Parameter(name, kind, default=value) for name, value in self.switches.items()]
            + [Parameter(name, Parameter.KEYWORD_ONLY) for name in self.options]
        )

    def __call__(self, *given: Any, **named: Any) -> None:
        values = self._bound(given, named)
        if values.get("found_inf") is not None and bool(values["found_inf"]):
            return
        group = self._group(values)
        with tenfold.set_grad_enabled(bool(group.differentiable) and tenfold.is_grad_enabled()):
            for i in range(len(values[self.lists[0]])):
                self._step(i, values, group)

    def _bound(self, given: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
        """All arguments by name."""
        places = [*self.lists, *self.switches]
        if len(given) > len(places):
            raise TypeError(f"{self.__name__}() takes {len(places)} positional arguments but {len(given)} were given")
        values = self.switches | dict(zip(places, given))
        for name, value in named.items():
            if name in places[: len(given)]:
                raise TypeError(f"{self.__name__}() got multiple values for argument '{name}'")
            if name not in places and name not in self.options:
                raise TypeError(f"{self.__name__}() got an unexpected keyword argument '{name}'")
            values[name] = value
        missing = [name for name in (*self.lists, *self.options) if name not in values]
        if missing:
            raise TypeError(f"{self.__name__}() misses the arguments {', '.join(missing)}")
        return values

    def _group(self, values: dict[str, Any]) -> Any:
        """The options under the names by which the rule knows them."""
        options = {name: plain(values[name]) for name in values if name not in self.lists} | self.fixed
        for pair, (first, second) in PAIRS.items():
            if first in options:
                options[pair] = (options.pop(first), options.pop(second))
        return SimpleNamespace(**{"differentiable": False, **options})

    def _step(self, i: int, values: dict[str, Any], group: Any) -> None:
        param, grad = values[self.lists[0]][i], values[self.lists[1]][i]
        scale = values.get("grad_scale")
        grad = grad if scale is None else grad / scale
        grad = -grad if group.maximize else grad
        state = {KEYS[name]: values[name][i] for name in self.lists[2:] if values[name]}
        if "step" in state:
            if not isinstance(state["step"], Tensor):
                got = type(state["step"]).__name__
                raise RuntimeError(f"{self.__name__}: got a step of type {got}, state_steps is a list of tensors of one element")
            state["step"] += 1
        if self.rule.complex_as_real and param.is_complex():
            param, grad, state = _as_real(param), _as_real(grad), {key: _as_real(value) for key, value in state.items()}
        used = dict(state)
        self.rule.update(param, grad, used, group)
        for name in self.lists[2:]:
            key = KEYS[name]
            if used.get(key) is not state.get(key):  # made anew, as the first buffer of momentum is
                if isinstance(state.get(key), Tensor):
                    state[key].copy_(used[key])
                elif values[name]:
                    values[name][i] = used[key]
