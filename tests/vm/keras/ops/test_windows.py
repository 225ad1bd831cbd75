"""Windows of keras.ops beside genuine Keras's."""
import numpy as np

from dragon.vm.keras import ops
from harness import genuine
from harness.subresults import each


@each("name", ["bartlett", "blackman", "hamming", "hanning", "kaiser"])
@each("places", [1, 2, 7])
def test_windows(name, places):
    beta = (2.0,) if name == "kaiser" else ()
    ours, theirs = (getattr(module, name)(places, *beta) for module in (ops, genuine.keras.ops))
    np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-5, atol=1e-6)
