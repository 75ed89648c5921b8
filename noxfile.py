"""The menu: `nox -l` explains every session, `nox` runs what CI runs, `nox -s NAME -- ARGS` hands ARGS on.

The package list and each package's dependencies come from the pyproject files (tools/workspace.py). A run builds
every wheel it needs once, in about a second, and the sessions install from these: an environment holds what its package
declares and nothing else. Environments are reused; `nox --reuse-venv=no` starts afresh.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import nox

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "tools"))
os.environ.pop("PYTHONPATH", None)  # a session sees what is installed in its environment

from builder import builder, installer, new_environment, once  # noqa: E402
from chosen import extras, gpu_commands, judges, named, needs_oracle, readme_program, skips, smoke_names, wheel  # noqa: E402
from commands import each  # noqa: E402
from compiled import tests_of_numbers  # noqa: E402
from interpreters import newer_python  # noqa: E402
from next_version import copy_bumped  # noqa: E402
from workspace import Package, closure, distribution_name, example_plugins, packages  # noqa: E402

NEWER = newer_python()
PACKAGES = packages()
PLUGINS = example_plugins()
TORCH = "torch==2.13.0"
RUFF = "ruff==0.17.*"
ORACLES = ("expecttest", "scipy", "transformers==5.23.*", "sacrebleu>=2.5", "nltk>=3.9")  # what tests compare with
# pytest 9.2 names tests without asking pytest-xdist, whose groups then hold nothing together, silently.
TEST_TOOLS = ("pytest>=8.3,<9.2", "pytest-timeout>=2.3", "pytest-xdist>=3.7", "hypothesis>=6.100")
CORES = os.cpu_count() or 1
# Long sessions share their tests out to as many processes as there are cores; `-n 0` among the arguments takes it back.
# Groups come in the order of the tests: xdist's own, the largest first, leaves a long group of few tests for the end.
PARALLEL = ("-n", "logical", "--dist", "loadgroup", "--no-loadscope-reorder")
LONG = ("autograd", "backend-cuda", "backend-llvm", "compat", "core", "data", "nn", "scientific", "testing", "vision")
ONE_THREAD = {"OMP_NUM_THREADS": "1"}  # beside other processes a second BLAS thread costs more than it brings
OF_GPUS = ("gpu", "cudnn")  # extras with a gigabyte of NVIDIA's libraries, which need a GPU
DEMO_PACKAGES = ("core", "autograd", "nn", "optim", "data", "vision")
GPT_PACKAGES = ("core", "autograd", "nn", "optim", "data", "text")
DEMO_TOOLS = ("matplotlib", "scikit-learn", "tqdm")
PLUGIN_HOSTS = ("core", "inspection", "testing", "autograd", "nn", "optim")
WITH_OPERATORS = ("core", "nn", "scientific")
DECLARATIONS = PACKAGES["typing"].name  # of the operators, for type checkers

nox.needs_version = ">=2024.4.15"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.reuse_venv = "yes"
if hasattr(nox.options, "allow_parallel"):  # older ones run sessions one after the other
    nox.options.allow_parallel = True
# Those that take longest come first, after the quickest to fail: of sessions side by side none is left running alone at the end.
nox.options.sessions = [
    "lint", "types", "oracle", "compiled", "tests", "cold", "docs", "examples", "plugins", "versions", "wheels", "release",
]  # fmt: skip


def wheelhouse(session: nox.Session, editable: bool) -> Path:
    """The folder with every package's and plugin's wheel, built once per run."""
    out = ROOT / ".nox" / "wheelhouse" / ("editable" if editable else "wheel")
    folders = [str(package.folder) for package in (*PACKAGES.values(), *PLUGINS.values())]
    arguments = ["tools/build_wheels.py", str(out), *folders, *(["--editable"] if editable else [])]
    return once(out, lambda: session.run_install(builder(session), *arguments, external=True, silent=True))


def install(session: nox.Session, chosen: Iterable[Package], *requirements: str, editable: bool = True) -> None:
    """Install the chosen packages, all in one command, and further requirements.

    Editable wheels point at the sources, so a reused environment runs what the working tree holds.
    """
    folder = wheelhouse(session, editable)
    wheels = [wheel(folder, package) for package in chosen]
    home = Path(session.virtualenv.location)
    if [*home.glob("lib/python*/site-packages/tenfold_*"), *home.glob("Lib/site-packages/tenfold_*")]:
        session.install("--quiet", "--force-reinstall", "--no-deps", *wheels)  # same version, perhaps other contents
    session.install("--quiet", *wheels, *requirements)


def install_for_tests(
    session: nox.Session, chosen: Package, *requirements: str, editable: bool = True, hosts: Iterable[str] = ()
) -> None:
    """Install a package, the siblings that it and its tests declare, those of `hosts`, and further requirements."""
    needed = closure(chosen, extra=[*chosen.test_requires, *(PACKAGES[name].name for name in hosts)])
    own = {package.name for package in needed}
    further = [need for need in chosen.test_requires if distribution_name(need) not in own]
    install(session, needed, *requirements, *further, editable=editable)


def at_once(session: nox.Session) -> int:
    """How many processes a session may keep busy: every core, or one where nox runs sessions beside one another."""
    return 1 if getattr(session, "parallel", False) else CORES  # nox has it since 2026


def names_files(session: nox.Session) -> bool:
    """Whether the session's arguments name test files or folders."""
    return any(Path(argument.split("::")[0]).exists() for argument in session.posargs)


@nox.session
def demo(session: nox.Session) -> None:
    """Train a convolutional network on handwritten digits; write a checkpoint, a loss curve and a picture of predictions."""
    install(session, named(*DEMO_PACKAGES), *DEMO_TOOLS)
    session.run("python", "examples/digits/train.py", *session.posargs, env=ONE_THREAD)  # its matrices are small


@nox.session
def gpt(session: nox.Session) -> None:
    """Train a small character-level GPT and let it write."""
    install(session, named(*GPT_PACKAGES), *DEMO_TOOLS)
    session.run("python", "examples/char_gpt/train.py", *session.posargs)


@nox.session
def examples(session: nox.Session) -> None:
    """Run the example programs' tests: what they write, and that an interrupted run goes on to the same numbers."""
    install(session, named(*DEMO_PACKAGES, *GPT_PACKAGES), *DEMO_TOOLS, *TEST_TOOLS)
    if names_files(session):
        session.run("pytest", *session.posargs)
        return
    # Each in a process of its own: a program's modules have short names, such as `train`.
    programs = [path for path in sorted(ROOT.glob("examples/*/tests")) if path.parent.name not in PLUGINS]
    commands = {path.parent.name: ["pytest", str(path), *session.posargs] for path in programs}
    each(session, commands, at_once=at_once(session), OMP_NUM_THREADS=dict.fromkeys(commands, "1"))


@nox.session
@nox.parametrize("package", [nox.param(name, id=name) for name in PACKAGES])
def tests(session: nox.Session, package: str) -> None:
    """Run each package's tests and doctests with only what that package declares; one alone: nox -s "tests(core)"."""
    install_for_tests(session, PACKAGES[package], *TEST_TOOLS)
    # A module behind the extra "gpu" needs hardware's libraries; its doctests show as skipped where these are missing.
    lenient = ["--doctest-ignore-import-errors"] if "gpu" in PACKAGES[package].extras else []
    places = [Path("packages") / package / folder for folder in ("tests", "src")]
    paths = [] if names_files(session) else [str(place) for place in places if place.exists()]
    long, alone = package in LONG and bool(paths), at_once(session) > 1
    shared_out = PARALLEL if long and alone else ()
    env = ONE_THREAD if long or not alone else {}
    session.run("pytest", *shared_out, "--doctest-modules", *lenient, *paths, *session.posargs, env=env)


@nox.session
def gpu(session: nox.Session) -> None:
    """Run the CUDA backend's tests on this machine's GPU, then its benchmark; what came of it is in benchmarks/reports/."""
    chosen = PACKAGES["backend-cuda"]
    install_for_tests(session, chosen, *TEST_TOOLS, *chosen.extras["gpu"])
    asked = "from tenfold import cuda; print(cuda.unavailable_reason())"
    missing = str(session.run("python", "-c", asked, silent=True)).strip()
    if missing:
        session.skip(f"NOT RUN, there is no GPU to run on: {missing}")
    if names_files(session):
        session.run("pytest", "--doctest-modules", *session.posargs)
        return
    commands = gpu_commands(ROOT / "benchmarks" / "reports", session.posargs)
    each(session, commands)


@nox.session
def oracle(session: nox.Session) -> None:
    """Run the tests that compare with PyTorch, those that skip themselves in `tests` for want of it."""
    install(session, PACKAGES.values(), *TEST_TOOLS, TORCH, *ORACLES, *extras(PACKAGES.values(), *OF_GPUS))
    if names_files(session):
        session.run("pytest", *session.posargs)
        return
    found = {
        package: [str(path) for path in sorted(package.folder.glob("tests/**/test_*.py")) if needs_oracle(path) or skips(path)]
        for package in PACKAGES.values()
    }
    # With arguments such as -k a package may have no test to run, which pytest reports as 5.
    good = [0, 5] if session.posargs else [0]
    # Package beside package: workers of one would each import PyTorch and collect all of its tests. The largest come first.
    size = {package: sum(Path(file).stat().st_size for file in files) for package, files in found.items()}
    order = sorted((package for package in found if found[package]), key=lambda package: -size[package])
    commands = {package.short: ["pytest", *found[package], *session.posargs] for package in order}
    each(session, commands, good, at_once(session), OMP_NUM_THREADS=dict.fromkeys(commands, "1"))


@nox.session
def lint(session: nox.Session) -> None:
    """Check formatting, lint, imports' direction, files' lengths, the operators' declarations, and the repository's own tools."""
    install(session, named(*WITH_OPERATORS), RUFF, *TEST_TOOLS)
    commands = {
        "format": ["ruff", "format", "--check", "."],
        "lint": ["ruff", "check", "."],
        "imports": ["python", "tools/check_imports.py"],
        "lengths": ["python", "tools/check_lengths.py"],
        "declarations": ["python", "tools/make_stubs.py", "--check"],
        "tools": ["pytest", "tools/tests"],
    }
    each(session, commands)


@nox.session(name="format")
def format_(session: nox.Session) -> None:
    """Format the tree and mend what lint can mend by itself; `lint` only looks."""
    session.install("--quiet", RUFF)
    session.run("ruff", "check", "--fix", ".")
    session.run("ruff", "format", ".")


@nox.session
def declarations(session: nox.Session) -> None:
    """Write the .pyi files that tell type checkers about the operators, from the operators' declarations."""
    install(session, named(*WITH_OPERATORS))
    session.run("python", "tools/make_stubs.py", *session.posargs)


@nox.session
def types(session: nox.Session) -> None:
    """Check each package's types with mypy --strict, seeing only the packages that it declares."""
    own = {package.name for package in PACKAGES.values()}
    declared = {need for package in PACKAGES.values() for need in package.requires}
    third_party = sorted(need for need in declared if distribution_name(need) not in own | {"triton"})
    session.install("--quiet", "mypy==2.4.*", *third_party)
    commands, paths = {}, {}
    for name in session.posargs or [package.short for package in PACKAGES.values() if package.has_code]:
        package = PACKAGES[name]
        optional = [DECLARATIONS, *(need for needs in package.extras.values() for need in needs)]
        # Core comes first: its tenfold/__init__.py is the one that counts.
        paths[name] = os.pathsep.join(str(other.source) for other in closure(package, extra=optional))
        commands[name] = ["mypy", "--strict", *(str(package.folder / include) for include in package.includes)]
    if not session.posargs:
        paths["tools"] = os.pathsep.join(["tools", *(str(package.source) for package in named("typing", "testing"))])
        commands["tools"] = ["mypy", "--strict", *(str(path) for path in sorted(ROOT.glob("tools/*.py")))]
        # What a user's own mypy sees: no configuration of ours, and no errors about our files.
        paths["use"] = os.pathsep.join(str(package.source) for package in PACKAGES.values())
        commands["use"] = ["mypy", "--strict", "--config-file=", "--follow-imports=silent", "tools/tests/typed_program.py"]
    each(session, commands, MYPYPATH=paths)


def distributions(session: nox.Session) -> Path:
    """The folder with every package's source archive and the wheel built from it, made once per run."""
    out = ROOT / "dist"
    arguments = ["tools/build_wheels.py", str(out), "--archives", *(str(package.folder) for package in PACKAGES.values())]
    return once(out, lambda: session.run(builder(session), *arguments, silent=True))


@nox.session(venv_backend="none")
def wheels(session: nox.Session) -> None:
    """Build every source archive and wheel, check that no two share a file, and use them together outside the repository."""
    out = distributions(session)
    built = [wheel(out, package) for package in PACKAGES.values()]
    session.run(sys.executable, "tools/check_wheels.py", *built)
    with tempfile.TemporaryDirectory() as outside:
        shutil.copy(ROOT / "tools" / "smoke.py", outside)
        readme_program(ROOT / "README.md", Path(outside) / "program.py")
        with session.chdir(outside):
            # What `pip install tenfold` brings runs the README's program; then the other packages join.
            python = new_environment(session, Path(outside) / "venv")
            together = closure(PACKAGES["tenfold"])
            session.run(python, "-m", "pip", "install", "--quiet", *(wheel(out, package) for package in together))
            session.run(python, "program.py")
            session.run(*installer(python)("install", "--quiet"), *built)
            session.run(python, "smoke.py", *smoke_names())


@nox.session(venv_backend="none")
def release(session: nox.Session) -> None:
    """Build and check everything that an upload needs: metadata, READMEs, contents, licences, changelogs."""
    session.run(builder(session), "tools/check_release.py", str(distributions(session)))


@nox.session(venv_backend="none")
def versions(session: nox.Session) -> None:
    """Install each package's next minor version beside the others' present ones, in turn, and use them together."""
    present = wheelhouse(session, editable=False)
    with tempfile.TemporaryDirectory() as outside:
        python = new_environment(session, Path(outside) / "venv")
        shutil.copy(ROOT / "tools" / "smoke.py", outside)
        pip = installer(python)
        session.run(*pip("install", "--quiet"), *(wheel(present, package) for package in PACKAGES.values()))
        chosen = session.posargs or list(PACKAGES)
        projects, bumped = [Path(outside) / name for name in chosen], Path(outside) / "next"
        for name, project in zip(chosen, projects):
            copy_bumped(PACKAGES[name].folder, project)
        session.run(builder(session), "tools/build_wheels.py", str(bumped), *map(str, projects), silent=True)
        with session.chdir(outside):
            former: list[str] = []  # the present wheel of the package before, put back with the next one's
            for name in chosen:
                wheels = (wheel(bumped, PACKAGES[name]), *former)
                session.run(*pip("install", "--quiet", "--no-deps", "--force-reinstall"), *wheels)
                session.run(*pip("check"), silent=True)
                session.run(python, "smoke.py", *smoke_names(), silent=True)
                former = [wheel(present, PACKAGES[name])]


@nox.session
def downstream(session: nox.Session) -> None:
    """Run a collection of real PyTorch programs and print a table: nox -s downstream -- FOLDER --src SRC --data DATA."""
    given = list(session.posargs)
    named = given.pop(0) if given and not given[0].startswith("-") else os.environ.get("TENFOLD_DOWNSTREAM")
    if named is None:
        session.skip("no programs: name their folder, or set TENFOLD_DOWNSTREAM to it")
    corpus = Path(str(named)).resolve()
    install(session, PACKAGES.values(), *TEST_TOOLS)
    for file, options in (("requirements-deps.txt", ()), ("requirements-nodeps.txt", ("--no-deps",))):
        if (corpus / file).exists():
            session.install("--quiet", *options, "-r", str(corpus / file))
    session.run("python", "tools/downstream.py", str(corpus), *given)


@nox.session
@nox.parametrize("plugin", [nox.param(name, id=name) for name in PLUGINS] or [nox.param("", id="none")])
def plugins(session: nox.Session, plugin: str) -> None:
    """Build each plugin under examples/ as a stranger would, and run its tests on wheels, outside the repository."""
    if not plugin:
        session.error('no folder under examples/ has an entry point in the group "tenfold"')
    chosen = PLUGINS[plugin]
    install_for_tests(session, chosen, *TEST_TOOLS, editable=False, hosts=PLUGIN_HOSTS)
    with tempfile.TemporaryDirectory() as outside:
        shutil.copytree(chosen.folder / "tests", Path(outside) / "tests")
        with session.chdir(outside):
            session.run("pytest", "-c", str(ROOT / "pyproject.toml"), "--rootdir", outside, "tests", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """Build the reference into docs/reference/, execute the pages' Python blocks, and follow every relative link."""
    install(session, PACKAGES.values(), *extras(PACKAGES.values(), *OF_GPUS))
    session.run("python", "tools/make_reference.py", "docs/reference")
    session.run("python", "tools/run_docs.py", *session.posargs)


@nox.session
def cold(session: nox.Session) -> None:
    """Run operators' examples one to a process, and each test file's first tests in a process of their own."""
    # Compiled kernels would stand before those that core's tests are about; the session tests(backend-llvm) runs theirs.
    chosen = [package for package in PACKAGES.values() if package.short != "backend-llvm"]
    install(session, chosen, *TEST_TOOLS, "scipy")
    files = [
        str(path.relative_to(ROOT))
        for package in chosen
        for path in sorted(package.folder.glob("tests/**/test_*.py"))
        if not needs_oracle(path)
    ]
    commands = {
        "functions": ["python", "tools/cold.py", "functions", *session.posargs],
        "files": ["python", "tools/cold.py", "files", *files],
    }
    each(session, commands, OMP_NUM_THREADS=dict.fromkeys(commands, "1"))


@nox.session(python=NEWER)
def compiled(session: nox.Session) -> None:
    """Run others' tests of numbers with the compiled CPU kernels; on a newer Python the kernels' own, some with PyTorch."""
    install(session, PACKAGES.values(), *TEST_TOOLS, *((TORCH, *ORACLES) if NEWER else ()))
    files = [] if names_files(session) else tests_of_numbers(natively=NEWER is not None)
    shared_out = PARALLEL if files and at_once(session) > 1 else ()
    session.run("pytest", *shared_out, *files, *session.posargs, env=ONE_THREAD)


@nox.session
def bench(session: nox.Session) -> None:
    """Measure speed against NumPy and PyTorch in one run: all of benchmarks/*.py, or those named after --."""
    install(session, PACKAGES.values(), TORCH, "expecttest")
    scripts = [argument for argument in session.posargs if argument.endswith(".py")]
    arguments = [argument for argument in session.posargs if argument not in scripts]
    for script in scripts or sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("benchmarks/*.py")):
        session.run("python", script, *arguments)


@nox.session
def derivatives(session: nox.Session) -> None:
    """Check every mode of differentiation of every operator, and each composed once; prints the counts. Half an hour."""
    install(session, PACKAGES.values())
    session.run("python", "tools/derivatives.py", *session.posargs, env={"OMP_NUM_THREADS": "1"})


@nox.session
def parity(session: nox.Session) -> None:
    """Run judges against PyTorch: tools/parity, and those elsewhere that are named after -- or in TENFOLD_PARITY.

    tools/parity has modules.py and optimizers.py, for the tables in PyTorch's own wheel of modules, of optimizers with their
    options, and of schedulers, and shapes.py, 100,000 calls on random shapes, strides and dtypes. The others are known by
    their names: opdb.py (PyTorch's operator database), fuzz.py (random programs, two minutes from a fixed seed, run by
    programs.py with what accepted_programs.py accepts), run.py (PyTorch's own test files). Where files are named, those
    alone run. What follows `--ARGUMENT` goes to all of them.
    """
    own = [ROOT / "tools" / "parity" / name for name in ("modules.py", "optimizers.py", "shapes.py")]
    known = judges(own)
    named_here = [argument for argument in session.posargs if argument.endswith(".py")]
    elsewhere = [Path(name).resolve() for name in os.environ.get("TENFOLD_PARITY", "").split(os.pathsep) if name]
    scripts = [Path(name).resolve() for name in named_here] or [*own, *elsewhere]
    if wrong := [str(script) for script in scripts if not script.is_file() or script.name not in known]:
        session.error(f"{', '.join(wrong)}: no judge; give paths of {', '.join(known)} after -- or in TENFOLD_PARITY")
    install(session, PACKAGES.values(), TORCH, "expecttest", "pytest", *extras(PACKAGES.values(), *OF_GPUS))
    further = [argument for argument in session.posargs if argument not in named_here]
    python = session.run("python", "-c", "import sys; print(sys.executable)", silent=True).strip()
    known["run.py"][3] = python
    accepting = {"fuzz.py": [str(ROOT / "tools" / "parity" / "programs.py")]}
    each(
        session,
        {s.name: ["python", *accepting.get(s.name, []), str(s), *known[s.name], *further] for s in scripts},
        OMP_NUM_THREADS={script.name: "1" for script in scripts},
    )
