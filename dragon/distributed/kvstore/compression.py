"""Gradients in two bits for each number; what that leaves out is made up for by the next ones."""
import math

from dragon import ops
from dragon.tensor import tensor

IN_A_BYTE = 4
PLACES = (1, 4, 16, 64)  # of the four codes in a byte


class TwoBits:
    """Say of each number whether it reaches a threshold, minus the threshold, or neither.

    What a number had more or less than that is kept, and added to the next one under the same key.

    Parameters
    ----------
    threshold : float, optional, default=0.5
        What is said of numbers.

    """

    def __init__(self, threshold=0.5):
        if not float(threshold) > 0:
            raise ValueError(f"TwoBits: got threshold={threshold}, expected more than 0")
        self.threshold, self._left = float(threshold), {}

    def encode(self, key, gradient):
        """Return the bytes of a gradient, four numbers in each; remember the error under the key.

        Parameters
        ----------
        key : Hashable
            Whose gradient it is.
        gradient : Tensor
            The gradient.

        Returns
        -------
        Tensor
            Of dtype uint8.

        """
        if not str(gradient.dtype).removeprefix("dragon.").startswith(("float", "bfloat")):
            raise TypeError(f"TwoBits: got a gradient of {gradient.dtype}, expected one of floating point")
        left = self._left.get(key)
        wanted = gradient if left is None else ops.add(left, gradient)
        up, down = wanted >= self.threshold, wanted <= -self.threshold
        said = ops.where(up, self.threshold, ops.where(down, -self.threshold, 0.0))
        self._left[key] = ops.sub(wanted, ops.cast(said, gradient.dtype))
        codes = ops.reshape(ops.add(ops.cast(up, "uint8"), ops.cast(down, "uint8"), alpha=2), (-1,))
        missing = -len(codes) % IN_A_BYTE
        codes = ops.cat([codes, ops.full((missing,), 0, dtype="uint8")])
        places = tensor(PLACES, dtype="uint8")
        return ops.cast(ops.sum(ops.mul(ops.reshape(codes, (-1, IN_A_BYTE)), places), 1), "uint8")

    def decode(self, data, like):
        """Return what bytes say, in the shape and dtype of another tensor."""
        places = tensor(PLACES, dtype="uint8")
        codes = ops.remainder(ops.floor_divide(ops.reshape(data, (-1, 1)), places), IN_A_BYTE)
        codes = ops.reshape(ops.reshape(codes, (-1,))[:math.prod(like.shape)], tuple(like.shape))
        said = ops.where(codes == 1, self.threshold, ops.where(codes == 2, -self.threshold, 0.0))
        return ops.cast(said, like.dtype)


def make_compression(params):
    """Return the compression that a dictionary describes.

    Parameters
    ----------
    params : Dict[str, Any]
        "type", which is "2bit", and "threshold".

    Returns
    -------
    TwoBits
        The compression.

    """
    params = dict(params)
    kind = params.pop("type", "none")
    if kind != "2bit":
        raise ValueError(f"set_gradient_compression: got type {kind!r}, expected '2bit'")
    threshold = params.pop("threshold", 0.5)
    if params:
        raise ValueError(f"set_gradient_compression: got {sorted(params)} besides, expected type and threshold")
    return TwoBits(threshold)
