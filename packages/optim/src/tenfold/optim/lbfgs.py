"""L-BFGS, with or without a line search."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold import Tensor
from tenfold.optim.optimizer import Closure, Optimizer, Params, State
from tenfold.optim.options import check_options, given
from tenfold.optim.rule import plain
from tenfold.optim.strong_wolfe import Point, _cubic_interpolate, _strong_wolfe, strong_wolfe  # noqa: F401 - PyTorch's names


def update(grad: Tensor, state: State, history_size: int) -> Tensor:
    """Remember the last step's (s, y) and return the new direction: Nocedal and Wright 2006, algorithms 7.4 and 7.5."""
    old_dirs, old_stps, ro = state["old_dirs"], state["old_stps"], state["ro"]
    y = grad.sub(state["prev_flat_grad"])
    s = state["d"].mul(float(state["t"]))
    ys = y.dot(s)
    if ys.item() > 1e-10:  # else the curvature condition fails, and the pair would spoil the approximation
        if len(old_dirs) == history_size:
            for remembered in (old_dirs, old_stps, ro):
                remembered.pop(0)
        old_dirs.append(y)
        old_stps.append(s)
        ro.append(1.0 / ys)
        state["H_diag"] = ys / y.dot(y)
    al = state.setdefault("al", [None] * history_size)
    direction = grad.neg()
    for i in reversed(range(len(old_dirs))):
        al[i] = old_stps[i].dot(direction) * ro[i]
        direction.add_(old_dirs[i], alpha=-al[i].item())
    direction = direction.mul(state["H_diag"])
    for i, pair_y in enumerate(old_dirs):
        be = pair_y.dot(direction) * ro[i]
        direction.add_(old_stps[i], alpha=(al[i] - be).item())
    return direction


class LBFGS(Optimizer):
    """Quasi-Newton steps from the last `history_size` changes of parameters and gradients; `step` needs a closure.

    Args:
        max_iter: iterations in one `step`.
        max_eval: evaluations of the closure in one `step`; 1.25 max_iter where None.
        tolerance_grad: stop where no gradient entry is larger.
        tolerance_change: stop where neither parameters nor loss change by more.
        line_search_fn: None for steps of `lr`, or "strong_wolfe".

    Raises:
        ValueError: more than one parameter group; a negative lr.
        RuntimeError: another line_search_fn.

    Source: Liu, Nocedal: On the limited memory BFGS method, Mathematical Programming 45, 1989.

    >>> import tenfold
    >>> x = tenfold.tensor([3.0, -2.0], requires_grad=True)
    >>> optimizer = tenfold.optim.LBFGS([x], line_search_fn="strong_wolfe")
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = ((x - 1) ** 2).sum()
    ...     loss.backward()
    ...     return loss
    >>> optimizer.step(closure).item()
    13.0
    >>> [round(value, 4) for value in x.tolist()]
    [1.0, 1.0]
    """

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        if max_eval is None:
            max_eval = max_iter * 5 // 4
        defaults = given(locals())
        check_options(defaults, {})
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    @property
    def _params(self) -> list[Tensor]:
        params: list[Tensor] = self.param_groups[0]["params"]
        return params

    def _flat_grad(self) -> Tensor:
        return tenfold.cat([_flat(_gradient(param)) for param in self._params])

    def _move(self, t: float, direction: Tensor) -> None:
        offset = 0
        for param in self._params:
            real = tenfold.view_as_real(param) if param.dtype.is_complex else param
            size = real.numel()
            real.add_(direction[offset : offset + size].view_as(real), alpha=t)
            offset += size

    def _evaluate(self, closure: Closure, origin: list[Tensor], t: float, direction: Tensor) -> Point:
        """Loss and gradient at `t` along `direction`; the parameters are back at `origin` after it."""
        self._move(t, direction)
        loss = _number(_evaluated(closure))
        grad = self._flat_grad()
        for param, saved in zip(self._params, origin, strict=True):
            param.copy_(saved)
        return Point(t, loss, grad, grad.dot(direction).item())

    def step(self, closure: Closure) -> Any:  # type: ignore[override]
        """Run up to `max_iter` iterations and return the loss before the first."""
        with tenfold.no_grad():
            return self._iterate(closure)

    def _iterate(self, closure: Closure) -> Any:
        group = self.param_groups[0]
        if group["line_search_fn"] not in (None, "strong_wolfe"):
            raise RuntimeError(f"only 'strong_wolfe' is supported, but got line_search_fn={group['line_search_fn']!r}")
        lr, tolerance_change = plain(group["lr"]), group["tolerance_change"]
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first_loss = _evaluated(closure)
        loss, evaluations = _number(first_loss), 1
        state["func_evals"] += 1
        grad = self._flat_grad()
        if _largest(grad) <= group["tolerance_grad"]:
            return first_loss

        for n in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            if state["n_iter"] == 1:
                direction = grad.neg()
                state.update(d=direction, t=0.0, old_dirs=[], old_stps=[], ro=[], H_diag=1)
                t = min(1.0, (1.0 / grad.abs().sum()).item()) * lr  # infinite where the gradient is zero
            else:
                direction = update(grad, state, group["history_size"])
                t = lr
            state.update(d=direction, t=_like(group["lr"], t, grad), prev_flat_grad=grad.clone(), prev_loss=loss)
            previous_loss, slope = loss, grad.dot(direction).item()
            if slope > -tolerance_change:
                break
            last = n == group["max_iter"]
            most = group["max_eval"] - evaluations
            loss, grad, t, used = self._advance(closure, Point(0.0, loss, grad, slope), t, direction, last, most)
            state["t"] = t if group["line_search_fn"] else _like(group["lr"], t, grad)
            evaluations += used
            state["func_evals"] += used
            if last or evaluations >= group["max_eval"] or _largest(grad) <= group["tolerance_grad"]:
                break
            if _largest(direction.mul(t)) <= tolerance_change or abs(loss - previous_loss) < tolerance_change:
                break
        return first_loss

    def _advance(
        self, closure: Closure, start: Point, t: float, direction: Tensor, last: bool, most: int
    ) -> tuple[float, Tensor, float, int]:
        """Move along `direction`; the new loss and gradient, the step size and the evaluations it took, `most` in a search."""
        if self.param_groups[0]["line_search_fn"] is None:
            self._move(t, direction)
            if last:  # nobody will ask for the loss there
                return start.loss, start.grad, t, 0
            loss = _number(_evaluated(closure))
            return loss, self._flat_grad(), t, 1
        origin = [param.clone() for param in self._params]
        evaluate, longest = (lambda size: self._evaluate(closure, origin, size, direction)), _largest(direction)
        found, used = strong_wolfe(evaluate, t, start, longest, max_iterations=most)
        self._move(found.t, direction)
        return found.loss, found.grad, found.t, used


def _evaluated(closure: Closure) -> Any:
    with tenfold.enable_grad():
        return closure()


def _number(loss: Any) -> float:
    return loss.item() if isinstance(loss, Tensor) else float(loss)


def _like(lr: Any, t: float, grad: Tensor) -> Any:
    """A step size as state: a tensor where the learning rate is one."""
    if not isinstance(lr, Tensor):
        return t
    return lr.clone() if t == float(lr) else tenfold.tensor(t, dtype=grad.dtype)


def _gradient(param: Tensor) -> Tensor:
    grad: Any = param.grad
    if grad is None:
        return tenfold.zeros_like(param)
    dense: Tensor = grad.to_dense() if grad.is_sparse else grad
    return dense


def _flat(tensor: Tensor) -> Tensor:
    return (tenfold.view_as_real(tensor) if tensor.dtype.is_complex else tensor).reshape(-1)


def _largest(tensor: Tensor) -> float:
    return float(tensor.abs().max().item())


__all__ = ["LBFGS"]
