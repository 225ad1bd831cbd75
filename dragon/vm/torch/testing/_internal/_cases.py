"""`TestCase`: unittest's, which compares tensors."""
import contextlib
import gc
import random
import unittest
import unittest.mock
import warnings
from collections.abc import Iterable, Sequence

from dragon.vm import torch
from dragon.vm.torch.testing._comparison import not_close_error_metas
from dragon.vm.torch.testing._internal._loose import PAIRS, containers, is_array

SEED = 1234  # of every test


def set_rng_seed(seed=None):
    """Seed PyTorch's, Python's and NumPy's random numbers."""
    seed = SEED if seed is None else seed
    torch.manual_seed(seed)
    random.seed(seed)
    with contextlib.suppress(ImportError):
        import numpy
        numpy.random.seed(seed)


class TestCase(unittest.TestCase):
    """A test case whose `assertEqual` takes tensors, numbers, modules' containers and anything else.

    `precision` and `rel_tol` are the least absolute and relative tolerances.
    """

    maxDiff = None
    _precision, _rel_tol = 0, 0
    exact_dtype = True

    def __init__(self, method_name="runTest", methodName="runTest"):
        super().__init__(method_name if methodName == "runTest" else methodName)

    precision = property(lambda self: self._precision, lambda self, value: setattr(self, "_precision", value),
                         doc="float: the least absolute tolerance.")
    rel_tol = property(lambda self: self._rel_tol, lambda self, value: setattr(self, "_rel_tol", value),
                       doc="float: the least relative tolerance.")

    def setUp(self):
        """Seed the random numbers."""
        set_rng_seed(SEED)
        self._default_dtype_check_enabled = False

    def assertEqual(self, x, y, msg=None, *, atol=None, rtol=None, equal_nan=True, exact_dtype=True,
                    exact_device=False, exact_layout=False, exact_stride=False, exact_is_coalesced=False):
        """Raise unless two results are close.

        Parameters
        ----------
        x, y : Any
            Tensors, arrays, numbers, and sequences and mappings of them; what else there is must be equal.
        msg : Union[str, Callable[[str], str]], optional
            What to add to the letter, or what makes one of it.
        atol, rtol : float, optional
            The tolerances; by dtype unless both are given.
        equal_nan : bool, optional, default=True
            Whether NaN equals NaN.
        exact_dtype, exact_device, exact_layout, exact_stride, exact_is_coalesced : bool, optional
            Whether these must be equal too; all tensors have one layout here.

        """
        __tracebackhide__ = True
        x, y = _alike(x, y)
        metas = not_close_error_metas(
            x, y, pair_types=PAIRS, **containers(), least=(self.rel_tol, self.precision), rtol=rtol, atol=atol,
            equal_nan=equal_nan, check_device=exact_device, check_dtype=exact_dtype, check_layout=exact_layout,
            check_stride=exact_stride)
        added = (lambda text: f"{text}\n{msg}") if isinstance(msg, str) and self.longMessage else msg
        if metas:
            raise metas[0].to_error(added)

    def assertNotEqual(self, x, y, msg=None, *, atol=None, rtol=None, **kwargs):
        """Raise if two results are close."""
        with self.assertRaises(AssertionError, msg=msg):
            self.assertEqual(x, y, msg, atol=atol, rtol=rtol, **kwargs)

    def assertEqualIgnoreType(self, *args, **kwargs):
        """Raise unless two results are close, of whatever dtypes."""
        return self.assertEqual(*args, exact_dtype=False, **kwargs)

    def assertEqualBroadcasting(self, x, y, *args, **kwargs):
        """Raise unless a tensor is close to another one, or a number, brought to its shape."""
        y = y if isinstance(y, torch.Tensor) or not isinstance(y, Iterable) else torch.tensor(y)
        return self.assertEqual(x, y if isinstance(y, torch.Tensor) else torch.ones_like(x) * y, *args, **kwargs)

    def assertEqualTypeString(self, x, y):
        """Raise unless two tensors are of one device and dtype."""
        self.assertEqual(x.device, y.device)
        self.assertEqual(x.dtype, y.dtype)

    def assertObjectIn(self, obj, iterable):
        """Raise unless an object itself is among others."""
        if not any(item is obj for item in iterable):
            raise AssertionError("object not found in iterable")

    def assertNoUnraisable(self, callable, *args, **kwargs):
        """Raise if a call has an error that nobody could be told."""
        seen, enabled = [], gc.isenabled()
        gc.disable()
        try:
            with unittest.mock.patch("sys.unraisablehook", seen.append):
                callable(*args, **kwargs)
        finally:
            if enabled:
                gc.enable()
        self.assertFalse(seen)

    def assertNotWarn(self, callable, msg=""):
        """Raise if a call warns."""
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            callable()
            self.assertTrue(len(heard) == 0, msg)

    @contextlib.contextmanager
    def assertWarnsOnceRegex(self, category, regex=""):
        """Raise unless a warning comes that fits a pattern."""
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            yield
        import re
        if not any(isinstance(one.message, category) and re.search(regex, str(one.message)) for one in heard):
            self.fail(f"got warnings {[str(one.message) for one in heard]}, expected a {category.__name__} that fits "
                      f"{regex!r}")

    def assertGreaterAlmostEqual(self, first, second, places=None, msg=None, delta=None):
        """Raise unless a number is not less than another one, or nearly not."""
        if delta is not None and places is not None:
            raise TypeError("specify delta or places not both")
        if first >= second:
            return
        apart = second - first
        if apart > delta if delta is not None else round(apart, 7 if places is None else places) != 0:
            self.fail(self._formatMessage(msg, f"{first!r} not greater than or equal to {second!r} (by {apart!r})"))

    def assertExpectedInline(self, actual, expect, skip=0, ignore_comments=False, ignore_empty_lines=False):
        """Raise unless a text is the one that the test holds."""
        if ignore_comments:
            actual = "\n".join(line for line in actual.split("\n") if not line.strip().startswith("#"))
        if ignore_empty_lines:
            actual = "\n".join(line for line in actual.split("\n") if line.strip())
        self.assertMultiLineEqual(expect, actual if isinstance(actual, str) else str(actual))

    def compare_with_numpy(self, torch_fn, np_fn, tensor_like, device=None, dtype=None, **kwargs):
        """Raise unless a function of tensors gives what one of NumPy's arrays gives."""
        given = tensor_like if isinstance(tensor_like, torch.Tensor) else torch.tensor(tensor_like, device=device,
                                                                                       dtype=dtype)
        array = given.detach().cpu()
        expected = np_fn((array.float() if array.dtype is torch.bfloat16 else array).numpy())
        result = torch_fn(given).cpu()
        if is_array(expected):
            expected = torch.from_numpy(expected.copy())
            result = result.float() if result.dtype is torch.bfloat16 else result
        self.assertEqual(expected, result, **kwargs)

    def compare_with_reference(self, torch_fn, ref_fn, sample_input, **kwargs):
        """Raise unless a function of a sample gives what another one gives of the same as NumPy's arrays."""
        numpy_sample = sample_input.numpy()
        actual = torch_fn(sample_input.input, *sample_input.args, **sample_input.kwargs)
        self.assertEqual(actual, ref_fn(numpy_sample.input, *numpy_sample.args, **numpy_sample.kwargs),
                         exact_device=False, **kwargs)


def _alike(x, y):
    """Return two values as they are compared: a sequence of numbers beside a tensor is a tensor."""
    if any(is_array(item) and not isinstance(item, torch.Tensor) and item.dtype.kind in "USOmMV" for item in (x, y)):
        return [item.tolist() if is_array(item) else list(item) for item in (x, y)]
    if isinstance(x, torch.Tensor) and isinstance(y, Sequence):
        return x, torch.as_tensor(y, dtype=x.dtype, device=x.device)
    if isinstance(x, Sequence) and isinstance(y, torch.Tensor):
        return torch.as_tensor(x, dtype=y.dtype, device=y.device), y
    return x, y


class TestCaseBase(TestCase):
    """The base of test cases that are made for devices."""


def run_tests(argv=None):
    """Run the tests of the script."""
    unittest.main(argv=argv)


def load_tests(loader, tests, pattern):
    """Return the tests of a file that has any: what `unittest` asks a module that takes this name."""
    return unittest.TestSuite(group for group in tests if group.countTestCases())
