"""What unit tests of tensors claim besides equality: order, nearness, lengths."""
import numpy as np

from dragon.vm.shared.errors import OpError


class Claims:
    """A part of `tf.test.TestCase`."""

    def _array(self, value):
        return np.asarray(self.evaluate(value))

    def _claim(self, holds, what, msg):
        if not holds:
            raise self.failureException(f"{what} {msg or ''}".rstrip())

    def assertNear(self, f1, f2, err, msg=None):
        """Claim that two numbers differ by at most an amount, or are the same infinity."""
        self._claim(f1 == f2 or abs(f1 - f2) <= err, f"{f1!r} != {f2!r} +/- {err!r}", msg)

    def assertArrayNear(self, farray1, farray2, err, msg=None):
        """Claim so of the numbers of two sequences, one by one."""
        self.assertEqual(len(farray1), len(farray2), msg)
        for one, other in zip(farray1, farray2):
            self.assertNear(float(one), float(other), err, msg)

    def assertNDArrayNear(self, ndarray1, ndarray2, err, msg=None):
        """Claim that the difference of two arrays is shorter than an amount."""
        length = np.linalg.norm(self._array(ndarray1) - self._array(ndarray2))
        self._claim(length < err, f"{length!r} is not below {err!r}.", msg)

    def assertAllCloseAccordingToType(self, a, b, rtol=1e-6, atol=1e-6, float_rtol=1e-6, float_atol=1e-6,
                                      half_rtol=1e-3, half_atol=1e-3, bfloat16_rtol=1e-2, bfloat16_atol=1e-2, msg=None):
        """Claim that all elements are as good as equal, for the shorter of the two dtypes."""
        kinds = {self._array(one).dtype.name for one in (a, b)}
        for name, own_rtol, own_atol in (("float32", float_rtol, float_atol), ("complex64", float_rtol, float_atol),
                                         ("float16", half_rtol, half_atol),
                                         ("bfloat16", bfloat16_rtol, bfloat16_atol)):
            if name in kinds:
                rtol, atol = max(rtol, own_rtol), max(atol, own_atol)
        self.assertAllClose(self._array(a).astype(np.result_type(self._array(a).dtype, "float32")),
                            self._array(b).astype(np.result_type(self._array(b).dtype, "float32")), rtol, atol, msg)

    def assertAllGreater(self, a, comparison_target):
        """Claim that all elements are greater than a number."""
        self._claim((self._array(a) > comparison_target).all(), f"{a!r}: not all > {comparison_target!r}", None)

    def assertAllLess(self, a, comparison_target):
        """Claim that all elements are less than a number."""
        self._claim((self._array(a) < comparison_target).all(), f"{a!r}: not all < {comparison_target!r}", None)

    def assertAllGreaterEqual(self, a, comparison_target):
        """Claim that no element is less than a number."""
        self._claim((self._array(a) >= comparison_target).all(), f"{a!r}: not all >= {comparison_target!r}", None)

    def assertAllLessEqual(self, a, comparison_target):
        """Claim that no element is greater than a number."""
        self._claim((self._array(a) <= comparison_target).all(), f"{a!r}: not all <= {comparison_target!r}", None)

    def assertAllInSet(self, target, expected_set):
        """Claim that each element is one of some."""
        strange = sorted(set(self._array(target).reshape(-1).tolist()) - set(expected_set))
        self._claim(not strange, f"{strange!r} are not in {expected_set!r}", None)

    def assertEmpty(self, container, msg=None):
        """Claim that nothing is in a container."""
        self._claim(not len(container), f"{container!r} has length of {len(container)}, expected 0.", msg)

    def assertNotEmpty(self, container, msg=None):
        """Claim that something is in a container."""
        self._claim(len(container) > 0, f"{container!r} has length of 0.", msg)

    def assertLen(self, container, expected_len, msg=None):
        """Claim how much is in a container."""
        self._claim(len(container) == expected_len,
                    f"{container!r} has length of {len(container)}, expected {expected_len}.", msg)

    def assertBetween(self, value, minv, maxv, msg=None):
        """Claim that a value lies within bounds."""
        self._claim(minv <= value <= maxv, f"{value!r} unexpectedly not between {minv!r} and {maxv!r}.", msg)

    def assertSameElements(self, expected_seq, actual_seq, msg=None):
        """Claim that two sequences hold the same, however often and in whatever order."""
        self.assertEqual(set(expected_seq), set(actual_seq), msg)

    def assertRaisesOpError(self, expected_err_re_or_predicate):
        """Return a block that must raise an error of an operator, whose text a pattern finds."""
        return self.assertRaisesRegex(OpError, expected_err_re_or_predicate)
