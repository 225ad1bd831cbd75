"""More elements than an int32 counts, all at one place of memory: sums, counts and extremes beyond 2^31."""
import numpy as np
import pytest

import dragon

MANY = 2 ** 31 + 3


@pytest.mark.slow
@pytest.mark.parametrize("name, wanted", [("sum", 2 * MANY), ("count_nonzero", MANY), ("amax", 2)])
def test_repeated_elements(name, wanted):
    x = dragon.ops.broadcast_to(dragon.from_numpy(np.array(2, np.int8)), [MANY])
    assert getattr(dragon.ops, name)(x).item() == wanted
