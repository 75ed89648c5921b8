"""From IR to a function that Python can call: compiled for this machine at first use, kept on disk for the next process."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from tenfold.settings import environment
from tenfold_cpu_accelerator.expressions import Value, function_text
from tenfold_cpu_accelerator.loops import DECLARATIONS

Loop = Callable[[int, int, int, int], None]
SIGNATURE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
_engines: list[Any] = []  # a function's machine code lives as long as its engine


@functools.cache
def machine() -> Any:
    """The target machine: this processor with all it has."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    features = llvm.get_host_cpu_features().flatten()
    return target.create_target_machine(cpu=llvm.get_host_cpu_name(), features=features, opt=3, jit=True)


def compile_loop(loop: str, function: Callable[[Value], Value]) -> Loop:
    """Compile a loop from `loops` around a function from `functions`: (x, out, n, m) -> None on addresses and sizes."""
    text = f"{DECLARATIONS}\n{function_text('f', function)}\n{loop}"
    name = loop.partition("@")[2].partition("(")[0]
    target = machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(f'target triple = "{target.triple}"'), target)
    engine.add_object_file(llvm.ObjectFileRef.from_data(object_code(text)))
    engine.finalize_object()
    _engines.append(engine)
    return SIGNATURE(engine.get_function_address(name))


def object_code(text: str) -> bytes:
    """The machine code of a module, from disk if this processor and this LLVM have compiled it before."""
    target = machine()
    version = ".".join(map(str, (*llvm.llvm_version_info, llvmlite.__version__)))
    identity = "\n".join([version, llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten(), text])
    path = Path(environment.HOME.read()).expanduser() / "cpu-accelerator" / f"{hashlib.sha256(identity.encode()).hexdigest()}.o"
    try:
        return path.read_bytes()
    except OSError:
        code = _compile(text, target)
    _keep(path, code)
    return code


def _compile(text: str, target: Any) -> bytes:
    module = llvm.parse_assembly(f'target triple = "{target.triple}"\n{text}')
    module.data_layout = str(target.target_data)
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.loop_unrolling = options.loop_interleaving = True
    builder = llvm.create_pass_builder(target, options)
    builder.getModulePassManager().run(module, builder)
    return bytes(target.emit_object(module))


def _keep(path: Path, code: bytes) -> None:
    """Write the file whole or not at all; a home that cannot be written costs a compilation per process."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(code)
        os.replace(file.name, path)
    except OSError:
        return
