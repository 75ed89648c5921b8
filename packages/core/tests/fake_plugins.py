"""Distributions made up for tests: a folder with a module and a `.dist-info`, on a subprocess's sys.path."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent

import ml_dtypes
import numpy
import pluggy

import tenfold
from tenfold.inspection import doctor


@dataclass
class Site:
    """A folder of made-up distributions, seen by subprocesses with tenfold-core, what it needs, and the doctor."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.add("tenfold-core", "", {}, {})
        for module in (tenfold, numpy, pluggy, ml_dtypes):
            home = Path(module.__file__).parent
            for found in (home, home.with_name(f"{home.name}.libs")):  # wheels keep shared libraries beside the package
                if found.exists():
                    (self.folder / found.name).symlink_to(found, target_is_directory=True)
        self.doctors.joinpath("tenfold").mkdir(parents=True)
        self.doctors.joinpath("tenfold", "inspection").symlink_to(Path(doctor.__file__).parent, target_is_directory=True)

    @property
    def doctors(self) -> Path:
        return self.folder / "doctors"

    def add(self, name: str, version: str, entry_points: dict[str, str], modules: dict[str, str]) -> None:
        """A distribution with entry points in the group "tenfold" and its modules' sources."""
        info = self.folder / f"{name.replace('-', '_')}-{version or '0.1.0'}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version or '0.1.0'}\n")
        lines = [f"{plugin} = {target}" for plugin, target in entry_points.items()]
        (info / "entry_points.txt").write_text("\n".join(["[tenfold]", *lines]) + "\n")
        for module, source in modules.items():
            (self.folder / f"{module}.py").write_text(dedent(source))

    def plugin(self, source: str, name: str = "acme", module: str = "acme_plugin", distribution: str = "tenfold-acme") -> None:
        """A distribution with one plugin module."""
        self.add(distribution, "2.5", {name: module}, {module: source})

    def run(self, code: str, *options: str) -> subprocess.CompletedProcess[str]:
        """Run Python code in a process that sees core and these distributions, and nothing else of Tenfold."""
        return self.python(*options, "-c", dedent(code))

    def doctor(self) -> subprocess.CompletedProcess[str]:
        return self.python("-m", "tenfold", "doctor")

    def python(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith("TENFOLD_")}
        variables = {
            **kept,
            "PYTHONPATH": os.pathsep.join([str(self.folder), str(self.doctors)]),
            "OMP_NUM_THREADS": "1",
            **self.environment,
        }
        # -S keeps the environment's own distributions out.
        command = [sys.executable, "-S", *arguments]
        return subprocess.run(command, capture_output=True, text=True, env=variables, timeout=60, check=False)
