"""What only moves elements moves strings too, here and in genuine Keras."""
import numpy as np

import dragon.vm.keras as mine
from harness import genuine
from harness.subresults import each
from harness.twin import rows

CALLS = """
k.reshape(x, (3, 2))
k.transpose(x)
k.stack([x, y])
k.stack([x, y], axis=-1)
k.concatenate([x, y], axis=1)
k.append(x, y, axis=0)
k.take(x, [2, 0], axis=1)
k.take_along_axis(x, [[1], [2]], axis=1)
k.expand_dims(x, 1)
k.squeeze(k.expand_dims(x, 1))
k.broadcast_to(x, (2, 2, 3))
k.tile(x, 2)
k.repeat(x, 2, axis=1)
k.flip(x, 0)
k.roll(x, 1, 1)
k.rot90(x)
k.moveaxis(x, 0, 1)
k.swapaxes(x, 0, 1)
k.split(x, 3, axis=1)
k.slice(x, (0, 1), (2, 2))
k.unstack(x, axis=1)
k.ravel(x)
k.copy(x)
k.vstack([x, y])
k.where([[True], [False]], x, y)
"""
X, Y = np.array([["a", "b", "c"], ["d", "é", ""]]), np.array([["g", "h", "i"], ["j", "k", "l"]])


@each("code", rows(CALLS))
def test_moved(code):
    found, wanted = ([item.numpy().tolist() for item in (made if isinstance(made, list) else [made])] for made in (
        eval(code, {"k": k, "x": k.convert_to_tensor(X), "y": k.convert_to_tensor(Y)})
        for k in (mine.ops, genuine.keras.ops)))
    assert found == wanted
