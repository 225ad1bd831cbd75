"""A largest element without its place is the one that max_pool_with_indices finds."""
import numpy

import dragon
from harness.subresults import each

ops = dragon.ops
# shape, size, window, stride, padding, dilation, adaptive
GEOMETRIES = {
    "windows": ((2, 5, 9, 8), [4, 4], [3, 3], [2, 2], [1, 1], [1, 1], False),
    "dilated": ((1, 3, 9, 9), [5, 5], [3, 3], [1, 1], [0, 0], [2, 2], False),
    "adaptive": ((2, 20, 7, 5), [3, 2], [1, 1], [1, 1], [0, 0], [1, 1], True),
    "many channels": ((2, 80, 6, 7), [3, 4], [3, 2], [2, 2], [1, 1], [1, 1], False),
    "line": ((2, 4, 11), [5], [3], [2], [0], [1], False),
    "volume": ((1, 70, 4, 5, 6), [2, 3, 3], [2, 2, 2], [2, 2, 2], [0, 1, 0], [1, 1, 1], False),
}


@each("dtype", ["float32", "float64", "bfloat16", "int32"])
@each("geometry", GEOMETRIES)
def test_the_same_numbers(geometry, dtype):
    shape, *attributes = GEOMETRIES[geometry]
    numbers = numpy.random.default_rng(0).standard_normal(shape) * 9
    if dtype != "int32":
        numbers.flat[::7] = numpy.nan
        numbers.flat[::11] = -numpy.inf
    order = [0, len(shape) - 1, *range(1, len(shape) - 1)]
    last = dragon.from_numpy(numpy.ascontiguousarray(numpy.moveaxis(numbers, 1, -1)))
    for x in (dragon.from_numpy(numbers), ops.permute(last, order)):
        x = ops.cast(x, getattr(dragon, dtype))
        expected, found = ops.max_pool_with_indices(x, *attributes)[0], ops.max_pool(x, *attributes)
        assert found.dtype == expected.dtype
        found, expected = (ops.cast(y, dragon.float64).numpy() for y in (found, expected))
        numpy.testing.assert_array_equal(found, expected)
