"""Measurements side by side: a row for each statement, a column for each description."""

from __future__ import annotations

from collections.abc import Iterable

from tenfold.utils.benchmark.utils.common import Measurement, select_unit, trim_sigfig, unit_to_english

_GREEN, _PLAIN = "\x1b[92m", "\x1b[0m"
_BEST = 1.1  # times the fastest: as good


class Compare:
    """A table of measurements for each label.

    >>> from tenfold.utils.benchmark import Timer
    >>> table = Compare([Timer("x + x", "x = torch.ones(3)", label="sums", sub_label="three", description="add").timeit(10)])
    >>> "sums" in str(table) and "three" in str(table) and "add" in str(table)
    True
    """

    def __init__(self, results: list[Measurement]) -> None:
        self._results: list[Measurement] = []
        self._trim = self._colour = self._rowwise = self._warn = False
        self.extend_results(results)

    def __str__(self) -> str:
        groups: dict[str, list[Measurement]] = {}
        for one in Measurement.merge(self._results):
            groups.setdefault(one.task_spec.label or one.task_spec.stmt, []).append(one)
        return "\n".join(self._table(label, group) for label, group in groups.items())

    def extend_results(self, results: Iterable[Measurement]) -> None:
        """Add measurements. Raises ValueError for what is none."""
        for one in results:
            if not isinstance(one, Measurement):
                raise ValueError(f"Compare: expected an instance of Measurement, got {type(one)} instead")
            self._results.append(one)

    def trim_significant_figures(self) -> None:
        """Print only the figures that the measurements bear out."""
        self._trim = True

    def colorize(self, rowwise: bool = False) -> None:
        """Print the fastest in green: of the table, or of each row."""
        self._colour, self._rowwise = True, rowwise

    def highlight_warnings(self) -> None:
        """Mark uneven measurements."""
        self._warn = True

    def print(self) -> None:
        """Print the tables."""
        print(self)

    def _table(self, label: str, group: list[Measurement]) -> str:
        unit, size = select_unit(min(one.median for one in group))
        columns = list(dict.fromkeys(one.task_spec.description or "" for one in group))
        rows: dict[tuple[int, str, str], dict[str, Measurement]] = {}
        for one in group:
            key = (one.task_spec.num_threads, one.task_spec.env or "", one.as_row_name)
            rows.setdefault(key, {})[one.task_spec.description or ""] = one
        best = min(one.median for one in group)
        body = []
        for (threads, env, name), found in rows.items():
            fastest = min(one.median for one in found.values()) if self._rowwise else best
            cells = [self._cell(found.get(column), size, fastest) for column in columns]
            body.append([" ".join(part for part in (f"({threads} threads)" if threads > 1 else "", env, name) if part), *cells])
        lines = [["", *columns], *body]
        widths = [max(len(line[i].replace(_GREEN, "").replace(_PLAIN, "")) for line in lines) for i in range(len(lines[0]))]
        drawn = ["  |  ".join(_padded(cell, width) for cell, width in zip(line, widths)) for line in lines]
        ruler = "-" * len(drawn[0])
        title = f"[{label}]".center(len(ruler), "-")
        notes = [f"Times are in {unit_to_english(unit)}s ({unit})."]
        return "\n".join([title, drawn[0], ruler, *drawn[1:], "", *notes, ""])

    def _cell(self, one: Measurement | None, size: float, fastest: float) -> str:
        if one is None:
            return ""
        value = one.median / size
        text = f"{trim_sigfig(value, one.significant_figures):g}" if self._trim else f"{value:.1f}"
        if self._warn and one.has_warnings:
            text = f"(! {one.iqr / one.median:.0%}) {text}"
        return f"{_GREEN}{text}{_PLAIN}" if self._colour and one.median <= fastest * _BEST else text


def _padded(cell: str, width: int) -> str:
    shown = len(cell.replace(_GREEN, "").replace(_PLAIN, ""))
    return " " * (width - shown) + cell
