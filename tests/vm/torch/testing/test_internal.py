"""torch.testing._internal: test cases and tests for many values; names and answers are genuine PyTorch's."""
import enum
import unittest

import numpy as np
import pytest

from dragon.vm import torch as dt
from dragon.vm.torch.testing._internal import common_device_type as devices, common_dtype, common_utils as utils
from harness.subresults import each


class Number(enum.IntEnum):
    """A number with a name."""

    one = 1


def run(kind):
    """Return how the tests of a class came out."""
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(kind).run(result)
    return result


def names(kind):
    """Return the names of the tests of a class."""
    return sorted(name for name in dir(kind) if name.startswith("test_"))


@each("x, y", [
    (1, 1.0), (1, dt.tensor(1)), (1.0, 1.0 + 1e-6), (dt.ones(2), [1, 1]), ([1, 1], dt.ones(2)), (True, dt.tensor(True)),
    (dt.ones(2), np.ones(2, np.float32)), (True, 1), ("a", "a"), ({1}, {1}), ({"a": 1}, {"a": dt.tensor(1)}),
    ([1, 2], (1, 2)), (float("nan"), float("nan")), (Number.one, 1), (dt.nn.ModuleList(), []), (range(3), [0, 1, 2]),
    (np.float32(1), 1.0), (dt.Size([1]), (1,)), (dt.ones(2, 2), [[1, 1], [1, 1]]), (np.array(["a"]), np.array(["a"]))],
    ids=str)
def test_equal(x, y):
    utils.TestCase().assertEqual(x, y)
    with pytest.raises(AssertionError):
        utils.TestCase().assertNotEqual(x, y)


@each("x, y, kind, letter", [
    (1.0, 1.001, AssertionError, "Scalars are not close"), ("a", "b", AssertionError, "String comparison failed"),
    (dt.ones(2), np.ones(2), AssertionError, "attribute 'dtype'"), (int, float, AssertionError, "Type comparison"),
    (dt.ones(2), 1, ValueError, "Only single element tensor-likes"), (None, 0, AssertionError, "None mismatch"),
    (dt.ones(2), dt.ones(3), AssertionError, "attribute 'shape'"), ({}, [], AssertionError, "Object comparison failed"),
    ([1], [1, 2], AssertionError, "length of the sequences"),
    (dt.ones(1), dt.zeros(1), AssertionError, "Tensor-likes")], ids=str)
def test_unequal(x, y, kind, letter):
    case = utils.TestCase()
    with pytest.raises(kind, match=letter):
        case.assertEqual(x, y)
    with pytest.raises(AssertionError, match="(?s)not equal.*more"):
        case.assertEqual(1, 2, "more")


def test_tolerances_of_a_case_are_the_least():
    case = utils.TestCase()
    case.precision = 0.1
    case.assertEqual(dt.tensor(1.0), dt.tensor(1.05))
    case.assertEqual(dt.tensor(1.0), dt.tensor(1.05), atol=0, rtol=0)
    with pytest.raises(AssertionError):
        utils.TestCase().assertEqual(dt.tensor(1.0), dt.tensor(1.05), atol=1e-3, rtol=0)
    case.assertEqualIgnoreType(dt.ones(2), dt.ones(2, dtype=dt.int64))
    case.assertEqualBroadcasting(dt.ones(2, 3), 1.0)
    case.compare_with_numpy(dt.sin, np.sin, [0.0, 1.0], "cpu", dt.float32)


def test_tests_for_many_values():
    @utils.instantiate_parametrized_tests
    class Many(utils.TestCase):
        @utils.parametrize("x", [1, 2.5, "s", dt.float32, [1]])
        @utils.parametrize("a, b", [utils.subtest((1, 2), name="named"), (3, 4)])
        def test_both(self, x, a, b):
            self.assertEqual(b, a + 1)

        @utils.decorateIf(unittest.skip("left out"), lambda values: values["x"] == 2)
        @utils.parametrize("x", range(3))
        def test_some(self, x):
            self.assertNotEqual(x, 2)

        @utils.reparametrize(utils.parametrize("x", range(3)),
                             lambda name, values: [(name + "_z", {**values, "y": 1})] if values["x"] else None)
        def test_changed(self, x, y):
            self.assertEqual(y, 1)
    assert names(Many) == [
        "test_both_float32_a_3_b_4", "test_both_float32_named", "test_both_x4_a_3_b_4", "test_both_x4_named",
        "test_both_x_1_a_3_b_4", "test_both_x_1_named", "test_both_x_2_5_a_3_b_4", "test_both_x_2_5_named",
        "test_both_x_s_a_3_b_4", "test_both_x_s_named", "test_changed_x_1_z", "test_changed_x_2_z", "test_some_x_0",
        "test_some_x_1", "test_some_x_2"]
    result = run(Many)
    assert (result.testsRun, len(result.skipped)) == (15, 1) and result.wasSuccessful()


def test_tests_for_devices_and_dtypes():
    close = {}

    class Made(utils.TestCase):
        @devices.dtypes(dt.float32, dt.int64)
        @devices.dtypesIfCPU(*common_dtype.floating_types_and(dt.half))
        def test_dtypes(self, device, dtype):
            self.assertEqual(dt.ones(2, device=device, dtype=dtype), dt.ones(2, dtype=dtype))

        @utils.parametrize("k", [1, 2])
        @devices.dtypes(dt.float32)
        def test_values(self, device, dtype, k):
            self.assertEqual(device, "cpu")

        @devices.dtypes((dt.float32, dt.int64))
        def test_pairs(self, device, dtypes):
            self.assertEqual(dtypes, (dt.float32, dt.int64))

        @devices.onlyCUDA
        def test_elsewhere(self, device):
            self.fail()

        @devices.toleranceOverride({dt.float32: devices.tol(atol=0.1, rtol=0)})
        @devices.dtypes(dt.float32, dt.float64)
        def test_tolerances(self, device, dtype):
            try:
                self.assertEqual(dt.tensor(1.0, dtype=dtype), dt.tensor(1.05, dtype=dtype))
                close[dtype] = True
            except AssertionError:
                close[dtype] = False

        @devices.expectedFailureCPU
        def test_fails(self, device):
            self.fail()
    scope = {"Made": Made}
    devices.instantiate_device_type_tests(Made, scope, only_for="cpu")
    assert list(scope) == ["MadeCPU"]
    assert names(scope["MadeCPU"]) == [
        "test_dtypes_cpu_float16", "test_dtypes_cpu_float32", "test_dtypes_cpu_float64", "test_elsewhere_cpu",
        "test_fails_cpu", "test_pairs_cpu_float32_int64", "test_tolerances_cpu_float32", "test_tolerances_cpu_float64",
        "test_values_k_1_cpu_float32", "test_values_k_2_cpu_float32"]
    result = run(scope["MadeCPU"])
    assert result.testsRun == 10 and len(result.skipped) == 1 and result.wasSuccessful()
    assert close == {dt.float32: True, dt.float64: False}


def test_surroundings():
    dt.manual_seed(0)
    expected = dt.rand(2).tolist()
    dt.manual_seed(0)
    with utils.freeze_rng_state():
        dt.rand(5)
    assert dt.rand(2).tolist() == expected
    with utils.set_default_dtype(dt.float64), utils.DeterministicGuard(True):
        assert dt.ones(1).dtype is dt.float64 and dt.are_deterministic_algorithms_enabled()
    assert dt.ones(1).dtype is dt.float32 and not dt.are_deterministic_algorithms_enabled()
    assert utils.numpy_to_torch_dtype(np.float32) is dt.float32
    matrix = utils.random_symmetric_pd_matrix(4, 2)
    assert dt.linalg.eigvalsh(matrix).min() > 0
    sparse = utils.noncontiguous_like(dt.arange(6).reshape(2, 3))
    assert not sparse.is_contiguous() and sparse.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert dt.linalg.matrix_rank(utils.random_square_matrix_of_rank(5, 3)) == 3
    assert utils.gradcheck(dt.sin, dt.ones(2, dtype=dt.float64, requires_grad=True))
