"""PyTorch's own tests on the device "cuda": `python tools/parity/torchtests_on_cuda.py PATH/torchtests [--file NAME]... [-v]`.

The judge in that folder runs PyTorch's test files on Tenfold's CPU; here its classes for any device are made for "cuda", a GPU or
Triton's interpreter, in a copy of it. What counts are the tests that PyTorch passes on a CPU and the device has as well, and
those for CUDA alone: also those of plain classes that name it, such as all of test_cuda. A test that is skipped, out of the
judge's scope, or for another device counts nowhere and is named by its reason.

The judge's table of what PyTorch passes on a CPU has not every file. For another one, such as test_reductions, make its own
(`JUDGE/run.py --engine torch --write-baseline --baseline TABLE --file NAME`) and name it by `--baseline TABLE`.
"""

from __future__ import annotations

import argparse
import collections
import importlib.util
import json
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
NAMES = 500  # of tests in one argument of a process, which may not be longer than 128 kB
LISTS = "autocast_test_lists"  # PyTorch's own, which test_cuda imports
Outcome = dict[str, Any]  # a test's status, and of one that fails its error

# Differences that stay: (tests, what they say, why). Each is a failure that is looked for, counted apart.
KNOWN = [
    (r"", r"^(Late|TimeoutError|Hang)", "not judged: it takes the interpreter longer than the limit"),
    (r"", r"^Undefined: not reached", "not judged: the file's limit came first"),
    (r"", r"has no dtype (void32|complex32)", "complex32 is on the CPU only"),
    (r"test_unique_dim_cuda", r"nan and 0.0", "distinct rows with nan come last; PyTorch leaves them among the others"),
    (r"test_dlpack_con", r"__dlpack__\(\) takes 1|_sleep", "the stream is a keyword's since PyTorch 2.9"),
    (r"test_dlpack_default_stream", r"AssertionError", "NumPy's from_dlpack, which the interpreter uses, has no streams"),
    (r"_from_dlpack_cuda", r"'cuda' != 'cpu'", "NumPy's capsules, which the interpreter gives, are of the CPU"),
    (r"test_randperm_device_compat", r"cuda has 1 device", "needs two GPUs"),
    (r"test_normal_cuda|test_Dropout", r"not close", "numbers of another stream"),
    (r"test_scatter_reduce_prod_cuda_float", r"not close", "the order of factors at one place is not defined"),
    (
        r"test_pin_memory_(from_constructor_)?cuda",
        r"unexpectedly identical|False is not true",
        "the interpreter has no pinned memory",
    ),
    (
        r"test_backward_single_threaded|test_reentrant_parent_error",
        r"",
        "backward runs in the thread that calls it, on every device",
    ),
    (r"test_nondeterministic_alert_", r"not raised", "asked for deterministic algorithms, the device has one for it"),
    (r"test_cublas_config", r"Subprocess exception", "products have no algorithms that CUBLAS_WORKSPACE_CONFIG chooses among"),
    (
        r"test_multinomial_device_constrain",
        r"scalar type Long|probability tensor",
        "of several mistakes the device of `out` is named last",
    ),
    (r"", r"CUDAGraph: this process interprets|allocators are a GPU's", "the interpreter has neither graphs nor allocators"),
    (r"test_graph_(capture_oom|error)|test_make_graphed", r"", "the interpreter has neither graphs nor allocators"),
    (
        (
            r"TestCuda\w*\.test_(copy_non_blocking|cudart_register|pinned_memory_with|to_non_blocking|events$|generic_stream_event"
            r"|lazy_init|out_of_memory_retry|set_per_process_memory|memory_plots|memory_snapshot)|\.test_no_triton_on_import"
        ),
        r"",
        "about a GPU's memory and queues: the interpreter does everything at once, in the host's memory",
    ),
    (r"test_streaming_backwards_", r"Stream|comparison failed", "backward runs on the stream that is current where it is called"),
    (r"test_stream_event_repr", r"", "objects tell Tenfold's name"),
    (r"test_autocast_rnn", r"CudnnRnnBackward0", "gradients' nodes have names of their own"),
    (
        r"test_autocast_(torch|methods|nn)_",
        r"(_convolution|cudnn_convolution|__div__|nll_loss2d) not found",
        "private names of PyTorch's",
    ),
    (r"", r"_memory_viz|_cycles|batch_norm_gather_stats", "private names of PyTorch's"),
    (r"test_mode_wrong_device", r"does not match", "an output on another device is refused in one sentence everywhere"),
    (
        r"test_grad_scaling_autocast_fused_optimizers_Adam",
        r"not close",
        "numbers of another stream, with which the scaled loss overflows: gradients of a fused step left out stay scaled",
    ),
    (r"test_linalg_lu_solve_cuda_float32", r"not close", "ill-conditioned: as near to the solution as another order of rounding"),
    (r"test_nested_tensor_dense_elementwise", r"support sizes", "the judge compares no nested tensors of strides"),
    (r"test_fmod_remainder_by_zero_integral", r"not close", "a remainder by 0 of whole numbers is not defined"),
    (r"test_cpu_tensor_pow_cuda", r"same device", "of two devices the first operand's is named first"),
    (
        r"test_cuda_tensor_pow_scalar",
        r"float32 != tenfold.float64",
        "NumPy's power of numbers without dimensions is float64 by now",
    ),
    (r"test_defaults_changed_to_foreach_", r"_multi_tensor_", "private names of PyTorch's"),
    (r"test_eig(vals)?_compare_backends", r"not close", "eigenvalues have no order, and eigenvectors no sign"),
    (r"test_signal_window", r"Nx=0", "SciPy refuses a window without samples"),
    (r"", r"has no attribute '(_neg_view|_test_check_tensor|read_vitals|_masked_softmax)'", "private names of PyTorch's"),
]


def copied(judge: Path, folder: Path) -> Any:
    """The judge's `run` out of a copy whose support files make tests for the device."""
    shutil.copytree(judge, folder, ignore=shutil.ignore_patterns("__pycache__"))
    edits = {
        "support/common_device_type.py": lambda text: _classes().as_cuda(text),
        "support/common_cuda.py": lambda text: text + "\n__import__('cuda_classes').facts(globals())\n",
        "support/common_utils.py": lambda text: (
            _replaced(text, "TEST_MKL = TEST_CUDA =", "TEST_CUDA = True\nTEST_MKL =")
            + "\n__import__('cuda_classes').helpers(globals())\n"
        ),
        "site/sitecustomize.py": lambda text: (
            text + f"    sys.path.append({str(HERE)!r})\n    __import__('cuda_classes').start()\n"
        ),
        "run.py": lambda text: _replaced(
            _replaced(text, ', CUDA_VISIBLE_DEVICES=""', ""), "EXTRA = [", f'EXTRA = ["torch/testing/_internal/{LISTS}.py", '
        ),
        "alias.py": lambda text: _replaced(text, "FROM_SOURCE = {", f'FROM_SOURCE = {{"{LISTS}", '),
        "child.py": lambda text: _replaced(
            text, "not pattern.search(id))", "not pattern.search(id) and not __import__('cuda_classes').plain(cls, t, source_of))"
        ),
    }
    for name, edit in edits.items():
        path = folder / name
        path.write_text(edit(path.read_text()))
    sys.path.insert(0, str(folder))
    return __import__("run"), __import__("causes")


def on_the_cpu(judge: Path, a: argparse.Namespace, file: str, names: list[str]) -> set[str]:
    """Those of the CPU's tests that fail on Tenfold's CPU as well."""
    spec = importlib.util.spec_from_file_location("run_on_the_cpu", judge / "run.py")
    assert spec is not None
    assert spec.loader is not None
    run = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(run)
    results: dict[str, Outcome] = {}
    for first in range(0, len(names), NAMES):
        match = "^(" + "|".join(map(re.escape, names[first : first + NAMES])) + ")$"
        results |= run.one(file, argparse.Namespace(**vars(a) | {"match": match, "keep": None}), a.src)[1]
    return {name for name in names if results.get(name, {}).get("status") != "pass"}


def _classes() -> Any:
    import cuda_classes  # type: ignore[import-not-found] # beside this file

    return cuda_classes


def _replaced(text: str, old: str, new: str) -> str:
    assert old in text, f"the judge's file has no {old!r} any more"
    return text.replace(old, new)


def expected(paths: list[Path]) -> tuple[dict[str, dict[str, str]], dict[str, set[str]]]:
    """{file: {a test's name on the device: its name on the CPU}} of what PyTorch passes, and its tests of plain classes."""
    table: dict[str, dict[str, str]] = {}
    plain: dict[str, set[str]] = {}
    for file, classes in (item for path in paths for item in json.loads(path.read_text()).items()):
        pairs = [(c, t) for c in classes for t in classes[c]]
        names = {f"{c[:-3]}CUDA.{re.sub('_cpu(?=_|$)', '_cuda', t)}": f"{c}.{t}" for c, t in pairs if c.endswith("CPU")}
        plain[file] = {f"{c}.{t}" for c, t in pairs if not c.endswith("CPU")}
        if names:
            table[file] = names
    return table, plain


def counted(
    names: dict[str, str], made: dict[str, bool], results: dict[str, Outcome], run: Any, meta: Outcome
) -> dict[str, Outcome]:
    """The tests that count, with what came of them."""
    found: dict[str, Outcome] = {}
    for name in [*names, *(n for n, alone in made.items() if alone and n not in names)]:
        outcome = results.get(name) or run.why_absent(name, meta)
        if name not in made and outcome.get("msg") == "the test was not made":  # of a dtype, or class, that the device has not
            continue
        if outcome["status"] in ("pass", "fail"):
            found[name] = outcome
    return found


def known(name: str, outcome: Outcome) -> str:
    """Why a failure is one that stays, or nothing."""
    told = f"{outcome.get('type')}: {outcome.get('msg')}"
    return next((why for tests, words, why in KNOWN if re.search(tests, name) and re.search(words, told)), "")


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("judge", type=Path)
    options.add_argument("--file", action="append", help="test_torch, nn/test_pooling, ... (default: all)")
    options.add_argument(
        "--baseline", type=Path, action="append", default=[], help="another table of what PyTorch passes on a CPU"
    )
    options.add_argument("--match", default="", help="regular expression on Class.name")
    options.add_argument("--seconds", type=float, default=60, help="a test's limit")
    options.add_argument("--limit", type=float, default=3600, help="a file's limit")
    options.add_argument(
        "--src", default=os.environ.get("TORCHTESTS_SRC", "/tmp/torchtests-src"), help="where PyTorch's files are put"
    )
    options.add_argument("--json", type=Path, help="write every result here")
    options.add_argument("--keep", help="a folder for what the tests print")
    options.add_argument("-v", action="store_true", help="name each test that fails")
    a = options.parse_args()
    a.engine, a.python, a.messages = "tenfold", sys.executable, "compare"
    (tests, plain), only = expected([a.judge / "baseline_torch.json", *a.baseline]), a.match
    os.environ["TORCHTESTS_ONLY"] = only
    a.match = f"(?=.*(?:{only}))^\\w+CUDA\\." if only else "^\\w+CUDA\\."
    causes_of: dict[Any, list[tuple[str, str, Outcome]]] = collections.defaultdict(list)
    reasons: collections.Counter[str] = collections.Counter()
    skips: collections.Counter[str] = collections.Counter()
    passed = total = 0
    everything: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as temporary:
        run, causes = copied(a.judge, Path(temporary) / "judge")
        files = a.file or sorted(tests)
        run.checkout(a.src, files)
        for file in files:
            notes = Path(temporary) / "made"
            notes.write_text("")
            os.environ["TORCHTESTS_MADE"], os.environ["TORCHTESTS_FILE"] = str(notes), file
            _, results, meta = run.one(file, a, a.src)
            made = dict(json.loads(line) for line in notes.read_text().splitlines())
            names = {n: c for n, c in tests.get(file, {}).items() if re.search(only, n)}
            names |= {n: n for n in made if n in plain.get(file, ())}
            found = counted(names, {n: alone for n, alone in made.items() if re.search(only, n)}, results, run, meta)
            stay = {n: why for n, o in found.items() if o["status"] == "fail" and (why := known(n, o))}
            unsaid = [names[n] for n, o in found.items() if o["status"] == "fail" and n not in stay and n in names]
            alike = on_the_cpu(a.judge, a, file, unsaid) if unsaid else set()
            stay |= {n: "as on Tenfold's CPU" for n in found if names.get(n) in alike}
            good = sum(o["status"] == "pass" for o in found.values())
            passed, total = passed + good, total + len(found) - len(stay)
            reasons.update(stay.values())
            skips.update(o["why"] for o in results.values() if o["status"] in ("skip", "out"))
            late = "   LATE" if meta.get("late") else ""
            load = f"   LOAD: {meta['load'][:300]}" if meta.get("load") else ""
            print(
                f"{file:34} {good:5} / {len(found) - len(stay):5}   known {len(stay):3}  {meta['seconds']:6.0f} s{late}{load}",
                flush=True,
            )
            for n, o in sorted(found.items()):
                if o["status"] == "fail" and n not in stay:
                    causes_of[causes.group(o)].append((file, n, o))
                    if a.v:
                        print(f"    {n}: {o.get('type')}: {(o.get('msg') or '')[:200]!r} {o.get('line', '')[:140]}", flush=True)
            everything[file] = {"meta": meta, "tests": results, "counted": sorted(found), "known": stay}
    if a.json:
        a.json.write_text(json.dumps(everything))
    for (kind, what), rows in sorted(causes_of.items(), key=lambda item: -len(item[1])):
        file, name, o = rows[0]
        print(f"{len(rows):5} {kind}: {what}\n        {file}::{name}  {(o.get('line') or '')[:140]}")
    for title, table in (("known", reasons), ("skipped", skips)):
        for why, n in table.most_common():
            print(f"{n:5} {title}: {why}")
    print(f"{passed} of {total}")
    return 1 if passed < total or not total else 0


if __name__ == "__main__":
    sys.exit(main())
