"""Timers of `torch.utils.benchmark`: what they say of measurements that are known."""

import pickle
import re
import tomllib
from pathlib import Path

import pytest

import tenfold
from tenfold.utils.benchmark import Compare, Measurement, TaskSpec, Timer, select_unit, trim_sigfig


def test_a_timer_runs_an_indented_statement_with_the_names_and_threads_it_is_given():
    seen = []
    before = tenfold.get_num_threads()
    timer = Timer(
        """
        seen.append((torch.get_num_threads(), x + 1))
        """,
        """
        x = torch.ones(1)
        """,
        globals={"seen": seen},
        num_threads=1,
    )
    measured = timer.timeit(5)
    assert len(seen) == 5 + 2
    assert {threads for threads, _ in seen} == {1}
    assert tenfold.get_num_threads() == before
    assert measured.number_per_run == 5
    assert len(measured.times) == 1
    assert measured.median == measured.times[0] > 0


def test_ranges_measure_until_they_have_enough():
    calls = []
    measured = Timer("x * 2", "x = 3").blocked_autorange(lambda number, taken: calls.append((number, taken)), min_run_time=0.02)
    assert sum(measured.raw_times) >= 0.02
    assert [taken for _, taken in calls] == measured.raw_times
    assert {number for number, _ in calls} == {measured.number_per_run}
    assert len(Timer("x * 2", "x = 3").adaptive_autorange(max_run_time=0.05).times) >= 1


def test_what_a_measurement_says():
    task = TaskSpec("f(x)", "x = 1", label="label", sub_label="row", description="column")
    even = Measurement(10, [2e-3, 2.02e-3, 1.98e-3, 2e-3, 2.01e-3], task)
    assert even.median == even.mean * 2e-4 / even.mean
    assert even.iqr == pytest.approx(1e-6)
    assert not even.has_warnings
    assert even.significant_figures in (2, 3)
    assert even.stmt == "f(x)"
    assert even.title == "label: row"
    text = repr(even)
    assert "Median: 200.00 us" in text
    assert "5 measurements, 10 runs per measurement, 1 thread" in text
    assert "x = 1" in text
    uneven = Measurement(1, [1.0, 2.0, 3.0, 4.0], task)
    assert uneven.has_warnings
    assert "WARNING" in repr(uneven)
    merged = Measurement.merge([even, pickle.loads(pickle.dumps(even)), uneven])
    assert [len(one.raw_times) for one in merged] == [10, 4]
    with pytest.raises(AttributeError, match="surely"):
        _ = even.surely


def test_a_table_has_a_row_for_each_statement_and_a_column_for_each_description():
    results = [
        Measurement(1, [seconds], TaskSpec("", "", label="sums", sub_label=row, description=column))
        for row, column, seconds in (("small", "a", 1e-6), ("small", "b", 2e-6), ("large", "a", 3e-6))
    ]
    table = Compare(results)
    lines = [re.split(r"\s*\|\s*", line.strip()) for line in str(table).splitlines() if "|" in line]
    assert lines == [["", "a", "b"], ["small", "1.0", "2.0"], ["large", "3.0", ""]]
    table.colorize()
    assert str(table).count("\x1b[92m") == 1
    with pytest.raises(ValueError, match="Measurement"):
        Compare(["text"])


def test_units_and_figures():
    assert select_unit(5e-10) == ("ns", 1e-9)
    assert select_unit(2.0) == ("s", 1.0)
    assert trim_sigfig(0.012345, 3) == 0.0123
    assert trim_sigfig(0.0, 3) == 0.0


@pytest.mark.parametrize(
    ("given", "word"), [({"language": "c++"}, "compiler"), ({"global_setup": "#include"}, "setup"), ({"stmt": 3}, "text")]
)
def test_what_a_timer_refuses(given, word):
    with pytest.raises(ValueError, match=word):
        Timer(**given)


def test_the_wheel_holds_every_module():
    root = Path(__file__).parents[1]
    wheel = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    files = [path.relative_to(root).as_posix() for path in (root / "src").rglob("*.py")]
    assert [file for file in files if not any(f"{file}/".startswith(f"{taken}/") for taken in wheel["only-include"])] == []
