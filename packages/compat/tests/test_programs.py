"""The fixture that runs programs in processes of their own tells one that fails from one that does not."""

from __future__ import annotations

import pytest

FAILING = ("assert torch is None", "warnings.warn('said')", "raise SystemExit(3)", "import os; os.abort()")


@pytest.mark.parametrize("program", FAILING)
def test_a_program_that_fails_is_seen_and_the_next_one_runs(run, program):
    with pytest.raises(AssertionError, match=r"status [1-9]"):
        run(program)
    assert run("print(torch is tenfold or torch.ones(1).item(), 'os' in globals(), __name__)") == "1.0 False __main__\n"
