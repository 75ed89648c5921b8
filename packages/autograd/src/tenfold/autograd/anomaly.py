"""Anomaly detection: where in the forward pass a node came from that fails, or returns nan, in the backward pass."""

from __future__ import annotations

import sys
import threading
import traceback
import warnings
from typing import Any

from tenfold.autograd.nodes import Node
from tenfold.autograd.watch import WATCH


class _ThreadAnomaly(threading.local):
    """Whether this thread detects anomalies, whether nan is one, and which node it is evaluating."""

    enabled = False
    check_nan = True
    evaluating: Any = None


ANOMALY = _ThreadAnomaly()


def set_here(enabled: bool, check_nan: bool) -> None:
    """Switch detection on or off in this thread."""
    if enabled != ANOMALY.enabled:
        WATCH.count(1 if enabled else -1)
    ANOMALY.enabled, ANOMALY.check_nan = enabled, check_nan


def set_anomaly_enabled(enabled: bool, check_nan: bool = True) -> None:
    """Switch anomaly detection of this thread on or off.

    >>> from tenfold.autograd.anomaly import is_anomaly_enabled, set_anomaly_enabled
    >>> set_anomaly_enabled(True)
    >>> is_anomaly_enabled()
    True
    >>> set_anomaly_enabled(False)
    """
    set_here(enabled, check_nan)


class set_detect_anomaly:  # noqa: N801 - PyTorch's name
    """Switch anomaly detection on or off, at once and until the end of the block when used as a context."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.before = ANOMALY.enabled, ANOMALY.check_nan
        set_here(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        set_here(*self.before)


class detect_anomaly:  # noqa: N801 - PyTorch's name
    """Within the block, errors of a backward pass tell where the forward pass made the node, and nan is an error.

    >>> import warnings, tenfold
    >>> x = tenfold.tensor(-1.0, requires_grad=True)
    >>> with warnings.catch_warnings(action="ignore"), tenfold.autograd.detect_anomaly():
    ...     tenfold.sqrt(x).is_leaf
    False
    """

    def __init__(self, check_nan: bool = True) -> None:
        self.check_nan = check_nan
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for debugging.",
            stacklevel=2,
        )

    def __enter__(self) -> None:
        self.before = ANOMALY.enabled, ANOMALY.check_nan
        set_here(True, self.check_nan)

    def __exit__(self, *exc: object) -> None:
        set_here(*self.before)


def is_anomaly_enabled() -> bool:
    """Whether this thread detects anomalies."""
    return ANOMALY.enabled


def is_anomaly_check_nan_enabled() -> bool:
    """Whether nan in a gradient is an anomaly."""
    return ANOMALY.check_nan


def note(node: Node) -> None:
    """Keep where a new node was made, and in the evaluation of which other node."""
    if not ANOMALY.enabled:
        return
    metadata = node.metadata
    metadata["traceback_"] = traceback.format_stack()[:-3]
    if ANOMALY.evaluating is not None:
        metadata["parent_"] = ANOMALY.evaluating


WATCH.watchers.append(note)


def checked(node: Node, g: Any, wanted: tuple[Any, ...]) -> Any:
    """Run a node; what goes wrong is reported with its origin."""
    outer, ANOMALY.evaluating = ANOMALY.evaluating, node
    try:
        results = node.apply(g, wanted)
        if ANOMALY.check_nan:
            _refuse_nan(node, results, wanted)
        return results
    except Exception:
        _report(node)
        raise
    finally:
        ANOMALY.evaluating = outer


def _refuse_nan(node: Node, results: Any, wanted: tuple[Any, ...]) -> None:
    for i, (r, n) in enumerate(zip(results, wanted)):
        if r is None or n is None:
            continue
        while r._key.level is not None and hasattr(r._array, "value"):  # in a transform: the values of all examples
            r = r._array.value
        if r._key.level is None and r.dtype.category >= 2 and bool(r.isnan().any()):
            raise RuntimeError(f"Function '{node.name()}' returned nan values in its {i}th output.")


def _report(node: Node) -> None:
    """Warn with the traceback of the node, and of those in whose evaluation it was made."""
    metadata = (node._extra or {}).get("metadata", {})
    trace = metadata.get("traceback_")
    if trace is None:
        _tell(
            f"Error detected in {node.name()}. No forward pass information available. Enable detect anomaly during forward "
            f"pass for more information."
        )
        return
    _tell(f"Error detected in {node.name()}. Traceback of forward call that caused the error:\n{''.join(trace)}")
    parent = metadata.get("parent_")
    while parent is not None:
        metadata = (parent._extra or {}).get("metadata", {})
        trace = metadata.get("traceback_")
        told = f"Traceback of forward call that induced the previous calculation:\n{''.join(trace)}" if trace else (
            "No forward pass information available."
        )  # fmt: skip
        _tell(f"\n\nPrevious calculation was induced by {parent.name()}. {told}")
        parent = metadata.get("parent_")


def _tell(message: str) -> None:
    """Warn; where warnings are errors, print instead, for the error to raise is the node's own."""
    try:
        warnings.warn(message, stacklevel=2)
    except UserWarning:
        print(message, file=sys.stderr)
