"""PyTorch's operator database on the device "cuda": `python tools/parity/opdb_on_cuda.py PATH/opdb.py [--match RE] [-v]`.

Samples of each entry, in every dtype that it names, run on PyTorch (CPU), on Tenfold's CPU and on Tenfold's "cuda": as a
function, in place, with out=, with gradients, and those that PyTorch refuses. What "cuda" gives must have PyTorch's dtype, shape
and values and either's strides, or be as the CPU's; it must refuse what the CPU refuses, by the same kind of error. On a machine
without a GPU the device is Triton's interpreter. The judge's file, which brings PyTorch's samples to Tenfold, lies elsewhere.
"""

from __future__ import annotations

import argparse
import collections
import faulthandler
import importlib.util
import itertools
import random
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).parent))

import on_cuda  # type: ignore[import-not-found] # beside this file

Found = list[Any]  # PyTorch's tensors and numbers, of which each engine's results are made
TOLERANCES = {
    torch.float16: (4e-3, 2e-3),
    torch.bfloat16: (3e-2, 1.6e-2),
    torch.float32: (2e-4, 2e-5),
    torch.complex64: (2e-4, 2e-5),
    torch.float64: (1e-7, 1e-8),
    torch.complex128: (1e-7, 1e-8),
}


def load(path: str) -> Any:
    """The judge as a module."""
    spec = importlib.util.spec_from_file_location("judge", path)
    assert spec is not None
    assert spec.loader is not None
    judge: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(judge)
    return judge


def _is_dense(t: Any) -> bool:
    step = 1
    for stride, size in sorted((s, n) for s, n in zip(t.stride(), t.shape) if n != 1):
        if stride != step:
            return False
        step *= size
    return True


def engines(judge: Any) -> tuple[Any, Any, Any]:
    """PyTorch, Tenfold's CPU and Tenfold's "cuda"."""

    class OnCuda(judge.TenfoldEngine):  # type: ignore[misc, name-defined, unused-ignore]
        """Its tensors are brought to the device, and must come from there."""

        device = "cuda"

        def tensor(self, t: Any, requires_grad: bool = False) -> Any:
            moved = super().tensor(t).cuda()
            if moved.stride() != tuple(t.stride()) and t.numel() and _is_dense(t):
                moved = self.tf.empty_strided(tuple(t.shape), tuple(t.stride()), dtype=moved.dtype).copy_(moved)
            return moved.requires_grad_(True) if requires_grad else moved

        def back(self, x: Any) -> Any:
            if not self.is_tensor(x):
                return x
            assert x.device.type == "cuda", f"the result is on {x.device}"
            return super().back(x.detach().cpu())

        def constant(self, x: Any) -> Any:
            found = super().constant(x)
            if found == "cpu" or (isinstance(found, self.tf.device) and found.type == "cpu"):
                return self.tf.device("cuda")
            return found

    judge.TenfoldEngine.device = "cpu"
    return judge.TorchEngine(), judge.TenfoldEngine(), OnCuda()


class Trial:
    """One sample in one form on one engine."""

    def __init__(self, judge: Any, op: Any, form: str) -> None:
        self.judge, self.op, self.form = judge, op, form

    def __call__(self, engine: Any, sample: Any, wants: list[bool]) -> Found:
        """Results, and gradients of those inputs that want them."""
        judge, leaves = self.judge, []
        judge.Proxy.engine = engine
        if engine.name != "torch":
            engine.tf.set_default_device(engine.device)
        need = iter(wants)

        def made(v: Any) -> Any:
            if not (isinstance(v, torch.Tensor) and v.layout == torch.strided):
                return v
            leaves.append(engine.tensor(v, next(need)))
            return leaves[-1]

        given = judge.tree(made, [sample.input, sample.args, sample.kwargs])
        torch.manual_seed(0)
        got = self.called(engine, given, bool(leaves))
        results = [_seen(engine, x) for x in judge.flat(got)]
        return results + (self.gradients(engine, got, leaves, sample) if any(wants) else [])

    def called(self, engine: Any, given: list[Any], has_tensors: bool) -> Any:
        judge, op = self.judge, self.op
        function = op.inplace_variant if self.form == "in place" else op.op
        if engine.name == "torch":
            if self.form == "out=":
                given[2] = given[2] | {"out": _outputs(engine, judge, op.op(given[0], *given[1], **given[2]))}
            return function(given[0], *given[1], **given[2])
        if not has_tensors:
            given = judge.unwrap(engine, given)
            return engine.lookup(op.name)(given[0], *given[1], **given[2])
        proxies = judge.wrap(engine, given)
        if self.form == "out=":
            result = judge.unwrap(engine, op.op(proxies[0], *proxies[1], **proxies[2]))
            proxies[2] = proxies[2] | {"out": judge.wrap(engine, _outputs(engine, judge, result))}
        if type(function).__name__ == "method_descriptor":
            arguments = judge.unwrap(engine, [proxies[0], *proxies[1]])
            name = "Tensor." + function.__name__
            return judge.call_by_name(engine, name, function, arguments, judge.unwrap(engine, proxies[2]))
        return judge.unwrap(engine, function(proxies[0], *proxies[1], **proxies[2]))

    def gradients(self, engine: Any, got: Any, leaves: list[Any], sample: Any) -> Found:
        judge, process = self.judge, sample.output_process_fn_grad
        if process is not None:
            got = process(got) if engine.name == "torch" else judge.unwrap(engine, process(judge.wrap(engine, got)))
        outs = [x for x in judge.flat(got) if engine.is_tensor(x) and x.requires_grad]
        ins = [x for x in leaves if x.requires_grad]
        if not outs:
            return []
        seeds = torch.Generator().manual_seed(1)
        dtypes = [_seen(engine, x).dtype for x in outs]
        cotangents = [torch.randn(tuple(x.shape), dtype=d, generator=seeds) for x, d in zip(outs, dtypes)]
        found = engine.grad(outs, ins, [engine.tensor(g) for g in cotangents])
        return ["gradients", *[_seen(engine, x) if g is None else _seen(engine, g) for x, g in zip(ins, found) if g is not None]]


def _outputs(engine: Any, judge: Any, result: Any) -> Any:
    empty = torch.empty_like if engine.name == "torch" else engine.tf.empty_like
    return judge.tree(lambda x: empty(x.detach()) if engine.is_tensor(x) else x, result)


def _seen(engine: Any, x: Any) -> Any:
    """A result as PyTorch's tensor, which remembers the strides that it had."""
    if not engine.is_tensor(x):
        return x
    if engine.name == "torch":
        if x.layout != torch.strided or x.is_quantized:
            return None
        x = x.detach()
        back = x.resolve_conj().resolve_neg().clone()
    else:
        back = engine.back(x)
    back.strides = tuple(x.stride())
    return back


def difference(got: Found, want: Found, name: str, judge: Any) -> str:
    """The first thing that differs, or nothing."""
    if len(got) != len(want):
        return f"{len(got)} results, not {len(want)}"
    for i, (g, w) in enumerate(zip(got, want)):
        place = "gradient" if "gradients" in want[:i] else "result"
        if not isinstance(w, torch.Tensor):
            close = isinstance(w, float) and isinstance(g, float) and judge.np.isclose(g, w, 1e-4, 1e-5, equal_nan=True)
            if not (w is None or close or g == w or (isinstance(w, str) and isinstance(g, str))):
                return f"{place} {i}: {g!r} != {w!r}"
            continue
        if not isinstance(g, torch.Tensor) or (g.shape, g.dtype) != (w.shape, w.dtype):
            return f"{place} {i}: {_told(g)} != {_told(w)}"
        if judge.SHAPE_ONLY.match(name):
            continue
        if name == "topk" and not w.is_floating_point():  # where of several equal ones is not said
            continue
        a, b = (g.abs(), w.abs()) if judge.SIGN_FREE.match(name) else (g, w)
        rtol, atol = TOLERANCES.get(w.dtype, (0, 0))
        if atol and w.numel():  # sums of large terms that cancel
            atol *= float(w.abs().nan_to_num(0, 1, 1).max().clamp(1, 1000))
        try:
            torch.testing.assert_close(a, b, rtol=rtol, atol=atol, equal_nan=True)
        except AssertionError as e:
            return f"{place} {i}: values {' '.join(str(e).split())[:160]}"
    return ""


def _told(x: Any) -> str:
    return f"{tuple(x.shape)} {x.dtype}" if isinstance(x, torch.Tensor) else repr(x)


def strides(got: Found, *wants: Found) -> str:
    """Strides that are none of the others', where an element has more than one place to be."""
    for i, (g, *others) in enumerate(zip(got, *wants)):
        if isinstance(g, str):  # what follows are gradients
            break
        if isinstance(g, torch.Tensor) and g.numel():
            kept = [tuple(s for s, n in zip(x.strides, x.shape) if n > 1) for x in (g, *others) if isinstance(x, torch.Tensor)]
            if kept[0] not in kept[1:]:
                return f"strides {i}: {kept[0]} of {tuple(g.shape)}, not {kept[1:]}"
    return ""


def attempt(call: Callable[[], Found], limit_s: float) -> tuple[Found, BaseException | None]:
    signal.setitimer(signal.ITIMER_REAL, limit_s)
    try:
        return call(), None
    except KeyboardInterrupt:
        raise
    except BaseException as e:  # noqa: BLE001 - every failure is a finding
        return [], e
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def told(e: BaseException | None) -> str:
    return f"{type(e).__name__}: {' '.join(str(e).split())[:170]}" if e is not None else "no error"


def judged(trial: Trial, sample: Any, wants: list[bool], name: str, limit_s: float, engines: Any) -> tuple[str, str]:
    """(kind of disagreement or nothing, what it is or that nobody gives a result)."""
    (want, refused), (here, at_home), (got, error) = (attempt(lambda e=e: trial(e, sample, wants), limit_s) for e in engines)
    if error is not None:
        if type(error).__name__ == "AcceleratorError" and "out of bounds" in str(at_home):
            return "", "told later"  # the device finds an index that is out of bounds while it runs
        if refused is None and type(error) is not type(at_home):
            return "error", told(error)
        as_here = type(error) is type(at_home) and re.sub("cuda(:0)?", "cpu", str(error)) == str(at_home)
        return ("", "refused") if as_here or at_home is None else ("words", f"{told(error)} | CPU {told(at_home)}")
    if refused is not None:
        return ("accepted", f"PyTorch: {told(refused)} CPU: {told(at_home)}") if at_home is not None else ("", "refused")
    if name == "nn.functional.multi_head_attention_forward" and sample.kwargs.get("training") and sample.args[9]:
        name = "nn.functional.dropout"  # another stream's numbers
    differs = difference(got, want, name, trial.judge)
    if differs and (at_home is not None or difference(got, here, name, trial.judge)):
        own = "" if at_home is not None else difference(here, want, name, trial.judge)
        return "wrong", differs + (f" (CPU: {own})" if own else "")
    if at_home is None and trial.form == "function" and not trial.judge.SHAPE_ONLY.match(name):
        lies = strides(got, want, here)
        return ("strides", lies) if lies else ("", "")
    return "", ""


def plans(op: Any, dtypes: list[Any], count: int, drawn: random.Random) -> Iterator[tuple[str, Any, Any, list[bool]]]:
    """(form, dtype, sample, which tensors want gradients), a few for each dtype."""
    for dtype in sorted((d for d in op.dtypes if d in dtypes), key=str):
        differentiable = op.supports_autograd and (dtype.is_floating_point or dtype.is_complex)
        torch.manual_seed(7)
        try:
            samples = list(op.sample_inputs("cpu", dtype, requires_grad=differentiable))
        except Exception:  # noqa: BLE001 - the database has no samples in a dtype that it names
            continue
        samples = [s for s in samples if all(t.numel() <= 20_000 for t in tensors(s))]
        for k, s in enumerate(drawn.sample(samples, min(count, len(samples)))):
            wants = [differentiable and t.requires_grad for t in tensors(s)]
            yield "function", dtype, s, wants
            if not k and op.inplace_variant is not None and not s.broadcasts_input:
                yield "in place", dtype, s, [False] * len(wants)
            if not k and op.supports_out and wants:
                yield "out=", dtype, s, [False] * len(wants)
    if op.error_inputs_func is not None:
        for e in itertools.islice(op.error_inputs("cpu"), 12):
            yield "function", "refused", e.sample_input, [False] * len(tensors(e.sample_input))


def tensors(sample: Any) -> list[Any]:
    found: list[Any] = []

    def walk(x: Any) -> None:
        if isinstance(x, torch.Tensor):
            if x.layout == torch.strided:
                found.append(x)
        elif isinstance(x, (list, tuple)):
            for v in x:
                walk(v)
        elif isinstance(x, dict):
            for v in x.values():
                walk(v)

    walk([sample.input, sample.args, sample.kwargs])
    return found


def _given(sample: Any) -> str:
    """A sample in short: shapes and strides for its tensors."""
    told_of = lambda x: f"{tuple(x.shape)}/{tuple(x.stride())}" if isinstance(x, torch.Tensor) else repr(x)  # noqa: E731
    kept = {k: told_of(v) for k, v in sample.kwargs.items()}
    return f"{told_of(sample.input)} {[told_of(x) for x in sample.args]} {kept}"[:300]


def main() -> int:
    if len(sys.argv) < 2 or not sys.argv[1].endswith(".py"):
        print(__doc__)
        return 2
    on_cuda.start()
    judge = load(sys.argv.pop(1))
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--match", default=".*", help="regular expression on the entry's full name")
    options.add_argument("--samples", type=int, default=3, help="how many samples of an entry and dtype, drawn by the seed")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--dtypes", default="float32 bfloat16 float16 float64 int64 int32 uint8 bool complex64")
    options.add_argument("--limit", type=float, default=20, help="seconds for one call")
    options.add_argument("-v", action="store_true", help="print each disagreement when it is found")
    a = options.parse_args()
    faulthandler.enable()
    signal.signal(signal.SIGALRM, judge._alarm)
    which, dtypes = engines(judge), [getattr(torch, d) for d in a.dtypes.split()]
    kinds: collections.Counter[str] = collections.Counter()
    entries, bad, started = 0, 0, time.time()
    for op in judge.op_db:
        name = op.name + ("." + op.variant_test_name if op.variant_test_name else "")
        if judge.OUT_OF_SCOPE.match(name) or not re.fullmatch(a.match, name):
            continue
        entries += 1
        seen: set[tuple[str, str, str]] = set()
        for form, dtype, sample, wants in plans(op, dtypes, a.samples, random.Random(a.seed)):
            kind, what = judged(Trial(judge, op, form), sample, wants, name, a.limit, which)
            kinds[kind or what or "agree"] += 1
            if kind:
                if a.v and (kind, form, str(dtype)) not in seen:
                    print(f"{name} [{form}, {str(dtype).removeprefix('torch.')}] {kind}: {what}; {_given(sample)}", flush=True)
                seen.add((kind, form, str(dtype)))
        bad += bool(seen)
    print(f"{sum(kinds.values())} calls: {dict(kinds)}; {time.time() - started:.0f} s")
    print(f"{entries - bad} passed, {bad} failed")
    return 1 if bad or not entries else 0


if __name__ == "__main__":
    sys.exit(main())
