"""`torch.utils.benchmark`: times of small statements, with a warning where they are too uneven, and tables of them."""

from time import perf_counter as timer

from tenfold.utils.benchmark.utils.common import Measurement, TaskSpec, select_unit, trim_sigfig, unit_to_english
from tenfold.utils.benchmark.utils.compare import Compare
from tenfold.utils.benchmark.utils.timer import Language, Timer

__all__ = ["Compare", "Language", "Measurement", "TaskSpec", "Timer", "select_unit", "timer", "trim_sigfig", "unit_to_english"]
