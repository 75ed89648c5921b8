"""Broken plugins: each gives its clear error when asked for, leaves the rest working, and is reported by the doctor."""

from __future__ import annotations

import pytest

import tenfold
from tenfold import plugins
from tenfold.dispatch.devices import Backend
from tenfold.inspection import doctor

GOOD = """
    import numpy as np
    from tenfold.cpu.backend import CpuBackend
    from tenfold.plugins import hookimpl

    TENFOLD_PLUGIN_API = 1

    class Array(np.ndarray):
        pass

    class NpuBackend(CpuBackend):
        name = "npu"
        array_type = Array

        def empty(self, shape, dtype, index):
            return np.empty(shape, dtype).view(Array)

        def from_numpy(self, array, index):
            return np.array(array).view(Array)

        def to_numpy(self, array):
            return np.asarray(array)

    @hookimpl()
    def tenfold_backends():
        return [NpuBackend()]
"""
KERNELS = """
    @hookimpl()
    def tenfold_kernels(device):
        return {"pointwise": "acme_kernels"} if device == "DEVICE" else {}
"""
WORKS = """
    import tenfold
    assert (tenfold.ones(2) + 1).tolist() == [2.0, 2.0]
"""
DOCTOR = """
    from tenfold.__main__ import main
    print("status", main(["doctor"]))
"""
ASKED = """
    import tenfold
    try:
        tenfold.zeros(1, device="npu")
    except RuntimeError as error:
        print(type(error).__name__, error)
        print("cause:", repr(error.__cause__))
"""

# What is wrong with the plugin, its source, what the error says.
BROKEN = {
    "import error": ("raise OSError('no such driver')", "OSError: no such driver"),
    "exit": ("raise SystemExit('not licensed')", "SystemExit: not licensed"),
    "missing dependency": ("import npu_driver_library", "ModuleNotFoundError: No module named 'npu_driver_library'"),
    "no API version": (GOOD.replace("TENFOLD_PLUGIN_API = 1", ""), "does not say for which plugin API it is written"),
    "old API": (GOOD.replace("API = 1", "API = 0"), "is written for plugin API 0, this tenfold-core has 1; upgrade tenfold-npu"),
    "new API": (GOOD.replace("API = 1", "API = 2"), "is written for plugin API 2, this tenfold-core has 1; upgrade tenfold-core"),
    "API not a number": (GOOD.replace("API = 1", "API = '1'"), "says TENFOLD_PLUGIN_API = '1'"),
    "unknown hook": (GOOD.replace("tenfold_backends", "tenfold_backend"), "tenfold_backend; did you mean tenfold_backends?"),
    "unmarked hook": (GOOD.replace("@hookimpl()", ""), "tenfold_backends is a hook without its mark; write @hookimpl() above it"),
    "hook arguments": (GOOD.replace("tenfold_backends()", "tenfold_backends(kind)"), "kind"),
    "hook raises": (GOOD.replace("return [NpuBackend()]", "raise ValueError('bad firmware')"), "ValueError: bad firmware"),
    "hook returns no list": (GOOD.replace("return [NpuBackend()]", "return NpuBackend()"), "must return a list of"),
    "hook returns classes": (GOOD.replace("return [NpuBackend()]", "return [NpuBackend]"), "must return a list of"),
    "nameless backend": (GOOD.replace('name = "npu"', 'name = "npu:0"'), "name must be a device type such as 'ref', got 'npu:0'"),
    "core's device": (GOOD.replace('name = "npu"', 'name = "cpu"'), "device 'cpu' is tenfold-core's own"),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_plugin(site, case):
    source, message = BROKEN[case]
    site.plugin(source, "npu", "npu_plugin", "tenfold-npu")
    result = site.run(WORKS + ASKED + DOCTOR, "-W", "ignore")
    assert result.returncode == 0, result.stderr
    asked, _, report = result.stdout.partition("\nPython ")
    assert asked.startswith("PluginError device 'npu': plugin npu (tenfold-npu 2.5) failed to load: ")
    assert message in asked
    assert "cause: None" not in asked
    assert "FAILED: " in report
    assert message in report
    assert "cpu      from core" in report
    assert "status 1" in report


def test_a_good_plugin(site):
    site.plugin(GOOD, "npu", "npu_plugin", "tenfold-npu")
    made = site.run('import tenfold; print(tenfold.zeros(1, device="npu").device)')
    assert made.stdout == "npu\n", made.stderr
    report = site.doctor()
    assert report.returncode == 0
    assert "npu      from npu (tenfold-npu 2.5): available" in report.stdout


def test_a_backend_that_cannot_say_whether_it_works(site):
    broken = "    def is_available(self):\n        raise OSError('bus error')\n    NpuBackend.is_available = is_available\n\n"
    source = GOOD.replace("    @hookimpl", broken + "    @hookimpl")
    site.plugin(source, "npu", "npu_plugin", "tenfold-npu")
    report = site.doctor()
    assert report.returncode == 1
    assert "npu      from npu (tenfold-npu 2.5): FAILED: OSError: bus error" in report.stdout


def test_two_plugins_of_one_name(site):
    site.plugin(GOOD, "npu", "first_plugin", "tenfold-first")
    site.plugin(GOOD.replace('"npu"', '"tpu"'), "npu", "second_plugin", "tenfold-second")
    asked = site.run(ASKED.replace("npu", "tpu") + ASKED)
    report = site.doctor()
    assert report.returncode == 1
    assert "two plugins are named 'npu': npu (tenfold-" in report.stdout
    assert "tenfold-first 2.5) and npu" in report.stdout or "tenfold-second 2.5) and npu" in report.stdout
    assert "two plugins are named 'npu'" in asked.stdout


def test_two_backends_for_one_device(site):
    site.plugin(GOOD, "one", "first_plugin", "tenfold-first")
    site.plugin(GOOD, "two", "second_plugin", "tenfold-second")
    asked = site.run(WORKS + ASKED)
    assert asked.returncode == 0
    assert "device 'npu' is registered by two packages: " in asked.stdout
    assert "tenfold-first 2.5" in asked.stdout
    assert "tenfold-second 2.5" in asked.stdout
    report = site.doctor()
    assert report.returncode == 1
    assert "device 'npu' is registered by" in report.stdout


def with_kernels(site, device, kernels, **options):
    source = GOOD + KERNELS.replace("DEVICE", device)
    site.add("tenfold-npu", "2.5", {"npu": "npu_plugin"}, {"npu_plugin": source, "acme_kernels": kernels})


HALF_WAY = """
    from tenfold.dispatch.kernels import kernel
    from tenfold.dispatch.operators import op

    kernel(op.add, device="DEVICE", when=lambda input, other: True)(lambda input, other: input * 0)
    kernel(op.mul, device="DEVICE", wrap=True)(lambda beneath: lambda input, other: input * 0)
    kernel(op.no_such_operator, device="DEVICE")(abs)
"""
TWICE = """
    import warnings
    import tenfold
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            assert (tenfold.ones(2) + 1).tolist() == [2.0, 2.0]
            assert tenfold.ones(2).mul(3).tolist() == [3.0, 3.0]
    print(len(caught), caught[0].category.__name__, caught[0].message)
"""


def test_kernels_that_fail_half_way_are_undone_and_warned_of_once(site):
    with_kernels(site, "cpu", HALF_WAY.replace("DEVICE", "cpu"))
    result = site.run(TWICE)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith(
        "1 RuntimeWarning tenfold: plugin npu (tenfold-npu 2.5) failed in acme_kernels and is switched off: AttributeError: "
        "there is no operator 'no_such_operator'"
    )
    report = site.doctor()
    assert report.returncode == 1
    assert "FAILED: AttributeError: there is no operator 'no_such_operator'" in report.stdout


def test_an_operator_whose_kernels_failed_says_so(site):
    with_kernels(site, "npu", HALF_WAY.replace("DEVICE", "npu"))
    code = """
        import tenfold
        x = tenfold.zeros(1, device="npu")
        for _ in range(2):
            try:
                x + x
            except Exception as error:
                print(type(error).__name__, error, repr(error.__cause__))
    """
    lines = site.run(code, "-W", "ignore").stdout.splitlines()
    assert len(lines) == 2
    for line in lines:
        assert line.startswith(
            "PluginError operator add has no kernel for device 'npu': plugin npu (tenfold-npu 2.5) failed to load: "
        )
        assert line.endswith("AttributeError(\"there is no operator 'no_such_operator'; `python -m tenfold op` lists all\")")


def test_warnings_as_errors_stop_only_the_first_call(site):
    with_kernels(site, "cpu", HALF_WAY.replace("DEVICE", "cpu"))
    code = """
        import tenfold
        try:
            tenfold.ones(2) + 1
        except RuntimeWarning as error:
            print("warned", error)
        print((tenfold.ones(2) + 1).tolist())
    """
    result = site.run(code, "-W", "error::RuntimeWarning")
    assert result.stdout.splitlines()[0].startswith("warned tenfold: plugin npu")
    assert result.stdout.splitlines()[1] == "[2.0, 2.0]"


WRONG_KERNELS = {
    "a second kernel": (
        'kernel(op.add, device="cpu")(lambda input, other: input)',
        "operator add has two kernels for device 'cpu': from core (tenfold-core 0.1.0)",
    ),
    "parameter names": (
        'kernel(op.add, device="cpu", when=lambda input, other: True)(lambda a, b: a)',
        "kernel for operator add: its parameters are (a, b), expected (input, other) as in add(",
    ),
    "parameter names of the condition": (
        'kernel(op.add, device="cpu", when=lambda x, y: True)(lambda input, other: input)',
        "kernel condition for operator add: its parameters are (x, y), expected (input, other)",
    ),
    "no operator": ('kernel("add", device="cpu")(abs)', "expected an operator such as tenfold.op.add, got 'add'"),
}


@pytest.mark.parametrize("case", WRONG_KERNELS)
def test_a_wrong_registration(site, case):
    line, message = WRONG_KERNELS[case]
    source = f"""
    from tenfold.dispatch.kernels import kernel
    from tenfold.dispatch.operators import op
    {line}
    """
    with_kernels(site, "cpu", source)
    result = site.run(TWICE + DOCTOR)
    assert result.returncode == 0, result.stderr
    asked, _, report = result.stdout.partition("\nPython ")
    assert message in asked
    assert message in report
    assert "status 1" in report


def test_a_kernel_that_returns_the_wrong_type(site):
    source = """
    from tenfold.dispatch.kernels import kernel
    from tenfold.dispatch.operators import op
    kernel(op.add, device="npu")(lambda input, other: [1, 2])
    """
    with_kernels(site, "npu", source)
    code = """
        import tenfold
        x = tenfold.zeros(1, device="npu")
        for _ in range(2):
            try:
                x + x
            except TypeError as error:
                print(error)
    """
    message = "operator add on device 'npu': a kernel of backend 'npu' returned list, expected Array\n"
    assert site.run(code).stdout == 2 * message


@pytest.mark.parametrize("value", ["npu", "other, npu", "1"])
def test_disabled_plugins(site, value):
    site.plugin(GOOD, "npu", "npu_plugin", "tenfold-npu")
    site.environment["TENFOLD_DISABLE_PLUGINS"] = value
    asked = site.run(ASKED)
    assert "Expected one of cpu, meta device type at start of device string: npu" in asked.stdout
    assert "TENFOLD_DISABLE_PLUGINS keeps from loading: npu" in asked.stdout
    report = site.doctor()
    assert report.returncode == 0
    assert "npu              switched off by TENFOLD_DISABLE_PLUGINS" in report.stdout


def test_a_device_is_spoken_of_where_something_serves_it_or_pytorch_knows_it(site):
    site.plugin(GOOD, "npu", "npu_plugin", "tenfold-npu")
    code = """
        import tenfold
        print(tenfold.device("npu"), tenfold.device("npu", 1), *[tenfold.device(d) for d in ("mps", "xla:0", "privateuseone")])
        for wrong in ("other", "cpuu", "np"):
            try:
                print(tenfold.device(wrong))
            except RuntimeError as error:
                print(error)
    """
    first, *refused = site.run(code).stdout.splitlines()
    assert first == "npu npu:1 mps xla:0 privateuseone"
    for name, line in zip(("other", "cpuu", "np"), refused, strict=True):
        assert line.startswith(f"Expected one of cpu, meta, npu device type at start of device string: {name}."), line


def test_disabling_something_else(site):
    site.plugin(GOOD, "npu", "npu_plugin", "tenfold-npu")
    site.environment["TENFOLD_DISABLE_PLUGINS"] = "tpu"
    assert site.run('import tenfold; print(tenfold.zeros(1, device="npu").device)').stdout == "npu\n"


def test_importing_tenfold_loads_no_plugin_machinery(site):
    site.plugin("raise OSError", "npu", "npu_plugin", "tenfold-npu")
    code = """
        import sys
        import tenfold
        heavy = ("pluggy", "importlib.metadata", "npu_plugin", "tenfold.plugins", "tenfold.generic")
        siblings = [f"tenfold.{name}" for name in ("autograd", "nn", "optim", "data", "text", "vision", "cuda", "testing", "amp")]
        print([name for name in sys.modules if name in (*heavy, *siblings)])
    """
    result = site.run(code)
    assert result.stdout == "[]\n", result


# Plugins of this process


class Toy:
    TENFOLD_PLUGIN_API = plugins.API_VERSION

    @plugins.hookimpl()
    def tenfold_backends(self):
        from tenfold.dispatch.meta import MetaBackend

        class ToyBackend(MetaBackend):
            name = "toy"

        return [ToyBackend()]


def test_a_plugin_object_comes_and_goes():
    made = plugins.register(Toy(), "toy")
    try:
        assert str(made) == "toy (this process 0)"
        assert isinstance(plugins.backend_of("toy"), Backend)
        assert tenfold.empty(2, device="toy").device.type == "toy"
    finally:
        plugins.unregister("toy")
    with pytest.raises(RuntimeError, match="device string: toy"):
        tenfold.empty(2, device="toy")


def test_a_device_registered_again_has_no_old_kernels():
    from tenfold.dispatch.kernels import kernel
    from tenfold.dispatch.operators import op

    for _ in range(2):
        plugins.register(Toy(), "toy")
        try:
            with pytest.raises(NotImplementedError, match="operator add has no kernel for device 'toy'"):
                tenfold.empty(2, device="toy").add(1)
            kernel(op.add, device="toy")(lambda input, other: input)
            assert tenfold.empty(2, device="toy").add(1).shape == (2,)
        finally:
            plugins.unregister("toy")


def test_a_refused_plugin_object_raises_its_error():
    class Old(Toy):
        TENFOLD_PLUGIN_API = 0

    with pytest.raises(plugins.PluginError, match="written for plugin API 0"):
        plugins.register(Old(), "old")
    with pytest.raises(plugins.PluginError, match="two plugins are named 'core'"):
        plugins.register(Toy(), "core")
    with pytest.raises(KeyError, match="no plugin 'old' was registered in this process"):
        plugins.unregister("old")


def test_two_owners_of_a_name():
    class One:
        TENFOLD_PLUGIN_API = plugins.API_VERSION

        @plugins.hookimpl()
        def tenfold_tokenizers(self):
            return {"shared": "json:loads"}

    class Two(One):
        pass

    plugins.register(One(), "one")
    assert plugins.named("tenfold_tokenizers", "shared")("1") == 1
    plugins.register(Two(), "two")
    try:
        with pytest.raises(plugins.PluginError, match=r"'shared' has two owners: one .* and two"):
            plugins.named("tenfold_tokenizers", "shared")
        assert doctor.conflicts() == ["tokenizer 'shared' is registered by one (this process 0) and two (this process 0)"]
    finally:
        plugins.unregister("one")
        plugins.unregister("two")
    with pytest.raises(KeyError, match="no plugin registers 'shared' in tenfold_tokenizers"):
        plugins.named("tenfold_tokenizers", "shared")
