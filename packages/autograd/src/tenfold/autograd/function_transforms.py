"""Custom Functions under vmap and forward mode, one level at a time.

At each level the function is applied to the values below, by the rule of that level's kind: `vmap` or the generated one, or
`jvp`. If the tape of the level watches, the results then get the function's node, with what `setup_context` saves.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tenfold.autograd.batch_level import BatchLevel
from tenfold.autograd.batches import move
from tenfold.autograd.dual_level import DualLevel
from tenfold.autograd.function import Function, run_recorded
from tenfold.autograd.function_node import FunctionNode
from tenfold.autograd.function_results import attach as _attach
from tenfold.autograd.levels import Below, Transform, highest
from tenfold.autograd.linear_level import LinearLevel, NotLinear
from tenfold.autograd.pytree import broadcast_prefix, flatten, form, unflatten
from tenfold.autograd.saved import Packed
from tenfold.dispatch.gradmode import no_grad
from tenfold.dispatch.runtime import STATE
from tenfold.ops.creation.like import zeros_like
from tenfold.tensor.tensor import Tensor


class VmapInfo(NamedTuple):
    """What a Function's `vmap` gets first."""

    batch_size: int
    randomness: str


def apply_through_transforms(cls: Any, args: tuple[Any, ...]) -> Any:
    """Apply a custom Function to arguments of which some are tensors inside vmap or forward mode."""
    transform = highest(args)
    assert transform is not None
    if cls.setup_context is Function.setup_context and not isinstance(transform, DualLevel):
        raise RuntimeError(
            f"{cls.__name__}: in order to use an autograd.Function with vmap it must override the setup_context staticmethod "
            f"(and forward must not take a ctx)"
        )
    if isinstance(transform, LinearLevel):
        raise NotLinear(f"{cls.__name__} is applied to a tangent")
    run: Any = _batched if isinstance(transform, BatchLevel) else _pushed
    with Below(transform):
        results = run(cls, transform, args)
    if transform.by_hand:
        call, results = results
        return call.recorded(results) if STATE.grad_enabled and any(map(_has_place, args)) else results
    if STATE.grad_enabled and any(isinstance(a, Tensor) and a._node is not None and transform.owns(a) for a in args):
        return _record(cls, transform, args, results)
    return results


def _record(cls: Any, transform: Transform, args: tuple[Any, ...], results: Any) -> Any:
    """Give results of one level the function's node on that level's tape."""
    if cls.setup_context is Function.setup_context:
        raise RuntimeError(
            f"{cls.__name__}: to differentiate an autograd.Function inside forward mode it must override the setup_context "
            f"staticmethod (and forward must not take a ctx)"
        )
    args = tuple(transform.lifted(a) for a in args)
    ctx = _context(cls, args, results)
    ctx.needs_input_grad = tuple(isinstance(a, Tensor) and a.requires_grad for a in args)
    ctx._next = tuple(a._node if isinstance(a, Tensor) else None for a in args)
    outputs = _attach(ctx, args, results if isinstance(results, tuple) else (results,))
    ctx._keep(outputs)
    return outputs if isinstance(results, tuple) else outputs[0]


def _context(cls: Any, args: tuple[Any, ...], results: Any) -> FunctionNode:
    ctx: FunctionNode = cls._node_class()
    ctx.needs_input_grad = (False,) * len(args)
    with no_grad():
        cls.setup_context(ctx, args, results)
    return ctx


# vmap


def _batched(cls: Any, level: BatchLevel, args: tuple[Any, ...]) -> Any:
    pairs = [level.unwrap(a) for a in args]
    values, dims = tuple(v for v, _ in pairs), tuple(d for _, d in pairs)
    overridden = cls.vmap is not Function.vmap
    if overridden and cls.generate_vmap_rule:
        raise RuntimeError(f"{cls.__name__}: found both generate_vmap_rule=True and an overridden vmap; remove one of them")
    if overridden:
        made = cls.vmap(VmapInfo(level.size, level.randomness), dims, *values)
        if not (isinstance(made, tuple) and len(made) == 2):
            got = f"a tuple of {len(made)}" if isinstance(made, tuple) else type(made).__name__
            raise RuntimeError(f"Expected {cls.__name__}.vmap to have two returns, (output, out_dims), got {got}")
        results, out_dims = made
    elif cls.generate_vmap_rule:
        generated, seen = _generated(cls, level, dims)
        results = generated.apply(*values)
        out_dims = seen["dims"] if isinstance(results, tuple) else seen["dims"][0]
    else:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it does not have vmap support: either set "
            f"generate_vmap_rule=True or override the vmap staticmethod"
        )
    return _wrapped(cls, level, results, out_dims)


def _wrapped(cls: Any, level: BatchLevel, results: Any, out_dims: Any) -> Any:
    leaves, spec = flatten(results)
    dims = broadcast_prefix(out_dims, spec)
    if dims is None:
        raise RuntimeError(
            f"{cls.__name__}.vmap returned an incompatible (output, out_dims) tuple: out_dims of the form {form(out_dims)} do "
            f"not fit outputs of the form {form(results)}"
        )
    places = [d + r.dim() if isinstance(d, int) and d < 0 else d for r, d in zip(leaves, dims)]
    made = [level.wrap(r, d) if isinstance(r, Tensor) else r for r, d in zip(leaves, places)]
    return unflatten(made, spec)


def _generated(cls: Any, outer: BatchLevel, dims: tuple[Any, ...]) -> tuple[Any, dict[str, Any]]:
    """The Function on values that runs the given one on wrappers, forward and backward; and where results' batches are.

    Each of its methods runs at some other time and place, so each makes a level of its own.
    """
    seen: dict[str, Any] = {}

    def fresh() -> BatchLevel:
        return BatchLevel(outer.size, outer.randomness)

    def wrap(level: BatchLevel, values: Any, places: Any) -> tuple[Any, ...]:
        return tuple([level.wrap(v, d) if isinstance(v, Tensor) else v for v, d in zip(values, places)])

    def restored(ctx: Any, level: BatchLevel) -> Any:
        """The given function's own ctx, with its saved tensors on this level."""
        ctx.own._saved = tuple((t, 0, None) for t in wrap(level, ctx.saved_tensors, ctx.saved_dims))
        return ctx.own

    class Generated(Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(*values: Any) -> Any:
            with fresh() as level:
                results = cls.forward(*wrap(level, values, dims))
                seen["single"] = not isinstance(results, tuple)
                pairs = [level.unwrap(r) for r in ((results,) if seen["single"] else results)]
            seen["dims"] = tuple(d for _, d in pairs)
            plain = tuple(v for v, _ in pairs)
            return plain[0] if seen["single"] else plain

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            with fresh() as level:
                results = wrap(level, (output,) if seen["single"] else output, seen["dims"])
                own = cls._node_class()
                own.needs_input_grad = ctx.needs_input_grad
                cls.setup_context(own, wrap(level, inputs, dims), results[0] if seen["single"] else results)
                pairs = [level.unwrap(t) for t in own.to_save or getattr(own, "saved_for_forward", ())]
            ctx.save_for_backward(*[v for v, _ in pairs])
            ctx.save_for_forward(*[v for v, _ in pairs])
            ctx.saved_dims, ctx.own, ctx.materialize_grads = tuple(d for _, d in pairs), own, own.materialize_grads

        @staticmethod
        def backward(ctx: Any, *gs: Any) -> Any:
            with fresh() as level:
                own = restored(ctx, level)
                rule = cls.backward if cls.backward is not Function.backward else cls.vjp
                found = rule(own, *wrap(level, gs, seen["dims"]))
                found = found if isinstance(found, tuple) else (found,)
                return tuple(_pulled(level, g, d) for g, d in zip(found, dims))

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Any:
            with fresh() as level:
                pushed = cls.jvp(restored(ctx, level), *wrap(level, tangents, dims))
                pushed = pushed if isinstance(pushed, tuple) else (pushed,)
                pairs = zip([(None, None) if t is None else level.unwrap(t) for t in pushed], seen["dims"])
                return tuple(t if t is None or want is None else move(t, have, want, level.size) for (t, have), want in pairs)

    if cls.jvp is Function.jvp:
        Generated.jvp = Function.jvp  # type: ignore[method-assign]
    Generated.__name__ = Generated.__qualname__ = f"Vmapped{cls.__name__}"
    return Generated, seen


def _pulled(level: BatchLevel, g: Any, dim: int | None) -> Any:
    """A gradient of a value: with the batch where the value has it, else summed over the examples that shared it."""
    if g is None:
        return None
    value, found = level.unwrap(g)
    if dim is not None:
        return move(value, found, dim, level.size)
    return value if found is None else value.sum(found)


# Forward mode


def _pushed(cls: Any, level: DualLevel, args: tuple[Any, ...]) -> Any:
    pairs = [level.unwrap(a) for a in args]
    primals, tangents = tuple(p for p, _ in pairs), tuple(t for _, t in pairs)
    results, ctx = _applied(cls, primals)
    versions = [0] * len(primals)
    if all(t is None for t in tangents):
        pushed: Any = (None,) * (len(results) if isinstance(results, tuple) else 1)
    else:
        if cls.jvp is Function.jvp:
            raise RuntimeError(
                f"{cls.__name__}: a custom autograd.Function must implement the jvp function (a staticmethod) to be used with "
                f"forward mode AD"
            )
        given = [
            zeros_like(p) if t is None and isinstance(p, Tensor) and p.dtype.category > 1 and ctx.materialize_grads else t
            for p, t in zip(primals, tangents)
        ]
        versions = _versions(given)
        with ctx.for_jvp():
            pushed = cls.jvp(ctx, *given)
        pushed = pushed if isinstance(pushed, tuple) else (pushed,)
        tangents = tuple(given)
    single = not isinstance(results, tuple)
    outputs = (results,) if single else results
    if len(pushed) != len(outputs):
        raise RuntimeError(f"{cls.__name__}.jvp returned {len(pushed)} tangents, expected {len(outputs)}")
    call = _Pushed(cls, level, ctx, args, primals, tangents, versions)
    made = tuple(call.output(i, r, t) for i, (r, t) in enumerate(zip(outputs, pushed)))
    found: Any = made[0] if single else made
    return (call._replace(results=outputs), found) if level.by_hand else found


def _has_place(value: Any) -> bool:
    return isinstance(value, Tensor) and value._node is not None


def _unpacked(value: Any) -> Any:
    return value.tensor() if type(value) is Packed else value


def _versions(tangents: list[Any]) -> list[int]:
    return [t._version if isinstance(t, Tensor) else 0 for t in tangents]


class _Pushed(NamedTuple):
    """One application of a Function in forward mode, and what its results have to be like."""

    cls: Any
    level: DualLevel
    ctx: FunctionNode
    args: tuple[Any, ...]
    primals: tuple[Any, ...]
    tangents: tuple[Any, ...]
    versions: list[int]  # of the tangents, before jvp ran
    results: tuple[Any, ...] = ()

    def recorded(self, duals: Any) -> Any:
        """The dual results at their places on the tape that users see; `ctx` with the dual tensors where it has values."""
        single = not isinstance(duals, tuple)
        made = (duals,) if single else duals
        own = self.cls._node_class()
        own.__dict__.update({name: self._dual(value, made) for name, value in vars(self.ctx).items()})
        saved = self.ctx.to_save or [_unpacked(value) for value, *_ in self.ctx._saved]
        own.to_save = self._dual(tuple(saved), made)
        own.needs_input_grad = tuple(isinstance(a, Tensor) and a.requires_grad for a in self.args)
        own._next = tuple(a._node if isinstance(a, Tensor) else None for a in self.args)
        outputs = _attach(own, self.args, made)
        own._keep(outputs)
        return outputs[0] if single else outputs

    def _dual(self, value: Any, made: tuple[Any, ...]) -> Any:
        if type(value) is tuple:
            return tuple(self._dual(v, made) for v in value)
        if not isinstance(value, Tensor):
            return value
        pairs = (*zip(self.primals, self.args), *zip(self.results, made))
        same = (dual for t, dual in pairs if isinstance(t, Tensor) and (t is value or t._array is value._array))
        return next(same, value)

    def output(self, i: int, result: Any, tangent: Any) -> Any:
        """A result with its tangent; RuntimeError for a tangent that cannot belong to it."""
        differs = isinstance(result, Tensor) and result.dtype.category > 1
        if tangent is not None and (not differs or any(result is t for t in self.ctx.non_differentiable)):
            raise RuntimeError(
                f"{self.cls.__name__}.jvp returned a tangent of result {i}, which is not differentiable or was marked so in "
                f"forward. You should return None at that position instead."
            )
        if not isinstance(result, Tensor):
            return result
        if any(result is t for t in self.ctx.dirty_tensors):
            return self._written(result, tangent)
        if tangent is not None:
            self._check_view(result, tangent)
        return self.level.wrap(result, tangent)

    def _written(self, result: Tensor, tangent: Any) -> Tensor:
        """An argument that forward wrote into stays the dual tensor that it is."""
        for arg, primal, given, version in zip(self.args, self.primals, self.tangents, self.versions):
            if result is primal:
                if given is not None and (tangent is not given or tangent._version == version):
                    raise RuntimeError(
                        f"{self.cls.__name__}: An inplace custom Function is not modifying the forward mode gradients inplace. "
                        f"If the forward is modifying an input inplace, then the jvp function must modify the corresponding "
                        f"gradient inplace."
                    )
                if self.level.owns(arg):
                    return arg  # type: ignore[no-any-return]
        return self.level.wrap(result, tangent)

    def _check_view(self, result: Tensor, tangent: Tensor) -> None:
        """The tangent of a view of an argument is a view of the argument's tangent."""
        base = result if result._base is None else result._base
        for primal, given in zip(self.primals, self.tangents):
            if isinstance(primal, Tensor) and given is not None and (primal is base or primal._base is base):
                what = (
                    f"{self.cls.__name__}: A custom Function's forward is returning a view (or an input as-is) but the jvp is not"
                )
                if tangent._base is None:
                    raise RuntimeError(f"{what} returning a view.")
                if given._base is None and tangent._base is not given:
                    raise RuntimeError(f"{what} returning a view of the given tangent.")
                if given._base is not None and tangent._base is not given._base:
                    raise RuntimeError(f"{what} returning a view of the same base as the given tangent.")


def _applied(cls: Any, primals: tuple[Any, ...]) -> tuple[Any, FunctionNode]:
    """The results on the values below, recorded there, and a ctx whose saved tensors `jvp` can read."""
    if cls.setup_context is Function.setup_context or highest(primals) is None:
        return run_recorded(cls, primals)
    results = cls.apply(*primals)
    return results, _context(cls, primals, results)
