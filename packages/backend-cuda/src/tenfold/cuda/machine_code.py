"""What the machine code of kernels says of their speed, without a GPU: `python -m tenfold.cuda.machine_code [LABEL...]`.

How wide global loads and stores are, how many bytes a multiprocessor has on their way, which matrix instruction multiplies,
what is spilled, how many groups of 32 threads are resident, how full the last wave of programs is. The labels are parts of
those of resources.py; `benchmarks/gpu.py --machine-code` prints the same of what a piece of work really launches.

Sources: NVIDIA, "CUDA C++ Programming Guide", table of compute capabilities; Little, "A proof for the queuing formula
L = λW", 1961: bytes on their way are bandwidth times latency, about 20 KB for each of an H100's multiprocessors.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

from tenfold.cuda.compilation import compile_for

REGISTERS = 65536  # of a multiprocessor
# By compute capability, of a multiprocessor: groups of 32 threads, programs, bytes of shared memory.
WARPS = {80: 64, 86: 48, 89: 48, 90: 64, 100: 64, 120: 48}
PROGRAMS = {80: 32, 86: 16, 89: 24, 90: 32, 100: 32, 120: 24}
SHARED = {80: 164 << 10, 86: 100 << 10, 89: 100 << 10, 90: 228 << 10, 100: 228 << 10, 120: 100 << 10}
RESERVED = 1024  # bytes of shared memory that a program needs besides its own
# Of an A100 with 80 GB, an RTX 3090, an RTX 4090, an H100, a B200 and an RTX 5090.
MULTIPROCESSORS = {80: 108, 86: 82, 89: 128, 90: 132, 100: 148, 120: 170}
BYTES_PER_US = {80: 1.94e6, 86: 0.936e6, 89: 1.008e6, 90: 3.35e6, 100: 8e6, 120: 1.792e6}
WIDTHS = {"128": 16, "64": 8, "U16": 2, "S16": 2, "U8": 1, "S8": 1}
INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\d+ )?([A-Z][A-Za-z0-9_.]*)\s*([^;]*);")
MATRIX = re.compile(r"(HGMMA|QGMMA|IGMMA|HMMA|IMMA|DMMA)\.([0-9x]+)")
REGISTER = re.compile(r"\bR(\d+)((?:\.64|\.reuse)*)")


def nearest(capability: int) -> int:
    """The compute capability whose figures stand above: a GPU's own, or the one before it of which there are some.

    >>> nearest(90), nearest(103), nearest(75)
    (90, 100, 80)
    """
    return max((known for known in WARPS if known <= capability), default=min(WARPS))


class Facts(NamedTuple):
    """What is read from a kernel's machine code."""

    registers: int
    spilled: int  # bytes of a thread
    shared: int  # bytes of a program
    threads: int
    loads: dict[int, int]  # of a thread: instructions by bytes; copies to shared memory are among them
    stores: dict[int, int]
    in_flight: int  # bytes that a thread has asked for before it needs the first of them, at most
    matrix: dict[str, int]  # instructions by name
    divisions: int  # of whole numbers, by a number that is not known
    exchanges: int  # loads and stores of shared memory
    copies: int  # asynchronous ones, of global memory to shared memory

    def resident(self, capability: int = 90) -> int:
        """Groups of 32 threads that a multiprocessor holds at a time."""
        warps, capability = self.threads // 32, nearest(capability)
        of_registers = REGISTERS // (-(-self.registers * 32 // 256) * 256) // warps
        of_shared = SHARED[capability] // (self.shared + RESERVED)
        return warps * min(of_registers, of_shared, WARPS[capability] // warps, PROGRAMS[capability])


def tool(name: str) -> Path:
    """A program that comes with Triton."""
    import triton

    return Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / name


def instructions(cubin: bytes) -> tuple[list[tuple[str, str]], int, int]:
    """((name, operands) of each instruction, registers of a thread, bytes that it spills)."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        command = [str(tool("cuobjdump")), "-sass", "-res-usage", file.name]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = re.search(r"REG:(\d+) STACK:(\d+)", text)
    assert found is not None, text[:300]
    return INSTRUCTION.findall(text), int(found[1]), int(found[2])


def width_of(name: str) -> int:
    """Bytes that a thread moves with a load or a store.

    >>> width_of("LDG.E.128"), width_of("STG.E.U16"), width_of("LDG.E")
    (16, 2, 4)
    """
    return next((WIDTHS[part] for part in name.split(".")[1:] if part in WIDTHS), 4)


def facts(compiled: Any) -> Facts:
    """What the machine code of Triton's compiled kernel says."""
    found, registers, spilled = instructions(compiled.asm["cubin"])
    loads: Counter[int] = Counter()
    stores: Counter[int] = Counter()
    matrix: Counter[str] = Counter()
    waited: dict[int, int] = {}  # bytes on their way, by the register that they come to
    most = copying = divisions = exchanges = copies = 0
    for name, operands in found:
        kind = name.split(".")[0]
        registers_read = operands if kind in ("STG", "ST", "STS") else operands.partition(",")[2]
        for number in _registers(registers_read):
            waited.pop(number, None)
        if kind in ("LDG", "LD"):
            width = width_of(name)
            loads[width] += 1
            first = REGISTER.search(operands)
            if first is not None:
                waited |= {int(first[1]) + i: min(4, width) for i in range(-(-width // 4))}
        elif kind == "LDGSTS":
            copies += 1
            loads[width_of(name)] += 1
            copying += width_of(name)
        elif kind in ("UTMALDG", "UBLKCP"):
            copies += 1
        elif kind in ("STG", "ST"):
            stores[width_of(name)] += 1
        elif kind in ("LDS", "STS", "LDSM", "STSM"):
            exchanges += 1
        divisions += kind in ("I2F", "I2FP") and ".RP" in name
        product = MATRIX.match(name)
        if product is not None:
            matrix[f"{product[1]}.{product[2]}"] += 1
        most = max(most, sum(waited.values()))
    shared, threads = int(compiled.metadata.shared), 32 * int(compiled.metadata.num_warps)
    moved = dict(loads), dict(stores), most + copying
    return Facts(registers, spilled, shared, threads, *moved, dict(matrix), divisions, exchanges, copies)


def _registers(operands: str) -> Iterator[int]:
    for number, suffix in REGISTER.findall(operands):
        yield int(number)
        if ".64" in suffix:
            yield int(number) + 1


class Launched(NamedTuple):
    """A launch that was seen."""

    kernel: Any
    signature: tuple[str, ...]
    divisible: tuple[int, ...]
    grid: tuple[int, ...]

    def facts(self, capability: int = 90) -> Facts:
        """What its machine code says."""
        return facts(compile_for(capability, self.kernel, self.signature, self.divisible))


@contextmanager
def watched() -> Iterator[list[Launched]]:
    """The launches of kernels of this package, as they come; the list is complete at the end."""
    from tenfold.cuda import launch, runtime  # Triton is on a machine with Linux only

    driver = runtime.current().module.cuda.driver
    start = driver.launchKernel
    seen: list[tuple[int, tuple[int, ...]]] = []
    found: list[Launched] = []

    def noting(function: int, *arguments: Any) -> None:
        seen.append((function, arguments[:3]))
        start(function, *arguments)

    def through(launching: Any) -> None:
        driver.launchKernel = launching
        for loaded in launch._loaded.values():
            loaded.start = launching
        for forget in runtime.AFTER_FORK:  # what else has the driver's function
            forget()

    through(noting)
    try:
        yield found
    finally:
        through(start)
        known = {loaded.pointer: key for key, loaded in launch._loaded.items()}
        for function, grid in seen:
            if function in known:
                kernel, signature, _, divisible = known[function]
                found.append(Launched(kernel, signature, divisible, grid))


HEADING = (
    f"{'kernel':44} {'grid':>14} {'threads':>7} {'regs':>4} {'spill':>5} {'shared':>6} {'warps':>5} {'waves':>6} {'KB/SM':>5} "
    f"{'div':>3} {'exch':>4} {'copies':>6}  loads; stores; products"
)


def line(label: str, found: Facts, grid: tuple[int, ...] = (), capability: int = 90) -> str:
    """A row of the table: `warps` are resident on a multiprocessor, which has KB/SM on their way."""
    resident = found.resident(capability)
    waves = prod(grid) * found.threads / (32 * max(resident, 1) * MULTIPROCESSORS[nearest(capability)]) if grid else 0.0
    widths = "; ".join(" ".join(f"{w}Bx{n}" for w, n in sorted(d.items(), reverse=True)) for d in (found.loads, found.stores))
    matrix = " ".join(f"{name}x{n}" for name, n in sorted(found.matrix.items()))
    return (
        f"{label:44} {'x'.join(map(str, grid)):>14} {found.threads:7} {found.registers:4} {found.spilled:5} {found.shared:6} "
        f"{resident:5} {waves:6.2f} {found.in_flight * resident * 32 / 1024:5.0f} {found.divisions:3} {found.exchanges:4} "
        f"{found.copies:6}  {widths}; {matrix}"
    )


def table(launches: Sequence[Launched], size_bytes: float, capability: int = 90) -> Iterator[str]:
    """Rows of a piece of work's launches, the same ones once; then how long its bytes take at the memory's rate."""
    for one in dict.fromkeys(launches):
        yield line(one.kernel.name, one.facts(capability), one.grid, capability)
    if size_bytes:
        yield f"{'':44} {size_bytes / BYTES_PER_US[nearest(capability)]:.0f} us for {size_bytes / 1e6:.0f} MB"


def main() -> None:
    """Print the table of the kernels written by hand whose label has one of the given words; of all without any."""
    from tenfold.cuda import resources  # whose kernels need Triton

    parser = argparse.ArgumentParser(prog="python -m tenfold.cuda.machine_code", description=__doc__.splitlines()[0])
    parser.add_argument("labels", nargs="*", help="parts of resources.py's labels, such as 'attend bf16'")
    parser.add_argument("--sm", type=int, nargs="+", default=(90,), choices=sorted(SHARED), help="compute capabilities")
    options = parser.parse_args()
    print(HEADING)
    for label, kernel, signature in (*resources.kernels(), *resources.products()):
        if options.labels and not any(part in label for part in options.labels):
            continue
        addresses = tuple(i for i, kind in enumerate(signature) if kind[0] == "*")
        for capability in options.sm:
            found = Launched(kernel, signature, addresses, ()).facts(capability)
            print(line(f"{label} sm_{capability}", found, (), capability), flush=True)


if __name__ == "__main__":
    main()
