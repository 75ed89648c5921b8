"""The test case and the parameters of `torch.testing._internal.common_utils` against PyTorch's, a class of tests made on both."""

# ruff: noqa: PT009, PT027 # the tests within are unittest's
from __future__ import annotations

import unittest

import pytest

import tenfold
from tenfold.as_torch.stand_ins.testing._internal import common_utils as ours

torch = pytest.importorskip("torch")
theirs = pytest.importorskip("torch.testing._internal.common_utils")


def _tests(library, module):
    class Case(module.TestCase):
        @module.parametrize("a,b", [(1, 2), module.subtest((3, 4), name="three")])
        @module.parametrize("dtype", [library.float32, library.float64])
        def test_full(self, a, b, dtype):
            self.assertEqual(library.full((2,), a, dtype=dtype), [float(b - 1)] * 2, exact_dtype=False)

        @module.parametrize("x", [0.5, "s"])
        def test_plain(self, x):
            self.assertEqual([x, 1], [x, 1])

        def test_refused(self):
            for one, two in (
                (library.ones(2), library.zeros(2)),
                (library.ones(2), library.ones(2).double()),
                (1.0, 2.0),
                ("a", "b"),
            ):
                self.assertNotEqual(one, two)
                with self.assertRaises(AssertionError):
                    self.assertEqual(one, two)

        def test_seeded(self):
            drawn = library.rand(3)
            library.manual_seed(module.SEED)
            with module.freeze_rng_state():
                self.assertEqual(library.rand(3), drawn)
            self.assertEqual(library.rand(3), drawn, atol=0, rtol=0)

        def test_fails(self):
            self.assertEqual({"a": library.ones(1), "b": "s"}, {"a": library.ones(1), "b": "s"})
            self.assertEqual([{"a": library.float32}, None], [{"a": library.float32}, None])
            self.assertEqual({"a": library.ones(1)}, {"a": library.zeros(1)})

    return module.instantiate_parametrized_tests(Case)


def test_the_same_tests_pass():
    found = []
    for library, module in ((tenfold, ours), (torch, theirs)):
        case, result = _tests(library, module), unittest.TestResult()
        unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
        names = sorted(name for name in dir(case) if name.startswith("test_"))
        found.append((names, result.testsRun, [test.id().rpartition(".")[2] for test, _ in result.failures], result.errors))
    assert found[0] == found[1]
    assert found[0][1:3] == (9, ["test_fails"])
