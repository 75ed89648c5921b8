"""From LLVM IR to machine code for the processor at hand, kept on disk for the next process."""

from __future__ import annotations

import functools
import platform
import sys
import sysconfig
import threading
from dataclasses import dataclass
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from tenfold.llvm import objects, parts

_lock = threading.RLock()
KERNEL = "@kernel("
# How a module is compiled: with the many passes that make vectors of loops; with few, for vectors that are written out; with few
# and no regard to this processor's timing, which calls gain nothing by.
MANY, FEW, CALLS = "many passes", "few passes", "calls"
LOOPS = "\n; Loops that LLVM makes vectors of:\n"  # in a module's text: behind it are functions that gain by the many passes


@dataclass(frozen=True)
class Loaded:
    """Machine code in this process, where it stays."""

    engine: Any
    kernel: str  # what its function `kernel` is called here, where each module has one

    def address(self, name: str) -> int:
        """Where a function begins."""
        return int(self.engine.get_function_address(self.kernel if name == "kernel" else name))

    def variable(self, name: str) -> int:
        """Where a global variable lies."""
        return int(self.engine.get_global_value_address(name))


@functools.cache
def unsuitable() -> str:
    """Why this machine cannot have compiled kernels; empty if it can."""
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "this Python runs without the global interpreter lock, which the native calls rely on"
    if sys.maxsize < 2**32 or sys.byteorder != "little" or sys.implementation.name != "cpython":
        return "compiled kernels are for CPython on little-endian machines with 64-bit addresses"
    if platform.machine().lower() in ("x86_64", "amd64") and "+fma" not in features().split(","):
        return "the processor has no fused multiply-add"
    return ""


@functools.cache
def features() -> str:
    """What the processor can do, as LLVM writes it."""
    return str(llvm.get_host_cpu_features().flatten())


@functools.cache
def wide() -> bool:
    """Whether vectors are of 512 bits, of which a division takes as long as 32 products."""
    return "+avx512f" in features().split(",")


@functools.cache
def scales() -> bool:
    """Whether a float times a power of two is one instruction, which this LLVM knows of."""
    return wide() and llvm.llvm_version_info >= (22,)


@functools.cache
def parted() -> bool:
    """Whether exponents and mantissas are instructions, which `parts` names."""
    return wide()


@functools.cache
def machine() -> Any:
    """The target machine: this processor with all that it has."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return _target_machine()


def _target_machine(passes: str = MANY) -> Any:
    target = llvm.Target.from_default_triple()
    cpu, level = ("generic", 1) if passes == CALLS else (llvm.get_host_cpu_name(), 2)
    return target.create_target_machine(cpu=cpu, features=features(), opt=level, codemodel="jitdefault", jit=True)


@functools.cache
def _identity() -> str:
    version = ".".join(map(str, llvm.llvm_version_info))
    return f"{version}\n{llvmlite.__version__}\n{machine().triple}\n{llvm.get_host_cpu_name()}\n{features()}"


@functools.cache
def _engine() -> Any:
    """What all machine code is loaded into: an engine of its own takes several times as long as a small module."""
    return llvm.create_mcjit_compiler(llvm.parse_assembly(f'target triple = "{machine().triple}"'), _target_machine())


def load(text: str, passes: str = MANY) -> Loaded:
    """The machine code of a module, compiled unless the cache on disk has it."""
    with _lock:
        key = objects.key_of(_identity(), passes, "a kernel has its module's name", text)
        found = Loaded(_engine(), f"kernel_{key}")
        code = objects.find(key)
        if code is None:
            code = object_code(text.replace(KERNEL, f"@{found.kernel}("), passes)
            objects.keep(key, code)
        found.engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        found.engine.finalize_object()
        return found


def optimised(text: str, passes: str = MANY) -> Any:
    """The module after LLVM's passes, which are many for the loops behind LOOPS."""
    text, _, loops = text.partition(LOOPS)
    module = _passed(text, passes)
    if loops:
        others = _passed(loops, MANY)
        names = [function.name for function in others.functions if not function.is_declaration]
        module.link_in(others)
        for name in names:
            module.get_function(name).linkage = "internal"
    return module


def _passed(text: str, passes: str) -> Any:
    target = machine()
    module = llvm.parse_assembly(f'target triple = "{target.triple}"\n{text}')
    module.data_layout = str(target.target_data)
    module.verify()
    if passes != MANY:
        _few(module)
        return _with_parts(module, text)
    # The loop vectoriser does what counts; the other passes of level 3 double the time and change no loop.
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = options.loop_interleaving = True
    options.slp_vectorization = options.loop_unrolling = False
    builder = llvm.create_pass_builder(target, options)
    builder.getModulePassManager().run(module, builder)
    return _with_parts(module, text)


def _with_parts(module: Any, text: str) -> Any:
    """The module with instructions in the place of those functions that LLVM does not know."""
    wanted = parts.definitions(text)
    if wanted:
        target = machine()
        found = llvm.parse_assembly(f'target triple = "{target.triple}"\n{wanted}')
        found.data_layout = str(target.target_data)
        module.link_in(found)
        _few(module)
    return module


def _few(module: Any) -> None:
    target, few = machine(), llvm.create_new_module_pass_manager()
    few.add_always_inliner_pass()
    few.add_sroa_pass()
    few.add_instruction_combine_pass()
    few.add_simplify_cfg_pass()
    few.add_loop_rotate_pass()  # a loop that tests at its end takes a tenth less time
    few.run(module, llvm.create_pass_builder(target, llvm.create_pipeline_tuning_options(speed_level=1)))


def object_code(text: str, passes: str = MANY) -> bytes:
    module = optimised(text, passes)
    return bytes((_target_machine(CALLS) if passes == CALLS else machine()).emit_object(module))


def assembly(text: str) -> str:
    """The machine code as text, for readers."""
    with _lock:
        return str(machine().emit_assembly(optimised(text)))
