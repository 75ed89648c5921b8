"""Core without its siblings names the package that has what is asked for, and what it has itself."""

from __future__ import annotations

import pytest

MISSING = {
    "tenfold.nn": ("ModuleNotFoundError", "tenfold.nn is in the package tenfold-nn: pip install tenfold-nn"),
    "tenfold.optim": ("ModuleNotFoundError", "tenfold.optim is in the package tenfold-optim: pip install tenfold-optim"),
    "tenfold.autocast": ("ModuleNotFoundError", "tenfold.amp is in the package tenfold-autograd: pip install tenfold-autograd"),
    "tenfold.ones(1, requires_grad=True)": ("RuntimeError", "is in the package tenfold-autograd: pip install tenfold-autograd"),
    "tenfold.ones(1, device='cuda')": ("MissingDevice", "in the package tenfold-backend-cuda: pip install tenfold-backend-cuda"),
    "tenfold.ones(1, device='npu')": ("RuntimeError", "Expected one of cpu, meta device type at start of device string: npu"),
    "tenfold.device('npu:1')": ("RuntimeError", "Expected one of cpu, meta device type at start of device string: npu"),
    "tenfold.device('cpu0')": ("RuntimeError", "Invalid device string: 'cpu0'"),
    "tenfold.ones(1, device='xla')": ("RuntimeError", "Expected one of cpu, meta device type at start of device string: xla"),
    "tenfold.profiler": ("ModuleNotFoundError", "tenfold.profiler is in the package tenfold-autograd: pip install"),
    "tenfold.utils.data": ("ModuleNotFoundError", "tenfold.utils.data is in the package tenfold-data: pip install tenfold-data"),
    "tenfold.conv2d": ("AttributeError", "is in the package tenfold-nn: pip install tenfold-nn"),
    "tenfold.embedding": ("ModuleNotFoundError", "tenfold.nn is in the package tenfold-nn: pip install tenfold-nn"),
    "tenfold.layer_norm": ("ModuleNotFoundError", "tenfold.nn is in the package tenfold-nn: pip install tenfold-nn"),
    "__import__('tenfold.nn')": ("ModuleNotFoundError", "pip install tenfold-nn"),
    "__import__('tenfold.data', fromlist=['DataLoader'])": ("ModuleNotFoundError", "pip install tenfold-data"),
    "__import__('tenfold.optim.lr_scheduler')": ("ModuleNotFoundError", "pip install tenfold-optim"),
    "__import__('tenfold.utils.data')": ("ModuleNotFoundError", "pip install tenfold-data"),
    "__import__('tenfold.cuda')": ("ModuleNotFoundError", "pip install tenfold-backend-cuda"),
    "__import__('tenfold.nothing')": ("ModuleNotFoundError", "No module named 'tenfold.nothing'"),
    "__import__('importlib').util.find_spec('tenfold.nn') or 1 / 0": ("ZeroDivisionError", "division"),
    "tenfold.nothing": ("AttributeError", "module 'tenfold' has no attribute 'nothing'"),
}  # fmt: skip


def test_core_alone_names_the_package_to_install(site):
    code = f"""
        import tenfold
        for expression in {list(MISSING)}:
            try:
                eval(expression)
            except Exception as error:
                print(expression, "->", type(error).__name__, error)
    """
    lines = dict(line.split(" -> ", 1) for line in site.run(code).stdout.splitlines())
    for expression, (kind, message) in MISSING.items():
        assert lines[expression].startswith(kind)
        assert message in lines[expression]


def test_an_operators_card_names_the_package_to_install(site):
    result = site.run("from tenfold.__main__ import main; print(main(['op', 'conv2d']))")
    assert result.stdout == "1\n"
    assert result.stderr == "there is no operator 'conv2d': it is in the package tenfold-nn: pip install tenfold-nn\n"


def test_a_card_names_operators_of_like_names_and_what_is_missing(site):
    code = """
        import tenfold
        from tenfold import Tensor
        from tenfold.__main__ import main
        from tenfold.dispatch.operators import primitive

        @primitive("activation", method=False)
        def bare(input: Tensor) -> Tensor: ...

        main(["op", "logaddexp3"])
        main(["op", "bare"])
        main(["op", "matmul"])
        try:
            bare(tenfold.ones(2))
        except NotImplementedError as error:
            print(error)
    """
    result = site.run(code)
    assert result.stderr.startswith("there is no operator 'logaddexp3'; close: logaddexp")
    assert "logaddexp2" in result.stderr
    assert "  rule      MISSING\n" in result.stdout
    assert "  rule      its body, on meta tensors\n" in result.stdout
    assert "in a module that its plugin names for the family 'activation'\n" in result.stdout


def test_dir_lists_what_users_name(site):
    code = """
        import tenfold
        listed = dir(tenfold)
        print([name for name in ("manual_seed", "broadcast_shapes", "finfo", "std", "utils") if name not in listed])
        unnamed = ("Any", "TYPE_CHECKING", "importlib", "core_plugin", "dispatch", "vmap", "save", "nn")
        print([name for name in unnamed if name in listed])
        print([name for name in listed if not name.startswith("__") and not hasattr(tenfold, name)])
        from tenfold import *
        print(manual_seed is tenfold.manual_seed, finfo is tenfold.finfo, "pkgutil" in globals())
    """
    assert site.run(code).stdout == "[]\n[]\n[]\nTrue True False\n"


@pytest.mark.parametrize(
    ("code", "package"),
    [
        ("tenfold.save", "tenfold-checkpoint"),
        ("tenfold.load", "tenfold-checkpoint"),
        ("tenfold.serialization", "tenfold-checkpoint"),
        ("tenfold.multiprocessing", "tenfold-multiprocessing"),
        ("tenfold.poisson(tenfold.ones(2))", "tenfold-scientific"),
        ("tenfold._standard_gamma", "tenfold-scientific"),
        ("tenfold.FloatStorage()", "tenfold-checkpoint"),
        ("tenfold.zeros(2).storage()", "tenfold-checkpoint"),
        ("tenfold.from_dlpack", "tenfold-scientific"),
        ("tenfold.zeros(2).__dlpack__()", "tenfold-scientific"),
        ("import tenfold.utils.dlpack", "tenfold-scientific"),
        ("tenfold.from_file", "tenfold-multiprocessing"),
        ("tenfold.zeros(2).share_memory_()", "tenfold-multiprocessing"),
        ("tenfold.UntypedStorage.from_file('x', False, 1)", "tenfold-multiprocessing"),
        ("import tenfold.checkpoint.safetensors", "tenfold-checkpoint"),
    ],
)
def test_core_alone_says_which_package_has_a_name(site, code, package):
    error = site.run(f"import tenfold\n{code}").stderr.splitlines()[-1]
    assert error.startswith(("AttributeError: ", "ModuleNotFoundError: "))
    assert f"is in the package {package}: pip install {package}" in error
