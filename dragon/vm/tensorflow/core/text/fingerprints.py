"""`tf.fingerprint`: hashes of rows."""
import math

import numpy as np

from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.hashing import fingerprint64
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import string


def fingerprint(data, method="farmhash64", name=None):
    """Return FarmHash's fingerprint of each row, as eight bytes.

    Parameters
    ----------
    data : Tensor
        Rows along the first axis, of any dtype.
    method : str, optional, default="farmhash64"
        Must be that.

    Returns
    -------
    Tensor
        uint8, eight numbers for each row.

    """
    method = method.numpy() if hasattr(method, "numpy") else method
    method = method.decode() if isinstance(method, bytes) else method
    if method != "farmhash64":
        raise invalid_argument(f"Unsupported fingerprint method: {method} [Op:Fingerprint]")
    x = convert_to_tensor(data)
    if not x.ndim:
        raise invalid_argument("`data` should have at least one dimension: [] [Op:Fingerprint]")
    array = x.numpy()
    if x.dtype is string:
        numbers = fingerprint64(array.reshape(-1).tolist())
        if array.ndim > 1:  # of several texts, the hash of their hashes
            rows = numbers.reshape(len(array), math.prod(array.shape[1:])).astype("<u8")
            numbers = fingerprint64([row.tobytes() for row in rows])
    else:
        numbers = fingerprint64([np.ascontiguousarray(row).tobytes() for row in array])
    return convert_to_tensor(numbers.astype("<u8").view(np.uint8).reshape(len(array), 8))
