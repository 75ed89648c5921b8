"""Every operator of PyTorch's own database on its samples: Tenfold against PyTorch, one thread each, in one process.

The database's samples are made from a few sizes; here those are given anew, so that the same samples come as they are
(5 x 5), as about ten thousand and as about a million elements. Forward, and forward with backward where there is a
gradient. Turns alternate; the figures are medians of the thread's processor time. Below 1 Tenfold is faster.
No verdict: the rows above a bar, largest first, also of a run that is interrupted. All of it takes hours; the operator that it
is at is told on the error stream. Needs expecttest, which PyTorch's testing modules import.

    python benchmarks/database.py [--sizes tiny small large] [--only softmax] [--above 1.5] [--json results.json]
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import json
import re
import signal
import statistics
import sys
import time
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from eager import machine
from torch.overrides import resolve_name
from torch.testing._internal import common_methods_invocations as database

import tenfold

# What PyTorch has for itself, and what is not done to be fast.
LEFT_OUT = re.compile(
    r"^(jiterator_.*|torch\.(ops)?\..*|_.*|.*\.triton_optimized|hash_tensor|native_.*|max_pool2d_with_indices_backward"
    r"|grid_sampler_.*|.*linear_cross_entropy.*|as_strided\.partial_views|sparse\..*|empty_permuted|.*_copy|slice|chalf|to_sparse)$"
)
SIZES = {"tiny": {}, "small": {"S": 22, "M": 40, "L": 60}, "large": {"S": 100, "M": 200, "L": 300}}
ELEMENTS = {"tiny": 20_000, "small": 300_000, "large": 4_000_000}  # a sample with more is left out
MOST = 3  # samples of an operator, dtype and size


def twin(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function of Tenfold: by its name, or by what it calls under the name torch."""
    if isinstance(function, types.FunctionType) and function.__module__ == database.__name__:
        return rebuilt(function)
    name = resolve_name(function) or f"torch.{function.__name__}"
    path = re.sub(r"^torch\.(_C\._nn\.|_C\.|_VariableFunctionsClass\.)?", "", name)
    found: Any = tenfold
    for part in path.split("."):
        found = getattr(found, part)
    return found  # type: ignore[no-any-return]


def rebuilt(function: types.FunctionType) -> Callable[..., Any]:
    """The database's own function with Tenfold where it says torch."""
    names = {**function.__globals__, "torch": tenfold, "F": tenfold.nn.functional}
    for name in function.__code__.co_names:
        inner = names.get(name)
        if isinstance(inner, types.FunctionType) and inner.__module__ == database.__name__ and inner is not function:
            names[name] = rebuilt(inner)
    made = types.FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """A sample's arguments with each leaf changed."""
    if isinstance(value, (list, tuple)):
        kind = list if isinstance(value, list) else tuple
        return kind(mapped(item, change) for item in value)
    if isinstance(value, dict):
        return {key: mapped(item, change) for key, item in value.items()}
    if isinstance(value, slice):
        return slice(*mapped((value.start, value.stop, value.step), change))
    return change(value)


def copied(value: Any) -> Any:
    """PyTorch's leaf, apart from the database."""
    if not isinstance(value, torch.Tensor):
        return value
    return value.detach().clone(memory_format=torch.preserve_format).requires_grad_(value.requires_grad)


def ours(value: Any) -> Any:
    """The same leaf for Tenfold."""
    if isinstance(value, torch.Tensor):
        plain = value.detach().resolve_conj().resolve_neg()
        if plain.dtype == torch.bfloat16:
            made = tenfold.from_numpy(plain.float().numpy().copy()).to(tenfold.bfloat16)
        else:
            made = tenfold.from_numpy(np.array(plain.numpy(), order="K", copy=True))
        return made.requires_grad_(value.requires_grad)
    if isinstance(value, (torch.dtype, torch.memory_format, torch.layout)):
        return getattr(tenfold, str(value).rpartition(".")[2])
    return tenfold.device(str(value)) if isinstance(value, torch.device) else value


def leaves(value: Any) -> list[Any]:
    """All leaves of a sample or result."""
    found: list[Any] = []
    mapped(value, found.append)
    return found


def elements(value: Any) -> int:
    """How many numbers a sample has."""
    return sum(leaf.numel() for leaf in leaves(value) if isinstance(leaf, torch.Tensor))


def samples(entry: Any, dtype: torch.dtype, size: str, backward: bool) -> list[Any]:
    """The largest, and others of different shapes."""
    for name, number in SIZES[size].items():
        setattr(database, name, number)
    torch.manual_seed(7)
    try:
        made = []
        started = time.time()
        for sample in entry.sample_inputs("cpu", dtype, requires_grad=backward):
            made.append([sample.input, list(sample.args), dict(sample.kwargs)])
            if time.time() - started > 4 or len(made) >= 60:
                break
    finally:
        database.S, database.M, database.L = 5, 10, 20
    fitting = [sample for sample in made if elements(sample) <= ELEMENTS[size]]
    fitting.sort(key=elements, reverse=True)
    if size != "tiny":
        fitting = [sample for sample in fitting if elements(sample) > ELEMENTS[size] / 100]
    if len(fitting) <= MOST:
        return fitting
    return [fitting[place * len(fitting) // MOST] for place in range(MOST)]


def step(lib: Any, call: Callable[..., Any], sample: Any, backward: bool) -> Callable[[], Any] | None:
    """A call of the sample, with its gradients of ones if backward."""
    first, others, named = sample
    if not backward:
        return lambda: call(first, *others, **named)
    inputs = [leaf for leaf in leaves(sample) if isinstance(leaf, lib.Tensor) and leaf.requires_grad]
    results = [leaf for leaf in leaves(call(first, *others, **named)) if isinstance(leaf, lib.Tensor)]
    places = [place for place, leaf in enumerate(results) if leaf.requires_grad and leaf.is_floating_point()]
    if not inputs or not places:
        return None
    ones = [lib.ones_like(results[place]).contiguous() for place in places]

    def run() -> None:
        result = call(first, *others, **named)
        if isinstance(result, lib.Tensor):
            lib.autograd.grad(result, inputs, ones[0], allow_unused=True)
            return
        given = [leaf for leaf in leaves(result) if isinstance(leaf, lib.Tensor)]
        lib.autograd.grad([given[place] for place in places], inputs, ones, allow_unused=True)

    return run


def timed(call: Callable[[], Any], number: int) -> float:
    """Seconds for one of so many calls."""
    started = time.thread_time()
    for _ in range(number):
        call()
    return (time.thread_time() - started) / number


def ratio(mine: Callable[[], Any], theirs: Callable[[], Any], budget: float = 0.004) -> tuple[float, float]:
    """Median seconds of both in turns."""
    mine(), theirs()
    numbers = [max(1, min(2000, int(budget / max(timed(call, 1), 1e-7)))) for call in (mine, theirs)]
    turns = 5 if max(timed(mine, 1), timed(theirs, 1)) < 0.05 else 3
    pairs = [(timed(mine, numbers[0]), timed(theirs, numbers[1])) for _ in range(turns)]
    return statistics.median(a for a, _ in pairs), statistics.median(b for _, b in pairs)


def shapes(sample: Any) -> str:
    """What tells a sample from others."""
    said = mapped(sample, lambda leaf: "x".join(map(str, leaf.shape)) or "0-d" if isinstance(leaf, torch.Tensor) else leaf)
    return f"{said[0]} {said[1] or ''} {said[2] or ''}".strip()[:90]


def name_of(entry: Any) -> str:
    """The database's name of an operator, with its variant."""
    return str(entry.name + ("." + entry.variant_test_name if entry.variant_test_name else ""))


def rows(entry: Any, size: str) -> Iterator[dict[str, Any]]:
    """The operator's rows of one size; where its samples cannot be made, one that says so."""
    name = name_of(entry)
    dtype = next((d for d in (torch.float32, torch.int64, torch.bool, torch.complex64) if d in entry.dtypes), None)
    if dtype is None:
        return
    for backward in (False, True):
        if backward and not (entry.supports_autograd and dtype == torch.float32):
            continue
        try:
            made = samples(entry, dtype, size, backward)
        except Exception as error:  # noqa: BLE001 - as below
            yield {"operator": name, "size": size, "backward": backward, "failed": f"{type(error).__name__}: {error}"[:120]}
            continue
        for sample in made:
            signal.setitimer(signal.ITIMER_REAL, 20)
            row = {"operator": name, "size": size, "backward": backward, "sample": shapes(sample)}
            try:
                theirs = step(torch, entry.op, mapped(sample, copied), backward)
                mine = step(tenfold, twin(entry.op), mapped(sample, ours), backward)
                if theirs is None or mine is None:
                    continue
                a, b = ratio(mine, theirs)
                row |= {"tenfold_us": a * 1e6, "torch_us": b * 1e6, "ratio": a / b}
            except Exception as error:  # noqa: BLE001 - a table: what fails is a row of it
                row |= {"failed": f"{type(error).__name__}: {error}"[:120]}
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            yield row


def _late(*_: Any) -> None:
    raise TimeoutError("took over 20 s")


def main() -> None:
    """Print the rows above the bar."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--only", default="", help="operators whose name matches this expression")
    parser.add_argument("--without", default="nothing at all", help="and not this")
    parser.add_argument("--above", type=float, default=1.5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    tenfold.set_num_threads(1)
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, _late)
    found: list[dict[str, Any]] = []
    try:
        for size in options.sizes:
            for entry in database.op_db:
                name = name_of(entry)
                if LEFT_OUT.match(name) or not re.search(options.only, name) or re.search(options.without, name):
                    continue
                print(size, name, file=sys.stderr, flush=True)
                found.extend(rows(entry, size))
    except KeyboardInterrupt:
        print("interrupted: what was measured until then", file=sys.stderr)
    if options.json:
        options.json.write_text(json.dumps({"machine": machine(), "rows": found}, indent=1))
    report(found, options.above)


def report(found: list[dict[str, Any]], bar: float) -> None:
    """The rows above the bar, largest first, and how many could not be measured."""
    for row in sorted((row for row in found if row.get("ratio", 0) > bar), key=lambda row: -row["ratio"]):
        back = ", and back" if row["backward"] else ""
        print(f"{row['ratio']:7.2f} {row['tenfold_us']:10.1f} {row['torch_us']:10.1f} us  {row['size']:5s} "
              f"{row['operator']}{back}: {row['sample']}")  # fmt: skip
    ratios = [row["ratio"] for row in found if "ratio" in row]
    above = sum(ratio > bar for ratio in ratios)
    print(f"{above} of {len(ratios)} rows above {bar}; {len(found) - len(ratios)} not measured")


if __name__ == "__main__":
    main()
