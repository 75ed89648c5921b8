"""Every derivative of every operator with samples: each mode against differences, loops and the other modes, and composed once.

    python tools/derivatives.py [--device cpu] [--operator NAME]...

`first_gradient` and `second_gradient` are gradcheck and gradgradcheck in float64 and complex128, `forward_mode` compares with
reverse mode, `batching` is vmap against a loop; composed: vmap of grad and grad of vmap (`gradients_of_batches`), jvp of vjp
(`forward_over_reverse`). Prints how many operators and samples of each passed, and every failure; exits with 1 if there are any.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import warnings
from collections import Counter, defaultdict

from tenfold.testing import check_operator, samples
from tenfold.testing.checks import Result

CHECKS = ("first_gradient", "second_gradient", "forward_mode", "batching", "gradients_of_batches", "forward_over_reverse")
PACKAGES = ("nn", "scientific", "masked", "sparse")  # whose operators are there once they are imported


def imported() -> list[str]:
    """The packages that are installed, of those that bring operators."""
    found = []
    for name in PACKAGES:
        try:
            importlib.import_module(f"tenfold.{name}")
        except ModuleNotFoundError:
            continue
        found.append(name)
    return found


def main() -> int:
    """Run the checks and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--operator", action="append")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    imported()
    samples_of: dict[str, Counter[str]] = defaultdict(Counter)
    passed_by: dict[str, set[str]] = defaultdict(set)
    failures: list[Result] = []
    reasons: Counter[str] = Counter()
    operators = list(samples.operators(options.operator))
    for operator in operators:
        for result in check_operator(operator, options.device, CHECKS).results:
            samples_of[result.check][result.status] += 1
            if result.status == "passed":
                passed_by[result.check].add(result.operator)
            elif result.status == "failed":
                failures.append(result)
            else:
                reasons[f"{result.check}: {result.reason}"] += 1
    print(f"{len(operators)} operators on {options.device}\n{'':24}{'operators':>10}{'passed':>10}{'failed':>10}{'skipped':>10}")
    for check in CHECKS:
        counts = samples_of[check]
        print(f"{check:24}{len(passed_by[check]):10}{counts['passed']:10}{counts['failed']:10}{counts['skipped']:10}")
    for reason, count in reasons.most_common(40):
        print(f"  skipped {count:5} x {reason}")
    for failure in failures:
        print(f"  FAILED {failure}")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
