from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import run_docs


def run(page: Path, text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    page.write_text(text)
    return subprocess.run([sys.executable, run_docs.__file__, *arguments, str(page)], capture_output=True, text=True, check=False)


def test_blocks_share_a_namespace_and_other_words_do_not_run(tmp_path: Path) -> None:
    done = run(tmp_path / "a.md", "```python\nx = 1\n```\n```text\n1/0\n```\n```python\nassert x == 1\n```\n")
    assert done.returncode == 0, done.stdout
    assert "1 pages run" in done.stdout


def test_a_failing_block_is_named_with_the_page_s_line(tmp_path: Path) -> None:
    done = run(tmp_path / "a.md", "# Title\n\n```python\nx = 1\nassert x == 2\n```\n")
    assert done.returncode == 1
    assert 'a.md", line 5' in done.stdout
    assert "assert x == 2" in done.stdout


@pytest.mark.parametrize(("shown", "status"), [("3", 0), ("4", 1)])
def test_examples_are_compared(tmp_path: Path, shown: str, status: int) -> None:
    done = run(
        tmp_path / "a.md",
        f"```python\nx = 1\n```\n\n```python\n>>> x + 2\n{shown}\n>>> y = 5\n```\n```python\nassert y == 5\n```\n",
    )
    assert done.returncode == status, done.stdout


def test_links(tmp_path: Path) -> None:
    (tmp_path / "b.md").write_text("# A `title`, here\n\n```sh\n# no heading\n```\n")
    page = tmp_path / "a.md"
    page.write_text(
        "[ok](b.md) [ok](b.md#a-title-here) [web](https://example.org/x) [here](#top) `[code](no.md)`\n\n# Top\n"
        "```text\n[in a block](no.md)\n```\n[broken](no.md)\n[broken](b.md#no-heading)\n"
    )
    found = run_docs.broken_links(page)
    assert [line.split(":")[1] for line in found] == ["7", "8"]
    assert run(page, page.read_text(), "--links").returncode == 1


def test_an_unclosed_fence_is_an_error() -> None:
    with pytest.raises(ValueError, match="line 2 is never closed"):
        list(run_docs.blocks("text\n```python\nx = 1\n"))
