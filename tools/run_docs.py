"""Execute the Python blocks of the documentation and follow its relative links.

    python tools/run_docs.py                    # *.md, packages/*/README.md and docs/ but for the reference
    python tools/run_docs.py docs/guide/a.md

Every ```python block runs; the blocks of a page share one namespace and run in order, each page in a process and a
working directory of its own. A block that starts with >>> is a doctest: what it shows is compared. Text that must not
run carries another word after the fence (```text, ```sh). A failure names the page and its line.
"""

from __future__ import annotations

import argparse
import doctest
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workspace import ROOT

FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}|~{3,})(?P<word>[^`]*)$")
LINK = re.compile(r"!?\[[^\]]*\]\((?P<target>[^)\s]+)(?:\s+\"[^\"]*\")?\)")


@dataclass(frozen=True)
class Block:
    """A fenced block: its word (python, text, ...), the number of its first line, and its lines."""

    word: str
    line: int
    text: str


def blocks(text: str) -> Iterator[Block]:
    """The fenced blocks of a page; an unclosed fence is an error."""
    fence, word, start, body = "", "", 0, list[str]()
    indent = 0
    for number, line in enumerate(text.splitlines(), 1):
        match = FENCE.match(line)
        if not fence and match:
            fence, word, start, indent, body = match["fence"], match["word"].strip(), number + 1, len(match["indent"]), []
        elif fence and line.strip() == fence:
            yield Block(word, start, "\n".join(body) + "\n")
            fence = ""
        elif fence:
            body.append(line[indent:] if not line[:indent].strip() else line)
    if fence:
        raise ValueError(f"the fence opened at line {start - 1} is never closed")


def without_blocks(text: str) -> str:
    """The page's prose with fenced blocks and inline code blanked, so that code is not read as links."""
    fence, lines = "", list[str]()
    for line in text.splitlines():
        match = FENCE.match(line)
        if match and not fence:
            fence = match["fence"]
        elif fence:
            fence = "" if line.strip() == fence else fence
        else:
            lines.append(re.sub(r"`[^`]*`", "", line))
            continue
        lines.append("")
    return "\n".join(lines)


def broken_links(page: Path) -> list[str]:
    """Relative links of a page whose file, or whose heading in a Markdown file, does not exist."""
    found = []
    for number, line in enumerate(without_blocks(page.read_text(encoding="utf-8")).splitlines(), 1):
        for match in LINK.finditer(line):
            path, _, heading = match["target"].partition("#")
            if re.match(r"[a-z][a-z0-9+.-]*:", path):
                continue
            target = (page.parent / path).resolve() if path else page
            if not target.exists():
                found.append(f"{page}:{number}: the link {match['target']} leads nowhere")
            elif heading and target.suffix == ".md" and heading not in headings(target):
                found.append(f"{page}:{number}: {path or page.name} has no heading #{heading}")
    return found


def headings(page: Path) -> set[str]:
    """The anchors that Markdown viewers give to a page's headings."""
    titles = re.findall(r"^#+\s+(.*?)\s*$", without_blocks_keep_code(page), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def without_blocks_keep_code(page: Path) -> str:
    """A page without its fenced blocks; a # line inside one is a comment, not a heading."""
    text = page.read_text(encoding="utf-8")
    return re.sub(r"^(`{3,}|~{3,})[^\n]*\n.*?^\1\s*$", "", text, flags=re.MULTILINE | re.DOTALL)


def run_page(page: Path) -> None:
    """Execute one page's Python blocks in this process."""
    namespace: dict[str, Any] = {"__name__": "__main__", "__file__": str(page)}
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.word.split(" ")[0] != "python":
            continue
        if block.text.lstrip().startswith(">>>"):
            run_doctest(block, page, namespace)
        else:
            # Blank lines before the block make a traceback show the page's own line numbers.
            exec(compile("\n" * (block.line - 1) + block.text, str(page), "exec", dont_inherit=True), namespace)


def run_doctest(block: Block, page: Path, namespace: dict[str, Any]) -> None:
    """Run a block of >>> examples in the page's namespace and raise where an output differs."""
    test = doctest.DocTestParser().get_doctest(block.text, namespace, page.name, str(page), block.line - 1)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    runner.run(test, clear_globs=False)
    namespace.update(test.globs)  # the parser copies the namespace
    if runner.failures:
        raise SystemExit(f"{page}:{block.line}: {runner.failures} of the block's examples show something else")


def default_pages(root: Path = ROOT) -> list[Path]:
    """Every page that a person wrote: README.md and its like, the packages' README.md, and docs/ but for the reference."""
    written = [page for page in sorted(root.glob("docs/**/*.md")) if root / "docs/reference" not in page.parents]
    return [*sorted(root.glob("*.md")), *sorted(root.glob("packages/*/README.md")), *written]


def run_in_own_process(page: Path, timeout_s: float) -> str:
    """Run one page in a process and a scratch directory of its own; return what failed, or nothing."""
    command = [sys.executable, __file__, "--here", str(page)]
    with tempfile.TemporaryDirectory() as scratch:
        try:
            done = subprocess.run(command, cwd=scratch, capture_output=True, text=True, timeout=timeout_s, check=False)
        except subprocess.TimeoutExpired:
            return f"{page}: still running after {timeout_s:g} s"
    return "" if done.returncode == 0 else f"{page}: exit status {done.returncode}\n{done.stdout}{done.stderr}"


def main() -> int:
    parser = argparse.ArgumentParser(description="Execute the documentation's Python blocks and follow its relative links.")
    parser.add_argument("pages", type=Path, nargs="*")
    parser.add_argument("--links", action="store_true", help="only follow the links")
    parser.add_argument("--timeout-s", type=float, default=120.0, help="time limit of one page")
    parser.add_argument("--here", action="store_true", help="run one page in this process")
    args = parser.parse_args()
    pages = [page.resolve() for page in args.pages] or default_pages()
    if args.here:
        for page in pages:
            run_page(page)
        return 0
    failures = [broken for page in pages for broken in broken_links(page)]
    with_code = [] if args.links else [page for page in pages if "```python" in page.read_text(encoding="utf-8")]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        outcomes = pool.map(lambda page: run_in_own_process(page, args.timeout_s), with_code)
    for page, failure in zip(with_code, outcomes):
        print(f"{'FAILED' if failure else 'ok':>6} {page.relative_to(ROOT) if page.is_relative_to(ROOT) else page}")
        failures += [failure] * bool(failure)
    print("\n".join([*failures, f"run_docs: {len(with_code)} pages run, {len(pages)} pages read, {len(failures)} failures"]))
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
