"""`tf.test.TestCase`: unit tests that compare tensors."""
import os
import tempfile
import unittest

import numpy as np

from dragon.vm.shared import nest
from dragon.vm.shared.recording.tape import GradientTape
from dragon.vm.shared.tensors.convert import convert_to_tensor, is_tensor
from dragon.vm.tensorflow.test.claims import Claims


class TestCase(Claims, unittest.TestCase):
    """A unit test whose claims take tensors, arrays and structures of them."""

    def evaluate(self, tensors):
        """Return tensors as NumPy arrays."""
        return nest.map_structure(lambda item: item.numpy() if is_tensor(item) else item, tensors)

    def get_temp_dir(self):
        """Return a folder of the test's own."""
        if not hasattr(self, "_folder"):
            self._folder = tempfile.mkdtemp()
        return self._folder

    def create_tempfile(self, name="file"):
        """Return the path of a file in the test's own folder."""
        return os.path.join(self.get_temp_dir(), name)

    def assertAllEqual(self, a, b, msg=None):
        """Claim that all elements are equal."""
        np.testing.assert_array_equal(self.evaluate(a), self.evaluate(b), err_msg=msg or "")

    def assertAllClose(self, a, b, rtol=1e-6, atol=1e-6, msg=None):
        """Claim that all elements are as good as equal, in structures too."""
        if nest.is_nested(a) and isinstance(a, dict):
            self.assertEqual(set(a), set(b), msg)
            for key in a:
                self.assertAllClose(a[key], b[key], rtol, atol, msg)
        else:
            np.testing.assert_allclose(self.evaluate(a), self.evaluate(b), rtol, atol, err_msg=msg or "")

    def assertNotAllClose(self, a, b, rtol=1e-6, atol=1e-6, msg=None):
        """Claim that some elements differ."""
        try:
            self.assertAllClose(a, b, rtol, atol)
        except AssertionError:
            return
        raise AssertionError(msg or "The two values are close at all elements.")

    def assertNotAllEqual(self, a, b, msg=None):
        """Claim that some elements differ."""
        if np.array_equal(self.evaluate(a), self.evaluate(b)):
            raise AssertionError(msg or "The two values are equal at all elements.")

    def assertAllInRange(self, target, lower_bound, upper_bound):
        """Claim that all elements lie within bounds."""
        values = np.asarray(self.evaluate(target))
        self.assertTrue(np.all((values >= lower_bound) & (values <= upper_bound)), f"{values}")

    def assertShapeEqual(self, input_a, input_b, msg=None):
        """Claim that two shapes are equal."""
        self.assertEqual(tuple(input_a.shape), tuple(input_b.shape), msg)

    def assertDTypeEqual(self, target, expected_dtype):
        """Claim a dtype."""
        self.assertEqual(np.asarray(self.evaluate(target)).dtype, np.dtype(expected_dtype))


def compute_gradient(f, x, delta=None):
    """Return the derivatives of a function by the tape and by differences.

    Parameters
    ----------
    f : Callable
        Returns a tensor.
    x : Sequence[Tensor]
        Its arguments.
    delta : float, optional
        The width of differences; 1/1024 by default.

    Returns
    -------
    Tuple[List[numpy.ndarray], List[numpy.ndarray]]
        Matrices with a row for each element of the result.

    """
    delta = 1.0 / 1024 if delta is None else delta
    inputs = [convert_to_tensor(item) for item in x]
    with GradientTape(persistent=True) as tape:
        tape.watch(inputs)
        result = f(*inputs)
    rows = int(np.prod(result.shape))
    exact = [tape.jacobian(result, item).numpy().reshape(rows, -1) for item in inputs]
    differences = []
    for place, item in enumerate(inputs):
        values = item.numpy()
        matrix = np.zeros((rows, values.size), values.dtype)
        for column in range(values.size):
            ends = []
            for sign in (1, -1):
                moved = values.copy()
                moved.reshape(-1)[column] += sign * delta
                ends.append(f(*inputs[:place], convert_to_tensor(moved), *inputs[place + 1:]).numpy().reshape(-1))
            matrix[:, column] = (ends[0] - ends[1]) / (2 * delta)
        differences.append(matrix)
    return exact, differences
